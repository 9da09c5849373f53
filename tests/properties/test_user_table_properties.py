"""Of any users' table, every value that is read equals the cell of the file, or the file is refused in one line."""

import csv
import datetime
import decimal
import io
import re
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clusterlets.errors import ClusterletsError
from clusterlets.tables import user_table


def any_of(*values):
    return st.sampled_from(values)


#: Strings that programs often handle wrongly.
ODD_STRINGS = any_of(
    *("", " ", "-", "--", "0", "-1", "1e400", "nan", "inf", "1_000", "٣", "²", "true", "null", "{k}", "{", "$(touch hit)"),
    *("a\nb", "a\tb", "é", "漢", "a'b", 'a"b', "~/x", "../x", "*", "%s", "a,b", "=1+1", "\\", "a" * 300),
)
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
BOOLEANS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}

# Strategies for the cells of a column, by kind.
CELLS = {
    "whole": st.integers(-(10**6), 10**6).map(str),
    "real": st.floats(allow_nan=False, allow_infinity=False).map(repr) | any_of("+5", ".5", "5.", "-0", " 7 ", "1e3", "1E-3"),
    "boolean": any_of("true", "False", "yes", "NO", "true"),
    "text": st.text(max_size=4) | ODD_STRINGS,
    "empty": st.just(""),
    "odd": any_of("1,5", "1_000", "nan", "-inf", "1e999", "٣", "0x10", "1e160", "5 000", "1e-200", "true ", "１", "1e5_0"),
}


@pytest.fixture(autouse=True, scope="module")
def work_in_an_empty_folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("tables"))
        yield


@st.composite
def column_cells(draw, n_rows):
    """The cells of one column: all of one kind, or sometimes one of a different kind."""
    cells = draw(st.lists(CELLS[draw(st.sampled_from([*CELLS, *["whole", "real"] * 5]))], min_size=n_rows, max_size=n_rows))
    if cells and draw(any_of(False, False, False, True)):
        cells[draw(st.integers(0, n_rows - 1))] = draw(st.one_of(list(CELLS.values())))
    return cells


@st.composite
def tables(draw):
    """A table for a text file, as (header, rows, names of the sensitive columns)."""
    n_rows = draw(st.integers(0, 9))
    is_simple = draw(any_of(False, True, True))  # if not, names can be almost any text, and groups can be missing
    names = draw(
        st.lists(any_of(*"xyzw") if is_simple else ODD_STRINGS | st.text(max_size=5), min_size=1, max_size=4, unique=True)
    )
    features = [draw(column_cells(n_rows)) for _ in names]
    sensitive = draw(any_of(["city"], ["sex"], ["city", "sex"]))
    values = any_of("a", "b") if is_simple else any_of("a", "b", " a", "", "ü", "0", "NA")
    groups = [draw(st.lists(values, min_size=n_rows, max_size=n_rows)) for _ in sensitive]
    header, columns = [*names, *sensitive], [*features, *groups]
    order = draw(st.permutations(range(len(header))))
    return [header[index] for index in order], list(zip(*(columns[index] for index in order), strict=True)), sensitive


def read_if_accepted(path, sensitive, **options):
    try:
        return user_table.read(Path(path), sensitive, reading=user_table.Reading(**options))[:3]
    except ClusterletsError as error:
        assert "\n" not in str(error) and path in str(error) and len(str(error)) < 3000, str(error)
        return None


def value_of(cell):
    """The number that a cell stands for, or None."""
    if cell.lower() in BOOLEANS:
        return BOOLEANS[cell.lower()]
    return float(cell) if NUMBER.fullmatch(cell) else None


def assert_equals_file(table, remarks, row_numbers, header, rows, sensitive):
    """Assert that the table equals the file's cells in all complete rows, and that the remarks name every column left out.

    ``row_numbers`` are those of the complete rows, which have a value in every sensitive column.
    """
    header = [name.strip() for name in header]
    records = [dict(zip(header, row, strict=True)) for row in rows]
    complete_rows = [row for row in records if all(row[name].strip() not in ("", "NA") for name in sensitive)]
    assert [records[number] for number in row_numbers] == complete_rows
    assert table.X.shape == (len(complete_rows), len(table.feature_names)) and np.isfinite(table.X).all()
    for name, column in zip(table.feature_names, table.X.T, strict=True):
        assert column.tolist() == [value_of(row[name].strip()) for row in complete_rows]
    groups = [table.group_names[group] for group in table.groups]
    assert groups == [" + ".join(row[name].strip() for name in sensitive) for row in complete_rows]
    left_out = set(header) - set(table.feature_names) - set(sensitive)
    assert all(any(name in remark for remark in remarks) for name in left_out)
    assert len(complete_rows) == len(records) or any("left out" in remark for remark in remarks)


@settings(max_examples=150)
@given(
    tables(),
    any_of(*",;\t| "),
    any_of("\n", "\r\n"),
    any_of(".csv", ".tsv"),
    any_of(csv.QUOTE_MINIMAL, csv.QUOTE_ALL),
    any_of("utf-8", "utf-8", "utf-8-sig", "latin-1"),
)
def test_a_text_file_is_read_cell_by_cell_or_refused(table, separator, line_end, suffix, quoting, encoding):
    header, rows, sensitive = table
    assume("\0" not in "".join(map("".join, [header, *rows])))
    buffer, path = io.StringIO(), f"t{suffix}"
    writer = csv.writer(buffer, delimiter=separator, lineterminator=line_end, quoting=quoting)
    writer.writerows([header, *rows])
    Path(path).write_bytes(buffer.getvalue().encode(encoding, "replace"))
    result = read_if_accepted(path, sensitive, separator=separator)
    if result:
        text = Path(path).read_bytes().decode("utf-8-sig")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
        header, *rows = [row for row in reader if row]
        assert_equals_file(*result, header, rows, sensitive)


PIECES = any_of(b"a,city\n", b"1,x\n", b"2,y\n", b'"', b",", b"\n", b"\r", b"\0", b"\xef\xbb\xbf", b"\xff")


@given(st.lists(st.binary(max_size=3) | PIECES).map(b"".join))
def test_any_bytes_are_read_or_refused(content):
    Path("t.csv").write_bytes(content)
    read_if_accepted("t.csv", ["city"])


# Strategies for the values of a Parquet column, by type.
PARQUET_VALUES = {
    pyarrow.int64(): st.integers(-(2**63), 2**63 - 1),
    pyarrow.int8(): st.integers(-128, 127),
    pyarrow.uint64(): st.integers(0, 2**64 - 1),
    pyarrow.float64(): st.floats(),
    pyarrow.float32(): st.floats(width=32),
    pyarrow.bool_(): st.booleans(),
    pyarrow.string(): st.text(max_size=4) | ODD_STRINGS,
    pyarrow.binary(): st.binary(max_size=3),
    pyarrow.date32(): st.dates(),
    pyarrow.timestamp("us"): st.datetimes(min_value=datetime.datetime(1700, 1, 1)),
    pyarrow.duration("us"): st.timedeltas(datetime.timedelta(0), datetime.timedelta(9)),
    pyarrow.list_(pyarrow.int64()): st.lists(st.integers(0, 9), max_size=2),
    pyarrow.decimal128(9, 2): st.decimals(-99, 99, places=2),
    pyarrow.dictionary(pyarrow.int8(), pyarrow.string()): any_of("a", "b"),
    pyarrow.null(): st.none(),
}


@st.composite
def parquet_columns(draw):
    """The columns of a Parquet file, as (type, values) by name. One is "city", the others are named after their type."""
    n_rows = draw(st.integers(0, 6))
    groups = draw(st.lists(any_of("a", "b", None), min_size=n_rows, max_size=n_rows))
    columns = {"city": ("string", groups)}
    types = draw(st.lists(st.sampled_from(list(PARQUET_VALUES)), min_size=1, max_size=4))
    for number, type_ in enumerate(types):
        values = PARQUET_VALUES[type_] | st.none() if draw(any_of(False, False, True)) else PARQUET_VALUES[type_]
        columns[f"{type_} {number}"] = (str(type_), draw(st.lists(values, min_size=n_rows, max_size=n_rows)))
    return columns


def write_parquet(columns):
    """Write these columns to t.parquet, and return them as a table of pyarrow."""
    types = {str(type_): type_ for type_ in PARQUET_VALUES}
    table = pyarrow.table({name: pyarrow.array(values, types[type_name]) for name, (type_name, values) in columns.items()})
    pyarrow.parquet.write_table(table, "t.parquet")
    return table


@given(parquet_columns())
def test_a_parquet_file_is_read_value_by_value_or_refused(columns):
    source = write_parquet(columns)
    result = read_if_accepted("t.parquet", ["city"])
    if not result:
        return
    table, remarks, _ = result
    complete_rows = [row for row in source.to_pylist() if (row["city"] or "").strip()]
    for name, column in zip(table.feature_names, table.X.T, strict=True):
        cells = [row[name] for row in complete_rows]
        assert all(isinstance(cell, (int, float, bool, decimal.Decimal, str)) for cell in cells), name
        # A double cannot hold all digits of a number above 2^53.
        assert column.tolist() == [
            float(cell) if not isinstance(cell, str) else BOOLEANS.get(cell.lower(), float(cell)) for cell in cells
        ]
    assert all(name in table.feature_names or any(name in remark for remark in remarks) for name in source.column_names[1:])


@settings(max_examples=50)
@given(parquet_columns(), st.floats(0, 1))
def test_a_truncated_parquet_file_is_refused(columns, fraction):
    write_parquet(columns)
    content = Path("t.parquet").read_bytes()
    Path("t.parquet").write_bytes(content[: int(fraction * (len(content) - 1))])
    assert read_if_accepted("t.parquet", ["city"]) is None
