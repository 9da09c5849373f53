"""Lloyd's rounds with a fair assignment in place of the nearest centres.

Each round makes nearly the cheapest assignment within limits on the shares of the groups
(:mod:`clusterlets.algorithms.limit_assignment`), and moves the centres to the means of the clusters. The first centres come
from fractional rounds (:mod:`clusterlets.algorithms.fractional_lloyd`), on a coreset if the table is large. After these, a few
rounds on all rows are enough.

Fair assignments in Lloyd's rounds: Boehm, Fazzone, Leonardi and Schwiegelshohn 2020. With flows: MS-FlowFC, arXiv 2605.13759,
which bounds ratios of counts instead of shares.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from clusterlets.algorithms.coreset import sample_coreset
from clusterlets.algorithms.fractional_lloyd import fractional_lloyd
from clusterlets.algorithms.geometry import moments_by_label, squared_distances_to_centres
from clusterlets.algorithms.instances import checked_instances, codes_that_occur, columns_of_present
from clusterlets.algorithms.limit_assignment import assign_within_limits
from clusterlets.algorithms.limits import limits_of_fit

_SAMPLE = 8_000  # rows of the coreset on which centres are placed first
_PATIENCE = 3  # rounds in a row without a gain that end the search: rounding to whole counts may undo the gain of a round


@dataclass(frozen=True)
class FairKMeansResult:
    """A local optimum of fair k-means, by :func:`fair_flow` or :func:`clusterlets.algorithms.fair_limit.fair_limit`.

    Attributes
    ----------
    labels : int array (n,)
    centres : float array (k, d)
        Means of the clusters.
    inertia : float
        Sum of squared distances of the rows to their centres.
    gap : float
        By how much the assignment may cost more than the cheapest one at the same centres, as a fraction of the cheapest cost.
    n_iter : int
        fair-flow: the round that gave this clustering; up to three more may have run. fair-limit: rounds on the whole table,
        of all starts.
    """

    labels: np.ndarray
    centres: np.ndarray
    inertia: float
    gap: float
    n_iter: int


def fair_flow(
    X: np.ndarray,
    groups: np.ndarray,
    n_clusters: int,
    random_state: np.random.Generator,
    delta: float = 0.0,
    n_init: int = 4,
    max_iter: int = 100,
    tol: float = 1e-4,
    balance: float | None = None,
    min_cluster_size: int = 1,
    max_deviation: float | None = None,
    columns: Mapping[Any, Sequence] = MappingProxyType({}),
) -> FairKMeansResult:
    """Fair k-means under bounded representation, or under a bound on the balance of two groups, which is MS-FlowFC's rule.

    ``X`` (n, d), ``groups`` (n,), ``n_clusters`` and ``random_state`` are as in :meth:`clusterlets.methods.Method.fit`, and the
    other parameters as :class:`clusterlets.FairFlow` declares them.

    Raises
    ------
    NoClusteringError
        As :func:`clusterlets.algorithms.limit_assignment.assign_within_limits`.
    ClusterletsError
        If a bound is out of range.

    Notes
    -----
    O(n k d) time per round for the distances, plus the assignment; O(n k) memory.
    """
    X, groups = checked_instances(X, groups, "fair-flow", n_clusters)
    columns = columns_of_present(columns, groups)
    groups = codes_that_occur(groups)
    rows, weights = draw_sample(X, groups, n_clusters, random_state)
    limits, slacks = limits_of_fit(groups, n_clusters, delta, balance, max_deviation, columns)
    start = fractional_lloyd(X[rows], weights, groups[rows], limits, slacks[0], random_state, n_init)
    centres, multipliers = start.centres, start.multipliers
    best, n_iter, n_idle = None, 0, 0
    while n_iter < max_iter and n_idle < _PATIENCE:
        n_iter += 1
        costs = squared_distances_to_centres(X, centres, n_clusters)
        assignment = assign_within_limits(costs, groups, limits, slacks, min_cluster_size, multipliers)
        multipliers = assignment.multipliers
        centres, inertias = moments_by_label(X, assignment.labels, n_clusters)
        inertia = float(inertias.sum())
        n_idle = n_idle + 1 if best and inertia > (1 - tol) * best.inertia else 0
        if best is None or inertia < best.inertia:
            best = FairKMeansResult(assignment.labels, centres, inertia, assignment.gap, n_iter)
    assert best is not None  # because max_iter is at least 1
    return best


def draw_sample(
    X: np.ndarray, groups: np.ndarray, n_clusters: int, random_state: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Rows on which to place centres, and their weights: a coreset of a large table, or all rows."""
    size = max(_SAMPLE, 100 * n_clusters)  # at least 100 rows per cluster
    if len(X) < 1.5 * size:  # a slightly larger table is not sampled
        return np.arange(len(X)), np.ones(len(X))
    return sample_coreset(X, groups, n_clusters, size, random_state)
