"""Datasets are prepared as expected, fingerprinted and listed. The rows of nbfi are made up."""

import csv
import hashlib
import importlib
import itertools
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from clusterlets import __main__ as command_line
from clusterlets.benchmark import datasets
from clusterlets.benchmark.datasets.fetch import fetch
from clusterlets.benchmark.grid import datasets_list
from clusterlets.benchmark.steps.fetch_dataset import fetch_dataset
from clusterlets.benchmark.steps.prepare_dataset import prepare_dataset
from clusterlets.errors import ClusterletsError
from clusterlets.storage import save_json
from clusterlets.tables.table import BadData, Table, check, describe_differences, fingerprint

CHECKOUT = Path(__file__).parents[4]

# For each dataset: rows, features, positives, name of the positive class and values of the first row, all worked out by hand.
REAL_DATASETS = {
    "adult": (48842, 7, 11687, ">50K", {"age": 39, "capital_gain": 2174, "education": 12, "fnlwgt": 77516, "is_male": 1}),
    "credit": (690, 10, 307, "1", {"A1": 1, "A2": 22.08, "A7": 1.585, "A11": 1, "A14": 1213}),
    "bank": (45211, 9, 5289, "yes", {"age": 58, "education": 3, "default": 0, "balance": 2143, "housing": 1, "previous": 0}),
    "breast": (449, 9, 236, "4", {"clump_thickness": 5, "bare_nuclei": 1, "mitoses": 1}),
    "compas": (
        4534,
        12,
        767,
        "1",
        {"is_male": 1, "age": 69, "decile_score": 1, "days_b_screening_arrest": -1, "days_in_custody": 7},
    ),
    "heart_failure": (299, 12, 96, "1", {"age": 75, "platelets": 265000, "serum_creatinine": 1.9, "time": 4}),
    "heloc": (10459, 23, 5459, "Bad", {"ExternalRiskEstimate": 55, "NetFractionInstallBurden": -8}),
    "magic": (19020, 10, 12332, "g", {"fLength": 28.7967, "fDist": 81.8828}),
    "pima": (768, 8, 268, "1", {"Pregnancies": 6, "BMI": 33.6, "DiabetesPedigreeFunction": 0.627}),
    "speeddating": (1048, 62, 186, "1", {"is_male": 0, "age": 21, "age_o": 27, "d_age": 6, "met": 0, "decision": 1}),
}
BUNDLED_DATASETS = ("breast_cancer", "wine", "iris", "digits")


@pytest.mark.parametrize("name", REAL_DATASETS)
def test_a_real_dataset_is_prepared_as_expected(name, prepared):
    table = prepared(name)
    rows, features, positives, positive_name, values = REAL_DATASETS[name]
    assert table.X.shape == (rows, features) == (len(table.groups), len(table.feature_names))
    assert table.X.dtype == np.float64 and np.isfinite(table.X).all()
    assert table.positives == positives and table.group_names[1] == positive_name
    assert table.group_counts.tolist() == [rows - positives, positives]
    first_row = dict(zip(table.feature_names, table.X[0], strict=True))
    assert {feature: first_row[feature] for feature in values} == values


@pytest.mark.parametrize("name", [name for name in datasets.names() if datasets.describe(name)["strict"]])
def test_a_prepared_table_is_as_described(name, prepared, tmp_path):
    description = datasets.describe(name)
    if description["sources"] == ["bundled"]:
        fetch(name, tmp_path)
    table = datasets.prepare(name, tmp_path) if description["sources"] == ["bundled"] else prepared(name)
    assert table.X.shape == (description["rows"], description["features"])
    assert description["fingerprint"] == fingerprint(table)
    assert description["positives"] is None or description["positives"] == table.positives


@pytest.mark.parametrize("name", BUNDLED_DATASETS)
def test_a_bundled_dataset_is_what_scikit_learn_loads(name, tmp_path):
    receipt = fetch(name, tmp_path)
    table = datasets.prepare(name, tmp_path)
    loader = importlib.import_module("sklearn.datasets")
    expected = getattr(loader, f"load_{name}")()
    assert receipt["source"] == "bundled" and receipt["sha256_matches"]
    assert np.array_equal(table.X, expected.data) and np.array_equal(table.groups, expected.target)
    assert list(table.feature_names) == list(expected.feature_names)
    assert list(table.group_names) == [str(label) for label in expected.target_names]


def test_pima_without_a_header_gives_the_same_table(mirror, tmp_path):
    lines = (mirror / "pima" / "diabetes.csv").read_text().splitlines(keepends=True)
    (tmp_path / "pima").mkdir()
    (tmp_path / "pima" / "diabetes.csv").write_text("".join(lines[1:]))
    assert fingerprint(datasets.prepare("pima", tmp_path)) == fingerprint(datasets.prepare("pima", mirror))


@pytest.mark.parametrize("file_format", ["csv", "arff"])
def test_speeddating_with_binned_columns_gives_the_same_table(file_format, mirror, tmp_path):
    file = Path("speeddating") / "speeddating_openml40536_undiscretized_merged.csv"
    (tmp_path / "speeddating").mkdir()
    with open(mirror / file, newline="") as source, open(tmp_path / file, "w", newline="") as target:
        header, *rows = csv.reader(source)
        write_as_openml(header, rows, file_format, target)
    assert fingerprint(datasets.prepare("speeddating", tmp_path)) == datasets.describe("speeddating")["fingerprint"]


def write_as_openml(header, rows, file_format, target):
    """Write OpenML's layout: has_null comes first, binned columns last.

    In ARFF, text has single quotes. To test the quoting, a comma and an apostrophe are added to each field of study.
    """
    columns = ["has_null", *header, "d_d_age", "d_attractive_o"]
    field = header.index("field")
    rows = [["0", *row[:field], f"{row[field]}, it's so", *row[field + 1 :], "[4-6]", "[6-8]"] for row in rows]
    if file_format == "csv":
        csv.writer(target).writerows([columns, *rows])
        return
    target.write("% comment\n@RELATION speeddating\n\n")
    for column in columns:
        kind = "{'[4-6]','[0-1]'}" if column.startswith("d_") and column != "d_age" else "string"
        target.write(f"@ATTRIBUTE '{column}' {kind}\n" if column == "field" else f"@attribute {column} {kind}\n")
    target.write("\n@DATA\n")
    text_columns = {columns.index(column) for column in ("race", "race_o", "field", "d_d_age", "d_attractive_o")}
    for row in rows:
        cells = [quoted(cell) if index in text_columns and cell != "?" else cell for index, cell in enumerate(row)]
        target.write(",".join(cells) + "\n")


def quoted(cell):
    return "'" + cell.replace("'", "\\'") + "'"


NBFI_COLUMNS = (
    "ID Client_Income Car_Owned Bike_Owned Active_Loan House_Own Child_Count Credit_Amount Loan_Annuity "
    "Accompany_Client Client_Income_Type Client_Education Client_Marital_Status Client_Gender Loan_Contract_Type "
    "Client_Housing_Type Population_Region_Relative Age_Days Employed_Days Registration_Days ID_Days Own_House_Age "
    "Mobile_Tag Homephone_Tag Workphone_Working Client_Occupation Client_Family_Members Cleint_City_Rating "
    "Application_Process_Day Application_Process_Hour Client_Permanent_Match_Tag Client_Contact_Work_Tag "
    "Type_Organization Score_Source_1 Score_Source_2 Score_Source_3 Social_Circle_Default Phone_Change Credit_Bureau "
    "Default"
).split()
NBFI_TEXT_CELLS = {
    "Accompany_Client": "Alone",
    "Client_Income_Type": "Commercial",
    "Client_Education": "Post Grad",
    "Client_Marital_Status": "M",
    "Client_Gender": "Male",
    "Loan_Contract_Type": "CL",
    "Client_Housing_Type": "Home",
    "Client_Occupation": "Sales, retail",
    "Client_Permanent_Match_Tag": "Yes",
    "Client_Contact_Work_Tag": "No",
    "Type_Organization": "XNA",
    "Own_House_Age": "",
    "Phone_Change": "",
}


def nbfi_row(number, changes):
    """The cells of a valid row, with some replaced by ``changes`` (column -> cell). Numeric cells hold ``number``."""
    cells = dict.fromkeys(NBFI_COLUMNS, str(number)) | NBFI_TEXT_CELLS | {"Default": str((number + 1) % 2)} | changes
    return list(cells.values())


def prepare_nbfi(tmp_path, changes_per_row):
    (tmp_path / "nbfi").mkdir()
    rows = [nbfi_row(number, changes) for number, changes in enumerate(changes_per_row, start=1)]
    with open(tmp_path / "nbfi" / "Train_Dataset.csv", "w", newline="") as file:
        csv.writer(file).writerows([NBFI_COLUMNS, *rows])
    return datasets.prepare("nbfi", tmp_path)


def test_nbfi_drops_rows_with_any_mark_for_a_missing_value_in_a_used_column(tmp_path):
    missing_marks = itertools.cycle(["$", "##", "&", "@", "#", "x", "#VALUE!", ""])
    columns = (
        "Client_Income Client_Education Child_Count Client_Marital_Status Application_Process_Hour "
        "Client_Permanent_Match_Tag Client_Contact_Work_Tag Score_Source_1 Score_Source_2 Score_Source_3 Credit_Bureau "
        "Credit_Amount Loan_Annuity Accompany_Client Population_Region_Relative Client_Occupation "
        "Client_Family_Members Social_Circle_Default Age_Days"
    ).split()
    incomplete_rows = [{column: next(missing_marks)} for column in columns]
    table = prepare_nbfi(tmp_path, [{}, *incomplete_rows, {"Type_Organization": "x", "Default": "1"}])
    assert table.X[:, 0].tolist() == [1, len(incomplete_rows) + 2]  # the numbers of the first and the last row


def test_nbfi_features_are_numbers_and_booleans(tmp_path):
    names = ["Client_Education", "Client_Gender", "Client_Permanent_Match_Tag", "Client_Contact_Work_Tag", "Client_Income"]
    table = prepare_nbfi(tmp_path, [{}, dict(zip(names, ["Junior secondary", "Female", "No", "Yes", "6750.5"]))])
    first, second = (dict(zip(table.feature_names, row, strict=True)) for row in table.X)
    assert len(table.feature_names) == 29 == datasets.describe("nbfi")["features"]
    assert not {"ID", "Own_House_Age", "Client_Occupation", "Default"} & set(table.feature_names)
    assert [first[name] for name in names[:4]] == [4, 1, 1, 0] and [second[name] for name in names] == [0, 0, 0, 1, 6750.5]


def test_nbfi_with_another_number_of_rows_is_accepted_with_a_warning(tmp_path):
    table = prepare_nbfi(tmp_path, [{}, {}, {}])
    warning = "expected 8308 rows, found 3"
    assert describe_differences(table, datasets.describe("nbfi")) == [warning]
    receipt, json_path = tmp_path / "receipt.json", tmp_path / "nbfi.json"
    fetch_dataset("nbfi", raw_dir=tmp_path, receipt_path=receipt)
    prepare_dataset("nbfi", tmp_path, receipt, "none", tmp_path / "nbfi.npz", json_path)
    assert warning in json.loads(json_path.read_text())["warnings"]


def test_the_papers_eleven_datasets_and_four_bundled_ones_are_among_the_datasets():
    assert {*REAL_DATASETS, "nbfi", *BUNDLED_DATASETS} <= {*datasets.names()}
    assert len(REAL_DATASETS) == 10


def test_changing_a_description_does_not_change_the_next_one():
    datasets.describe("iris")["files"].clear()
    assert datasets.describe("iris")["files"]


def test_an_unknown_dataset_is_refused_and_the_nearest_name_suggested():
    with pytest.raises(ClusterletsError, match="no dataset 'speed_dating' .did you mean 'speeddating'"):
        datasets.describe("speed_dating")
    with pytest.raises(ClusterletsError, match="The datasets are: adult, credit"):
        datasets.prepare("zzz", "anywhere")


def test_a_missing_raw_file_is_named(tmp_path):
    with pytest.raises(
        ClusterletsError, match="pima: the raw file .*diabetes.csv does not exist. Put it there by hand, or let"
    ):
        datasets.prepare("pima", tmp_path)


def test_listing_datasets_and_fetching_a_bundled_one_imports_no_heavy_library(tmp_path):
    program = (
        "import sys; from clusterlets.benchmark import datasets; from clusterlets.benchmark.datasets.fetch import fetch; "
        "datasets.names(); fetch('iris', sys.argv[1]); "
        "print([name for name in ('pandas', 'sklearn', 'requests') if name in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=CHECKOUT, capture_output=True, text=True)
    assert process.stdout.strip() == "[]", process.stderr


def toy_table(X=((1.5, 0.0), (2.0, -3.0), (1e6, 0.1)), group=(0, 1, 0)):
    return Table(np.array(X, dtype=float), np.array(group), ("a", "b"), (("no",), ("yes",)))


def test_the_fingerprint_hashes_the_documented_text():
    text = "3 2\n2 1\n1.5 0 0\n2 -3 1\n1000000 0.1 0\n"
    assert fingerprint(toy_table()) == hashlib.sha256(text.encode()).hexdigest()


def test_the_fingerprint_depends_on_values_order_and_groups_but_not_on_last_bits():
    original = fingerprint(toy_table())
    assert fingerprint(toy_table(X=((math.nextafter(1.5, 2), -0.0), (2.0, -3.0), (1e6, 0.1)))) == original
    assert fingerprint(toy_table(X=((1.5, 0.0), (2.0, -3.0), (1e6, 0.10000001)))) != original
    assert fingerprint(toy_table(X=((2.0, -3.0), (1.5, 0.0), (1e6, 0.1)), group=(1, 0, 0))) != original
    assert fingerprint(toy_table(group=(1, 0, 0))) != original


@pytest.mark.parametrize(
    "table, message",
    [
        (Table(np.empty((0, 2)), np.empty(0, dtype=int), ("a", "b"), (("no",), ("yes",))), "no row is left"),
        (toy_table(X=((1, 2), (1, np.inf), (1, 2))), "row 2: column b is not a finite number"),
        (toy_table(group=(1, 1, 1)), "no row has the group no"),
        (toy_table(X=((1,), (2,), (3,))), "do not fit"),
    ],
)
def test_impossible_tables_are_refused(table, message):
    with pytest.raises(BadData, match=message):
        check(table)


DESCRIPTION = {
    "dataset": "x",
    "source": "mirror",
    "licence": "CC0",
    "citation": "c" * 200,
    "rows": 3,
    "dropped_duplicates": 1,
    "features": 2,
    "groups": {"a|b": 1, "c\nd": 2},
    "fingerprint_ok": True,
}


def test_the_listing_is_120_characters_wide_and_shortens_only_wide_columns():
    name = "heart_failure.sex+age_group"
    without_fingerprint = DESCRIPTION | {"fingerprint_ok": None, "groups": {}}
    text = datasets_list.to_text([datasets_list.row(name, DESCRIPTION), datasets_list.row("y", without_fingerprint)])
    assert {len(line) for line in text.splitlines()} == {120}
    assert f"| {name} | mirror | 3    | 2        | 2: a\\|b 1" in text
    assert "ccc… |" in text and "| not known " in text


def test_the_listing_escapes_markup():
    description = DESCRIPTION | {
        "groups": {"<img src=x>": 1, "![a](http://x)": 1},
        "warnings": ["the group '<script>' has one row"],
    }
    listing = datasets_list.listing({"x": description})
    assert "\\<img src=x> 1, !\\[a" in listing and "\n- x: the group '\\<script>' has one row\n" in listing


def test_the_csv_shortens_nothing():
    (row,) = csv.DictReader(datasets_list.to_csv([datasets_list.row("x", DESCRIPTION)]).splitlines(keepends=True))
    assert row["citation"] == "c" * 200 and row["groups"] == "2: a|b 1, c\nd 2" and row["fingerprint ok"] == "yes"


def cells_of_table(text):
    """Map the first cell of each row of the Markdown table in a text to the list of the row's other cells."""
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    return {name: values for name, *values in lines}


def test_the_command_lists_the_configured_datasets(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").touch()
    entries = [
        "iris",
        "pima",
        {"name": "pima", "sensitive": "age_group"},
        {"name": "breast", "duplicates": "keep", "id": "whole"},
        {"name": "people", "path": "people.csv", "sensitive": "city"},
    ]
    (tmp_path / "mine.yaml").write_text(json.dumps({"datasets": entries, "seeds": {"count": 2}}))
    (tmp_path / "results/prepared").mkdir(parents=True)
    description = DESCRIPTION | {
        "dataset": "iris",
        "source": "bundled",
        "rows": 150,
        "features": 4,
        "groups": {"setosa": 150},
        "warnings": ["one row was left out"],
    }
    save_json(tmp_path / "results/prepared/iris.json", description)
    assert command_line.main(["datasets", "--config", "mine.yaml"]) == 0
    listing = capsys.readouterr().out
    for text in ("| iris ", "1: setosa", "\n- iris: one row was left out\n", "| not fetched "):
        assert text in listing
    assert cells_of_table(listing)["people.city"][0].startswith("people.csv, not")
    assert cells_of_table(listing)["people.city"][1] == ""


@pytest.mark.parametrize(
    ("dataset", "arguments", "remedy"),
    [
        ("adult", [], "make data"),
        ("iris", ["--config", "my own.yaml"], "snakemake data --cores 2 --configfile 'my own.yaml'"),
    ],
)
def test_a_damaged_description_is_named_with_the_command_that_renews_it(
    tmp_path, monkeypatch, capsys, dataset, arguments, remedy
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my own.yaml").write_text("datasets: [iris]\n")
    path = tmp_path / f"results/prepared/{dataset}.json"
    save_json(path, DESCRIPTION)
    path.write_bytes(path.read_bytes()[:-9])
    assert command_line.main(["datasets", *arguments]) == 1
    message = capsys.readouterr().err
    assert "is damaged" in message and message.endswith(f" `{remedy}` makes it again.\n") and "same command" not in message


@pytest.mark.parametrize(("content", "message"), [("a: [", "mine.yaml is not valid YAML"), ("k: [1]", "k.0: 1 is less than")])
def test_the_command_reports_a_faulty_configuration(content, message, tmp_path, capsys):
    (tmp_path / "mine.yaml").write_text(content)
    assert command_line.main(["datasets", "--config", str(tmp_path / "mine.yaml")]) == 1
    assert message in capsys.readouterr().err


def test_the_entry_of_a_dataset_follows_from_its_raw_files(mirror, capsys):
    raw_files = [str(mirror / "pima" / file["name"]) for file in datasets.describe("pima")["files"]]
    assert command_line.main(["datasets", "--describe", *raw_files]) == 0
    ((name, entry),) = yaml.safe_load(capsys.readouterr().out).items()
    committed = datasets.describe("pima")
    for key in ("rows", "features", "positives", "fingerprint", "files"):
        assert entry[key] == committed[key]
    assert name == "pima"


def test_the_entry_of_a_dataset_without_a_module_has_only_its_files(tmp_path, capsys):
    for folder in ("mine", "yours"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.csv").write_bytes(b"x,y\n")
    assert command_line.main(["datasets", "--describe", str(tmp_path / "mine/a.csv")]) == 0
    files = yaml.safe_load(capsys.readouterr().out)["mine"]["files"]
    assert files == [{"name": "a.csv", "bytes": 4, "sha256": hashlib.sha256(b"x,y\n").hexdigest()}]
    for paths, message in (
        (["mine/b.csv"], "there is no file"),
        (["mine/a.csv", "yours/a.csv"], "mine and yours are two folders"),
    ):
        assert command_line.main(["datasets", "--describe", *(str(tmp_path / path) for path in paths)]) == 1
        assert message in capsys.readouterr().err


def test_raw_files_that_do_not_hold_the_dataset_are_refused(tmp_path, capsys):
    (tmp_path / "pima").mkdir()
    for file, message in (("diabetes.csv", "pima: "), ("other.csv", "pima also needs the raw file 'diabetes.csv'")):
        (tmp_path / "pima" / file).write_text("1,2\n")
        assert command_line.main(["datasets", "--describe", str(tmp_path / "pima" / file)]) == 1
        assert message in capsys.readouterr().err
