"""Every form in which a dataset is published leads to the same table, through a fetch from a local web server."""

import copy
import csv
import io
import itertools
import re
import zipfile
from urllib.parse import urlsplit

import pytest
from real_tables import mirror

from clusterlets import datasets
from clusterlets.datasets import catalogue
from clusterlets.datasets.fetch import fetch
from clusterlets.datasets.table import fingerprint

CATALOGUE = {name: datasets.describe(name) for name in datasets.names()}
COPY = re.compile(r"https://web\.archive\.org/web/")  # the same bytes as the address behind it
# Further members of an archive, such as the publishers' archives have.
BESIDE = {"Index": b"Index of adult\n", "old/adult.data": b"", "bank.zip/bank.csv": b"a;b\n"}
# d_age is the difference of the ages, and d_d_age the bin of it; so the ages have no bins.
UNBINNED = "wave gender age age_o race race_o samerace field met decision decision_o match".split()

FORMS = [
    pytest.param(name, source, id=f"{name} {file}")
    for name, entry in CATALOGUE.items()
    for source in entry["sources"]
    if name != "nbfi" and source != "bundled" and not COPY.match(source["url"])
    for file in [urlsplit(source["url"]).path.rsplit("/", 1)[-1]]
]
PUBLISHED = sorted({name for form in FORMS for name in form.values[:1]})


@pytest.fixture
def publish(site, tmp_path, monkeypatch):
    """Serve a dataset in a form from its address, moved to this machine, and return the receipt and the table."""

    def published(name, source, content):
        path = urlsplit(source["url"]).path
        moved = copy.deepcopy(CATALOGUE)
        moved[name]["sources"] = [source | {"url": site.address + path}]
        monkeypatch.setattr(catalogue, "_catalogue", lambda: moved)
        site.serve(path, content)
        receipt = fetch(name, tmp_path)
        assert receipt["source"] == site.address + path
        return receipt, datasets.prepare(name, tmp_path)

    return published


def raw(name):
    """The real files, by name."""
    return {file["name"]: (mirror() / name / file["name"]).read_bytes() for file in CATALOGUE[name]["files"]}


@pytest.mark.parametrize("name, source", FORMS)
def test_every_published_form_is_the_same_table(name, source, publish):
    receipt, table = publish(name, source, form_of(source, raw(name)))
    assert fingerprint(table) == CATALOGUE[name]["fingerprint"]
    same_bytes = name != "speeddating" and not source["url"].endswith("pima-indians-diabetes.csv")
    assert receipt["sha256_matches"] is same_bytes


@pytest.mark.parametrize("name", PUBLISHED)
def test_other_line_ends_and_a_byte_order_mark_are_the_same_table(name, publish):
    files = {file: b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n") for file, content in raw(name).items()}
    source = CATALOGUE[name]["sources"][0]
    receipt, table = publish(name, source, zipped(source, files) if "members" in source else files.popitem()[1])
    assert fingerprint(table) == CATALOGUE[name]["fingerprint"]
    assert receipt["sha256_matches"] is False


def form_of(source, files):
    """The real files as a source serves them."""
    if "members" in source:
        return zipped(source, files)
    (content,) = files.values()
    if source["url"].endswith(".arff"):
        return arff(*with_bins(content))
    if source["url"].endswith("speeddating.csv"):
        return table(*with_bins(content))
    if source["url"].endswith("pima-indians-diabetes.csv"):
        return content.split(b"\n", 1)[1]
    return content


def zipped(source, files):
    """An archive with the files at their paths, among other files; a path may lead through an inner archive."""
    contents = BESIDE | {place: files[file] for file, place in source["members"].items()}
    inner = {place.split("/", 1)[1]: content for place, content in contents.items() if place.startswith("bank.zip/")}
    outer = {place: content for place, content in contents.items() if not place.startswith("bank.zip/")}
    return archive(outer | {"bank.zip": archive(inner)})


def archive(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for name, content in members.items():
            zip_file.writestr(name, content)
    return buffer.getvalue()


def with_bins(content):
    """Columns and rows of the speed dating table as OpenML has it: has_null first, and its bin behind each number."""
    columns, *rows = csv.reader(io.StringIO(content.decode()))
    binned = [column not in UNBINNED for column in columns]
    names = [[column, f"d_{column}"] if has_bin else [column] for column, has_bin in zip(columns, binned, strict=True)]
    cells = [
        [part for cell, has_bin in zip(row, binned, strict=True) for part in ([cell, bin_of(cell)] if has_bin else [cell])]
        for row in rows
    ]
    return ["has_null", *itertools.chain(*names)], [["0", *row] for row in cells]


def bin_of(cell):
    return "[0-5]" if cell != "?" and float(cell) <= 5 else "[6-100]"


def table(columns, rows):
    text = io.StringIO(newline="")
    csv.writer(text).writerows([columns, *rows])
    return text.getvalue().encode()


def arff(columns, rows):
    nominal = {"gender": "{female,male}", "has_null": "{0,1}", "race": "string", "race_o": "string", "field": "string"}
    head = ["% Speed dating", "@RELATION speeddating", ""]
    for column in columns:
        bins = "{'[0-5]','[6-100]'}" if column.startswith("d_") and column != "d_age" else "numeric"
        head.append(f"@ATTRIBUTE {column} {nominal.get(column, bins)}")
    lines = [",".join(map(quoted, row)) for row in rows]
    return "\n".join([*head, "", "@DATA", *lines, ""]).encode()


def quoted(cell):
    """The cell as Weka writes it: quoted if it holds more than letters and digits."""
    return cell if re.fullmatch(r"[\w.?-]*", cell) else "'" + cell.replace("'", "\\'") + "'"


# nbfi: rows that follow its published description.

MISSING = ("$", "##", "&", "@", "#", "x", "#VALUE!", "")
EDUCATION = ("Junior secondary", "Secondary", "Graduation dropout", "Graduation", "Post Grad")
NEEDED = (
    "Client_Income Client_Education Child_Count Client_Marital_Status Application_Process_Hour "
    "Client_Permanent_Match_Tag Client_Contact_Work_Tag Score_Source_1 Score_Source_2 Score_Source_3 Credit_Bureau "
    "Credit_Amount Loan_Annuity Accompany_Client Population_Region_Relative Client_Occupation Client_Family_Members "
    "Social_Circle_Default"
).split()
DROPPED = "ID Own_House_Age Type_Organization Phone_Change".split()
TEXT = (
    "Accompany_Client Client_Income_Type Client_Marital_Status Loan_Contract_Type Client_Housing_Type Client_Occupation"
).split()
NUMBERS = (
    "Car_Owned Bike_Owned Active_Loan House_Own Age_Days Employed_Days Registration_Days ID_Days Mobile_Tag "
    "Homephone_Tag Workphone_Working Cleint_City_Rating Application_Process_Day"
).split()
COLUMNS = list(dict.fromkeys([*DROPPED, *TEXT, *NEEDED, *NUMBERS, "Client_Gender", "Default"]))
TAGS = ("Client_Permanent_Match_Tag", "Client_Contact_Work_Tag")


def nbfi_rows():
    """Five complete rows, one per level of education, then one for each column and each sign of a missing value."""
    text = dict.fromkeys(TEXT, "Alone, at home") | dict.fromkeys(TAGS, "Yes") | {"Client_Gender": "Male"}
    template = dict.fromkeys(COLUMNS, "1.5") | text | {"Client_Education": "Secondary", "Default": "0"}
    complete = [template | {"Client_Education": level, "Default": str(index % 2)} for index, level in enumerate(EDUCATION)]
    complete[1] |= dict.fromkeys(TAGS, "No") | {"Client_Gender": "Female"} | dict.fromkeys(DROPPED, "x")
    incomplete = [template | {column: sign} for column in [*NEEDED, *NUMBERS] for sign in MISSING]
    return [*complete, *incomplete]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_nbfi_as_it_is_described(end, publish):
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator=end)
    writer.writeheader()
    writer.writerows(nbfi_rows())
    receipt, prepared = publish("nbfi", CATALOGUE["nbfi"]["sources"][0], text.getvalue().encode())
    assert len(COLUMNS) == 40 and receipt["sha256_matches"] is False
    assert prepared.X.shape == (5, 29) == (len(EDUCATION), CATALOGUE["nbfi"]["features"])
    assert not {*DROPPED, *TEXT, "Default"} & set(prepared.feature_names)
    columns = dict(zip(prepared.feature_names, prepared.X.T.tolist(), strict=True))
    assert columns["Client_Education"] == [0, 1, 2, 3, 4] and columns["Client_Gender"] == [1, 0, 1, 1, 1]
    assert columns[TAGS[0]] == columns[TAGS[1]] == [1, 0, 1, 1, 1] and set(columns["Client_Income"]) == {1.5}
    assert prepared.groups.tolist() == [0, 1, 0, 1, 0]
