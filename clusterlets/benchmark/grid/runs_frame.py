"""Read the runs and other tables of results, and write tables, with pandas."""

import os

import pandas as pd

from clusterlets.benchmark.grid.runs_columns import COLUMNS, TEXT_COLUMNS
from clusterlets.errors import ClusterletsError
from clusterlets.storage import check_checksum, write_text

# By default pandas would also read "null" and "NA" as missing, but a dataset or a group may have such a name.
_ONLY_EMPTY_IS_MISSING = {"keep_default_na": False, "na_values": [""]}
NUMBER_COLUMNS = [column for column in COLUMNS if column not in TEXT_COLUMNS]


def read_runs(path: str | os.PathLike) -> pd.DataFrame:
    """Read ``results/runs.csv``. Columns are text or floats.

    If there is a file with its SHA-256 beside it, the two are compared. The error names a damaged file, which is left as it is.
    """
    check_checksum(path)
    runs = pd.read_csv(path, dtype=dict.fromkeys(TEXT_COLUMNS, object), float_precision="round_trip", **_ONLY_EMPTY_IS_MISSING)
    missing = [column for column in COLUMNS if column not in runs]
    if missing:
        raise ClusterletsError(f"{path} lacks the columns {', '.join(missing)}. docs/results-format.md lists them all.")
    return runs.astype(dict.fromkeys(NUMBER_COLUMNS, float))


def read_results_table(path: str | os.PathLike) -> pd.DataFrame:
    """Read a table other than the runs. Names stay text even if they look like numbers."""
    text_columns = dict.fromkeys(("dataset", "method", "matcher", "group"), object)
    return pd.read_csv(path, dtype=text_columns, float_precision="round_trip", **_ONLY_EMPTY_IS_MISSING)


def read_results_table_if_any(path: str | os.PathLike) -> pd.DataFrame:
    """Read a table as :func:`read_results_table` does, or return one without rows if the file is missing or empty."""
    return read_results_table(path) if os.path.isfile(path) and os.path.getsize(path) else pd.DataFrame()


def write_csv(path: str | os.PathLike, frame: pd.DataFrame) -> None:
    """Write a table as CSV without its index."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))
