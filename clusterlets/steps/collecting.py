"""The step that puts all cells into ``results/runs.csv``."""

import json
from collections import defaultdict
from collections.abc import Mapping

from clusterlets.grid.runs_table import read_cell, write_runs
from clusterlets.grid.variants import paths
from clusterlets.metrics import price_of_fairness, price_over_best
from clusterlets.steps import Output


def collect_runs(config: str, output: Output, variant: str = "") -> None:
    """One row a run, in the order of the grid, with the prices of fairness.

    The prices stand here and not in the cells: they need plain k-means at every k of the grid, and a further k must not
    make the finished cells run again.

    config: the workflow's configuration, as JSON
    output: CSV; its SHA-256 is written beside it
    variant: name of a variant; by default the grid itself
    """
    rows: list[dict] = [row for path in paths(json.loads(config), variant) for row in read_cell(path)]
    _add_prices([row for row in rows if row["kmeans_cost"]])
    write_runs(output, rows)


def _add_prices(rows: list[dict]) -> None:
    """Both prices of runs that have a cost: over plain k-means on the same seed, and over the best that is known."""
    same_seed: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    best_plain: dict[str, dict[int, float]] = defaultdict(dict)
    least: dict[str, dict[int, float]] = defaultdict(dict)
    for row in rows:
        dataset, n_clusters, cost = _cost(row)
        least[dataset][n_clusters] = min(cost, least[dataset].get(n_clusters, cost))
        if row["method"] == "k-means":
            same_seed[dataset, row["seed"]][n_clusters] = cost
            best_plain[dataset][n_clusters] = min(cost, best_plain[dataset].get(n_clusters, cost))
    for row in rows:
        dataset, n_clusters, cost = _cost(row)
        row["price_of_fairness"] = price_of_fairness(cost, n_clusters, same_seed[dataset, row["seed"]])
        row["price_over_best"] = price_over_best(cost, n_clusters, best_plain[dataset], least[dataset][n_clusters])


def _cost(row: Mapping) -> tuple[str, int, float]:
    return row["dataset"], int(row["n_clusters"]), float(row["kmeans_cost"])
