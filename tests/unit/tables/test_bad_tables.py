"""Users' tables with common defects are read correctly, or refused in plain words."""

import datetime
import hashlib
import importlib.util
import json
import re
import resource
import struct
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterlets.benchmark.steps.prepare_user_table import prepare_user_table
from clusterlets.errors import ClusterletsError
from clusterlets.estimators import FRAC
from clusterlets.storage import hash_of_file, load_arrays, load_json
from clusterlets.tables import numerals, user_table
from clusterlets.tables.suspects import reason_not_a_feature
from clusterlets.tables.table import fingerprint, scaled

CHECKOUT = Path(__file__).parents[3]
GOOD = "age,rich,city\n31,true,Rom\n45.5,false,Bonn\n29,true,Rom\n"


@pytest.fixture
def read(tmp_path):
    """A function that writes a table and reads it: ``read(content) -> (table, remarks)``."""

    def write_and_read(content, name="people.csv", sensitive=("city",), **settings):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        how = {name: settings.pop(name) for name in user_table.READING if name in settings}
        reading = user_table.Reading(**how)
        return user_table.read(path, list(sensitive), reading=reading, **settings)[:2]

    return write_and_read


@pytest.fixture
def write_parquet(tmp_path):
    """A function that writes columns as Parquet and returns the path."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")

    def write(columns, **settings):
        parquet.write_table(pyarrow.table(columns), tmp_path / "people.parquet", **settings)
        return tmp_path / "people.parquet"

    return write


SAME_TABLE = {
    "line endings of old Macs": GOOD.replace("\n", "\r"),
    "tabs": GOOD.replace(",", "\t"),
    "blank lines": GOOD.replace("\n", "\n\n"),
}


@pytest.mark.parametrize("form", SAME_TABLE)
def test_the_notation_of_a_file_does_not_change_its_table(form, read):
    table, remarks = read(SAME_TABLE[form], "people.tsv" if form == "tabs" else "people.csv")
    expected, _ = read(GOOD)
    assert fingerprint(table) == fingerprint(expected) and remarks == []
    assert (table.feature_names, table.group_names) == (expected.feature_names, expected.group_names)


REFUSED = {
    "NaN": (GOOD.replace("45.5", "NaN"), "people.csv, line 3: column 'age' is empty (cells without a value: 'age' (1))"),
    "a number whose square overflows": (GOOD.replace("29", "1e200"), "line 4: column 'age' holds '1e200'"),
    "text in a numeric column": (GOOD.replace("29", "old"), "line 4: column 'age' holds 'old'"),
    "a missing number": (GOOD.replace("31,", ","), "line 2: column 'age' is empty"),
    "numbers among booleans": (GOOD.replace("false", "3"), "csv: column 'rich' mixes numbers with true and false"),
    "one group": (GOOD.replace("Bonn", "Rom"), "people.csv: every row has the same group, 'Rom'"),
    "a group for each row": (GOOD.replace("true,Rom", "true,Pisa", 1), "every row has a different group"),
    "no feature that varies": ("age,city\n1,a\n1,b\n1,a\n", "no feature varies"),
    "no numeric feature": ("name,city\nx,a\ny,b\nz,a\n", "no numeric or boolean column"),
    "duplicate columns": (GOOD.replace("rich", "age"), "the column name 'age' occurs twice, as columns 1 and 2"),
    "a column without a name": (GOOD.replace("rich", ""), "column 2 has no name; give it one"),
    "a header only": (GOOD.splitlines()[0], "people.csv has a header but no rows"),
    "an empty file": ("", "people.csv is empty"),
    "semicolons": (
        GOOD.replace(",", ";"),
        "only one column, 'age;rich;city'. If the file has another separator, name it: --separator ';' (in a configuration, "
        'separator: ";").',
    ),
    "tabs": (GOOD.replace(",", "\t"), r"""name it: --separator $'\t' (in a configuration, separator: "\t")."""),
    "one column": ("city\na\nb\na\n", "people.csv has only one column, 'city'. Correct"),
    "a short line": (GOOD.replace("29,true,Rom", "29,true"), "people.csv, line 4: 2 cells where 3 are expected"),
    "decimal commas": (GOOD.replace("45.5", "45,5"), "people.csv, line 3: 4 cells where 3 are expected"),
    "an unclosed quotation mark": (GOOD.replace("Bonn", '"Bonn'), "line 3: unexpected end of data; is a quot"),
    "text after a quotation mark": (GOOD.replace("Bonn", '"Bo"nn'), "people.csv, line 3: ',' expected after '\"'"),
    "bytes that are not UTF-8": (GOOD.replace("Bonn", "Köln").encode("latin-1"), "line 3: the byte 0xf6 is not UTF-8"),
    "a bad cell after a quoted line break": ('note,age,city\n"p\nq",1,a\nr,x,b\ns,3,a\n', "csv, line 4: column 'age'"),
    "no sensitive column": (GOOD.replace("city", "town"), "no column 'city'; its columns: age, rich, town"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_bad_table_is_refused_in_plain_words(fault, read):
    content, message = REFUSED[fault]
    with pytest.raises(ClusterletsError) as caught:
        read(content)
    assert message in str(caught.value)
    assert "people.csv or the options, and run again" in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sensitive": ["citty"]}, "'citty' (did you mean 'city'?)"),
        ({"features": ["rich", "agee"]}, "'agee' (did you mean 'age'?)"),
    ],
)
def test_a_misspelt_column_is_refused_with_the_nearest_name(read, settings, message):
    with pytest.raises(ClusterletsError, match=re.escape(f"no column {message}")):
        read(GOOD, **settings)


def test_named_features_keep_their_order_and_must_be_numbers(read):
    table, _ = read(GOOD, features=["rich", "age"])
    assert table.feature_names == ("rich", "age") and table.X[1].tolist() == [0, 45.5]
    with pytest.raises(ClusterletsError, match="line 2: column 'name' holds 'Ann'"):
        read("name,age,city\nAnn,1,a\nBob,2,b\nCem,3,a\n", features=["age", "name"])


ROW_NUMBERS_REMARK = "left out: a column without a name, in which pandas saves row numbers"


def test_row_numbers_that_pandas_saved_as_csv_are_left_out_and_mentioned(read):
    numbered = ",age,rich,city\n0,31,true,Rom\n1,45.5,false,Bonn\n2,29,true,Rom\n"
    table, remarks = read(numbered)
    assert table.feature_names == ("age", "rich") and remarks == [ROW_NUMBERS_REMARK]
    assert read(numbered, features=["age"])[0].feature_names == ("age",)


def test_row_numbers_that_pandas_saved_as_parquet_are_left_out_and_mentioned(write_parquet):
    columns = {"age": [31, 45.5, 29], "city": ["Rom", "Bonn", "Rom"], "__index_level_0__": [2, 0, 1]}
    table, remarks, *_ = user_table.read(write_parquet(columns), ["city"])
    assert table.feature_names == ("age",) and remarks == [ROW_NUMBERS_REMARK]


def table_with(name, cells, separator=","):
    """A table with a numeric feature, the column ``name`` and the groups a and b."""
    lines = [("age", name, "city"), *((str(row), cell, "ab"[row % 2]) for row, cell in enumerate(cells))]
    return "\n".join(separator.join(line) for line in lines)


# In each column, the first cell other than "7" is unusable.
UNUSABLE = {
    "numbers whose square overflows": ["1e307", "7", "-1.5e308"],
    "underscores between thousands": ["1_000", "12_500", "1_000_000"],
    "apostrophes between thousands": ["1'000", "2'000.5", "3'000"],
    "full-width and Arabic digits": ["１２", "٣٤", "5"],
    "a typographic minus sign": ["−5", "−6", "−7"],
    "decimal commas": ["3000,5", "2800,25", "-1,0"],
    "decimal commas and a word": ["3000,5", "2800,25", "unknown"],
    "points between thousands": ["3.000,5", "2.800,25", "1.000.000,0"],
    "commas between thousands": ["3,012.55", "1,234,567"],
    "a comma between thousands": ["3,082", "1,234"],
}


@pytest.mark.parametrize("features", ["numeric", ["pay"]])
@pytest.mark.parametrize("pay", UNUSABLE.values(), ids=UNUSABLE)
def test_a_column_of_unusable_numbers_is_refused(pay, features, read):
    first_bad = next(index for index, cell in enumerate(pay) if cell != "7")
    remedy = {
        "3000,5": "a number with a comma: write decimals with a point, or use --decimal ,",
        "3,082": "a number with a comma: --thousands , if it separates thousands, or --decimal ,",
        **dict.fromkeys(("3.000,5", "3,012.55"), "a number with separators of thousands: name them with --thousands"),
    }.get(pay[first_bad], "")
    message = f"line {first_bad + 2}: column 'pay' holds {pay[first_bad]!r}, {remedy}"
    with pytest.raises(ClusterletsError, match=re.escape(message)):
        read(table_with("pay", pay, separator=";"), separator=";", features=features)


@pytest.mark.parametrize("ids", [["2021_1", "2021_2", "2021_10"], ["_1", "2_", "3__4"]])
def test_identifiers_are_not_read_as_numbers(ids, read):
    table, remarks = read(table_with("id", ids))
    assert table.feature_names == ("age",) and remarks == ["ignored (not numeric): id"]
    with pytest.raises(ClusterletsError, match="line 2: column 'id' holds '.*', which is not a finite number"):
        read(table_with("id", ids), features=["id"])


@given(st.text(alphabet="0123456789_+-.eE infa１٣\u00a0", max_size=7))
def test_only_decimal_numerals_are_numbers(text):
    """The underscore in the last call makes ``numbers`` convert each string by itself, without NumPy."""
    is_numeral = re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?inf", text.strip())
    expected = float(text) if is_numeral else np.nan
    for value in (numerals.parse_number(text), numerals.parse_numbers([text])[0], numerals.parse_numbers(["1_0", text])[1]):
        assert np.array_equal(value, expected, equal_nan=True)


@pytest.mark.parametrize("last_age", ["2", "NA", ""])
def test_a_sensitive_column_with_fractions_is_refused(read, last_age):
    """The estimators refuse such a column in the same words."""
    content = f"pay,age,sex\n0,31,f\n1,45.5,m\n2,29,f\n3,45.5,m\n4,{last_age},f\n"
    message = "it holds fractions such as 45.5; bin it into groups first."
    with pytest.raises(ClusterletsError, match=f"^people.csv, column 'age': {message} Correct "):
        read(content, sensitive=["sex", "age"])
    with pytest.raises(ClusterletsError, match=f"^sensitive_features, column 0: {message}$"):
        FRAC(2).fit(np.arange(4.0)[:, None], sensitive_features=[31, 45.5, 29, 45.5])


def test_a_sparse_column_of_numbers_is_refused_and_not_dropped(read):
    with pytest.raises(ClusterletsError, match=r"line 3: column 'pay' is empty \(cells without a value: 'pay' \(2\)\)"):
        read("age,pay,city\n1,7,a\n2,,b\n3,,a\n")
    message = (
        r"line 3: column 'pay' is empty \(cells without a value: 'pay' \(2\), 'debt' \(1\)\)\. --missing drop leaves out 2 "
        r"of 3 rows, and --missing median fills 3 cells \(in a configuration, missing: drop\)\. Correct "
    )
    with pytest.raises(ClusterletsError, match=message):
        read("age,pay,debt,city\n1,7,1,a\n2,,2,b\n3,,,a\n")


ROWS_OF_PAY = [1234.5, 1000000.0, -7.25]


@pytest.mark.parametrize(
    ("cells", "settings"),
    [
        (["1234,5", "1000000", "-7,25"], {"decimal": ","}),
        (["1.234,5", "1.000.000", "-7,25"], {"decimal": ",", "thousands": "."}),
        (["1,234.5", "1,000,000.0", "-7.25"], {"thousands": ","}),
        (["1_234.5", "1_000_000", "-7.25"], {"thousands": "_"}),
    ],
)
def test_numbers_are_read_with_the_signs_that_are_named(read, cells, settings):
    content = table_with("pay", cells, separator=";")
    assert read(content, separator=";", **settings)[0].X[:, 1].tolist() == ROWS_OF_PAY
    for bad in ("1.5.5", "12,34,567", "1,23.5", "1..2"):
        with pytest.raises(ClusterletsError, match=f"column 'pay' holds '{re.escape(bad)}'"):
            read(table_with("pay", [*cells, bad], separator=";"), separator=";", features=["pay"], **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decimal": ";"}, "decimal sign ';' must be"),
        ({"thousands": "."}, "'.' cannot separate thousands; name another decimal sign"),
        ({"thousands": "0"}, "'0' cannot separate thousands; use one that numbers do not have"),
        ({"encoding": "utf-9"}, "there is no encoding 'utf-9'"),
    ],
)
def test_signs_and_encodings_that_cannot_be_are_refused(read, settings, message):
    with pytest.raises(ClusterletsError, match=message):
        read(GOOD, **settings)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD.replace("Bonn", "Köln").encode("cp1252"), "such as --encoding cp1252"),
        (GOOD.encode("utf-16"), "such as --encoding utf-16"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "is no text file; if it comes from Excel, save it as .xlsx, without a password"),
        (GOOD.encode("utf-16-le"), "people.csv begins with NULs; try --encoding utf-16-le, or save the table as UTF-8"),
        (GOOD.replace(",", ";").replace("3", "3,5").encode(), "only one column, .* name it: --separator ';'"),
        (b"PK\x03\x04\x14\x00", "is no text file; if it comes from Excel, save it as .xlsx, without a password"),
    ],
)
def test_the_advice_about_bytes_that_are_no_utf_8_fits_them(read, content, message):
    with pytest.raises(ClusterletsError, match=message):
        read(content)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "latin-1"])
def test_a_file_is_read_in_its_encoding(read, encoding):
    table, _ = read(GOOD.replace("Bonn", "Köln").encode(encoding), encoding=encoding)
    assert table.group_names == ("Köln", "Rom")


def test_excel_is_the_same_table_as_csv(read, tmp_path):
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"age": [31, 45.5, 29], "rich": [True, False, True], "city": ["Rom", "Bonn", "Rom"]})
    frame.to_excel(tmp_path / "people.xlsx", index=False)
    assert fingerprint(user_table.read(tmp_path / "people.xlsx", ["city"])[0]) == fingerprint(read(GOOD)[0])
    frame.assign(age=[31, None, "old"]).to_excel(tmp_path / "people.xlsx", index=False)
    with pytest.raises(ClusterletsError, match="people.xlsx, sheet 'Sheet1', row 3: column 'age' holds 'old'"):
        user_table.read(tmp_path / "people.xlsx", ["city"])
    (tmp_path / "people.xlsx").write_bytes(b"PK no workbook")
    with pytest.raises(ClusterletsError, match="people.xlsx is not an intact Excel file"):
        user_table.read(tmp_path / "people.xlsx", ["city"])


def test_text_columns_become_features_that_weigh_as_one(read):
    """Worked by hand: of 180 rows, x is in 60 and y in 119. z is in fewer than one in a hundred."""
    kinds = ["x"] * 60 + ["y"] * 119 + ["z"]
    content = "age,kind,name,city\n" + "".join(f"{row},{kinds[row]},n{row},{'ab'[row % 2]}\n" for row in range(180))
    table, remarks = read(content, one_hot=True)
    assert table.feature_names == ("age", "kind = x", "kind = y", "kind = other")
    assert table.X[:, 1:].sum(axis=0).tolist() == [60, 119, 1]
    assert remarks == ["left out (text that hardly ever repeats, or never varies): name"]
    variances = scaled(table, "standard").var(axis=0)
    assert variances[0] == pytest.approx(1) and variances[1:].sum() == pytest.approx(1)
    shares = np.array([60, 119, 1]) / 180
    assert variances[1:] == pytest.approx(shares * (1 - shares) / (shares * (1 - shares)).sum())


def test_rare_values_join_a_value_that_is_called_other(read):
    kinds = ["x"] * 60 + ["other"] * 60 + ["y"] * 59 + ["z"]
    table, _ = read("age,kind,city\n" + "".join(f"{row},{kinds[row]},{'ab'[row % 2]}\n" for row in range(180)), one_hot=True)
    assert table.feature_names == ("age", "kind = x", "kind = y", "kind = other")
    assert table.X[:, 1:].sum(axis=0).tolist() == [60, 59, 61]


@pytest.mark.parametrize(
    ("missing", "ages", "n_missing", "expected"),
    [
        ("drop", [1, 4, 5], 0, ["2 of 5 rows lack a value and were left out: age, kind"]),
        (
            "median",
            [1, 3.5, 3, 4, 5],
            1,
            [
                "cells without a value, filled with the median of their column (in text, with 'missing'): age (1), kind (1)",
            ],
        ),
    ],
)
def test_gaps_are_dropped_or_filled(read, missing, ages, n_missing, expected):
    table, remarks = read("age,kind,city\n1,x,a\n,y,b\n3,?,a\n4,y,b\n5,x,a\n", one_hot=True, missing=missing)
    assert table.X[:, 0].tolist() == ages and remarks == expected
    added = dict(zip(table.feature_names, table.X.T, strict=True))
    assert added.keys() - {"kind = missing"} == {"age", "kind = x", "kind = y"}  # a dropped row leaves no feature behind
    assert added.get("kind = missing", np.zeros(1)).sum() == n_missing


def test_dates_in_text_are_no_features(read):
    dates = ("2001-02-03", "2001-02-04 00:00:00", "", "2001-02-03", "2001-02-04")
    lines = [f"{row},{date},{'yx'[row % 2]},{'ab'[row % 2]}\n" for row, date in enumerate(dates)]
    table, remarks = read("age,start,kind,city\n" + "".join(lines), one_hot=True)  # the gap is no error
    assert table.feature_names == ("age", "kind = x", "kind = y") and remarks == ["left out (dates): start"]
    for other in ("3.2.2001", "3/2/2001", "2001/2/3"):
        assert read(f"age,start,city\n1,{other},a\n2,{other},b\n3,{other},b\n", one_hot=True)[0].feature_names == ("age",)
    words = "".join(lines).replace("2001-02-03", "spring")
    assert "start = spring" in read("age,start,kind,city\n" + words, one_hot=True, missing="median")[0].feature_names


def test_an_unknown_column_is_answered_with_the_ten_nearest_names(read):
    names = [f"feature_{number}" for number in range(40)]
    content = ",".join([*names, "city"]) + "\n" + "\n".join(",".join(["1"] * 40 + [city]) for city in "aab")
    with pytest.raises(ClusterletsError, match="no column 'feature_77' .*; its columns: feature_7, feature_17, .* and 31 more"):
        read(content, features=["feature_77"])


def test_names_that_look_the_same_are_told_apart_by_their_code_points(read):
    composed, decomposed = "Größe", "Gro\u0308ße"
    content = f"{decomposed},Alter,city\n1,1,a\n2,3,b\n4,4,a\n"
    hint = re.escape(rf"(did you mean '{decomposed}', which is 'Gro\u0308\xdfe' and not 'Gr\xf6\xdfe'?)")
    with pytest.raises(ClusterletsError, match=rf"no column '{composed}' {hint}"):
        read(content, features=[composed])
    with pytest.raises(ClusterletsError, match=r"no column 'Ö' \(did you mean 'O\u0308', which is "):
        read(content.replace("city", "O\u0308"), sensitive=["Ö"])
    with pytest.raises(ClusterletsError, match=r"no column 'größe' \(did you mean 'Größe'\?\)"):
        read(content.replace(decomposed, composed), features=["größe"])


@pytest.mark.parametrize(
    ("decimal", "cell", "remedy"),
    [
        (".", "374,560", "with a comma: --thousands , if it separates thousands, or --decimal , (in a configuration"),
        (",", "374.560", "with a point: --thousands . if it separates thousands, or --decimal . (in a configuration"),
        (".", "374,5", "with a comma: write decimals with a point, or use --decimal , "),
        (",", "374.5", "with a point: write decimals with a comma, or use --decimal . "),
        (",", "1,140.16", "with separators of thousands: name them"),
        (",", "1_140,5", "with underscores: leave them out"),
        (",", "−3,5", "in other characters: write it with 0 to 9, a comma and a hyphen"),
        (".", "9" * 101, "which is not a finite number below 1e+100"),
        (",", "9" * 101 + ",5", "which is not a finite number below 1e+100"),
    ],
)
def test_a_number_in_another_notation_is_refused_with_the_options_that_read_it(read, decimal, cell, remedy):
    content = f"pay;age;city\n1;1;a\n{cell};3;b\n4;4;a\n"
    message = f"line 3: column 'pay' holds {re.escape(repr(cell[:60]))}, .*{re.escape(remedy)}"
    with pytest.raises(ClusterletsError, match=message):
        read(content, decimal=decimal, separator=";")


def test_constant_features_stay_and_are_mentioned(read):
    table, remarks = read("age,one,city\n1,1,a\n2,1,b\n3,1,a\n")
    assert table.feature_names == ("age", "one") and remarks == ["features that never vary: one"]


def test_rows_without_a_sensitive_value_are_left_out_or_form_groups(read):
    content = "age,city\n1,NA\n2,\n3,Rom\n4,Bonn\n5,none\n6,Rom\n7,nan\n"
    table, remarks = read(content)
    assert table.group_names == ("Bonn", "Rom") and table.X[:, 0].tolist() == [3, 4, 6]
    note = "(NA, nan, none; --missing-group group keeps them)"
    assert remarks == [f"4 of 7 rows have no sensitive value {note} and were left out"]
    table, remarks = read(content, missing_group="group")
    assert table.group_names == ("Bonn", "NA", "Rom", "missing", "none") and remarks == []
    assert table.group_counts.tolist() == [1, 1, 2, 2, 1]


def test_many_names_of_groups_with_odd_characters_are_kept(read):
    odd = ["Zürich", "São Paulo", 'say "hi"', "Cork, Ireland", "rate {pct}", "=1+1", "a:b|c", "東京", "50 %", "x" * 300]
    names = [*odd, *(f"town {row:03}" for row in range(290))]
    table, _ = read(pd.DataFrame({"age": range(2 * len(names)), "city": names * 2}).to_csv(index=False))
    assert table.group_names == tuple(sorted(names)) and set(table.group_counts) == {2}
    assert [table.group_names[code] for code in table.groups] == names * 2


CONTROLS = ["\0", "\x1b", "\n", "\u2028", "\uffff"]


@pytest.mark.parametrize("control", CONTROLS, ids=ascii)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_control_characters_are_refused_in_names_of_columns_and_groups(control, form, tmp_path):
    if form == "parquet":
        pytest.importorskip("pyarrow")

    def write_and_read(columns, **settings):
        path, frame = tmp_path / f"people.{form}", pd.DataFrame(columns)
        if form == "csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path)
        return user_table.read(path, ["city"], **settings)[0]

    bad, message = f"a{control}b", f"U+{ord(control):04X}, not allowed in names"
    ages = {"age": [1, 2, 3, 4]}
    with pytest.raises(ClusterletsError, match=rf"(line 4|row 3): column 'city': .* control character {re.escape(message)}"):
        write_and_read(ages | {"city": ["x", "y", bad, bad]})
    cities = {"city": ["x", "y", "x", "y"]}
    for values in ([1, 2, 3, 4], ["p", "q", "r", "s"]):  # a feature, and a text column that a remark would name
        with pytest.raises(ClusterletsError, match=rf"people.{form}: the column name .* {re.escape(message)}"):
            write_and_read({bad: values} | ages | cities)
        assert write_and_read({bad: values} | ages | cities, features=["age"]).feature_names == ("age",)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ClusterletsError, match="there is no file"):
        user_table.check_file(tmp_path / "no.csv")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("people.xls", "has an unknown format"),
        ("people.xlsx", "needs the package openpyxl"),
        ("people.parquet", "needs the package pyarrow"),
    ],
)
def test_a_file_of_an_unsupported_format_is_refused_unopened(tmp_path, monkeypatch, name, message):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)  # as if no package were installed
    (tmp_path / name).touch()
    with pytest.raises(ClusterletsError, match=message):
        user_table.check_file(tmp_path / name)


def test_a_missing_number_in_parquet_is_named_by_its_row(write_parquet):
    path = write_parquet({"age": [31, None, 29], "city": ["Rom", "Bonn", "Rom"]})
    with pytest.raises(ClusterletsError, match="people.parquet, row 2: column 'age' is empty"):
        user_table.read(path, ["city"])


@pytest.mark.parametrize("n_bits", [1, pytest.param(8, marks=pytest.mark.slow)])
def test_a_flipped_bit_of_each_byte_of_a_parquet_file_gives_a_readable_error_or_a_table(write_parquet, n_bits):
    days = [datetime.date(2020, 1, day) for day in (1, 2, 3)]
    columns = {"age": [31, 45.5, 29], "city": ["Röm", "Bonn", "Röm"], "day": days}
    path = write_parquet(columns, store_schema=False, write_statistics=False)
    whole = path.read_bytes()
    for position, bit in product(range(len(whole)), range(n_bits)):
        flipped = bytearray(whole)
        flipped[position] ^= 1 << (position + bit) % 8
        path.write_bytes(flipped)
        try:
            assert len(user_table.read(path, ["city"])[0].X) <= 3
        except ClusterletsError as error:
            assert "\n" not in str(error)


def test_checksums_inside_a_parquet_file_are_checked(write_parquet):
    columns = {"age": [31, 45.5, 29], "city": ["Rom", "Bonn", "Rom"]}
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    path = write_parquet(columns, **plain, write_page_checksum=True)
    whole = bytearray(path.read_bytes())
    whole[whole.index(struct.pack("<d", 45.5)) + 5] ^= 1  # flips a bit of the number
    path.write_bytes(whole)
    with pytest.raises(ClusterletsError, match="people.parquet is not an intact Parquet file .*CRC"):
        user_table.read(path, ["city"])


@pytest.mark.parametrize(
    ("date_type", "far"), [("date32[day]", 2**31 - 1), ("timestamp[s]", 2**40), ("timestamp[ns]", 2**63 - 1)]
)
def test_dates_beyond_pythons_range_are_text(date_type, far, write_parquet):
    pyarrow = pytest.importorskip("pyarrow")
    dates = pyarrow.array([0, far, 0, None], type=pyarrow.type_for_alias(date_type))
    path = write_parquet({"age": [1, 2, 3, 4], "born": dates, "city": ["a", "b", "a", "b"]}, version="2.6")
    table, remarks, *_ = user_table.read(path, ["city"])
    assert table.feature_names == ("age",) and remarks == ["ignored (not numeric): born"]
    table, remarks, *_ = user_table.read(path, ["born"])
    assert sorted(table.group_counts.tolist()) == [1, 2] and "1970-01-01" in " ".join(table.group_names)
    assert "1 of 4 rows has no sensitive value and was left out" in remarks


SETTINGS = json.dumps({"sensitive": ["city"], "features": "numeric", "separator": None, "scaling": "standard"})


def test_the_step_writes_the_table_and_its_description(tmp_path):
    table, npz_path, json_path = tmp_path / "people.csv", tmp_path / "p.npz", tmp_path / "p.json"
    table.write_text(GOOD)
    prepare_user_table("people", str(table), SETTINGS, str(npz_path), str(json_path))
    arrays, description = load_arrays(npz_path), load_json(json_path)
    assert arrays["group_values"].tolist() == [["Bonn"], ["Rom"]] and np.allclose(arrays["X"].mean(axis=0), 0)
    assert description["groups"] == {"Bonn": 1, "Rom": 2} and description["sensitive"] == "city"
    assert (description["rows"], description["features"], description["source"]) == (3, 2, str(table))
    assert description["source_sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()


def test_the_step_refuses_a_table_that_changed_since_the_plan(tmp_path):
    table = tmp_path / "people.csv"
    table.write_text(GOOD)
    outputs = (str(tmp_path / "p.npz"), str(tmp_path / "p.json"))
    planned_hash = hash_of_file(table)
    prepare_user_table("people", str(table), SETTINGS, *outputs, sha256=planned_hash)
    table.write_text(GOOD.replace("29", "28"))
    with pytest.raises(ClusterletsError, match="people.csv changed while the workflow ran. Run the same command again."):
        prepare_user_table("people", str(table), SETTINGS, *outputs, sha256=planned_hash)


@pytest.mark.slow
def test_a_million_rows_are_read_in_seconds_and_little_memory(tmp_path):
    table = tmp_path / "people.csv"
    with open(table, "w") as file:
        file.write("a,b,c,d,city\n")
        file.writelines(f"{row},{row % 97}.5,{row % 7},{row % 2},town {row % 30}\n" for row in range(10**6))
    command = [
        sys.executable,
        "-m",
        "clusterlets.benchmark.steps",
        "prepare-user-table",
        "--name",
        "people",
        "--table",
        str(table),
    ]
    outputs = ["--npz-path", str(tmp_path / "p.npz"), "--json-path", str(tmp_path / "p.json")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, "--settings", SETTINGS, *outputs], cwd=CHECKOUT, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    description = json.loads((tmp_path / "p.json").read_text())
    assert (description["rows"], description["features"], len(description["groups"])) == (10**6, 4, 30)
    assert after.ru_utime - before.ru_utime < 20  # seconds; 5 were measured
    assert after.ru_maxrss < 2_000_000  # kB; 350,000 were measured


def messy_line(row):
    """Line ``row`` of a table with empty cells, postcodes and identifiers."""
    pay = "" if row in (3, 8) else row * 1.5
    city = "" if row == 5 else "ab"[row % 2]
    return f"{20 + row % 40},{pay},{1000 + row % 7},{900 + row * 2},{city}\n"


MESSY = "age,pay,zip,member,city\n" + "".join(messy_line(row) for row in range(60))


def test_identifiers_and_postcodes_are_left_out_on_request_and_mentioned(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(MESSY)
    settings = {"reading": user_table.Reading(missing="drop"), "reason_to_skip": reason_not_a_feature}
    table, remarks, *_ = user_table.read(path, ["city"], **settings)
    assert table.feature_names == ("age", "pay")
    reasons = "zip (a postcode, by its name), member (whole numbers that hardly repeat)"
    assert f"left out (--features names columns to keep): {reasons}" in remarks
    assert user_table.read(path, ["city"], ["zip", "member"], **settings)[0].feature_names == ("zip", "member")
