"""The rows of ``results/runs.csv``: their columns, and one small file of them for each cell."""

import csv
import io
import math
from collections.abc import Iterable, Mapping

from clusterlets.storage import load_text, save_text, write_checksum, write_text

COLUMNS = (
    *("dataset", "method", "matcher", "k", "hops", "omega", "seed", "status", "note", "n_clusterlets", "n_clusters"),
    *("deviation_mean", "deviation_std", "deviation_max", "balance", "balance_ratio", "cohesion", "overlap"),
    *("smallest", "largest", "centroid_silhouette", "kmeans_cost", "price_of_fairness", "parameters"),
    *("bera_balance", "delta_min", "additive_violation", "weighted_deviation", "vfc_error"),
    *("social_cost", "kmedian_cost", "kcenter_cost", "silhouette", "silhouette_error", "silhouette_least_group"),
    *("price_over_best", "cohesion_error"),
)


def write_cell(path: str, rows: Iterable[Mapping]) -> None:
    """Write the rows of a cell below a line that says which cell it is and holds a hash of the rows."""
    save_text(path, _as_csv(rows))


def read_cell(path: str) -> list[dict[str, str]]:
    """The rows of a cell, as text: numbers keep the digits they were written with. A damaged file is removed and named."""
    return list(csv.DictReader(io.StringIO(load_text(path), newline="")))


def write_runs(path: str, rows: Iterable[Mapping]) -> None:
    """Write every run as a table for people, and its SHA-256 beside it."""
    write_text(path, _as_csv(rows))
    write_checksum(path)


def _as_csv(rows: Iterable[Mapping]) -> str:
    """Rows under :data:`COLUMNS`; what a row lacks, and NaN, is left empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _plain(value) for name, value in row.items()})
    return text.getvalue()


def _plain(value: object) -> object:
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value
