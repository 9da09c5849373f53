"""The step that fits a method that clusters instances, for every seed of a block."""

import json
from contextlib import suppress

import numpy as np

from clusterlets import methods
from clusterlets.algorithms.geometry import load_kernels
from clusterlets.datasets.table import columns_of_names
from clusterlets.grid import crossed_limits
from clusterlets.grid.artifacts import CROSSED, INFEASIBLE, OK, UNSUPPORTED, Prepared
from clusterlets.grid.cells import format_parameters, random_stream, sample_stream, seeds_of
from clusterlets.grid.entries import load
from clusterlets.grid.fitting import Limits, fits
from clusterlets.grid.pieces import save_nothing, save_pieces
from clusterlets.grid.samples import Sample
from clusterlets.provenance import accounts
from clusterlets.steps import Input, Output


def fit_method(
    data: Input,
    method: str,
    dataset: str,
    k: int,
    parameters: str,
    seeds: str,
    base_seed: int,
    limits: str,
    pieces: Output,
    labels: Output,
    exceeded_limits: str = "",
    starts: int = 1,
) -> None:
    """Cluster a prepared dataset.

    parameters: arguments of fit, as JSON
    limits: time and memory that a fit may take, as JSON
    pieces: the clusters of every output and seed (.npz)
    labels: cluster of each instance (.npz)
    starts: starts of each fit, of which the best counts
    """
    prepared, method_class = Prepared.load(data), load(json.loads(method))
    fit_parameters, n_rows = json.loads(parameters), len(prepared.X)
    unsupported = method_class().unsupported(n_rows, len(prepared.group_names))
    if k > n_rows or unsupported:
        save_nothing(INFEASIBLE if k > n_rows else UNSUPPORTED, unsupported, pieces, labels)
        return

    fit_limits = Limits(**json.loads(limits))
    # Before the fits fork, so that they find all machine code loaded and no limit counts compiling.
    load_kernels()
    if "numba" in method_class.libraries:
        _load_method(method_class, fit_limits)

    columns = dict(enumerate(columns_of_names(prepared.group_names)))

    def fit(seed: int):
        best, lowest = None, np.inf
        for start in range(starts):
            stream = random_stream(base_seed, dataset, k, seed, method_class.stream_number(), start)
            method, clusterings = methods.fit(method_class, prepared.X, prepared.groups, k, stream, fit_parameters, columns)
            objective = methods.objective(method, prepared.X, clusterings) if starts > 1 else 0.0
            if best is None or objective < lowest:
                best, lowest = (clusterings, getattr(method, "note_", "")), objective
        return best

    clusters: dict[str, np.ndarray] = {}
    remarks: dict[str, tuple[str, str]] = {}
    block_seeds = seeds_of(seeds)
    distinct_seeds = block_seeds if method_class.is_random else block_seeds[:1]
    outcomes = list(fits(fit, distinct_seeds, fit_limits, stateless=not methods.is_from_file(method_class)))
    for seed, outcome in outcomes if method_class.is_random else [(seed, outcomes[0][1]) for seed in block_seeds]:
        accounts.log_fit(dataset, method_class.name, k, format_parameters(fit_parameters), seed, outcome)
        if outcome.status == OK:
            clusterings_of_seed, note = outcome.result
            clusters |= {f"{name}/{seed}": clustering for name, clustering in clusterings_of_seed.items()}
            remarks |= {str(seed): (OK, note)} if note else {}
        else:
            remarks[str(seed)] = (outcome.status, outcome.note)
    crossed_limits.record(pieces, any(status in CROSSED for status, _ in remarks.values()), limits, exceeded_limits)
    sample = Sample.draw(n_rows, sample_stream(base_seed, dataset))
    save_pieces(prepared, clusters, pieces, labels, remarks, sample)


def _load_method(method_class: type[methods.Method], limits: Limits) -> None:
    """Fit four rows, which compiles and loads the method's machine code."""

    def fit(_: int = 0) -> None:
        with suppress(Exception):  # it may need more than four rows
            methods.fit(method_class, np.arange(4.0)[:, None], np.arange(4) % 2, 2, np.random.default_rng(0), {})

    # A user's method may never return, so it must first do so in a process of its own.
    if not methods.is_from_file(method_class) or all(trial.status == OK for _, trial in fits(fit, [0], limits)):
        fit()
