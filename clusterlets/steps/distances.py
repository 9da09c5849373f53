"""The step that sums the distances between pieces, and those of some rows to pieces."""

import numpy as np

from clusterlets.algorithms import geometry
from clusterlets.grid.artifacts import Prepared, SeedBlock
from clusterlets.grid.cells import sample_stream
from clusterlets.grid.pieces import Sample
from clusterlets.steps import Input, Output


def sum_distances(data: Input, dataset: str, labels: Input, base_seed: int, output: Output) -> None:
    """Summed distances between the clusterlets of every seed in a file of labels.

    data: the prepared dataset (.npz)
    dataset: its name, a part of the random stream
    labels: clusterlet of each instance (.npz)
    base_seed: first part of the random stream
    output: summed distances, matrices for each seed (.npz); of a large table, estimates of them
    """
    X = Prepared.load(data).X
    block = SeedBlock.load(labels)
    found = {key: named["labels"].astype(np.int64) for key, named in block.values.items()}
    values = {}
    if found:
        n_pieces = [int(pieces.max()) + 1 for pieces in found.values()]  # a dataset may give fewer with another seed
        every = np.stack(list(found.values()))
        sample = Sample.draw(len(X), sample_stream(base_seed, dataset))
        if sample.order is None:
            sums = geometry.distance_sums(X, every, max(n_pieces))
        else:
            sums = np.stack([geometry.sampled_sums(X, pieces, max(n_pieces), sample.order) for pieces in every])
        rows = geometry.row_sums(X, sample.rows, every, max(n_pieces))
        values = {
            key: {"sums": of_key[..., :n, :n], "sample": sample.rows, "row_sums": to_rows[:n]}
            for key, n, of_key, to_rows in zip(found, n_pieces, sums, rows, strict=True)
        }
    SeedBlock(values, block.status).save(output)
