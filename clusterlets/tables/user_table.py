"""Read a user's own table from CSV, TSV, Excel or Parquet. Error messages name the line or row, and the column.

Nothing is guessed silently: a column of numbers with a few cells of text, or with decimal commas, is an error. It is not
read as text.
"""

import codecs
import functools
import importlib.util
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from clusterlets.algorithms.checks import LARGEST, MAX_GROUPS, check_groups
from clusterlets.errors import ClusterletsError, did_you_mean, nearest_names
from clusterlets.tables import numerals
from clusterlets.tables.cells import as_text, damage_as_bad_data, read_sheet, rows_of_text
from clusterlets.tables.table import BadData, Table, check, check_name, table_of_groups
from clusterlets.text import first_of

NUMERIC = "numeric"  # in place of a list of features: every numeric or boolean column
SEPARATORS = {".csv": ",", ".tsv": "\t"}
#: The remark about text columns that are no features begins with this.
IGNORED_TEXT = "ignored (not numeric)"

# The library that reads a format, and the extra that installs it.
_LIBRARIES = {".xlsx": ("openpyxl", "tables"), ".parquet": ("pyarrow", "data")}
_PANDAS_INDEX = " "  # our name for the unnamed column in which pandas saves its index; a stripped name cannot equal it
_BOOLEANS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
_MISSING_MARKS = {"", "?", "-", ".", "na", "n/a", "#n/a", "nan", "<na>", "nat", "none", "null"}
_GAPS = {"", "nan", "<na>", "nat"}  # marks that no person would choose as the name of a group
_MAX_LISTED = 60  # columns that a remark names
# Text that people read as numbers, by what would have to leave.
_NOTATIONS = {
    "percent signs": re.compile(r"[+-]?\d[\d.,]*\s*%"),
    "currency signs": re.compile(r"[+-]?[$€£¥]\s*\d[\d.,]*|[+-]?\d[\d.,]*\s*[$€£¥]"),
    "units": re.compile(r"[+-]?\d[\d.,]*\s*[A-Za-zµ°][A-Za-zµ°²³/]{0,4}"),
}
_CODE = re.compile("0[0-9]+")
_DATE = re.compile(r"\d{4}([-/.])\d\d?\1\d\d?\b|\d\d?([-/.])\d\d?\2\d{4}\b")
_COMPACT_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_SEPARATOR_LINE = re.compile(r"sep=([^\r\n])(?=\r|\n)", re.IGNORECASE)
_MIN_LEVEL = 0.01  # smallest share of rows of a text value with a feature of its own
_SIGNS = {".": "point", ",": "comma"}
# Patterns of cells that people read as numbers, each with a remedy for the message, where D is the decimal sign and O the other
# one. A column of such cells is not text.
_MISSPELT_NUMBERS = {
    r"[+-]?\d{1,3}[O]\d{3}": "a number with a {other}: --thousands {O} if it separates thousands, or --decimal {O} (in a "
    "configuration, thousands or decimal)",
    r"[+-]?\d{1,3}(?:([,.'’ \u00a0\u202f])\d{3})(?:\1\d{3})*(?:[.,]\d+)?": "a number with separators of thousands: name them "
    "with --thousands and --decimal (in a configuration, thousands and decimal)",
    r"[+-]?\d*[O]\d+": "a number with a {other}: write decimals with a {decimal}, or use --decimal {O} (in a configuration, "
    "decimal)",
    r"[+-]?\d{1,3}(?:_\d{3})+(?:[D]\d+)?": "a number with underscores: leave them out, or use --thousands _",
    r"[+\-−]?\d+(?:[D]\d+)?": "a number in other characters: write it with 0 to 9, a {decimal} and a hyphen",
}


@dataclass(frozen=True)
class Reading:
    """How to read a file.

    Attributes
    ----------
    separator : str or None
        Between cells: one character, except a quotation mark or line end. By default a comma, and in ``.tsv`` files a tab.
    decimal, thousands : str
        The decimal sign, ``.`` or ``,``, and the sign between thousands; by default there is none.
    encoding : str
        Of text files.
    sheet : str or None
        Of an Excel file; by default the first visible one with cells.
    missing : {"error", "drop", "median"}
        A feature without a value is an error, leaves out its row, or is filled with the median of its column.
    missing_group : {"drop", "group"}
        Whether rows without a sensitive value are left out, or form a group.
    """

    separator: str | None = None
    decimal: str = "."
    thousands: str | None = None
    encoding: str = "utf-8"
    sheet: str | None = None
    missing: str = "error"
    missing_group: str = "drop"

    def check(self) -> None:
        """Raise ClusterletsError for signs that cannot be told apart, or for an unknown encoding."""
        separator = self.separator
        if separator is not None and (len(separator) != 1 or separator in '"\r\n\0'):
            raise ClusterletsError(
                f"the separator {separator!r} cannot separate cells; use one character, except a quotation mark or line end."
            )
        if self.decimal not in (".", ","):
            raise ClusterletsError(f"the decimal sign {self.decimal!r} must be a point or a comma.")
        if self.thousands is not None and (len(self.thousands) != 1 or self.thousands in f'{self.decimal}0123456789+-eE"'):
            remedy = "name another decimal sign" if self.thousands == self.decimal else "use one that numbers do not have"
            raise ClusterletsError(f"the sign {self.thousands!r} cannot separate thousands; {remedy} (--decimal, --thousands).")
        try:
            "".encode(self.encoding)
        except LookupError:
            raise ClusterletsError(f"there is no encoding {self.encoding!r}; use utf-8 or cp1252, for example.") from None

    def numbers(self, cells: Sequence[str]) -> np.ndarray:
        """The cells (n,) as numbers, NaN for what is none."""
        if self.decimal == "." and not self.thousands:
            return numerals.parse_numbers(cells)
        decimal, thousands = re.escape(self.decimal), self.thousands or ""
        whole = rf"[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+|[0-9]+" if thousands else "[0-9]+"
        number = re.compile(rf"\s*[+-]?(?:(?:{whole})(?:{decimal}[0-9]*)?|{decimal}[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
        return numerals.parse_numbers(
            [cell.replace(thousands, "").replace(self.decimal, ".") if number.fullmatch(cell) else "_" for cell in cells]
        )


#: Names of the settings of a :class:`Reading`.
READING = tuple(field.name for field in fields(Reading))


def check_exists(path: Path) -> None:
    """Raise ClusterletsError unless there is a file at this path."""
    if not path.is_file():
        raise ClusterletsError(f"there is no file {path}; paths are relative to the folder where the command runs.")


def check_file(path: Path) -> None:
    """Raise ClusterletsError unless the file exists and :func:`read` supports its format. The file is not opened."""
    check_exists(path)
    ending = path.suffix.lower()
    if ending not in (*SEPARATORS, *_LIBRARIES):
        raise ClusterletsError(f"{path} has an unknown format; its name must end in {', '.join((*SEPARATORS, *_LIBRARIES))}.")
    library, extra = _LIBRARIES.get(ending, ("", ""))
    if library and importlib.util.find_spec(library) is None:
        raise ClusterletsError(
            f"{path} needs the package {library}, which is not installed. Install it with "
            f"`python -m pip install '.[{extra}]'` in a checkout of the project, or save the table as CSV."
        )


def read(
    path: Path,
    sensitive: Sequence[str],
    features: str | Sequence[str] = NUMERIC,
    reading: Reading = Reading(),
    *,
    exclude: Sequence[str] = (),
    keep: Sequence[str] = (),
    one_hot: bool = False,
    reason_to_skip: Callable[[str, np.ndarray], str | None] | None = None,
    min_groups: int = 2,
    advice: str = "",
) -> tuple[Table, list[str], np.ndarray, dict[str, np.ndarray]]:
    """Read a table. Return it with remarks on how it was read, with each row's number in the file, counted from 0, and with
    the cells (n,) of the columns to keep, as text.

    Parameters
    ----------
    path : Path
        CSV or TSV with a header line, a sheet of an Excel file, or Parquet.
    sensitive : names
        The columns whose values are the groups. With several columns, each combination of values is a group. A column of
        fractional numbers, or with too many values to be groups, is an error.
    features : names, or "numeric"
        Columns to cluster by. By default, every column of numbers or booleans that is not sensitive.
    reading : Reading
        How to read the file.
    exclude, keep : names
        Columns that are no features.
    one_hot : bool
        Whether text columns are features too: one for each value, and one for all rare values.
    reason_to_skip : callable, optional
        Called with the name and the values (NaN if missing; none of a text column) of each column that may be a feature, unless
        ``features`` are named. It returns why the column is not one, or None.
    min_groups : int
        Smallest number of groups; fewer are an error.
    advice : str
        A sentence to add to the message about unusable cells. It names the caller's options that leave them out.

    Raises
    ------
    ClusterletsError
        If the file cannot be used. The message names the file, the line and the column.
    """
    with _bad_data_as_user_error(path) as hints:
        source = _Source.open(path, sensitive, features, reading, hints, exclude, keep)
        sensitive_values, has_group, group_remarks = source.groups(sensitive)
        for name, values in sensitive_values.items():
            with _at(f"{source.name}, column {name!r}:"):
                check_groups(dict.fromkeys(values[has_group].tolist()), int(has_group.sum()))
        columns, remarks = source.columns(features), source.remarks + source.remarks_on_unused(features)
        text_columns = [column for column in columns if column.is_text] if one_hot or features == NUMERIC else []
        columns = [column for column in columns if column not in text_columns]
        dates = [column for column in text_columns if one_hot and column.holds_dates]
        if dates:
            text_columns = [column for column in text_columns if column not in dates]
            remarks.append(f"left out (dates): {', '.join(column.name for column in dates)}")
        if features == NUMERIC:
            chosen, skipped = _choose_features(source.name, [*columns, *(text_columns if one_hot else [])], reason_to_skip)
            columns = [column for column in columns if column in chosen]
            text_columns = [column for column in text_columns if column in chosen or not one_hot]
            remarks += skipped
        X, has_features, row_remarks = source.complete_rows(columns, text_columns if one_hot else [], advice)
        remarks += [remark for column in (*columns, *text_columns) for remark in column.remarks(reading.decimal)]
        if not has_features.any():
            raise BadData(f"{source.name}: every row lacks a feature; name fewer columns with --features.")
        fill = np.median(X, axis=0) if reading.missing == "median" else None  # the same median with the gaps as without them
        names, slices, levels_of_columns = [column.name for column in columns], [], {}
        for column in text_columns if one_hot else []:
            levels, dummies = _one_hot(column.cells, has_features)
            if len(levels) < 2:
                remarks.append(f"left out (text that hardly ever repeats, or never varies): {column.name}")
                continue
            slices.append(slice(len(names), len(names) + len(levels)))
            X = np.column_stack([X, dummies])
            names += [f"{column.name} = {'other' if level is None else level}" for level in levels]
            levels_of_columns[column.name] = levels
        with _at(f"{source.name}:"):
            sensitive_columns = [np.where(has_group, values, "")[has_features] for values in sensitive_values.values()]
            table = table_of_groups(X[has_features], tuple(names), sensitive_columns, min_groups)
            table = replace(table, one_hot=tuple(slices), text_columns=levels_of_columns, fill=fill)
            check(table)
        if not np.ptp(table.X, axis=0).any():
            raise BadData(f"{source.name}: no feature varies, so all rows are the same point.")
    remarks = [*row_remarks, *group_remarks(has_features), *remarks]
    ignored = [column.name for column in text_columns if not one_hot]
    rows = np.flatnonzero(has_features & has_group)
    return table, remarks + _remarks_on_table(table, ignored), rows, source.kept(keep, rows)


def read_rows(
    path: Path,
    sensitive: Sequence[str],
    features: Sequence[str],
    reading: Reading = Reading(),
    *,
    keep: Sequence[str] = (),
    text: Sequence[str] = (),
    keeps_gaps: bool = False,
    advice: str = "",
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], list[str], np.ndarray, dict[str, np.ndarray]]:
    """Read rows that need not form a valid table by themselves. Parameters and errors are as in :func:`read`.

    ``features`` may be empty. ``text`` are further columns. With ``keeps_gaps``, gaps are no error, and the caller fills them.

    Returns
    -------
    columns : mapping of str to array (n,)
        The features, as numbers, and the columns of text. A gap is NaN, or None in text.
    sensitive_values : mapping of str to object array (n,)
        The value in each sensitive column.
    remarks : list of str
        Which rows were left out.
    rows : int array (n,)
        Each row's number in the file, counted from 0.
    kept : mapping of str to object array (n,)
        The cells of the columns to keep, as text.
    """
    with _bad_data_as_user_error(path) as hints:
        source = _Source.open(path, sensitive, [*features, *text], reading, hints, keep=keep)
        sensitive_values, has_group, group_remarks = source.groups(sensitive)
        numeric = source.columns(features)
        X, has_features, remarks = source.complete_rows(
            numeric, source.columns(text), advice, can_fill=False, keeps_gaps=keeps_gaps
        )
        remarks += source.remarks + [remark for column in numeric for remark in column.remarks(reading.decimal)]
        rows = np.flatnonzero(has_features & has_group)
        if not len(rows):
            raise BadData(
                f"{source.name}: no row has a sensitive value{' and all features' if reading.missing == 'drop' else ''}."
            )
        remarks += group_remarks(has_features)
        columns: dict[str, np.ndarray] = dict(zip(features, X[rows].T, strict=True))
        for name in text:
            cells = [None if _is_gap(cell) else cell.strip() for cell in source.cells[name]]
            columns[name] = np.array(cells, dtype=object)[rows]
        kept = source.kept(keep, rows)
        return columns, {name: values[rows] for name, values in sensitive_values.items()}, remarks, rows, kept


@contextmanager
def _bad_data_as_user_error(path: Path) -> Iterator[list[str]]:
    """Raise BadData as ClusterletsError, with the hints that the list holds by then, such as the names of other sheets."""
    hints: list[str] = []
    try:
        yield hints
    except BadData as problem:
        message = " ".join([str(problem), *(f"{hint}." for hint in hints)])
        raise ClusterletsError(f"{message} Correct {path} or the options, and run again.") from None


@contextmanager
def _at(where: str) -> Iterator[None]:
    """Raise errors about values as BadData that begins with ``where``."""
    try:
        yield
    except (BadData, ClusterletsError) as problem:
        raise BadData(f"{where} {problem}") from None


# ---- from files to columns of text -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Source:
    """The cells of a file."""

    name: str  # of the file and its sheet
    unit: str  # of the numbers below: line or row
    numbers: Sequence[int]  # where each row (n,) stands in the file
    cells: dict[str, Sequence[str]]  # (n,) of each column, "" if a value is missing
    candidates: list[str]  # columns that are neither sensitive, excluded nor to keep
    reading: Reading
    remarks: list[str]  # on the file

    @classmethod
    def open(
        cls,
        path: Path,
        sensitive: Sequence[str],
        features: str | Sequence[str],
        reading: Reading,
        hints: list[str],
        exclude: Sequence[str] = (),
        keep: Sequence[str] = (),
    ) -> "_Source":
        """Read a file that has all these columns. A hint for errors about the content is added to ``hints``."""
        reading.check()
        check_file(path)
        name, ending, numbers, faults, remarks = path.name, path.suffix.lower(), [], {}, []  # type: ignore[var-annotated]
        if reading.sheet is not None and ending != ".xlsx":
            raise BadData(f"{path.name} has no sheets, so --sheet {reading.sheet} cannot be one.")
        if ending in SEPARATORS:
            header, columns, numbers = _read_text(path, reading)
        elif ending == ".xlsx":
            header, columns, faults, sheet, others = read_sheet(path, reading.sheet)
            name = f"{path.name}, sheet {sheet!r}"
            if others and reading.sheet is None:
                hints.append(f"--sheet names another: {', '.join(others)}")
                remarks = [f"read the sheet {sheet!r}; {hints[0]}"]
        else:
            header, columns = _read_parquet(path)
        unit = "line" if numbers else "row"
        numbers = numbers or range(1, len(columns[0]) + 1 if columns else 1)  # type: ignore[assignment]
        while header and not header[-1].strip() and not "".join(columns[-1]).strip():  # each line ends with a separator
            header, columns = header[:-1], columns[:-1]
        named = [*sensitive, *([] if features == NUMERIC else features), *keep]
        header = _check_header(name, header, [*named, *exclude], features)
        if not len(numbers):
            raise BadData(f"{name} has a header but no rows.")
        candidates = [column for column in header if column not in (*sensitive, *exclude, *keep)]
        for index, fault in faults.items():
            if header[index] in (named if features != NUMERIC else (*named, *candidates)):
                raise BadData(f"{name}: column {header[index]!r}: {fault}")
        return cls(name, unit, numbers, dict(zip(header, columns, strict=True)), candidates, reading, remarks)

    def kept(self, names: Sequence[str], rows: np.ndarray) -> dict[str, np.ndarray]:
        """The cells (n,) of these columns in these rows, as text."""
        return {name: np.array(self.cells[name], dtype=object)[rows] for name in names}

    def groups(self, sensitive: Sequence[str]) -> tuple[dict[str, np.ndarray], np.ndarray, Callable[[np.ndarray], list[str]]]:
        """The values (n,) of each sensitive column, whether each row has them all (n,), and remarks on the complete rows."""
        values_of_columns, has_group = {}, np.ones(len(self.numbers), dtype=bool)
        for name in sensitive:
            values = [cell.strip() for cell in self.cells[name]]
            for text, row in {text: row for row, text in reversed(list(enumerate(values)))}.items():
                check_name(text, f"{self.name}, {self.unit} {self.numbers[row]}: column {name!r}:")
            if self.reading.missing_group == "group":
                values = ["missing" if value.lower() in _GAPS else value for value in values]
            else:
                has_group &= [not _is_gap(value) for value in values]
            values_of_columns[name] = np.array(values, dtype=object)

        def remarks(has_features: np.ndarray) -> list[str]:
            dropped = has_features & ~has_group
            if not dropped.any():
                return []
            texts = {text for values in values_of_columns.values() for text in values[dropped]}
            marks = sorted(text for text in texts if text and _is_gap(text))
            have, were = ("has", "was") if dropped.sum() == 1 else ("have", "were")
            noted = f" ({', '.join(marks)}; --missing-group group keeps them)" if marks else ""
            return [f"{dropped.sum()} of {has_features.sum()} rows {have} no sensitive value{noted} and {were} left out"]

        return values_of_columns, has_group, remarks

    def columns(self, features: str | Sequence[str]) -> list["_Column"]:
        """The columns that may be features."""
        names = [name for name in self.candidates if name != _PANDAS_INDEX] if features == NUMERIC else features
        return [_Column.of(name, self.cells[name], self.reading) for name in names]

    def remarks_on_unused(self, features: str | Sequence[str]) -> list[str]:
        """A remark on the columns that are left out whatever they hold."""
        if features == NUMERIC:
            saved = "left out: a column without a name, in which pandas saves row numbers"
            return [saved] if _PANDAS_INDEX in self.candidates else []
        unused = [name for name in self.candidates if name not in features and name != _PANDAS_INDEX]
        return [f"ignored (not named as features): {', '.join(first_of(unused, _MAX_LISTED))}"] if unused else []

    def complete_rows(
        self,
        columns: Sequence["_Column"],
        text_columns: Sequence["_Column"],
        advice: str,
        can_fill: bool = True,
        keeps_gaps: bool = False,
    ) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """The numbers of the columns (n, d), whether each row has all features (n,), and remarks about gaps."""
        self._check_cells(columns, advice)
        X = np.column_stack([column.values for column in columns]) if columns else np.empty((len(self.numbers), 0))
        gaps = np.isnan(X)
        text_gaps = [np.array([_is_gap(cell) for cell in column.cells]) for column in text_columns]
        lacking = {column.name: gap for column, gap in zip((*columns, *text_columns), (*gaps.T, *text_gaps), strict=True)}
        lacking = {name: gap for name, gap in lacking.items() if gap.any()}
        is_incomplete = np.any(list(lacking.values()), axis=0) if lacking else np.zeros(len(X), dtype=bool)
        if not lacking:
            return X, ~is_incomplete, []
        if keeps_gaps:
            filled = ", ".join(f"{name} ({gap.sum()})" for name, gap in lacking.items())
            return X, np.ones(len(X), dtype=bool), [f"cells without a value, filled as in the fit: {filled}"]
        n_cells = sum(int(gap.sum()) for gap in lacking.values())
        if self.reading.missing == "error":
            name, gap = next(iter(lacking.items()))
            counts = ", ".join(f"{name!r} ({gap.sum()})" for name, gap in lacking.items())
            raise BadData(
                f"{self.name}, {self.unit} {self.numbers[int(gap.argmax())]}: column {name!r} is empty (cells without a value: "
                f"{counts}). --missing drop leaves out {is_incomplete.sum()} of {len(X)} rows"
                f"{f', and --missing median fills {n_cells} cells' if can_fill else ''} (in a configuration, missing: drop). "
                f"{advice}".rstrip()
            )
        if self.reading.missing == "median":
            from sklearn.impute import SimpleImputer  # imported late: scikit-learn is slow to load

            X = SimpleImputer(strategy="median", keep_empty_features=True).fit_transform(X) if gaps.any() else X
            filled = ", ".join(f"{name} ({gap.sum()})" for name, gap in lacking.items())
            way = "the median of their column" + " (in text, with 'missing')" * bool(text_columns)
            return X, np.ones(len(X), dtype=bool), [f"cells without a value, filled with {way}: {filled}"]
        n_lacking = int(is_incomplete.sum())
        lack, were = ("lacks", "was") if n_lacking == 1 else ("lack", "were")
        return X, ~is_incomplete, [f"{n_lacking} of {len(X)} rows {lack} a value and {were} left out: {', '.join(lacking)}"]

    def _check_cells(self, columns: Sequence["_Column"], advice: str) -> None:
        """Raise BadData for the first cell that is not a number, and name all columns with such cells."""
        unusable = [column for column in columns if column.n_unusable]
        if unusable:
            column = unusable[0]
            cell = column.cells[column.first_unusable]
            others = ", ".join(f"{column.name!r} ({column.n_unusable})" for column in unusable)
            note = f" All columns with such cells: {others}." if len(unusable) > 1 else ""
            problem = _explain_cell(cell, self.reading)
            raise BadData(
                f"{self.name}, {self.unit} {self.numbers[column.first_unusable]}: column {column.name!r} holds {cell[:60]!r}, "
                f"{problem} (unusable cells in the column: {column.n_unusable}).{note} {advice}".rstrip()
            )
        for column in columns:
            if column.kinds["number"] and column.kinds["boolean"]:
                raise BadData(f"{self.name}: column {column.name!r} mixes numbers with true and false.")


def _read_text(path: Path, reading: Reading) -> tuple[list[str], list[Sequence[str]], list[int]]:
    """The header, the columns, and the number of the line where each row begins. Blank lines are skipped."""
    content = path.read_bytes()
    if content.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise BadData(f"{path.name} is no text file; if it comes from Excel, save it as .xlsx, without a password.")
    if content.startswith(b"\x1f\x8b"):
        raise BadData(f"{path.name} is no text file but compressed; unpack it with gunzip.")
    is_utf8 = content.startswith(codecs.BOM_UTF8) or codecs.lookup(reading.encoding).name == "utf-8"
    try:
        text = content.decode("utf-8-sig" if is_utf8 else reading.encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        likely = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "cp1252"
        raise BadData(
            f"{path.name}, line {line}: the byte 0x{error.object[error.start]:02x} is not {reading.encoding.upper()}; name the "
            f"file's encoding, such as --encoding {likely}, or save the table as UTF-8."
        ) from None
    if text[:4].count("\0") > 1:
        raise BadData(f"{path.name} begins with NULs; try --encoding utf-16-le, or save the table as UTF-8.")
    named_in_file = _SEPARATOR_LINE.match(text)  # as Excel writes and reads it
    separator = reading.separator or (named_in_file[1] if named_in_file else SEPARATORS[path.suffix.lower()])
    if named_in_file:
        text = text[named_in_file.end(1) :]  # leaves the rest of the line blank, so that lines keep their numbers
    lines_and_cells = rows_of_text(io.StringIO(text, newline=""), path.name, delimiter=separator)
    _, header = next(lines_and_cells, (0, []))
    if not header:
        raise BadData(f"{path.name} is empty.")
    if len(header) == 1:  # later rows may have more cells, by decimal commas
        raise BadData(f"{path.name} has only one column, {header[0][:60]!r}.{_suggest_separator(header[0], separator)}")
    lines, rows = zip(*[(0, header), *lines_and_cells], strict=True)
    return header, list(zip(*rows[1:], strict=True)) or [()] * len(header), list(lines[1:])


def _suggest_separator(header: str, separator: str) -> str:
    separators = [character for character in (";", "\t", ",", "|") if character in header and character != separator]
    if not separators:
        return ""
    in_shell = "$'\\t'" if separators[0] == "\t" else f"'{separators[0]}'"  # in plain quotes, \t would stay two characters
    in_yaml = json.dumps(separators[0])
    return f" If the file has another separator, name it: --separator {in_shell} (in a configuration, separator: {in_yaml})."


def _read_parquet(path: Path) -> tuple[list[str], list[Sequence[str]]]:
    with damage_as_bad_data(path.name, "Parquet"):
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.parquet.ParquetFile(path, page_checksum_verification=True).read()
        columns = [
            # Python's own dates end with the year 9999.
            column.cast(pyarrow.string())
            if pyarrow.types.is_timestamp(column.type) or pyarrow.types.is_date(column.type)
            else column
            for column in table.columns
        ]
        return table.column_names, [as_text(column.to_pylist()) for column in columns]


def _check_header(name: str, header: list[str], requested: Sequence[str], features: str | Sequence[str]) -> list[str]:
    header = [column.strip() for column in header]
    first_index: dict[str, int] = {}
    for index, column in enumerate(header):
        if (index == 0 and not column) or column.startswith("__index_level_"):  # pandas saves its index there
            header[index] = column = _PANDAS_INDEX
        if not column:
            raise BadData(f"{name}: column {index + 1} has no name; give it one, or delete lines above the header.")
        if first_index.setdefault(column, index) != index:
            positions = f"as columns {first_index[column] + 1} and {index + 1}"
            raise BadData(f"{name}: the column name {column!r} occurs twice, {positions}.")
    for column in requested:
        if column not in header:
            hint = f"{did_you_mean(column, header)}; its columns: {nearest_names(column, header)}"
            raise BadData(f"{name} has no column {column!r}{hint}.")
    used = [column for column in header if column != _PANDAS_INDEX] if features == NUMERIC else requested
    for column in used:
        check_name(column, f"{name}: the column name")
    return header


# ---- from text to features -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Column:
    """A column that may be a feature."""

    name: str
    cells: Sequence[str]  # (n,)
    values: np.ndarray  # (n,), NaN for a cell that is neither a number nor a boolean
    kinds: Counter  # how many cells are a number, a boolean, missing, misspelt, or text
    first_unusable: int  # row of the first cell that is misspelt or text, or -1

    @classmethod
    def of(cls, name: str, cells: Sequence[str], reading: Reading) -> "_Column":
        values = reading.numbers(cells)
        irregular = np.flatnonzero(~(np.abs(values) <= LARGEST)).tolist()  # NaN or too large
        kinds, first_unusable = Counter(number=len(cells) - len(irregular)), -1
        for index in irregular:
            kind = _kind(cells[index], values[index], reading.decimal)
            kinds[kind] += 1
            values[index] = _BOOLEANS[cells[index].strip().lower()] if kind == "boolean" else np.nan
            if first_unusable < 0 and kind in ("misspelt", "text"):
                first_unusable = index
        return cls(name, cells, values, kinds, first_unusable)

    @property
    def is_text(self) -> bool:
        """Whether the column is empty or mostly text, and so not meant as a feature."""
        numeric = self.kinds["number"] + self.kinds["boolean"] + self.kinds["misspelt"]
        return not numeric or self.kinds["text"] > numeric

    @property
    def holds_dates(self) -> bool:
        """Whether all values begin with a date in digits."""
        return all(_DATE.match(cell.strip()) for cell in self.cells if not _is_gap(cell)) and bool(self.kinds["text"])

    @property
    def n_unusable(self) -> int:
        return self.kinds["misspelt"] + self.kinds["text"]

    def remarks(self, decimal: str) -> Iterator[str]:
        """Remarks on cells that people may read otherwise than we do."""
        if self.is_text:
            cells = [cell.strip() for cell in dict.fromkeys(self.cells) if not _is_gap(cell)]
            for sign, pattern in _NOTATIONS.items():
                if cells and all(map(pattern.fullmatch, cells)):
                    yield f"{self.name} holds text such as {cells[0]!r}; without {sign} it would be a feature"
            return
        if all(_COMPACT_DATE.fullmatch(cell) or _is_gap(cell) for cell in self.cells):
            yield f"{self.name} holds dates such as {min(self.cells, key=_is_gap)!r}, read as numbers; --exclude it"
        code = next((cell for cell in self.cells if cell[:1] == "0" and _CODE.fullmatch(cell)), None)
        if code:
            yield f"{self.name} holds codes such as {code!r}, read as numbers; --exclude leaves them out"
        fraction = next((cell for cell in self.cells if decimal in cell), None)
        thousands = re.compile(rf"\s*[+-]?[1-9]\d{{0,2}}{re.escape(decimal)}\d{{3}}\s*")
        looks_whole = fraction and all(thousands.fullmatch(cell) for cell in self.cells if decimal in cell)
        if looks_whole and np.nanmax(np.abs(self.values)) < 1000:
            yield (
                f"{self.name}: {fraction!r} is read as a fraction; if {decimal!r} separates thousands there, use "
                f"--thousands {decimal} --decimal {',' if decimal == '.' else '.'}"
            )


def _is_gap(cell: str) -> bool:
    return cell.strip().lower() in _MISSING_MARKS


def _kind(cell: str, value: float, decimal: str) -> str:
    """The kind (boolean, missing, misspelt or text) of a cell whose number, ``value``, is NaN or too large."""
    if cell.strip().lower() in _BOOLEANS:
        return "boolean"
    if _is_gap(cell):
        return "missing"
    return "misspelt" if not np.isnan(value) or _remedy(cell, decimal) else "text"


def _remedy(cell: str, decimal: str) -> str | None:
    return next((remedy for pattern, remedy in _remedies(decimal).items() if pattern.fullmatch(cell.strip())), None)


@functools.cache
def _remedies(decimal: str) -> dict[re.Pattern, str]:
    other = "," if decimal == "." else "."
    signs = {"decimal": _SIGNS[decimal], "other": _SIGNS[other], "O": other}
    return {
        re.compile(pattern.replace("D", decimal).replace("O", other)): remedy.format(**signs)
        for pattern, remedy in _MISSPELT_NUMBERS.items()
    }


def _explain_cell(cell: str, reading: Reading) -> str:
    remedy = _remedy(cell, reading.decimal) if np.isnan(reading.numbers([cell])[0]) else None
    return remedy or f"which is not a finite number below {LARGEST:g}"


def _choose_features(
    file_name: str,
    columns: list[_Column],
    reason_to_skip: Callable[[str, np.ndarray], str | None] | None,
) -> tuple[list[_Column], list[str]]:
    """The columns that :data:`NUMERIC` stands for, and remarks about other columns."""
    remarks, features, skipped_columns = [], [], []
    for column in columns:
        # With cells that are no numbers, only the name can be a reason: those cells are an error, and what they say counts.
        values = column.values[:0] if column.n_unusable else column.values
        reason = reason_to_skip and reason_to_skip(column.name, values)
        if reason:
            skipped_columns.append(f"{column.name} ({reason})")
        else:
            features.append(column)
    skipped = ", ".join(skipped_columns)
    if skipped:
        remarks.append(f"left out (--features names columns to keep): {skipped}")
    if not features:
        skip_note = f" Left out: {skipped}; name those that are features with --features." if skipped else ""
        raise BadData(f"{file_name} has no numeric or boolean column besides the sensitive one.{skip_note}")
    return features, remarks


def _one_hot(cells: Sequence[str], is_used: np.ndarray) -> tuple[list[str | None], np.ndarray]:
    """The values (L,) of a text column that have a feature each, None for all rare ones, and these features (n, L).

    Only the values of used rows (n,) count. L is 0 if the values hardly ever repeat.
    """
    from sklearn.preprocessing import OneHotEncoder  # imported late: scikit-learn is slow to load

    texts = np.array([["missing" if _is_gap(cell) else cell.strip()] for cell in cells], dtype=object)
    n_levels = len(set(texts[is_used, 0].tolist()))
    if n_levels > MAX_GROUPS and 2 * n_levels > is_used.sum():
        return [], np.empty((len(cells), 0))
    encoder = OneHotEncoder(min_frequency=_MIN_LEVEL, max_categories=MAX_GROUPS, sparse_output=False, handle_unknown="ignore")
    dummies = encoder.fit(texts[is_used]).transform(texts)
    rare = encoder.infrequent_categories_[0]
    levels = [level for level in encoder.categories_[0].tolist() if rare is None or level not in rare]
    if rare is not None and "other" in levels:  # it would have the name of the feature of all rare values
        own = levels.index("other")
        dummies[:, -1] += dummies[:, own]
        levels, dummies = [level for level in levels if level != "other"], np.delete(dummies, own, axis=1)
    return [*levels, *([] if rare is None else [None])], dummies


def _remarks_on_table(table: Table, ignored: list[str]) -> list[str]:
    remarks = []
    if ignored:
        remarks.append(f"{IGNORED_TEXT}: {', '.join(ignored)}")
    constant = [name for name, spread in zip(table.feature_names, np.ptp(table.X, axis=0), strict=True) if not spread]
    if constant:
        remarks.append(f"features that never vary: {', '.join(constant)}")
    return remarks
