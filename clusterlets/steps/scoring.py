"""The step that scores the runs of a cell. For a matcher, it first joins the clusterlets of every seed."""

import json
from typing import cast

from clusterlets.datasets.table import columns_of_names
from clusterlets.grid import budget_records
from clusterlets.grid.artifacts import BUDGET_EXCEEDED, NEVER_FITTED, Prepared, SeedBatch
from clusterlets.grid.cells import format_parameters, seeds_of
from clusterlets.grid.entries import load_method
from clusterlets.grid.fitting import Budget
from clusterlets.grid.runs_table import write_cell
from clusterlets.grid.scoring import cluster_outcomes, match, matching_outcomes, score_all
from clusterlets.methods import Matcher
from clusterlets.provenance import accounts
from clusterlets.steps import Input, Output
from clusterlets.storage import load_json


def score_method(
    method: str,
    dataset: str,
    k: int,
    parameters: str,
    settings: str,
    seeds: str,
    base_seed: int,
    budget: str,
    pieces: Input,
    geometry: Input,
    deviation: str,
    output: Output,
    data: Input = "",
    labels: Input = "",
    distances: Input = "",
    partitions: Input = "",
    exceeded_budget: str = "",
) -> None:
    """Write the rows of a cell, one for each run.

    parameters: arguments of fit or match, as JSON
    settings: parameters that come from keys of the configuration, as JSON
    budget: time and memory that a matching may take, as JSON
    pieces: the clusters of every output and seed or, for a matcher, the clusterlets (.npz)
    geometry: measurements of the dataset (JSON)
    deviation: absolute, relative, kl, first_group or least_share
    output: one row for each run (CSV)
    data: for a matcher, the prepared dataset (.npz)
    labels: for a matcher, clusterlet of each instance (.npz)
    distances: for a matcher, summed distances of the clusterlets (.npz)
    partitions: for C, the fronts of sample_partitions (.npz)
    """
    method_class, cell_parameters, batch = load_method(json.loads(method)), json.loads(parameters), SeedBatch.load(pieces)
    measurements, batch_seeds = load_json(geometry), seeds_of(seeds)
    if method_class.is_matcher:
        matcher = cast(type[Matcher], method_class)
        all_parameters, fit_budget = cell_parameters | json.loads(settings), Budget(**json.loads(budget))
        fronts = SeedBatch.load(partitions) if partitions else None
        matchings = list(match(matcher, dataset, k, all_parameters, batch_seeds, base_seed, fit_budget, batch, fronts))
        has_exceeded = any(matching.status in BUDGET_EXCEEDED for _, matching in matchings)
        budget_records.record(output, has_exceeded, budget, exceeded_budget)
        for seed, matching in matchings:
            if matching.status not in NEVER_FITTED:
                accounts.log_fit(dataset, method_class.name, k, format_parameters(cell_parameters), seed, matching)
        inputs = SeedBatch.load(distances), SeedBatch.load(labels), Prepared.load(data)
        outcomes = matching_outcomes(matcher, k, matchings, batch, *inputs, measurements["groups"])
    else:
        outcomes = cluster_outcomes(method_class, k, batch_seeds, batch, measurements["groups"])
    columns = columns_of_names(list(measurements["groups"]))
    diameter = measurements["diameter"]
    write_cell(output, score_all(method_class, dataset, k, cell_parameters, outcomes, diameter, deviation, columns))
