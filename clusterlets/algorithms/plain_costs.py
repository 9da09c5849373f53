"""The least cost of plain k-means over many starts: the denominator of every price of fairness.

The starts have fixed seeds, so the cost depends on the rows and the number of clusters alone.
"""

import hashlib

import numpy as np

#: Number of starts. Their seeds are 0, 1, ...
STARTS = 50
#: Number of starts on a table of more than :data:`MANY_ROWS`.
STARTS_ON_MANY_ROWS = 10
MANY_ROWS = 100_000

# Costs that this process has computed: several reports on one table need the same ones. Hashes as keys keep no table in memory.
_cached_costs: dict[tuple[bytes, int, int], float] = {}


def plain_costs(X: np.ndarray, n_clusters: int, n_starts: int | None = None) -> np.ndarray:
    """Sums of squared distances to the means of plain k-means, one for each start.

    The first costs do not depend on how many starts follow. By default, there are :data:`STARTS`, or
    :data:`STARTS_ON_MANY_ROWS` on more than :data:`MANY_ROWS` rows. With fewer distinct rows than ``n_clusters``, each
    distinct row is a cluster. O(n d k) time for each round, O(n d) memory.
    """
    # Imported late: the estimate of a grid must not load Numba.
    from clusterlets.algorithms.geometry import moments_by_label
    from clusterlets.algorithms.kmeans import kmeans_labels

    starts = range(number_of_starts(len(X)) if n_starts is None else n_starts)
    labellings = (kmeans_labels(X, n_clusters, np.random.default_rng(start)) for start in starts)
    return np.array([moments_by_label(X, labels, int(labels.max()) + 1)[1].sum() for labels in labellings])


def least_plain_cost(X: np.ndarray, n_clusters: int, n_starts: int | None = None) -> float:
    """The least of :func:`plain_costs`, which a process computes once for the same rows."""
    rows = np.require(X, np.float64, ["C"])
    n_starts = number_of_starts(len(rows)) if n_starts is None else n_starts
    key = _key(rows, n_clusters, n_starts)
    if key not in _cached_costs:
        _cached_costs[key] = float(plain_costs(rows, n_clusters, n_starts).min())
    return _cached_costs[key]


def least_plain_labels(X: np.ndarray, n_clusters: int) -> np.ndarray:
    """The labels (n,) of the first start whose cost is that of :func:`least_plain_cost`, which then need not compute it."""
    from clusterlets.algorithms.geometry import moments_by_label
    from clusterlets.algorithms.kmeans import kmeans_labels

    best, least = np.zeros(len(X), dtype=np.int64), np.inf
    for start in range(number_of_starts(len(X))):
        labels = kmeans_labels(X, n_clusters, np.random.default_rng(start))
        cost = float(moments_by_label(X, labels, int(labels.max()) + 1)[1].sum())
        if cost < least:
            best, least = labels, cost
    _cached_costs[_key(X, n_clusters, number_of_starts(len(X)))] = least
    return best


def _key(rows: np.ndarray, n_clusters: int, n_starts: int) -> tuple[bytes, int, int]:
    return hashlib.sha256(repr(rows.shape).encode() + rows.tobytes()).digest(), n_clusters, n_starts


def number_of_starts(n_rows: int) -> int:
    """How many starts a table of ``n_rows`` rows gets by default."""
    return STARTS if n_rows <= MANY_ROWS else STARTS_ON_MANY_ROWS
