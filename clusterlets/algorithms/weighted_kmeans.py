"""k-means of weighted rows, and of fairlets, sets of rows that must stay together.

The steps of :mod:`clusterlets.algorithms.kmeans`, with a weight on every row: a row of weight 3 counts as three equal
rows. All sums run in a fixed order, so that every processor gives the same bytes.
"""

import numpy as np

from clusterlets.algorithms.elementary import log
from clusterlets.algorithms.geometry import moments_by_label
from clusterlets.algorithms.kernels import assign, candidate_distances, sums_by_label, tiles_of

_MAX_ITER = 300
_TOL = 1e-4  # smallest total squared move of the centres, as a fraction of the mean variance of a feature


def weighted_kmeans(
    X: np.ndarray, weights: np.ndarray, n_clusters: int, random_state: np.random.Generator, n_init: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Centres (k, d) and labels (n,) of greedy k-means++ and Lloyd on weighted rows, the best of ``n_init`` starts.

    Weights (n,) are positive; there are never more clusters than distinct rows. O(n k d) time per round and O(n d) memory.
    """
    rows, weights = (np.require(array, np.float64, ["C", "W"]) for array in (X, weights))
    tiles = tiles_of(rows)
    best, best_cost = None, np.inf
    for _ in range(n_init):
        centres = rows[_first_centres(rows, tiles, weights, n_clusters, random_state)]
        centres, labels, cost = _lloyd(rows, tiles, weights, centres)
        if best is None or cost < best_cost:
            best, best_cost = (centres, labels), cost
    assert best is not None
    return best


def cluster_fairlets(
    X: np.ndarray, fairlets: np.ndarray, n_clusters: int, random_state: np.random.Generator, n_init: int = 1
) -> np.ndarray:
    """Labels (n,), 0..c-1 without gaps: k-means of the fairlets' means, weighted by size; rows go where their fairlet goes.

    ``fairlets`` (n,) are 0..m-1 without gaps. The rows cost as much as the weighted means, plus a constant: the fairlets'
    own sums of squares. O(n d + m k d) time per round, O(n d) memory.
    """
    sizes = np.bincount(fairlets)
    means, _ = moments_by_label(X, fairlets, len(sizes))
    _, labels = weighted_kmeans(means, sizes, n_clusters, random_state, n_init)
    return np.unique(labels[fairlets], return_inverse=True)[1].astype(np.int64)


def _first_centres(rows, tiles, weights, n_clusters, random_state):
    """Indices of distinct rows, each drawn by its weight times its squared distance to the nearest earlier one."""
    n_candidates = 2 + int(log(n_clusters))  # no whole number is near a power of e, so rounding cannot decide
    centre_rows = _draw_rows(weights, random_state, 1)
    (nearest,), _ = _distances_with_candidates(tiles, rows[centre_rows], np.full(len(rows), np.inf), weights)
    while len(centre_rows) < n_clusters and nearest.any():
        candidates = _draw_rows(weights * nearest, random_state, n_candidates)
        lowered, costs = _distances_with_candidates(tiles, rows[candidates], nearest, weights)
        best = costs.argmin()
        centre_rows = np.append(centre_rows, candidates[best])
        nearest = lowered[best]
    return centre_rows


def _draw_rows(chances, random_state, size):
    """Row numbers drawn in proportion to ``chances``."""
    cumulative = np.cumsum(chances)
    drawn = np.searchsorted(cumulative, random_state.random(size) * cumulative[-1], side="right")
    # Rounding may put a draw past the last row that has a chance.
    return np.minimum(drawn, np.searchsorted(cumulative, cumulative[-1]))


def _distances_with_candidates(tiles, candidates, nearest, weights):
    """Squared distances (c, n) to the nearest centre with each candidate among the centres, and their weighted sums (c,)."""
    lowered = np.empty((len(candidates), len(nearest)))
    candidate_distances(tiles, candidates, nearest, lowered, np.empty(len(candidates)))
    return lowered, (lowered * weights).sum(axis=1)


def _lloyd(rows, tiles, weights, centres):
    """Centres, labels and cost after Lloyd's rounds."""
    total = weights.sum()
    mean = (rows * weights[:, None]).sum(axis=0) / total
    smallest_move = _TOL * (np.square(rows - mean) * weights[:, None]).sum() / total / rows.shape[1]
    labels, former_labels, distances = np.empty(len(rows), dtype=np.int64), np.full(len(rows), -1), np.empty(len(rows))
    weighted_rows = rows * weights[:, None]
    for _ in range(_MAX_ITER):
        assign(tiles, centres, labels, distances)
        if np.array_equal(labels, former_labels):
            break
        new_centres = _means(weights, weighted_rows, labels, distances, centres)
        squared_move = np.square(new_centres - centres).sum()
        centres = new_centres
        former_labels[:] = labels
        if squared_move <= smallest_move:
            assign(tiles, centres, labels, distances)
            break
    else:
        assign(tiles, centres, labels, distances)
    return centres, labels, float((weights * distances).sum())


def _means(weights, weighted_rows, labels, distances, centres):
    """Weighted means (k, d); a centre without rows becomes the row of the largest weighted distance that is left."""
    sums, totals = np.empty_like(centres), np.bincount(labels, weights, minlength=len(centres))
    sizes = np.empty(len(centres), dtype=np.int64)
    sums_by_label(weighted_rows, labels, sums, sizes)
    empty = np.flatnonzero(sizes == 0)
    if len(empty) and distances.any():
        labels = labels.copy()
        farthest = np.argsort(-weights * distances, kind="stable")[: len(empty)]
        labels[farthest] = empty[: len(farthest)]
        sums_by_label(weighted_rows, labels, sums, sizes)
        totals = np.bincount(labels, weights, minlength=len(centres))
    return np.where(sizes[:, None] > 0, sums / np.where(sizes > 0, totals, 1.0)[:, None], centres)
