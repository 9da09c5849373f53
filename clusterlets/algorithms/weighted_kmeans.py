"""k-means on weighted rows, and on fairlets, which are small sets of rows that must stay together.

The steps are those of :mod:`clusterlets.algorithms.kmeans`, but every row has a weight: a row of weight 3 counts as three
equal rows. All sums are computed in a fixed order, so that every processor gives the same bytes.
"""

import numpy as np

from clusterlets.algorithms.elementary import log
from clusterlets.algorithms.geometry import moments_by_label
from clusterlets.algorithms.kernels import assign, candidate_distances, sums_by_label, tiles_of

_MAX_ITER = 300
_TOLERANCE = 1e-4  # the rounds end if the squared moves of the centres add up to at most this times a feature's mean variance


def weighted_kmeans(
    X: np.ndarray, weights: np.ndarray, n_clusters: int, random_state: np.random.Generator, n_init: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Greedy k-means++ and Lloyd's algorithm on weighted rows: centres (k, d) and labels (n,) of the best of ``n_init`` starts.

    Weights (n,) are positive. k is ``n_clusters`` or, if that is smaller, the number of distinct rows. O(n k d) time per round
    and O(n d) memory.
    """
    rows, weights = (np.require(array, np.float64, ["C", "W"]) for array in (X, weights))
    tiles = tiles_of(rows)
    best_clustering, best_cost = None, np.inf
    for _ in range(n_init):
        centres = rows[_first_centres(rows, tiles, weights, n_clusters, random_state)]
        centres, labels, cost = _lloyd(rows, tiles, weights, centres)
        if best_clustering is None or cost < best_cost:
            best_clustering, best_cost = (centres, labels), cost
    assert best_clustering is not None
    return best_clustering


def cluster_fairlets(
    X: np.ndarray, fairlets: np.ndarray, n_clusters: int, random_state: np.random.Generator, n_init: int = 1
) -> np.ndarray:
    """Labels (n,), 0..c-1 without gaps, by k-means on the fairlets' means, each weighted by the size of its fairlet.

    ``fairlets`` (n,) is the fairlet of each row, 0..m-1 without gaps. Every row gets the label of its fairlet. O(n d) time,
    plus O(m k d) per round; O(n d) memory.
    """
    sizes = np.bincount(fairlets)
    means, _ = moments_by_label(X, fairlets, len(sizes))
    _, labels = weighted_kmeans(means, sizes, n_clusters, random_state, n_init)
    return np.unique(labels[fairlets], return_inverse=True)[1].astype(np.int64)


def _first_centres(rows, tiles, weights, n_clusters, random_state):
    """Indices of distinct rows, by greedy k-means++.

    The probability that a row is drawn as a candidate is proportional to its weight times its squared distance to the nearest
    centre so far. Of a few candidates, the one that lowers the cost most becomes the next centre.
    """
    n_candidates = 2 + int(log(n_clusters))  # never changed by rounding: no whole number is that close to a power of e
    centre_rows = _draw_rows(weights, random_state, 1)
    (nearest_distances,), _ = _distances_with_candidates(tiles, rows[centre_rows], np.full(len(rows), np.inf), weights)
    while len(centre_rows) < n_clusters and nearest_distances.any():
        candidates = _draw_rows(weights * nearest_distances, random_state, n_candidates)
        new_distances, costs = _distances_with_candidates(tiles, rows[candidates], nearest_distances, weights)
        best_candidate = costs.argmin()
        centre_rows = np.append(centre_rows, candidates[best_candidate])
        nearest_distances = new_distances[best_candidate]
    return centre_rows


def _draw_rows(chances, random_state, size):
    """Draw ``size`` row numbers, with probabilities proportional to ``chances``."""
    cumulative = np.cumsum(chances)
    draws = np.searchsorted(cumulative, random_state.random(size) * cumulative[-1], side="right")
    # Rounding may put a draw past the last row with a positive chance.
    return np.minimum(draws, np.searchsorted(cumulative, cumulative[-1]))


def _distances_with_candidates(tiles, candidates, nearest_distances, weights):
    """For each of c candidates, if it became a centre: squared distances (c, n) to the nearest centre, and the cost (c,)."""
    new_distances = np.empty((len(candidates), len(nearest_distances)))
    candidate_distances(tiles, candidates, nearest_distances, new_distances, np.empty(len(candidates)))
    return new_distances, (new_distances * weights).sum(axis=1)


def _lloyd(rows, tiles, weights, centres):
    """Lloyd's algorithm: the final centres, the labels and the cost."""
    total = weights.sum()
    mean = (rows * weights[:, None]).sum(axis=0) / total
    min_squared_move = _TOLERANCE * (np.square(rows - mean) * weights[:, None]).sum() / total / rows.shape[1]
    labels, previous_labels, distances = np.empty(len(rows), dtype=np.int64), np.full(len(rows), -1), np.empty(len(rows))
    weighted_rows = rows * weights[:, None]
    for _ in range(_MAX_ITER):
        assign(tiles, centres, labels, distances)
        if np.array_equal(labels, previous_labels):
            break
        new_centres = _weighted_means(weights, weighted_rows, labels, distances, centres)
        squared_move = np.square(new_centres - centres).sum()
        centres = new_centres
        previous_labels[:] = labels
        if squared_move <= min_squared_move:
            assign(tiles, centres, labels, distances)
            break
    else:
        assign(tiles, centres, labels, distances)
    return centres, labels, float((weights * distances).sum())


def _weighted_means(weights, weighted_rows, labels, distances, centres):
    """Weighted means (k, d) of the clusters. Each empty cluster gets one of the rows with the largest weighted distances."""
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
