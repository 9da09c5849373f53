"""Clusterlet extraction: k-means on each group separately (paper, Algorithm 1, line 1)."""

import numpy as np

from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.geometry import moments_by_label
from clusterlets.algorithms.instances import checked_instances
from clusterlets.algorithms.kmeans import kmeans_labels
from clusterlets.errors import ClusterletsError


def extract_clusterlets(X, groups, n_clusterlets: int, random_state) -> Clusterlets:
    """Run k-means on each group separately, with ``min(n_clusterlets, distinct rows of group)`` clusters (paper, section 3.1).

    ``X`` (n, d); ``groups`` (n,), 0..K-1; ``n_clusterlets`` is the number for each group, at least 1; ``random_state`` is a
    NumPy Generator. Raises ClusterletsError as :func:`clusterlets.algorithms.instances.checked_instances` does, and if a group
    has no instances. O(n n_clusterlets d) time per round of k-means.
    """
    X, groups = checked_instances(X, groups, "the extraction")
    labels = np.empty(len(X), dtype=np.int64)
    offset = 0
    for group in range(int(groups.max()) + 1):
        members = np.flatnonzero(groups == group)
        if len(members) == 0:
            raise ClusterletsError(f"group {group} has no instance; group codes must be 0..K-1, each present.")
        group_labels = kmeans_labels(X[members], n_clusterlets, random_state)
        labels[members] = offset + group_labels
        offset += int(group_labels.max()) + 1
    return clusterlets_from_labels(X, groups, labels)


def clusterlets_from_labels(X: np.ndarray, groups: np.ndarray, labels: np.ndarray) -> Clusterlets:
    """The clusterlets into which ``labels`` (n,) divide the rows X (n, d) of ``groups`` (n,).

    Labels are 0..N-1, and clusterlets must be sorted by group. Raises ValueError if they are not, or if a clusterlet holds two
    groups or no instance. O(n d) time.
    """
    n_clusterlets = int(labels.max()) + 1
    counts = np.zeros((n_clusterlets, int(groups.max()) + 1), dtype=np.int64)
    np.add.at(counts, (labels, groups), 1)
    if ((counts > 0).sum(axis=1) != 1).any():
        raise ValueError("every clusterlet must hold instances of exactly one group")
    group = counts.argmax(axis=1)
    if (np.diff(group) < 0).any():
        raise ValueError("clusterlets must be sorted by group")
    return Clusterlets(group, counts, *moments_by_label(X, labels, n_clusterlets), labels)
