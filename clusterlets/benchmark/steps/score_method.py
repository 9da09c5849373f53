"""The step that scores the runs of a cell. For a matcher, it first joins the clusterlets of every seed."""

import json
from collections.abc import Iterable, Mapping
from typing import cast

from clusterlets.benchmark.grid import budget_records
from clusterlets.benchmark.grid.artifacts import Prepared, SeedBatch
from clusterlets.benchmark.grid.cells import Cell, seeds_of
from clusterlets.benchmark.grid.entries import load_method
from clusterlets.benchmark.grid.paths import fitted_pieces, shared_inputs
from clusterlets.benchmark.grid.runs_columns import write_cell
from clusterlets.benchmark.grid.scoring import Outcome, cluster_outcomes, match, matching_outcomes, score_all
from clusterlets.benchmark.provenance import accounts
from clusterlets.benchmark.steps import Output
from clusterlets.methods import Matcher
from clusterlets.parameter_text import format_parameters
from clusterlets.storage import load_json
from clusterlets.supervision.fits import Budget
from clusterlets.supervision.statuses import BUDGET_EXCEEDED, NEVER_FITTED
from clusterlets.text import names_of_groups


def score_method(
    method: str,
    dataset: str,
    k: int,
    parameters: str,
    settings: str,
    seeds: str,
    base_seed: int,
    budget: str,
    tables_of: str,
    deviation: str,
    output: Output,
    exceeded_budget: str = "",
) -> None:
    """Write the rows of a cell, one for each run.

    parameters: the values of each argument of fit or match, as JSON
    settings: parameters that come from keys of the configuration, as JSON
    budget: time and memory that a matching may take, as JSON
    tables_of: folder of the files that the cell is scored from, which clusterlets.benchmark.grid.paths lists
    deviation: absolute, relative, kl, first_group or least_share
    output: one row for each run (CSV)
    """
    method_class = load_method(json.loads(method))
    cell = Cell(dataset, method_class.name, k, json.loads(parameters), seeds)
    inputs = shared_inputs(cell, method_class, tables_of)
    geometry = load_json(inputs["geometry"])
    values = geometry["group_values"]
    groups = dict(zip(names_of_groups(values), geometry["group_sizes"], strict=True))
    columns = list(zip(*values, strict=True))

    outcomes: Iterable[Iterable[Outcome]]
    if method_class.is_matcher:
        matcher, fit_budget = cast(type[Matcher], method_class), Budget(**json.loads(budget))
        outcomes, has_exceeded = _match(matcher, cell, json.loads(settings), base_seed, fit_budget, inputs, groups)
        budget_records.record(output, has_exceeded, budget, exceeded_budget)
    else:
        batches = map(SeedBatch.load, fitted_pieces(cell, tables_of))
        outcomes = (cluster_outcomes(method_class, k, seeds_of(seeds), batch, groups) for batch in batches)
    rows: list[dict] = []
    for configuration, runs in zip(cell.configurations, outcomes, strict=True):
        rows += score_all(method_class, dataset, k, configuration, runs, geometry["diameter"], deviation, columns)
    write_cell(output, rows)


def _match(
    matcher: type[Matcher],
    cell: Cell,
    settings: dict,
    base_seed: int,
    budget: Budget,
    inputs: Mapping[str, str],
    groups: Mapping[str, int],
) -> tuple[list[Iterable[Outcome]], bool]:
    """The outcomes of each configuration of a matcher, and whether a fit exceeded the budget. Fits are written to the log."""
    pieces, distances, labels = (SeedBatch.load(inputs[kind]) for kind in ("pieces", "distances", "labels"))
    fronts, table = SeedBatch.load(inputs["partitions"]) if "partitions" in inputs else None, Prepared.load(inputs["data"])
    outcomes: list[Iterable[Outcome]] = []
    has_exceeded = False
    for configuration in cell.configurations:
        arguments = configuration | settings, seeds_of(cell.seeds), base_seed, budget, pieces, fronts
        matchings = list(match(matcher, cell.dataset, cell.k, *arguments))
        for seed, fit in matchings:
            if fit.status not in NEVER_FITTED:
                accounts.log_fit(cell.dataset, matcher.name, cell.k, format_parameters(configuration), seed, fit)
        has_exceeded |= any(fit.status in BUDGET_EXCEEDED for _, fit in matchings)
        outcomes.append(matching_outcomes(matcher, cell.k, matchings, pieces, distances, labels, table, groups))
    return outcomes, has_exceeded
