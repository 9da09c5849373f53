"""The step that fits a method that clusters instances, for every seed of a batch."""

import json
from typing import Any

import numpy as np

from clusterlets import methods
from clusterlets.algorithms.geometry import load_kernels
from clusterlets.benchmark.grid import budget_records
from clusterlets.benchmark.grid.artifacts import Prepared
from clusterlets.benchmark.grid.cells import random_stream, sample_stream, seeds_of
from clusterlets.benchmark.grid.entries import load_method
from clusterlets.benchmark.grid.pieces import save_failed_batch, save_pieces
from clusterlets.benchmark.grid.samples import Sample
from clusterlets.benchmark.provenance import accounts
from clusterlets.benchmark.steps import Input, Output
from clusterlets.methods.interface.users_file import is_from_file
from clusterlets.parameter_text import format_parameters
from clusterlets.supervision.fits import Budget, fits
from clusterlets.supervision.machine_code import load_machine_code
from clusterlets.supervision.statuses import BUDGET_EXCEEDED, INFEASIBLE, OK, UNSUPPORTED


def fit_method(
    data: Input,
    method: str,
    dataset: str,
    k: int,
    parameters: str,
    seeds: str,
    base_seed: int,
    budget: str,
    pieces: Output,
    labels: Output,
    exceeded_budget: str = "",
    starts: int = 1,
) -> None:
    """Cluster a prepared dataset.

    parameters: arguments of fit, as JSON
    budget: time and memory that a fit may take, as JSON
    pieces: the clusters of every output and seed (.npz)
    labels: cluster of each instance (.npz)
    starts: number of starts of each fit; it keeps the result with the least objective. A method that makes its own starts gets
        this number as n_init, unless the parameters have one.
    """
    prepared, method_class = Prepared.load(data), load_method(json.loads(method))
    fit_parameters, n_rows = json.loads(parameters), len(prepared.X)
    unsupported = method_class().unsupported(n_rows, len(prepared.group_values))
    if k > n_rows or unsupported:
        save_failed_batch(INFEASIBLE if k > n_rows else UNSUPPORTED, unsupported, pieces, labels)
        return

    fit_budget = Budget(**json.loads(budget))
    # Compile before the fits fork, so that compiling does not count against their budget.
    load_kernels()
    if "numba" in method_class.libraries:
        load_machine_code(method_class, fit_budget)

    sensitive_columns = dict(enumerate(zip(*prepared.group_values, strict=True)))
    own_starts: dict[str, int] = {}
    if starts > 1 and method_class.makes_its_own_starts() and "n_init" not in fit_parameters:
        own_starts, starts = {"n_init": starts}, 1
    shared: dict[str, Any] = {}

    def fit(seed: int):
        streams = [random_stream(base_seed, dataset, k, seed, method_class.stream_number(), start) for start in range(starts)]
        arguments = prepared.X, prepared.groups, k, streams, fit_parameters | own_starts, sensitive_columns, shared
        fitted, clusterings = methods.fit(method_class, *arguments)
        return clusterings, getattr(fitted, "note_", "")

    all_clusterings: dict[str, np.ndarray] = {}
    statuses: dict[str, tuple[str, str]] = {}
    batch_seeds = seeds_of(seeds)
    fitted_seeds = batch_seeds if method_class.is_random else batch_seeds[:1]
    outcomes = list(fits(fit, fitted_seeds, fit_budget, stateless=not is_from_file(method_class)))
    if not method_class.is_random:  # one fit serves all seeds
        outcomes = [(seed, outcomes[0][1]) for seed in batch_seeds]
    for seed, outcome in outcomes:
        accounts.log_fit(dataset, method_class.name, k, format_parameters(fit_parameters), seed, outcome)
        if outcome.status == OK:
            clusterings_of_seed, note = outcome.result
            all_clusterings |= {f"{name}/{seed}": clustering for name, clustering in clusterings_of_seed.items()}
            if note:
                statuses[str(seed)] = (OK, note)
        else:
            statuses[str(seed)] = (outcome.status, outcome.note)
    has_exceeded = any(status in BUDGET_EXCEEDED for status, _ in statuses.values())
    budget_records.record(pieces, has_exceeded, budget, exceeded_budget)
    sample = Sample.draw(n_rows, sample_stream(base_seed, dataset))
    save_pieces(prepared, all_clusterings, pieces, labels, statuses, sample)
