"""The step that extracts the clusterlets, by k-means on each group, for every seed of a batch."""

from typing import cast

import numpy as np

from clusterlets.algorithms.extraction import extract_clusterlets as extract
from clusterlets.benchmark.grid.artifacts import Prepared
from clusterlets.benchmark.grid.cells import EXTRACTION, random_stream, seeds_of
from clusterlets.benchmark.grid.pieces import save_failed_batch, save_pieces
from clusterlets.benchmark.steps import Input, Output
from clusterlets.supervision.statuses import INFEASIBLE


def extract_clusterlets(data: Input, dataset: str, k: int, seeds: str, base_seed: int, pieces: Output, labels: Output) -> None:
    """Extract the clusterlets of a prepared dataset.

    pieces: the clusterlets (.npz)
    labels: clusterlet of each instance (.npz)
    """
    prepared = Prepared.load(data)
    if k > len(prepared.X):
        save_failed_batch(INFEASIBLE, "", pieces, labels)
        return
    labels_by_seed: dict[str, np.ndarray] = {}
    for seed in seeds_of(seeds):
        stream = random_stream(base_seed, dataset, k, seed, EXTRACTION)
        labels_by_seed[str(seed)] = cast(np.ndarray, extract(prepared.X, prepared.groups, k, stream).labels)
    save_pieces(prepared, labels_by_seed, pieces, labels, failures={})
