"""Small tables, random costs, and a check of fairness by its definition, for tests of methods and assignments."""

from functools import cache
from itertools import product
from math import ceil, floor

import numpy as np

from clusterlets.algorithms.fair_dual import solve_dual
from clusterlets.algorithms.limits import violation_units


def table(rng, n, n_groups, kind, singletons=False, outlier=1e9):
    """Rows (n, 2) and groups (n,). Every group has a row. With ``singletons``, all groups but the first have exactly one.

    The rows are normally distributed, with these exceptions by ``kind``:

    - "duplicates": there are at most nine distinct rows
    - "apart": the groups are apart from each other
    - "equal": all rows are equal
    - "outlier": the first row is at ``outlier``
    - "noise": the rows differ by less than their rounding error
    """
    other_groups = np.zeros(n - n_groups, int) if singletons else rng.integers(0, n_groups, size=n - n_groups)
    groups = rng.permutation(np.concatenate([np.arange(n_groups), other_groups]))
    X = rng.integers(0, 3, size=(n, 2)).astype(float) if kind == "duplicates" else rng.normal(size=(n, 2))
    if kind == "apart":
        X += 4 * groups[:, None]
    if kind == "equal":
        X[:] = 0.1
    if kind == "outlier":
        X[0] = outlier
    if kind == "noise":
        X = 1e6 + 1e-12 * X
    return X, groups


def sse(X, labels):
    return sum(np.square(X[labels == c] - X[labels == c].mean(axis=0)).sum() for c in np.unique(labels))


def counts_of(labels, groups, k):
    """The number of instances of each group in each cluster (n_groups, k)."""
    return np.stack([np.bincount(labels[groups == group], minlength=k) for group in range(groups.max() + 1)])


def is_fair(labels, groups, k, delta):
    """Whether no cluster is empty and each group's share in it is at least r (1 - delta) and at most r / (1 - delta).

    r is the group's share in the table. The bounds on the counts are rounded outwards to whole instances.
    """
    shares = np.bincount(groups) / len(groups)
    for cluster in range(k):
        counts = np.bincount(groups[labels == cluster], minlength=len(shares))
        size = counts.sum()
        for count, share in zip(counts, shares, strict=True):
            lowest, highest = floor(size * share * (1 - delta) + 1e-9), ceil(size * min(1, share / (1 - delta)) - 1e-9)
            if size == 0 or not lowest <= count <= highest:
                return False
    return True


def squared_distances(X, centres):
    return np.square(X[:, None] - centres).sum(axis=2)


def random_costs(rng, n, k, kind):
    """Random costs (n, k): 0, 1 or 2 for the kind "few values", all the same for "equal", and uniform for other kinds."""
    if kind == "equal":
        return np.full((n, k), 0.1)
    return rng.integers(0, 3, size=(n, k)).astype(float) if kind == "few values" else rng.random((n, k))


def cost_of(costs, labels):
    """The cost of labels (n,), or of each row of labels (m, n)."""
    return costs[np.arange(len(costs)), labels].sum(axis=-1)


@cache
def all_labels(n, k):
    """Every assignment of n instances to k clusters."""
    return np.array(list(product(range(k), repeat=n)))


def least_cost_of_all(costs, is_allowed):
    """The least cost of all labels for which ``is_allowed`` is true, found by trying every assignment."""
    labels = all_labels(*costs.shape)
    totals = cost_of(costs, labels)
    return next(totals[row] for row in np.argsort(totals) if is_allowed(labels[row]))


def dual_of(costs, weights, groups, rows, slack):
    """The dual of the cheapest fractional assignment with ``rows @ counts <= slack``, without multipliers to start from."""
    units = violation_units(rows)[:, None]
    tolerance = min(0.5, 2e-4 * weights.sum())
    temperatures = (1.0, 0.1, 0.01)
    return solve_dual(costs, weights, groups, groups.max() + 1, rows / units, slack / units, None, temperatures, tolerance)
