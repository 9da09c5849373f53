"""The step that collects all cells in ``results/runs.csv``."""

import json

from clusterlets.grid.prices import add_prices
from clusterlets.grid.runs_table import read_cell, write_runs
from clusterlets.grid.variants import paths
from clusterlets.steps import Output


def collect_runs(config: str, output: Output, variant: str = "") -> None:
    """Write one row for each run, in the order of the grid, with the prices of fairness.

    Prices are added here and not in the cells: they need plain k-means at every k of the grid, and adding a k must not rerun
    the finished cells.

    config: the workflow's configuration, as JSON
    output: CSV; its SHA-256 is written beside it
    variant: name of a variant; by default the grid itself
    """
    rows: list[dict] = [row for path in paths(json.loads(config), variant) for row in read_cell(path)]
    add_prices([row for row in rows if row["kmeans_cost"]])
    write_runs(output, rows)
