"""The step that fits a method that clusters instances, for every seed of a block."""

import json
from contextlib import suppress

import numpy as np

from clusterlets.algorithms.geometry import load_kernels
from clusterlets.grid import crossed_limits
from clusterlets.grid.artifacts import CROSSED, INFEASIBLE, OK, UNSUPPORTED, Prepared
from clusterlets.grid.cells import format_parameters, random_stream, sample_stream, seeds_of
from clusterlets.grid.entries import load
from clusterlets.grid.fitting import Limits, fits
from clusterlets.grid.pieces import Sample, save_nothing, save_pieces
from clusterlets.methods import clusterings
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
) -> None:
    """Cluster a prepared dataset.

    data: the prepared dataset (.npz)
    method: its entry in the configuration, as JSON
    dataset: name of the dataset, a part of the random streams
    k: requested number of clusters
    parameters: of fit, as JSON
    seeds: block of seeds, as in 0-9
    base_seed: first part of the random streams
    limits: what a fit may take, as JSON
    pieces: the clusters of every output and seed (.npz)
    labels: cluster of each instance (.npz)
    exceeded_limits: the limits again, if the cell exceeded other limits before
    """
    prepared, method_class = Prepared.load(data), load(json.loads(method))
    fit_parameters, n_rows = json.loads(parameters), len(prepared.X)
    unsupported = method_class().unsupported(n_rows, len(prepared.group_names))
    if k > n_rows or unsupported:
        save_nothing(INFEASIBLE if k > n_rows else UNSUPPORTED, unsupported, pieces, labels)
        return

    # Before the fits fork, so that they find all machine code loaded and their limits count no second of compiling.
    load_kernels()
    if "numba" in method_class.libraries:
        with suppress(Exception):  # it may need more than four rows
            method_class().fit(np.arange(4.0)[:, None], np.arange(4) % 2, 2, np.random.default_rng(0))

    def fit(seed: int):
        stream = random_stream(base_seed, dataset, k, seed, method_class.stream_number())
        method = method_class()
        result = method.fit(prepared.X.copy(), prepared.groups.copy(), k, stream, **fit_parameters)
        return clusterings(method_class, result, n_rows), getattr(method, "note_", "")

    clusters: dict[str, np.ndarray] = {}
    remarks: dict[str, tuple[str, str]] = {}
    block_seeds = seeds_of(seeds)
    outcomes = list(fits(fit, block_seeds if method_class.is_random else block_seeds[:1], Limits(**json.loads(limits))))
    for seed, outcome in outcomes if method_class.is_random else [(seed, outcomes[0][1]) for seed in block_seeds]:
        accounts.log_fit(dataset, method_class.name, k, format_parameters(fit_parameters), seed, outcome)
        if outcome.status == OK:
            clusterings_of_seed, note = outcome.result
            clusters |= {f"{name}/{seed}": clustering for name, clustering in clusterings_of_seed.items()}
            remarks |= {str(seed): (OK, note)} if note else {}
        else:
            remarks[str(seed)] = (outcome.status, outcome.note)
    crossed_limits.note(pieces, any(status in CROSSED for status, _ in remarks.values()), limits, exceeded_limits)
    sample = Sample.draw(n_rows, sample_stream(base_seed, dataset))
    save_pieces(prepared, clusters, pieces, labels, remarks, sample)
