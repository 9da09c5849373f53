"""The step that sums the distances between groups."""

import numpy as np

from clusterlets import geometry
from clusterlets.benchmark.intermediates import Block, Prepared


def sum_distances(data: str, labels: str, output: str, within: bool = False) -> None:
    """Summed distances between the groups of every key in a file of labels.

    data: the prepared dataset (.npz)
    labels: groups of its instances (.npz)
    output: summed distances, a matrix for each key (.npz)
    within: only the sums inside each group, which is all that disjoint clusters need
    """
    X = Prepared.load(data).X
    block = Block.load(labels)
    values = {key: {"sums": _sums(X, named["labels"].astype(np.int64), within)} for key, named in block.values.items()}
    Block(values, block.status).save(output)


def _sums(X: np.ndarray, labels: np.ndarray, within: bool) -> np.ndarray:
    n_groups = int(labels.max()) + 1
    if within:
        return np.diag(geometry.within_sums(X, labels, n_groups))
    return geometry.distance_sums(X, labels, n_groups)
