"""Disjoint groups of instances, whoever made them, in the one form that scoring reads.

A module apart from the other artifacts: it loads Numba, for which no job of a cell is to wait.
"""

from collections.abc import Callable, Iterable

import numpy as np

from clusterlets.algorithms.geometry import group_moments
from clusterlets.grid.artifacts import INFEASIBLE, Prepared, SeedBlock, compact


def save_groups(
    prepared: Prepared,
    k: int,
    seeds: Iterable[int],
    cluster: Callable[[int], dict[str, np.ndarray]],
    groups: str,
    labels: str,
) -> None:
    """Run ``cluster(seed)``, which gives labels by key, for every seed; write moments to ``groups``, labels to ``labels``.

    With k above the number of instances nothing is run, and both files say that the block is infeasible.
    """
    if k > len(prepared.X):
        SeedBlock({}, INFEASIBLE).save(groups)
        SeedBlock({}, INFEASIBLE).save(labels)
        return
    found = {key: labels for seed in seeds for key, labels in cluster(seed).items()}
    SeedBlock({key: _moments(prepared, labels) for key, labels in found.items()}).save(groups)
    SeedBlock({key: {"labels": compact(labels)} for key, labels in found.items()}).save(labels)


def _moments(prepared: Prepared, labels: np.ndarray) -> dict[str, np.ndarray]:
    n_groups = int(labels.max()) + 1
    centroids, inertia = group_moments(prepared.X, labels, n_groups)
    counts = np.zeros((n_groups, len(prepared.colour_names)), dtype=np.int64)
    np.add.at(counts, (labels, prepared.colours), 1)
    return {"counts": counts, "centroids": centroids, "inertia": inertia}
