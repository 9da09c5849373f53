"""Read a user's own table from CSV, TSV or Parquet. Error messages name the line and the column.

Nothing is guessed silently: a column of numbers with a few cells of text, or with decimal commas, is an error. It is not
read as text.
"""

import csv
import importlib.util
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np

from clusterlets.algorithms.checks import LARGEST, check_groups
from clusterlets.datasets import numerals
from clusterlets.datasets.table import BadData, Table, check, check_name, table_of_groups
from clusterlets.errors import ClusterletsError, did_you_mean

NUMERIC = "numeric"  # in place of a list of features: every numeric or boolean column
SEPARATORS = {".csv": ",", ".tsv": "\t"}
PARQUET = ".parquet"

_ROWS_PER_CHUNK = 50_000
_PANDAS_INDEX = " "  # our name for the unnamed column in which pandas saves its index; a stripped name cannot equal it
_BOOLEANS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
_FORMULA_STARTS = "=+-@＝＋－＠"  # a spreadsheet reads text that begins with one of these as a formula
_MISSING_MARKS = {"", "?", "-", ".", "na", "n/a", "#n/a", "nan", "none", "null"}
# Patterns of cells that people read as numbers, each with a remedy for the message. A column of such cells is not text.
_MISSPELT_NUMBERS = {
    re.compile(r"[+-]?[\d.]*\d,\d+"): "a number with a comma: write decimals with a point",
    re.compile(r"[+-]?\d{1,3}(?:[_'’ \u00a0\u202f]\d{3})+(?:[.,]\d+)?"): "a number with thousands separators: leave them out",
    re.compile(r"[+\-−]?\d+(?:\.\d+)?"): "a number in other characters: write it with 0 to 9, a point and a hyphen",
}

# The line or row number of each row, and the cells of each column as strings ("" if a value is missing).
Chunk = tuple[Sequence[int], list[Sequence[str]]]


def check_exists(path: Path) -> None:
    """Raise ClusterletsError unless there is a file at this path."""
    if not path.is_file():
        raise ClusterletsError(f"there is no file {path}; paths are relative to the folder where the command runs.")


def check_file(path: Path) -> None:
    """Raise ClusterletsError unless the file exists and :func:`read` supports its format. The file is not opened."""
    check_exists(path)
    if path.suffix not in (*SEPARATORS, PARQUET):
        raise ClusterletsError(f"{path} has an unknown format; its name must end in {', '.join(SEPARATORS)} or {PARQUET}.")
    if path.suffix == PARQUET and importlib.util.find_spec("pyarrow") is None:
        raise ClusterletsError(
            f"{path} needs the package pyarrow, which is not installed. Install it with "
            "`python -m pip install '.[data]'` in a checkout of the project, or save the table as CSV."
        )


def check_separator(separator: str | None) -> None:
    """Raise ClusterletsError unless the separator is None or a character that can separate cells."""
    if separator is not None and (len(separator) != 1 or separator in '"\r\n\0'):
        raise ClusterletsError(
            f"the separator {separator!r} cannot separate cells; use one character, except a quotation mark or line end."
        )


def read(
    path: Path,
    sensitive: Sequence[str],
    features: str | Sequence[str] = NUMERIC,
    separator: str | None = None,
    *,
    drop_missing: bool = False,
    reason_to_skip: Callable[[str, np.ndarray], str | None] | None = None,
    min_groups: int = 2,
    advice: str = "",
) -> tuple[Table, list[str], np.ndarray]:
    """Read a table. Return it with remarks on how it was read, and with each row's number in the file, counted from 0.

    Parameters
    ----------
    path : Path
        CSV or TSV in UTF-8 with a header line, or Parquet.
    sensitive : names
        The columns whose values are the groups. With several columns, each combination of values is a group. Rows without
        a value are left out. A column of fractional numbers is an error.
    features : names, or "numeric"
        Columns to cluster by. By default, every column of numbers or booleans that is not sensitive.
    separator : str, optional
        One character, except a quotation mark or line end. By default a comma, and in ``.tsv`` files a tab.
    drop_missing : bool
        Whether to leave out rows that lack a feature; otherwise such rows are an error.
    reason_to_skip : callable, optional
        Called with the name and the values (NaN if missing) of each numeric column, unless ``features`` are named. It returns
        why the column is not a feature, or None.
    min_groups : int
        Smallest number of groups; fewer are an error.
    advice : str
        A sentence to add to the message about unusable cells. It names the caller's options that leave them out.

    Raises
    ------
    ClusterletsError
        If the file cannot be used. The message names the file, the line and the column.
    """
    with _bad_data_as_user_error(path):
        columns, sensitive_values, prefix = _read_columns(path, sensitive, features, separator, drop_missing)
        for name, cells in sensitive_values.items():
            _check_sensitive(f"{path.name}, column {name!r}:", cells)
        text_columns: list[str] = []
        remarks_on_columns: list[str] = []
        if features == NUMERIC:
            columns, text_columns, remarks_on_columns = _choose_features(path.name, columns, reason_to_skip)
        X = _all_values(columns, prefix, advice)
        has_features, has_group, remarks_on_rows = _find_complete_rows(columns, X, sensitive_values)
        if not has_features.any():
            raise BadData(f"{path.name}: every row lacks a feature; name fewer columns with --features.")
        try:
            sensitive_columns = [np.array(values, dtype=object)[has_features] for values in sensitive_values.values()]
            table = table_of_groups(X[has_features], tuple(column.name for column in columns), sensitive_columns, min_groups)
            check(table)
        except BadData as problem:
            raise BadData(f"{path.name}: {problem}") from None
        if not np.ptp(table.X, axis=0).any():
            raise BadData(f"{path.name}: no feature varies, so all rows are the same point.")
    remarks = [*remarks_on_rows, *remarks_on_columns, *_remarks_on_table(table, sensitive_values, text_columns)]
    return table, remarks, np.flatnonzero(has_features & has_group)


def read_rows(
    path: Path,
    sensitive: Sequence[str],
    features: Sequence[str],
    separator: str | None = None,
    *,
    drop_missing: bool = False,
    advice: str = "",
) -> tuple[np.ndarray, dict[str, np.ndarray], list[str], np.ndarray]:
    """Read rows that need not form a valid table by themselves. Parameters and errors are as in :func:`read`.

    Returns
    -------
    X : float array (n, d)
    sensitive_values : mapping of str to object array (n,)
        The value in each sensitive column.
    remarks : list of str
        Which rows were left out.
    rows : int array (n,)
        Each row's number in the file, counted from 0.
    """
    with _bad_data_as_user_error(path):
        columns, sensitive_values, prefix = _read_columns(path, sensitive, features, separator, drop_missing)
        X = _all_values(columns, prefix, advice)
        has_features, has_group, remarks = _find_complete_rows(columns, X, sensitive_values)
        rows = np.flatnonzero(has_features & has_group)
        if not len(rows):
            raise BadData(f"{path.name}: no row has a sensitive value{' and all features' if drop_missing else ''}.")
        values_of_rows = {name: np.array(values, dtype=object)[rows] for name, values in sensitive_values.items()}
        return X[rows], values_of_rows, remarks, rows


@contextmanager
def _bad_data_as_user_error(path: Path) -> Iterator[None]:
    try:
        yield
    except BadData as problem:
        raise ClusterletsError(f"{problem} Correct {path} or the options, and run again.") from None


def _read_columns(
    path: Path, sensitive: Sequence[str], features: str | Sequence[str], separator: str | None, allows_missing: bool
) -> tuple[list["_Column"], dict[str, list[str]], str]:
    """The columns that may be features, the sensitive values by column, and the text that precedes row numbers in messages."""
    check_separator(separator)
    check_file(path)
    if path.suffix == PARQUET:
        header, chunks, prefix = _open_parquet(path)
    else:
        header, chunks, prefix = _open_delimited(path, separator or SEPARATORS[path.suffix])
    header = _check_header(path.name, header, sensitive, features)
    candidates = [column for column in header if column not in sensitive] if features == NUMERIC else features
    columns = {name: _Column(name, allows_missing) for name in candidates}
    sensitive_values: dict[str, list[str]] = {name: [] for name in sensitive}
    distinct_values: dict[str, str] = {}  # equal values share memory
    for row_numbers, cells in chunks:
        cells_by_name = dict(zip(header, cells, strict=True))
        for name, column in columns.items():
            column.add(row_numbers, cells_by_name[name])
        for name, values in sensitive_values.items():
            for row, cell in zip(row_numbers, cells_by_name[name], strict=True):
                text = cell.strip()
                if text not in distinct_values:
                    check_name(text, f"{prefix} {row}: column {name!r}:")
                    distinct_values[text] = text
                values.append(distinct_values[text])
    if not next(iter(sensitive_values.values())):
        raise BadData(f"{path.name} has a header but no rows.")
    return list(columns.values()), sensitive_values, prefix


# ---- from files to chunks of text ------------------------------------------------------------------------------------


def _open_delimited(path: Path, separator: str) -> tuple[list[str], Iterator[Chunk], str]:
    rows = _rows(path, separator)
    _, header = next(rows, (0, []))
    if not header:
        raise BadData(f"{path.name} is empty.")
    if len(header) == 1:
        raise BadData(f"{path.name} has only one column, {header[0][:60]!r}.{_suggest_separator(header[0], separator)}")
    return header, _chunks(path.name, rows, len(header)), f"{path.name}, line"


def _rows(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row's first line number and its cells. Blank lines are skipped."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=separator, strict=True)
        line = 1
        try:
            for cells in reader:
                if cells:
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            raise BadData(f"{path.name}, line {line}: {error}; is a quotation mark missing there?") from None
        except UnicodeDecodeError:
            raise BadData(f"{path.name}, {_describe_undecodable_byte(path)}; save the table as UTF-8.") from None


def _describe_undecodable_byte(path: Path) -> str:
    content = path.read_bytes()
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return f"line {line}: the byte 0x{content[error.start]:02x} is not UTF-8"
    return "which changed while it was read"


def _suggest_separator(header: str, separator: str) -> str:
    separators = [character for character in (";", "\t", ",", "|") if character in header and character != separator]
    if not separators:
        return ""
    in_shell = "$'\\t'" if separators[0] == "\t" else f"'{separators[0]}'"  # in plain quotes, \t would stay two characters
    in_yaml = json.dumps(separators[0])
    return f" If the file has another separator, name it: --separator {in_shell} (in a configuration, separator: {in_yaml})."


def _chunks(name: str, rows: Iterator[tuple[int, list[str]]], width: int) -> Iterator[Chunk]:
    while chunk := list(islice(rows, _ROWS_PER_CHUNK)):
        for line, row in chunk:
            if len(row) != width:
                raise BadData(f"{name}, line {line}: {len(row)} cells where the header has {width}.")
        lines, cells = zip(*chunk, strict=True)
        yield lines, list(zip(*cells, strict=True))


def _open_parquet(path: Path) -> tuple[list[str], Iterator[Chunk], str]:
    with _damage_as_bad_data(path.name):
        import pyarrow.parquet

        file = pyarrow.parquet.ParquetFile(path, page_checksum_verification=True)
        header = file.schema_arrow.names
    return header, _batches(path.name, file), f"{path.name}, row"


@contextmanager
def _damage_as_bad_data(name: str) -> Iterator[None]:
    """Raise pyarrow's errors about the content as BadData."""
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # the system's error, not the content's
            raise
        raise BadData(f"{name} is not an intact Parquet file ({' '.join(str(error).split())[:200]}).") from None


def _batches(name: str, file) -> Iterator[Chunk]:
    n_rows = 0
    with _damage_as_bad_data(name):
        for batch in file.iter_batches(_ROWS_PER_CHUNK):
            yield range(n_rows + 1, n_rows + len(batch) + 1), [_as_strings(column) for column in batch.columns]
            n_rows += len(batch)
    if n_rows != file.metadata.num_rows:
        raise BadData(f"{name} is not an intact Parquet file (it holds {n_rows} of {file.metadata.num_rows} rows).")


def _as_strings(column) -> list[str]:
    """The cells as in a CSV file. Missing values and NaN become empty strings."""
    import pyarrow

    if pyarrow.types.is_timestamp(column.type) or pyarrow.types.is_date(column.type):
        column = column.cast(pyarrow.string())  # Python's own dates end with the year 9999
    return ["" if cell is None or cell != cell else str(cell) for cell in column.to_pylist()]


# ---- the header ------------------------------------------------------------------------------------------------------


def _check_header(name: str, header: list[str], sensitive: Sequence[str], features: str | Sequence[str]) -> list[str]:
    header = [column.strip() for column in header]
    first_index: dict[str, int] = {}
    for index, column in enumerate(header):
        if (index == 0 and not column) or column.startswith("__index_level_"):  # pandas saves its index there
            header[index] = column = _PANDAS_INDEX
        if not column:
            raise BadData(f"{name}: column {index + 1} has no name; give it one.")
        if first_index.setdefault(column, index) != index:
            positions = f"as columns {first_index[column] + 1} and {index + 1}"
            raise BadData(f"{name}: the column name {column!r} occurs twice, {positions}.")
    requested = [*sensitive] if features == NUMERIC else [*sensitive, *features]
    for column in requested:
        if column not in header:
            raise BadData(f"{name} has no column {column!r}{did_you_mean(column, header)}; its columns: {', '.join(header)}.")
    used = [column for column in header if column != _PANDAS_INDEX] if features == NUMERIC else requested
    for column in used:
        check_name(column, f"{name}: the column name")
    return header


# ---- from chunks to a table ------------------------------------------------------------------------------------------


class _Column:
    """The numbers of a column, chunk by chunk, and the first cell that is not a number."""

    def __init__(self, name: str, allows_missing: bool):
        self.name, self._allows_missing = name, allows_missing
        self.parts: list[np.ndarray] = []
        self.kind_counts: Counter[str] = Counter()
        self.first_unusable_cell: tuple[int, str] | None = None

    def add(self, row_numbers: Sequence[int], cells: Sequence[str]) -> None:
        values = numerals.parse_numbers(cells)
        irregular = np.flatnonzero(~(np.abs(values) <= LARGEST)).tolist()  # NaN or too large
        self.kind_counts["number"] += len(cells) - len(irregular)
        for index in irregular:
            kind = _kind(cells[index], values[index])
            self.kind_counts[kind] += 1
            if kind == "boolean":
                values[index] = _BOOLEANS[cells[index].strip().lower()]
            elif self.first_unusable_cell is None and not (kind == "missing" and self._allows_missing):
                self.first_unusable_cell = row_numbers[index], cells[index]
        self.parts.append(values)

    @property
    def is_text(self) -> bool:
        """Whether the column is empty or mostly text, and so not meant as a feature."""
        numeric = self.kind_counts["number"] + self.kind_counts["boolean"] + self.kind_counts["misspelt"]
        return not numeric or self.kind_counts["text"] > numeric

    @property
    def n_unusable(self) -> int:
        """How many cells are neither numbers nor booleans. Missing cells count only if they are not allowed."""
        counts = self.kind_counts
        allowed_missing = counts["missing"] if self._allows_missing else 0
        return counts.total() - counts["number"] - counts["boolean"] - allowed_missing

    def values(self, prefix: str) -> np.ndarray:
        """All numbers (n,). Raises BadData if a cell is not a number, or if numbers and booleans are mixed."""
        if self.first_unusable_cell:
            row, cell = self.first_unusable_cell
            problem = f"holds {cell[:60]!r}, {_explain_cell(cell)}" if cell.strip() else "is empty"
            raise BadData(f"{prefix} {row}: column {self.name!r} {problem} (unusable cells in the column: {self.n_unusable}).")
        if self.kind_counts["number"] and self.kind_counts["boolean"]:
            raise BadData(f"{prefix.rpartition(',')[0]}: column {self.name!r} mixes numbers with true and false.")
        return np.concatenate(self.parts)


def _all_values(columns: Sequence[_Column], prefix: str, advice: str) -> np.ndarray:
    """The numbers of all columns (n, d). A BadData names the first unusable cell, and all columns with such cells."""
    try:
        return np.column_stack([column.values(prefix) for column in columns])
    except BadData as problem:
        unusable = [f"{column.name!r} ({column.n_unusable})" for column in columns if column.n_unusable]
        if not unusable:
            raise
        other_columns = f" All columns with such cells: {', '.join(unusable)}." if len(unusable) > 1 else ""
        raise BadData(f"{problem}{other_columns} {advice}".rstrip()) from None


def _choose_features(
    file_name: str, columns: list[_Column], reason_to_skip: Callable[[str, np.ndarray], str | None] | None
) -> tuple[list[_Column], list[str], list[str]]:
    """The columns that :data:`NUMERIC` stands for, the names of the text columns, and remarks about other columns."""
    remarks = []
    if any(column.name == _PANDAS_INDEX for column in columns):
        remarks.append("left out: a column without a name, in which pandas saves row numbers")
    text_columns = [column.name for column in columns if column.is_text and column.name != _PANDAS_INDEX]
    numeric_columns = [column for column in columns if not column.is_text and column.name != _PANDAS_INDEX]
    features, skipped_columns = [], []
    for column in numeric_columns:
        reason = reason_to_skip and reason_to_skip(column.name, np.concatenate(column.parts))
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
    return features, text_columns, remarks


def _find_complete_rows(
    columns: Sequence[_Column], X: np.ndarray, sensitive_values: dict[str, list[str]]
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Whether each row has all features (n,), whether it has all sensitive values (n,), and remarks about incomplete rows."""
    remarks = []
    has_features = ~np.isnan(X).any(axis=1)
    has_group = np.all([np.array([value != "" for value in values]) for values in sensitive_values.values()], axis=0)
    n_usable = int(has_features.sum())
    n_lacking, n_ungrouped = len(X) - n_usable, int((has_features & ~has_group).sum())
    if n_lacking:
        incomplete = [column.name for column, values in zip(columns, X.T, strict=True) if np.isnan(values).any()]
        lack, were = ("lacks", "was") if n_lacking == 1 else ("lack", "were")
        remarks.append(f"{n_lacking} of {len(X)} rows {lack} a value and {were} left out: {', '.join(incomplete)}")
    if n_ungrouped:
        have, were = ("has", "was") if n_ungrouped == 1 else ("have", "were")
        remarks.append(f"{n_ungrouped} of {n_usable} rows {have} no sensitive value and {were} left out")
    return has_features, has_group, remarks


def _kind(cell: str, value: float) -> str:
    """The kind (boolean, missing, misspelt or text) of a cell whose number, ``value``, is NaN or too large."""
    text = cell.strip().lower()
    if text in _BOOLEANS:
        return "boolean"
    if text in _MISSING_MARKS:
        return "missing"
    return "misspelt" if not np.isnan(value) or _remedy(cell) else "text"


def _remedy(cell: str) -> str | None:
    return next((remedy for pattern, remedy in _MISSPELT_NUMBERS.items() if pattern.fullmatch(cell.strip())), None)


def _explain_cell(cell: str) -> str:
    remedy = _remedy(cell) if np.isnan(numerals.parse_number(cell)) else None
    return remedy or f"which is not a finite number below {LARGEST:g}"


def _check_sensitive(where: str, cells: Sequence[str]) -> None:
    """Raise BadData if a sensitive column has only numbers that cannot be groups. Marks of missing values are ignored."""
    values = numerals.parse_numbers([cell for cell in cells if cell.lower() not in _MISSING_MARKS])
    if not np.isnan(values).any():
        try:
            check_groups(np.unique(values), len(cells))
        except ClusterletsError as problem:
            raise BadData(f"{where} {problem}") from None


def _remarks_on_table(table: Table, sensitive_values: dict[str, list[str]], text_columns: list[str]) -> list[str]:
    remarks = []
    texts = {text for values in sensitive_values.values() for text in values}
    missing_marks = sorted(text for text in texts if text and text.lower() in _MISSING_MARKS)
    if missing_marks:
        remarks.append(
            f"sensitive values that count as groups, though they may stand for missing values: {', '.join(missing_marks)}"
        )
    formulas = [name for name in table.group_names if name[0] in _FORMULA_STARTS and np.isnan(numerals.parse_number(name))]
    if formulas:
        remarks.append(
            f"names of groups that a spreadsheet would read as formulas, also in CSV files of results: {', '.join(formulas)}"
        )
    if text_columns:
        remarks.append(f"ignored (not numeric): {', '.join(text_columns)}")
    constant = [name for name, spread in zip(table.feature_names, np.ptp(table.X, axis=0), strict=True) if not spread]
    if constant:
        remarks.append(f"features that never vary: {', '.join(constant)}")
    return remarks
