"""An upper bound on how far an assignment is from the cheapest one to the same centres that is as fair."""

import numpy as np

from clusterlets.algorithms.checks import check_same_index
from clusterlets.algorithms.fair_dual import solve_dual
from clusterlets.errors import ClusterletsError
from clusterlets.metrics.composition import delta_min

# Settings of the dual.
_TEMPERATURES = (1.0, 0.1, 0.01)  # as multiples of the mean cost of an instance's nearest cluster
_TOLERANCE = 0.5  # a constraint may be off by this many instances, ...
_TOLERANCE_FRACTION = 2e-4  # ... or by this fraction of all instances, whichever is less


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
    each of about 50 steps.
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
        rows = _share_rows(composition.sum(axis=0) / len(X), allowed_delta)
        dual = solve_dual(
            costs,
            np.ones(len(X)),
            groups,
            n_groups=rows.shape[1],
            constraints=rows,
            slack=np.zeros((len(rows), costs.shape[1])),
            multipliers=None,
            temperatures=_TEMPERATURES,
            tolerance=min(_TOLERANCE, _TOLERANCE_FRACTION * len(X)),
        )
        bound = max(bound, dual.bound)
    if cost <= bound:  # rounding may put the bound above a cost that it equals
        return 0.0
    return cost / bound - 1 if bound > 0 else np.inf


def _share_rows(shares: np.ndarray, delta: float) -> np.ndarray:
    """Rows (R, K): ``rows @ counts <= 0`` keeps each share in a cluster from r (1 - delta) to r / (1 - delta), for r in shares.

    With two groups, only the first is bounded, as the second has the rest.
    """
    low, high, eye = shares * (1 - delta), np.minimum(1.0, shares / (1 - delta)), np.eye(len(shares))
    if len(shares) == 2:
        low, high, eye = np.maximum(low, 1 - high[::-1])[:1], np.minimum(high, 1 - low[::-1])[:1], eye[:1]
    return np.concatenate([low[:, None] - eye, eye - high[:, None]])
