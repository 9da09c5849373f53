"""Upper bounds on how far a clustering is from the optimum: its gap above a lower bound, as a fraction of that bound."""

import numpy as np

from clusterlets.algorithms.checks import check_same_index
from clusterlets.algorithms.fair_assignment import share_bounds
from clusterlets.algorithms.fair_dual import share_rows, solve_dual
from clusterlets.errors import ClusterletsError
from clusterlets.metrics.composition import delta_min


def assignment_gap(
    X: np.ndarray,
    groups: np.ndarray,
    labels: np.ndarray,
    centres: np.ndarray | None = None,
    delta: float | None = None,
) -> float:
    """How much an assignment's cost exceeds a lower bound on the cost of any equally fair assignment to these centres.

    The gap is cost / bound - 1. It is 0 if every instance is at its nearest centre, and infinite if the bound is 0 and the cost
    is not. Other centres may have cheaper assignments.

    Parameters
    ----------
    X : float array (n, d)
    groups, labels : arrays (n,)
    centres : float array (k, d), optional
        Centres of clusters 0..k-1. By default the means of the clusters; the labels may then be any integers.
    delta : float, optional
        Largest ``delta_min`` of the assignments that the bound covers. By default that of the labels; it may not be smaller.

    Raises
    ------
    ClusterletsError
        If a label is not the index of a centre, or the labels are less fair than ``delta``.

    Notes
    -----
    The bound comes from the dual of the linear program of Bera et al. (2019); O(n k d) time for the distances, O(n k) for
    each of about 100 steps.
    """
    check_same_index(X=X, groups=groups, labels=labels)
    X, labels = np.asarray(X, dtype=np.float64), np.asarray(labels)
    groups = np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    if not (len(X) == len(groups) == len(labels) > 0):
        raise ClusterletsError(f"{len(X)} instances, {len(groups)} groups and {len(labels)} labels do not match.")
    cluster_indices = np.unique(labels, return_inverse=True)[1].ravel()
    n_clusters = cluster_indices.max() + 1
    if centres is None:
        labels = cluster_indices
        centres = np.array([X[labels == cluster].mean(axis=0) for cluster in range(n_clusters)])
    elif labels.min() < 0 or labels.max() >= len(centres):
        raise ClusterletsError(f"Labels must lie in 0..{len(centres) - 1}, as there are {len(centres)} centres.")
    composition = np.zeros((n_clusters, groups.max() + 1), dtype=np.int64)
    np.add.at(composition, (cluster_indices, groups), 1)
    labels_delta = delta_min(composition, composition.sum(axis=0))
    # A delta that rounding puts slightly below that of the labels is accepted.
    if delta is not None and not labels_delta - 1e-9 <= delta <= 1:
        raise ClusterletsError(
            f"The labels have an unfairness of {labels_delta:.6g}; delta must lie between that and 1, not {delta!r}."
        )
    costs = np.stack([np.square(X - centre).sum(axis=1) for centre in np.asarray(centres, dtype=np.float64)], axis=1)
    cost = float(costs[np.arange(len(X)), labels].sum())
    allowed_delta = labels_delta if delta is None else max(delta, labels_delta)
    bound = float(costs.min(axis=1).sum())
    if allowed_delta < 1 and bound < cost:  # with a delta of 1, all assignments are allowed
        low, high = share_bounds(groups, allowed_delta)
        weights, constraints = np.ones(len(X)), share_rows(low, high)
        dual = solve_dual(costs, weights, groups, n_groups=len(low), constraints=constraints, slack=0.0)
        bound = max(bound, dual.bound)
    return _relative_gap(cost, bound)


def transport_gap(sse: float, bound: float) -> float:
    """How much a sum of squared errors exceeds a bound of :func:`clusterlets.bounds.transport.sse_bounds`: sse / bound - 1.

    The bound must have been computed for the number of clusters and the ``delta_min`` of the clustering. It holds for any
    centres. A negative gap is returned as 0. If the bound is 0, the gap is infinite, or 0 if the error is 0 too.
    """
    if not (sse >= 0 and bound >= 0):
        raise ClusterletsError(f"A sum of squared errors and its bound must be at least 0, not {sse!r} and {bound!r}.")
    return _relative_gap(sse, bound)


def _relative_gap(cost: float, bound: float) -> float:
    """Cost / bound - 1, or 0 if the cost is not above the bound. Rounding may put the bound above a cost that it equals."""
    if cost <= bound:
        return 0.0
    return cost / bound - 1 if bound > 0 else np.inf
