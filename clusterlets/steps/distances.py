"""The step that sums the distances between pieces, and the distances from a sample of rows to pieces."""

import numpy as np

from clusterlets.algorithms import geometry
from clusterlets.grid.artifacts import Prepared, SeedBlock
from clusterlets.grid.cells import sample_stream
from clusterlets.grid.samples import Sample
from clusterlets.steps import Input, Output


def sum_distances(data: Input, dataset: str, labels: Input, base_seed: int, output: Output) -> None:
    """Sum the distances between the clusterlets of every seed in a file of labels.

    labels: clusterlet of each instance (.npz)
    output: summed distances, matrices for each seed (.npz); for a large table, estimates
    """
    X = Prepared.load(data).X
    block = SeedBlock.load(labels)
    labellings = {key: arrays["labels"].astype(np.int64) for key, arrays in block.values.items()}
    arrays_by_seed = {}
    if labellings:
        n_pieces = [int(labelling.max()) + 1 for labelling in labellings.values()]  # seeds may differ in this number
        stacked = np.stack(list(labellings.values()))
        sample = Sample.draw(len(X), sample_stream(base_seed, dataset))
        if sample.order is None:
            sums = geometry.distance_sums(X, stacked, max(n_pieces))
        else:
            sums = np.stack([geometry.sampled_sums(X, labelling, max(n_pieces), sample.order) for labelling in stacked])
        rows = geometry.row_sums(X, sample.rows, stacked, max(n_pieces))
        arrays_by_seed = {
            key: {"sums": piece_sums[..., :n, :n], "sample": sample.rows, "row_sums": row_sums[:n]}
            for key, n, piece_sums, row_sums in zip(labellings, n_pieces, sums, rows, strict=True)
        }
    SeedBlock(arrays_by_seed, block.status).save(output)
