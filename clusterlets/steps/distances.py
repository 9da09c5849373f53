"""The step that sums the distances between groups."""

import numpy as np

from clusterlets.algorithms import geometry
from clusterlets.grid.artifacts import Prepared, SeedBlock


def sum_distances(data: str, labels: str, output: str, within: bool = False) -> None:
    """Summed distances between the groups of every key in a file of labels.

    data: the prepared dataset (.npz)
    labels: groups of its instances (.npz)
    output: summed distances, a matrix for each key (.npz)
    within: only the sums inside each group, which is all that disjoint clusters need
    """
    X = Prepared.load(data).X
    block = SeedBlock.load(labels)
    found = {key: named["labels"].astype(np.int64) for key, named in block.values.items()}
    values = {}
    if found:
        groupings, n_groups = np.stack(list(found.values())), max(int(groups.max()) for groups in found.values()) + 1
        sum_up = _within if within else geometry.distance_sums
        for (key, groups), sums in zip(found.items(), sum_up(X, groupings, n_groups), strict=True):
            n_own = int(groups.max()) + 1  # a dataset may give fewer groups with another seed
            values[key] = {"sums": sums[:n_own, :n_own]}
    SeedBlock(values, block.status).save(output)


def _within(X: np.ndarray, labels: np.ndarray, n_groups: int) -> list[np.ndarray]:
    return [np.diag(sums) for sums in geometry.within_sums(X, labels, n_groups)]
