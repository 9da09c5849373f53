"""Checks of a table before a method starts, and conversion of its rows and groups to the types of compiled code."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clusterlets.algorithms.checks import check_magnitudes
from clusterlets.errors import ClusterletsError


def checked_instances(X, groups, method: str, n_clusters: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The checked rows (n, d) and groups (n,), in the types that compiled code needs; copies only if they have others.

    Raises ClusterletsError if the shapes do not match, if groups are not codes, if features are not finite or their squared
    differences overflow or vanish, or if the number of clusters is not in 1..n. Codes need not be consecutive. ``method`` is
    the name of the method in messages. O(n d).
    """
    X, groups = np.require(X, np.float64, ["C", "W"]), np.asarray(groups)  # compiled code takes no read-only arrays
    if X.ndim != 2 or groups.shape != X.shape[:1]:
        raise ClusterletsError(f"{method} needs X (n, d) and groups (n,), not {X.shape} and {groups.shape}.")
    if not 1 <= n_clusters <= len(X):
        raise ClusterletsError(f"{n_clusters} clusters of {len(X)} instances: {method} needs at least one instance each.")
    if not np.issubdtype(groups.dtype, np.integer) or groups.min() < 0:
        raise ClusterletsError(f"{method} needs groups as codes 0..K-1: encode the sensitive column first.")
    if not np.isfinite(X).all():
        raise ClusterletsError(f"{method} needs finite features: drop or fill the missing and infinite values first.")
    check_magnitudes(X)
    return X, np.require(groups, np.int64, ["C", "W"])


def codes_that_occur(groups: np.ndarray) -> np.ndarray:
    """Renumber the K groups that occur in ``groups`` (n,) as 0..K-1, in the same order."""
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def columns_of_present(columns: Mapping[Any, Sequence], groups: np.ndarray) -> dict[Any, list]:
    """The value of each sensitive column in each of the groups that occur in ``groups`` (n,), in the order of their codes."""
    codes = np.unique(groups).tolist()
    return {name: [values[code] for code in codes] for name, values in columns.items()}


def counts_of_two(groups: np.ndarray) -> np.ndarray:
    """Sizes (2,) of the groups 0 and 1. Raises ClusterletsError if another group occurs or one of the two does not."""
    counts = np.bincount(groups, minlength=2)
    if len(counts) != 2 or not counts.all():
        raise ClusterletsError(f"Fairlets need two groups, 0 and 1, not {np.count_nonzero(counts)}.")
    return counts
