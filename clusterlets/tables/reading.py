"""Read columns of delimited text. Damaged text raises an error that names the line.

Cells stay text until :func:`numbers` or :func:`codes` converts them. The index of a frame holds the location of each row, such
as ``adult.test, line 17``, for error messages.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets.tables import numerals
from clusterlets.tables.cells import rows_of_text
from clusterlets.tables.table import BadData


def read_table(
    path: Path,
    columns: Sequence[str] | None = None,
    header: Sequence[str] | None = None,
    separator: str = ",",
    quote: str = '"',
    skip: int = 0,
    comment: str | None = None,
) -> pd.DataFrame:
    """Read columns of a delimited text file, as text.

    Parameters
    ----------
    path : Path
        Plain UTF-8 text. Blank lines are skipped.
    columns : names, optional
        Columns to return, in this order; by default all. If the header repeats a name, the first such column is used.
    header : names, optional
        Names of the file's columns. By default, they are read from the first line after the skipped ones.
    separator, quote : str
        Single characters. Spaces after a separator are ignored.
    skip : int
        Lines to skip at the start.
    comment : str, optional
        Lines that begin with this text are skipped.

    Raises
    ------
    BadData
        If the file is empty, a column is missing, or a line has more or fewer cells than the header.
    """
    with open(path, encoding="utf-8-sig", errors="replace", newline=None) as file:
        lines = (
            "" if number <= skip or (comment and line.startswith(comment)) else line.strip()
            for number, line in enumerate(file, start=1)
        )
        dialect = {"delimiter": separator, "quotechar": quote, "escapechar": "\\"}
        rows = rows_of_text(lines, path.name, None if header is None else len(header), **dialect)
        if header is None:
            header = next(rows, (0, []))[1]
        lines_and_cells = list(rows)
    columns = list(dict.fromkeys(header)) if columns is None else columns
    missing = [column for column in columns if column not in header]
    if missing:
        raise BadData(f"{path.name} has no column {', '.join(missing)}.")
    positions = [list(header).index(column) for column in columns]
    cells_by_column = {
        column: [cells[index] for _, cells in lines_and_cells] for column, index in zip(columns, positions, strict=True)
    }
    locations = [f"{path.name}, line {line}" for line, _ in lines_and_cells]
    return pd.DataFrame(cells_by_column, index=locations, dtype=object)


def numbers(frame: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Columns (n, d) as doubles, correctly rounded. Raises :class:`BadData` if a cell is not a finite number."""
    values_by_column = []
    for column in columns:
        cells = frame[column].to_numpy()
        values = numerals.parse_numbers(cells) if cells.dtype == object else cells.astype(np.float64)
        if not np.isfinite(values).all():
            first = int(np.argmin(np.isfinite(values)))
            raise BadData(f"{frame.index[first]}: column {column} holds {cells[first]!r}, which is not a finite number.")
        values_by_column.append(values)
    return np.column_stack(values_by_column)


def texts(frame: pd.DataFrame, columns: Iterable[str]) -> dict[str, np.ndarray]:
    """The cells (n,) of each column, as strings."""
    return {column: frame[column].to_numpy(dtype=object) for column in columns}


def age_groups(frame: pd.DataFrame, column: str) -> np.ndarray:
    """Age group of each row as text (n,). The limits are those of other fairness studies."""
    years = numbers(frame, [column])[:, 0]
    return np.select([years < 25, years < 60], ["24 or less", "25 to 59"], "60 or more").astype(object)


def codes(frame: pd.DataFrame, column: str, values: Sequence[str]) -> np.ndarray:
    """Position (n,) of each cell in ``values``. Raises :class:`BadData` if a cell is not among them."""
    positions = pd.Index(values).get_indexer(frame[column])
    if (positions < 0).any():
        first = int(np.argmax(positions < 0))
        raise BadData(
            f"{frame.index[first]}: column {column} holds {frame[column].iloc[first]!r}, expected one of {', '.join(values)}."
        )
    return positions.astype(np.int64)
