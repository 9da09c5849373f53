"""Read runs and write tables, with pandas."""

import os

import pandas as pd

from clusterlets.errors import ClusterletsError
from clusterlets.grid.runs_table import COLUMNS, TEXT
from clusterlets.storage import check_checksum, write_text

# Only an empty field is missing: a dataset may be called null, and a group NA.
_AS_WRITTEN = {"keep_default_na": False, "na_values": [""]}
NUMBERS = [column for column in COLUMNS if column not in TEXT]


def read_runs(path: str | os.PathLike) -> pd.DataFrame:
    """``results/runs.csv`` with one type per column: text, or floats (an empty column stays a column of NaN).

    Checked against the SHA-256 beside it, if there is one; a damaged file is removed and named.
    """
    check_checksum(path)
    runs = pd.read_csv(path, dtype=dict.fromkeys(TEXT, object), float_precision="round_trip", **_AS_WRITTEN)
    missing = [column for column in COLUMNS if column not in runs]
    if missing:
        raise ClusterletsError(f"{path} lacks the columns {', '.join(missing)}. docs/results-format.md lists them all.")
    return runs.astype(dict.fromkeys(NUMBERS, float))


def read_lines(path: str | os.PathLike) -> pd.DataFrame:
    """A tidy table other than the runs; names stay text, whatever they look like, and only empty fields are missing."""
    text_columns = dict.fromkeys(("dataset", "method", "matcher", "group"), object)
    return pd.read_csv(path, dtype=text_columns, float_precision="round_trip", **_AS_WRITTEN)


def write_csv(path: str | os.PathLike, frame: pd.DataFrame) -> None:
    """A table as CSV without its index, the same bytes on every system."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))
