"""The step that writes ``runs.csv``, the runs of all cells."""

import itertools
import json
import os
from collections import defaultdict

from clusterlets.benchmark.grid.runs_columns import read_cell, write_runs
from clusterlets.benchmark.grid.variants import cells_by_path, plain_cost_paths
from clusterlets.benchmark.steps import Output
from clusterlets.metrics.all_scores import SCORES
from clusterlets.metrics.prices import PriceInputs
from clusterlets.metrics.score import evaluate
from clusterlets.storage import load_json


def collect_runs(config: str, output: Output, variant: str = "") -> None:
    """Write one row for each run, in the order of the grid, with the prices of fairness.

    Prices are not in the cells, because they need plain k-means at every k of the grid. If they were, a new k would rerun all
    cells.

    output: CSV; its SHA-256 is written beside it
    variant: name of a variant; by default the grid itself
    """
    settings = json.loads(config)
    rows: list[dict] = []
    for _, batches in itertools.groupby(cells_by_path(settings, variant).items(), key=lambda item: os.path.dirname(item[0])):
        # A cell has all configurations of a batch of seeds; the table has all batches of a configuration.
        rows_of_configurations: dict[str, list[dict]] = defaultdict(list)
        for path, cell in batches:
            for run in read_cell(path, cell):
                rows_of_configurations[run["parameters"]].append(run)
        rows += itertools.chain.from_iterable(rows_of_configurations.values())
    plain_costs: dict[str, dict[int, float]] = defaultdict(dict)
    for (dataset, k), path in plain_cost_paths(settings, variant).items():
        plain_costs[dataset][k] = load_json(path)["cost"]
    for row in rows:
        if row["kmeans_cost"]:
            inputs = PriceInputs(float(row["kmeans_cost"]), int(row["n_clusters"]), plain_costs[row["dataset"]])
            row |= evaluate(SCORES, inputs)  # only the scores that are computed from PriceInputs
    write_runs(output, rows)
