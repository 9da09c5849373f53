"""The step that collects all cells in ``results/runs.csv``."""

import json
from collections import defaultdict

from clusterlets.grid.prices import add_prices
from clusterlets.grid.runs_table import read_cell, write_runs
from clusterlets.grid.variants import paths, plain_cost_paths
from clusterlets.steps import Output
from clusterlets.storage import load_json


def collect_runs(config: str, output: Output, variant: str = "") -> None:
    """Write one row for each run, in the order of the grid, with the prices of fairness.

    Prices are added here and not in the cells: they need plain k-means at every k of the grid, and adding a k must not rerun
    the finished cells.

    config: the workflow's configuration, as JSON
    output: CSV; its SHA-256 is written beside it
    variant: name of a variant; by default the grid itself
    """
    settings = json.loads(config)
    rows: list[dict] = [row for path in paths(settings, variant) for row in read_cell(path)]
    plain_costs: dict[str, dict[int, float]] = defaultdict(dict)
    for (dataset, k), path in plain_cost_paths(settings, variant).items():
        plain_costs[dataset][k] = load_json(path)["cost"]
    add_prices([row for row in rows if row["kmeans_cost"]], plain_costs)
    write_runs(output, rows)
