"""Antidotes: a few points added to the table, so that plain k-means on all of them treats the groups alike.

The labels of k-means are not a smooth function of the added points, so a search without derivatives places them: it moves one
point at a time and keeps a move that does not make the clustering less fair. The added points count as rows of k-means and are
then dropped. The idea is that of Chhabra, Singla and Mohapatra 2021 (arXiv 2106.00600), for any clustering with centres
and any notion of fairness. The search is our own: they published no code, and a classifier guides theirs.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from clusterlets.algorithms.instances import checked_instances
from clusterlets.algorithms.kernels import assign, inertia_by_label, sums_by_label, tiles_of
from clusterlets.algorithms.kmeans import kmeans, lloyd

_N_PLACES = 5  # the added points are divided equally among so many places
_STARTS = 10  # runs of plain k-means
_MAX_ROUNDS = 30  # rounds of k-means with the added points
_JUMP = 0.2  # chance that a place moves anywhere instead of nearby
_WIDER, _NARROWER, _MIN_STEP = 1.5, 0.92, 0.05  # factors of the step after a gain and a loss, and its floor
_MEAN_WEIGHT = 0.1  # weight of the clusters' mean balance, which decides between clusterings with the same worst cluster
_UNIFORMS = 12  # the sum of twelve uniform numbers has variance 1
_EMPTY = (-1.0, 0.0)  # the score of a clustering with a cluster of added points only


@dataclass(frozen=True)
class Antidote:
    """A clustering of the rows, and the added points that make it fair.

    Attributes
    ----------
    labels : int array (n,)
        0..m-1 without gaps.
    places : float array (g, d)
        Where the added points lie; g is 0 if all those tried made the clustering worse than plain k-means.
    weight : float
        Added points at each place; usually not a whole number.
    """

    labels: np.ndarray
    places: np.ndarray
    weight: float


def antidote(
    X: np.ndarray,
    groups: np.ndarray,
    n_clusters: int,
    random_state: np.random.Generator,
    rho: float = 0.05,
    n_evaluations: int = 300,
) -> Antidote:
    """Plain k-means of the rows and a few added points, which a random search places to make the clusters fair.

    ``X`` (n, d), ``groups`` (n,), ``n_clusters`` and ``random_state`` are as in :meth:`clusterlets.methods.Method.fit`, and the
    other parameters as :class:`clusterlets.Antidote` declares them. ``ceil(rho * n)`` points are added, a fifth of them at each
    of five places.

    Returns
    -------
    Antidote
        Every clustering starts from the centres of the best of ten runs of plain k-means. Of the :func:`cluster_balances`, the
        smallest is at least that of this run, or else the mean is larger.

    Notes
    -----
    Fairness is not promised: where the groups lie far apart, a few points change little. O(n k d) time for each of up to 30
    rounds of an evaluation, O(n d) memory; meant for a few thousand rows.
    """
    X, groups = checked_instances(X, groups, "an antidote", n_clusters)
    plain = _plain_centres(X, n_clusters, random_state)
    evaluation = _Evaluation(X, groups, plain, ceil(rho * len(X) - 1e-9) / _N_PLACES)  # .07 * 100 is a little more than 7
    places, score, labels = _search(X, evaluation, random_state, n_evaluations)
    labels_plain = lloyd(X, plain, max_iter=1).labels
    if score < evaluation.score(labels_plain):
        places, labels = places[:0], labels_plain
    return Antidote(np.unique(labels, return_inverse=True)[1].astype(np.int64), places, evaluation.weight)


def cluster_balances(labels: np.ndarray, groups: np.ndarray, n_clusters: int) -> np.ndarray:
    """For each cluster (C,), the smallest of min(p / r, r / p) over the groups: 1 for the table's shares, 0 without a group.

    p is the group's share of the cluster and r of the table; the smallest of all clusters is the balance of Bera et al. 2019.
    No cluster may be empty. O(n + C K).
    """
    n_groups = int(groups.max()) + 1
    counts = np.bincount(labels * n_groups + groups, minlength=n_clusters * n_groups).reshape(n_clusters, n_groups)
    totals = counts.sum(axis=0)
    counts, totals = counts[:, totals > 0], totals[totals > 0]
    ratios = counts * len(labels) / (counts.sum(axis=1, keepdims=True) * totals)
    return np.where(ratios > 1, 1 / np.maximum(ratios, 1), ratios).min(axis=1)


def _plain_centres(X: np.ndarray, n_clusters: int, random_state: np.random.Generator) -> np.ndarray:
    """Centres (m, d) of the best of several runs of plain k-means, without centres that are nearest to no row."""
    runs = [kmeans(X, n_clusters, random_state) for _ in range(_STARTS)]
    best = min(runs, key=lambda run: run.inertia)
    return best.centres[np.unique(best.labels)]


class _Evaluation:
    """Clusters the rows X (n, d) with points added at given places, always from the same centres, and scores the result."""

    def __init__(self, X: np.ndarray, groups: np.ndarray, centres: np.ndarray, weight: float):
        self.X, self.groups, self.centres, self.weight = X, groups, centres, weight
        self.tiles = tiles_of(X)

    def labels(self, places: np.ndarray) -> np.ndarray:
        """Labels (n,) of the rows when ``weight`` points are added at each place (g, d). O(n k d) per round."""
        centres, tiles = self.centres, tiles_of(places)
        labels, labels_added = np.empty(len(self.X), dtype=np.int64), np.empty(len(places), dtype=np.int64)
        distances, distances_added = np.empty(len(self.X)), np.empty(len(places))
        sums, sizes = np.empty_like(centres), np.empty(len(centres), dtype=np.int64)
        former_labels = np.empty(0)
        for _ in range(_MAX_ROUNDS):
            assign(self.tiles, centres, labels, distances)
            assign(tiles, centres, labels_added, distances_added)
            all_labels = np.concatenate([labels, labels_added])
            if np.array_equal(all_labels, former_labels):
                break
            former_labels = all_labels
            sums_by_label(self.X, labels, sums, sizes)
            weights = sizes + self.weight * np.bincount(labels_added, minlength=len(centres))
            np.add.at(sums, labels_added, self.weight * places)
            has_weight = weights > 0
            centres = np.where(has_weight[:, None], sums / np.where(has_weight, weights, 1)[:, None], centres)
        return labels

    def score(self, labels: np.ndarray) -> tuple[float, float]:
        """How fair a clustering is, and the negative of its sum of squared errors, which decides between equally fair ones."""
        sums, sizes = np.empty_like(self.centres), np.empty(len(self.centres), dtype=np.int64)
        sums_by_label(self.X, labels, sums, sizes)
        if not sizes.all():
            return _EMPTY
        inertia = np.empty(len(sums))
        inertia_by_label(self.X, labels, sums / sizes[:, None], inertia)
        balances = cluster_balances(labels, self.groups, len(sums))
        return float(balances.min() + _MEAN_WEIGHT * balances.mean()), -float(inertia.sum())


def _search(X, evaluation: _Evaluation, random_state, n_evaluations: int) -> tuple[np.ndarray, tuple[float, float], np.ndarray]:
    """The best places (g, d) tried, their score and the labels that they give.

    Each evaluation moves one place: anywhere in the box of the rows, or by a step along every feature.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    spread = np.sqrt(np.square(X - X.mean(axis=0)).mean(axis=0))
    places = X[random_state.integers(len(X), size=_N_PLACES)]
    labels = evaluation.labels(places)
    best_score, step = evaluation.score(labels), 1.0
    for _ in range(n_evaluations - 1):
        trial_places, place = places.copy(), random_state.integers(_N_PLACES)
        if random_state.random() < _JUMP:
            trial_places[place] = low + random_state.random(X.shape[1]) * (high - low)
        else:
            trial_places[place] = np.clip(places[place] + step * spread * _nearly_normal(random_state, X.shape[1]), low, high)
        trial_labels = evaluation.labels(trial_places)
        trial_score = evaluation.score(trial_labels)
        if trial_score[0] > best_score[0]:
            step *= _WIDER
        elif trial_score < best_score:
            step = max(_MIN_STEP, step * _NARROWER)
        if trial_score >= best_score:
            places, best_score, labels = trial_places, trial_score, trial_labels
    return places, best_score, labels


def _nearly_normal(random_state: np.random.Generator, size: int) -> np.ndarray:
    """Steps (size,) of mean 0 and variance 1; numpy's normal distribution depends on the C library's logarithm."""
    return random_state.random((_UNIFORMS, size)).sum(axis=0) - _UNIFORMS / 2
