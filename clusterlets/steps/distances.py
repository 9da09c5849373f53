"""The step that sums the distances between groups."""

import numpy as np

from clusterlets.algorithms import geometry
from clusterlets.grid.artifacts import Prepared, SeedBlock
from clusterlets.steps import Input, Output


def sum_distances(data: Input, labels: Input, output: Output) -> None:
    """Summed distances between the clusterlets of every seed in a file of labels.

    data: the prepared dataset (.npz)
    labels: clusterlet of each instance (.npz)
    output: summed distances, a matrix for each seed (.npz)
    """
    X = Prepared.load(data).X
    block = SeedBlock.load(labels)
    found = {key: named["labels"].astype(np.int64) for key, named in block.values.items()}
    values = {}
    if found:
        n_groups = [int(groups.max()) + 1 for groups in found.values()]  # a dataset may give fewer with another seed
        sums = geometry.distance_sums(X, np.stack(list(found.values())), max(n_groups))
        values = {key: {"sums": of_key[:n, :n]} for key, n, of_key in zip(found, n_groups, sums, strict=True)}
    SeedBlock(values, block.status).save(output)
