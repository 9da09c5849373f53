"""The rows of ``results/runs.csv``: their columns, and one small file of them for each cell."""

import csv
import io
import math
from collections.abc import Iterable, Mapping

from clusterlets.storage import write_text

COLUMNS = (
    *("dataset", "method", "matcher", "k", "hops", "omega", "seed", "status", "note", "n_clusterlets", "n_clusters"),
    *("deviation_mean", "deviation_std", "deviation_max", "balance", "balance_ratio", "cohesion", "overlap"),
    *("smallest", "largest", "centroid_silhouette", "kmeans_cost", "price_of_fairness"),
)


def write_rows(path: str, rows: Iterable[Mapping]) -> None:
    """Write rows under :data:`COLUMNS`; what a row lacks, and NaN, is left empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _plain(value) for name, value in row.items()})
    write_text(path, text.getvalue())


def read_rows(path: str) -> list[dict[str, str]]:
    """The rows of one file, as text: numbers keep the digits they were written with."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _plain(value: object) -> object:
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value
