"""Read the cells of delimited text and of Excel files, as text."""

import csv
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from clusterlets.errors import did_you_mean
from clusterlets.tables.table import BadData

_MAX_UNPACKED, _MAX_CELLS = 2**30, 30_000_000  # of Excel files: bytes, and cells of a sheet


def rows_of_text(lines: Iterable[str], name: str, width: int | None = None, **dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the line where each row begins, counted from 1, and its cells. Blank lines are skipped.

    Every row must have ``width`` cells; by default, as many as the first. ``dialect`` is passed to :func:`csv.reader`.
    """
    reader, line = csv.reader(lines, skipinitialspace=True, strict=True, **dialect), 1
    try:
        for cells in reader:
            width = width or len(cells)
            if len(cells) not in (0, width):
                raise BadData(f"{name}, line {line}: {len(cells)} cells where {width} are expected.")
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise BadData(f"{name}, line {line}: {error}; is a quotation mark missing there?") from None


@contextmanager
def damage_as_bad_data(name: str, format_name: str) -> Iterator[None]:
    """Raise a library's errors about the content as BadData."""
    try:
        yield
    except Exception as error:
        if isinstance(error, BadData) or getattr(error, "errno", None) is not None:  # the latter is the system's error
            raise
        reason = " ".join(str(error).split())[:200]
        raise BadData(f"{name} is not an intact {format_name} file ({reason}); save it anew, without a password.") from None


def read_sheet(path: Path, name: str | None) -> tuple[list[str], list[Sequence[str]], dict[int, str], str, list[str]]:
    """The header, the columns, the fault of each column that has one, by its position, the sheet's name, and those of others.

    Reads the sheet of this name, or else the first visible one with cells.
    """
    with damage_as_bad_data(path.name, "Excel"):
        from openpyxl import load_workbook  # imported late: only Excel files need it

        _check_size(path)
        book = load_workbook(path, data_only=True)
        for sheet in book.worksheets:
            if sheet.max_row * sheet.max_column > _MAX_CELLS:
                raise BadData(f"{path.name}: the sheet {sheet.title!r} reaches over {sheet.dimensions}; delete stray cells.")
        sheets = {sheet.title: sheet for sheet in book.worksheets if any(any(map(_value, row)) for row in sheet.iter_rows())}
        hidden = [title for title, sheet in sheets.items() if sheet.sheet_state != "visible"]
        title = name or next((title for title in sheets if title not in hidden), None)
        sheet = sheets.get(title)
        rows = [[_value(cell) for cell in row] for row in sheet.iter_rows()] if sheet else []
        formulas = _formulas_without_value(path, title, rows) if any("" in row for row in rows) else {}  # type: ignore[arg-type]
    if sheet is None and name is not None:
        hint = did_you_mean(name, sheets)
        raise BadData(f"{path.name} has no sheet {name!r} with cells{hint}; its sheets: {', '.join(sheets)}.")
    if sheet is None:
        raise BadData(f"{path.name} is empty{', but for hidden sheets: ' + ', '.join(hidden) if hidden else ''}.")
    while rows and not any(cell != "" for cell in rows[-1]):
        rows.pop()
    width = max(index + 1 for row in rows for index, cell in enumerate(row) if cell != "")
    header, *rows = [row[:width] for row in rows]
    faults = {column: fault for column, fault in formulas.items() if column < width}
    for merged in sheet.merged_cells.ranges:
        if merged.max_row > 1:
            fault = f"the cells {merged.coord} are merged, so only the first has a value; unmerge them, and fill in the others."
            faults |= dict.fromkeys(range(merged.min_col - 1, min(merged.max_col, width)), fault)
    others = [title for title in sheets if title != sheet.title]
    return header, list(zip(*rows, strict=True)) or [()] * len(header), faults, sheet.title, others


def _check_size(path: Path) -> None:
    """Raise BadData if an Excel file is too large for openpyxl, also if it says something else. Unpacks it piece by piece."""
    size = 0
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            with archive.open(member) as file:
                while (piece := file.read(2**20)) and size <= _MAX_UNPACKED:
                    size += len(piece)
    if size > _MAX_UNPACKED:
        raise BadData(f"{path.name} unpacks to more than {_MAX_UNPACKED / 2**30:g} GB; save the table as CSV.")


def _value(cell) -> str:
    """The cell as in a CSV file. A whole number has no point, and Excel's errors count as missing."""
    value = None if cell.data_type == "e" else cell.value
    return str(int(value)) if isinstance(value, float) and value.is_integer() else as_text([value])[0]


def _formulas_without_value(path: Path, title: str, rows: Sequence[Sequence[str]]) -> dict[int, str]:
    """For each column with a formula whose result the file lacks, where it is and what to do."""
    from openpyxl import load_workbook

    faults: dict[int, str] = {}
    with closing(load_workbook(path, read_only=True)) as book:
        for cell in chain.from_iterable(book[title].iter_rows()):
            if cell.data_type == "f" and not rows[cell.row - 1][cell.column - 1]:
                message = f"the file lacks the result of the formula in {cell.coordinate}; open it in Excel, and save it there."
                faults.setdefault(cell.column - 1, message)
    return faults


def as_text(values: Sequence[Any]) -> list[str]:
    """The cells as in a CSV file. Missing values and NaN become empty strings."""
    return ["" if value is None or value != value else str(value) for value in values]
