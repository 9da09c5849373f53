"""The step that puts all cells into ``results/runs.csv``."""

import json

from clusterlets.grid.runs_table import read_cell, write_runs
from clusterlets.grid.variants import paths
from clusterlets.metrics import price_of_fairness
from clusterlets.steps import Output


def collect_runs(config: str, output: Output, variant: str = "") -> None:
    """One row a run, in the order of the grid, with the price of fairness.

    The price stands here and not in the cells: it needs plain k-means at every k of the grid, and a further k must not
    make the finished cells run again.

    config: the workflow's configuration, as JSON
    output: CSV; its SHA-256 is written beside it
    variant: name of a variant; by default the grid itself
    """
    rows: list[dict] = [row for path in paths(json.loads(config), variant) for row in read_cell(path)]
    references: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows:
        if row["method"] == "k-means" and row["status"] == "ok":
            reference = references.setdefault((row["dataset"], row["seed"]), {})
            reference[int(row["n_clusters"])] = float(row["kmeans_cost"])
    for row in rows:
        if row["kmeans_cost"]:
            reference = references.get((row["dataset"], row["seed"]), {})
            row["price_of_fairness"] = price_of_fairness(float(row["kmeans_cost"]), int(row["n_clusters"]), reference)
    write_runs(output, rows)
