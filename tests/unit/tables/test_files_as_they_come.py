"""What spreadsheets and text files hide is handled, refused with a remedy, or noted; never read as something else."""

import codecs
import gzip
import os
import re
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest

from clusterlets.errors import ClusterletsError
from clusterlets.tables import user_table
from clusterlets.tables.suspects import reason_not_a_feature, twins
from clusterlets.tables.table import Table

TEXT = "g,x,y,z\n" + "".join(f"{'ab'[row % 2]},{row % 7},{row % 5},{row * row % 11}\n" for row in range(12))


@pytest.fixture
def read(tmp_path):
    """A function that reads a file with this content: ``read(content, name) -> (table, remarks)``."""

    def read_content(content, name="t.csv", sensitive="g", **settings):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        reading = {key: settings.pop(key) for key in user_table.READING if key in settings}
        return user_table.read(path, [sensitive], reading=user_table.Reading(**reading), **settings)[:2]

    return read_content


@pytest.mark.parametrize(
    ("content", "settings"),
    [
        (codecs.BOM_UTF8 + TEXT.encode(), {"encoding": "UTF_8"}),
        (codecs.BOM_UTF8 + TEXT.encode(), {"encoding": "cp1252"}),
        (codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), {"encoding": "utf-16-le"}),
        (TEXT.replace("g,x,y,z", 'g, "x", "y", "z"'), {}),
        ("sep=;\r\n" + TEXT.replace(",", ";").replace("\n", "\r\n"), {}),
        (TEXT, {"name": "T.CSV"}),
        (TEXT.replace("\n", ",\n"), {}),
    ],
    ids=["UTF_8", "cp1252", "utf-16-le", "quotes after blanks", "sep line", "capitals", "separators at the ends of lines"],
)
def test_a_text_file_is_read_as_it_stands(read, content, settings):
    table, remarks = read(content, **settings)
    assert table.feature_names == ("x", "y", "z") and table.group_values == (("a",), ("b",)) and not remarks
    assert table.X.tolist() == read(TEXT, "plain.csv")[0].X.tolist()


def test_lines_keep_their_numbers_below_a_line_that_names_the_separator(read):
    with pytest.raises(ClusterletsError, match="t.csv, line 5: column 'x' holds 'old'"):
        read("sep=;\n" + TEXT.replace("a,2,", "a,old,").replace(",", ";"))


def test_a_compressed_file_is_refused(read):
    with pytest.raises(ClusterletsError, match="no text file but compressed; unpack it with gunzip"):
        read(gzip.compress(TEXT.encode()))


def column(cells):
    return "g,x,c\n" + "".join(f'{"ab"[row % 2]},{row % 7},"{cell}"\n' for row, cell in enumerate(cells))


FRACTION = "is read as a fraction; if '.' separates thousands there, use --thousands . --decimal ,"


@pytest.mark.parametrize(
    ("cells", "remark"),
    [
        (["2.155", "950", "1.300", "17"] * 3, f"c: '2.155' {FRACTION}"),
        (["45%", "7 %"] * 6, "c holds text such as '45%'; without percent signs it would be a feature"),
        (["$1,200", "$7", "30 €"] * 4, "c holds text such as '$1,200'; without currency signs it would be a feature"),
        (["60 kg", "71 kg"] * 6, "c holds text such as '60 kg'; without units it would be a feature"),
        (
            ["20200131", "20191201", "20200229"] * 4,
            "c holds dates such as '20200131', read as numbers; --exclude it",
        ),
        (["003", "120"] * 6, "c holds codes such as '003', read as numbers; --exclude leaves them out"),
    ],
)
def test_numbers_in_other_notation_are_noted_once(read, cells, remark):
    remarks = read(column(cells))[1]
    assert remarks.count(remark) == 1 and sum("c holds" in each or "c: " in each for each in remarks) == 1


@pytest.mark.parametrize("cells", [["2.155", "1950"] * 6, ["2.155", "0.95"] * 6, ["0.155", "0.955"] * 6, ["2.15", "7"] * 6])
def test_plain_fractions_are_not_noted(read, cells):
    assert read(column(cells))[1] == []


@pytest.mark.parametrize("cell", ["1,968", "n.d."])
def test_a_cell_that_is_no_number_does_not_hide_a_column_as_an_identifier(read, cell):
    cells = [str(2 * row + 100) for row in range(80)]
    assert "c (whole numbers that hardly repeat)" in read(column(cells), reason_to_skip=reason_not_a_feature)[1][0]
    cells[5] = cell
    with pytest.raises(ClusterletsError, match=f"line 7: column 'c' holds '{cell}'"):
        read(column(cells), reason_to_skip=reason_not_a_feature)


@pytest.fixture
def write_book(tmp_path):
    """A function that writes people to a workbook after ``change(book, sheet)``, and returns its path."""
    openpyxl = pytest.importorskip("openpyxl")

    def write(change, name="people.xlsx"):
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = "People"
        sheet.append(["age", "pay", "city"])
        for row in range(12):
            sheet.append([20 + row * 3 % 17, 1000.0 + row * row, ("Rom", "Bonn")[row % 2]])
        change(book, sheet)
        book.save(tmp_path / name)
        return tmp_path / name

    return write


def fill(sheet, column, value):
    for row in range(2, 14):
        sheet.cell(row, column, value.format(row=row))


def test_capitals_and_whole_numbers_in_excel(write_book):
    table, remarks, *_ = user_table.read(write_book(lambda book, sheet: None, "PEOPLE.XLSX"), ["city"])
    assert table.feature_names == ("age", "pay") and table.X[2].tolist() == [26, 1004] and not remarks
    kept = user_table.read(write_book(lambda book, sheet: None), ["city"], ["age"], keep=["pay"])[3]
    assert kept["pay"].tolist() == [str(1000 + row * row) for row in range(12)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda book, sheet: fill(sheet, 2, "=A{row}*2"),
            r"'pay': the file lacks the result of the formula in B2; open it in Excel",
        ),
        (
            lambda book, sheet: sheet.cell(4, 3, '=IF(A4>30,"Rom","Bonn")'),
            "'city': .* the formula in C4; open it in Excel, and save",
        ),
        (lambda book, sheet: sheet.merge_cells("C3:C6"), "'city': the cells C3:C6 are merged, .*; unmerge them, and fill in"),
    ],
)
def test_cells_whose_values_the_file_lacks_are_refused(write_book, change, message):
    with pytest.raises(ClusterletsError, match=f"people.xlsx, sheet 'People': column {message}"):
        user_table.read(write_book(change), ["city"])


def rewrite(path, change):
    """Write a ZIP again after ``change(name, content)`` of each member, and return the path."""
    with zipfile.ZipFile(path) as archive:
        members = {name: change(name, archive.read(name)) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("lies", [False, True])
def test_a_book_that_unpacks_to_more_than_fits_is_refused_piece_by_piece(write_book, monkeypatch, lies):
    size = 200 * 2**20
    path = rewrite(
        write_book(lambda book, sheet: None),
        lambda name, content: content + b" " * size if name == "xl/workbook.xml" else content,
    )
    if lies:  # the sizes that the file gives are small
        content, real = path.read_bytes(), len(zipfile.ZipFile(path).read("xl/workbook.xml"))
        path.write_bytes(content.replace(real.to_bytes(4, "little"), (99).to_bytes(4, "little")))
    monkeypatch.setattr("clusterlets.tables.cells._MAX_UNPACKED", 2**30 // 20)
    message = "not an intact Excel file .*CRC" if lies else "unpacks to more than 0.05 GB; save the table as CSV"
    tracemalloc.start()
    try:
        with pytest.raises(ClusterletsError, match=message):
            user_table.read(path, ["city"])
        assert tracemalloc.get_traced_memory()[1] < 2**30 // 20
    finally:
        tracemalloc.stop()


def test_a_stray_cell_far_from_the_table_is_refused(write_book):
    with pytest.raises(ClusterletsError, match="the sheet 'People' reaches over A1:XFD1048576; delete stray cells"):
        user_table.read(write_book(lambda book, sheet: sheet.cell(1_048_576, 16_384, 1)), ["city"])


def test_such_cells_in_columns_that_are_left_out_do_no_harm(write_book):
    path = write_book(lambda book, sheet: fill(sheet, 2, "=A{row}*2"))
    assert user_table.read(path, ["city"], exclude=["pay"])[0].feature_names == ("age",)
    assert user_table.read(path, ["city"], ["age"])[0].feature_names == ("age",)


def test_the_first_visible_sheet_with_cells_is_read_and_named(write_book):
    from openpyxl.chart import BarChart, Reference

    def add_sheets(book, sheet):
        hidden = book.create_sheet("Hidden", 0)
        hidden["A1"], hidden.sheet_state = "age", "hidden"
        book.create_sheet("Empty", 1)
        chart = BarChart()
        chart.add_data(Reference(sheet, min_col=1, min_row=1, max_row=9), titles_from_data=True)
        book.create_chartsheet("Chart", 0).add_chart(chart)
        other = book.create_sheet("Other")
        for row in (["size", "city"], [1, "Rom"], [2, "Bonn"], [4, "Rom"]):
            other.append(row)

    path = write_book(add_sheets)
    table, remarks, *_ = user_table.read(path, ["city"])
    assert len(table.X) == 12 and remarks == ["read the sheet 'People'; --sheet names another: Hidden, Other"]
    table, remarks, *_ = user_table.read(path, ["city"], reading=user_table.Reading(sheet="Other"))
    assert table.feature_names == ("size",) and remarks == []
    with pytest.raises(ClusterletsError, match="people.xlsx has no sheet 'May' with cells; its sheets: Hidden, People, Other"):
        user_table.read(path, ["city"], reading=user_table.Reading(sheet="May"))
    with pytest.raises(ClusterletsError, match=r"no sheet 'people' with cells \(did you mean 'People'\?\)"):
        user_table.read(path, ["city"], reading=user_table.Reading(sheet="people"))


SHEET_FAULTS = {
    "column 2 has no name": lambda sheet: [sheet.insert_rows(1), sheet.cell(1, 1, "Figures of May")],
    "row 3: column 'age' holds 'old'": lambda sheet: sheet.cell(4, 1, "old"),
    "row 3: column 'age' is empty": lambda sheet: sheet.cell(4, 1).__setattr__("value", None),
    "has no column 'city'": lambda sheet: sheet.cell(1, 3, "town"),
    "column 'city': it holds fractions": lambda sheet: [sheet.cell(row, 3, row + 0.5) for row in range(2, 14)],
    "every row has the same group": lambda sheet: fill(sheet, 3, "Rom"),
    "no feature varies": lambda sheet: [fill(sheet, column, "1") for column in (1, 2)],
    "has a header but no rows": lambda sheet: sheet.delete_rows(2, 12),
}


@pytest.mark.parametrize("fault", SHEET_FAULTS)
@pytest.mark.parametrize("has_other", [False, True])
def test_an_error_about_a_sheet_names_it_and_the_others_unless_it_was_asked_for(write_book, fault, has_other):
    def change(book, sheet):
        SHEET_FAULTS[fault](sheet)
        if has_other:
            book.create_sheet("Other")["A1"] = "age"

    path, message = write_book(change), rf"people.xlsx, sheet 'People'\W.*{fault}"
    hint = r"\. --sheet names another: Other\. Correct "
    for sheet in (None, "People"):
        for reader in (user_table.read, user_table.read_rows):
            if reader is user_table.read_rows and any(word in fault for word in ("every row", "varies", "fractions")):
                continue  # no faults of a few new rows
            with pytest.raises(ClusterletsError, match=message) as error:
                reader(path, ["city"], ["age", "pay"], user_table.Reading(sheet=sheet))
            assert bool(re.search(hint, str(error.value))) == (has_other and sheet is None)


def test_a_sheet_of_a_text_file_is_refused(read):
    with pytest.raises(ClusterletsError, match="t.csv has no sheets, so --sheet One cannot be one"):
        read(TEXT, sheet="One")


def test_two_features_that_follow_from_each_other_are_named():
    wage = np.array([3.0, 1, 4, 1, 5, 9, 2, 6])
    columns = {"wage": wage, "log": np.log(wage), "debt": -wage, "age": wage[::-1], "one": wage * 0, "two": wage * 0 + 1}
    columns |= {"a": wage > 3, "b": wage <= 3}
    table = Table(
        np.array(list(columns.values()), float).T, np.arange(8) % 2, tuple(columns), (("f",), ("m",)), one_hot=(slice(6, 8),)
    )
    assert twins(table) == ["wage and log", "wage and debt"]


def test_columns_are_named_by_one_rule(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TEXT.replace("g,x", 'g,"a, b"'))

    def features(*options):
        status, output, error = run("cluster", "t.csv", "--sensitive", "g", "-k", "2", *options)
        return error if status else next(line for line in output.splitlines() if line.startswith("features: "))

    assert features("--features", "y", "--features", "z") == features("--features", "y,z") == "features: y, z"
    assert features("--exclude", '"a, b"', "--exclude", "z") == features("--exclude", 'z,"a, b"') == "features: y"
    assert "t.csv has no column 'a'" in features("--features", "a, b")


def test_clustering_the_clusters_again_leaves_out_their_labels_and_keeps_incomes(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(18, 80, 120), "pay": rng.choice(90_000, 120, replace=False), "sex": ["f", "m"] * 60}
    )
    frame.to_csv("people.csv", index=False)
    assert run("cluster", "people.csv", "--sensitive", "sex", "-k", "3", "-o", "labels.csv")[0] == 0
    frame.join(pd.read_csv("labels.csv").astype({"row": int})).to_csv("again.csv", index=False)
    for more in ([], ["--categorical", "onehot"]):
        output = run("cluster", "again.csv", "--sensitive", "sex", "-k", "3", *more)[1]
        assert "\nfeatures: age, pay\n" in output
        assert "keep): row (an identifier, by its name), cluster (labels of another clustering, by its name)\n" in output
        assert "note: features of whole numbers that hardly repeat: pay; --exclude those that are identifiers\n" in output
        frame["cluster"] = np.array(["north", "south"])[rng.integers(2, size=120)]
        frame.join(pd.read_csv("labels.csv")["row"]).to_csv("again.csv", index=False)
    output = run("cluster", "again.csv", "--sensitive", "sex", "-k", "3", "--features", "pay")[1]
    assert "hardly repeat" not in output


@pytest.mark.parametrize("options", [[], ["--no-features"]])
def test_noise_is_no_cluster(tmp_path, monkeypatch, run, options):
    from clusterlets import repair

    monkeypatch.chdir(tmp_path)
    labels = np.arange(24) % 4 - 1
    lines = (f"{'ab'[row % 2]},{row % 7},{label}\n" for row, label in enumerate(labels))
    (tmp_path / "t.csv").write_text("g,x,seg\n" + "".join(lines))
    message = "labels: 6 rows have the label -1, with which DBSCAN and HDBSCAN mark noise, not a cluster. Leave these rows out"
    for command in ("repair",) if options else ("repair", "audit"):
        status, _, error = run(command, "t.csv", "--sensitive", "g", "--labels", "seg", *options)
        assert status == 1 and message in error
    with pytest.raises(ClusterletsError, match="label -1, with which DBSCAN"):
        repair(None, labels, sensitive_features=["a", "b"] * 12)


def test_a_reader_that_closes_the_pipe_prevents_no_file(tmp_path):
    (tmp_path / "t.csv").write_text(TEXT)
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-u", "-m", "clusterlets", "cluster", "t.csv", "--sensitive", "g", "-k", "2", "--save", "m.json"]
    result = subprocess.run(command, cwd=tmp_path, stdout=write_end, stderr=subprocess.PIPE, text=True)
    os.close(write_end)
    assert (result.returncode, result.stderr) == (0, "") and (tmp_path / "m.json").stat().st_size
