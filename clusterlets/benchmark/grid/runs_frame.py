"""Read the runs and other tables of results, and write tables, with pandas."""

import os
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
import pandas as pd

from clusterlets.benchmark.grid.runs_columns import COLUMNS, TEXT_COLUMNS
from clusterlets.errors import ClusterletsError
from clusterlets.storage import check_checksum, write_text

# By default pandas would also read "null" and "NA" as missing, but a dataset or a group may have such a name.
_OPTIONS: dict[str, Any] = {"keep_default_na": False, "na_values": [""]}
if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):  # newer versions always round correctly, and warn of the option
    _OPTIONS["float_precision"] = "round_trip"
_NAME_COLUMNS = ("dataset", "method", "matcher", "group")
NUMBER_COLUMNS = [column for column in COLUMNS if column not in TEXT_COLUMNS]


def read_runs(path: str | os.PathLike) -> pd.DataFrame:
    """Read ``results/runs.csv``. Columns are text or floats.

    If there is a file with its SHA-256 beside it, the two are compared. The error names a damaged file, which is left as it is.
    """
    check_checksum(path)
    runs = read_results_table(path, TEXT_COLUMNS)
    missing = [column for column in COLUMNS if column not in runs]
    if missing:
        raise ClusterletsError(f"{path} lacks the columns {', '.join(missing)}. docs/results-format.md lists them all.")
    return runs.astype(dict.fromkeys(NUMBER_COLUMNS, float))


def read_results_table(source: str | os.PathLike | IO[str], text_columns: Iterable[str] = _NAME_COLUMNS) -> pd.DataFrame:
    """Read a table of results. The text columns stay text even if they look like numbers."""
    return pd.read_csv(source, dtype=dict.fromkeys(text_columns, object), **_OPTIONS)


def read_results_table_if_any(path: str | os.PathLike) -> pd.DataFrame:
    """Read a table as :func:`read_results_table` does, or return one without rows if the file is missing or empty."""
    return read_results_table(path) if os.path.isfile(path) and os.path.getsize(path) else pd.DataFrame()


def fill_text(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """The frame with "" where one of these columns of text is empty. If all its cells are, pandas has read it as numbers."""
    return frame.assign(**{name: np.where(frame[name].isna(), "", frame[name].astype(object)) for name in columns})


def write_csv(path: str | os.PathLike, frame: pd.DataFrame) -> None:
    """Write a table as CSV without its index."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))
