"""Antidotes: a few points added to the table, so that plain k-means on the larger table treats the groups alike.

The added points lie at a few places. A random search moves one place at a time and keeps every move that does not make the
clustering worse. k-means treats the added points as rows, and they are dropped afterwards.

The idea comes from Chhabra, Singla and Mohapatra 2021 (arXiv 2106.00600), who apply it to any clustering with centres and any
notion of fairness. The search is our own: the authors have published no code, and a classifier guides their search.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from clusterlets.algorithms.instances import checked_instances
from clusterlets.algorithms.kernels import assign, inertia_by_label, sums_by_label, tiles_of
from clusterlets.algorithms.kmeans import kmeans, lloyd

_N_PLACES = 5  # every place gets an equal share of the added points
_N_STARTS = 10  # runs of plain k-means; the best one gives the first centres
_MAX_ROUNDS = 30  # of k-means with the added points, in one evaluation
_JUMP_PROBABILITY = 0.2  # of moving a place to a random point of the rows' bounding box, instead of by one step
_GROWTH, _SHRINKAGE, _MIN_STEP = 1.5, 0.92, 0.05  # factors of the step size after a gain and after a loss, and its minimum
_MEAN_WEIGHT = 0.1  # of the mean balance, which is added to the smallest one
_N_UNIFORMS = 12  # the sum of twelve random numbers, uniform on 0..1, has variance 1
_WORST_SCORE = (-1.0, 0.0)  # of a clustering in which a cluster holds no row


@dataclass(frozen=True)
class Antidote:
    """A clustering of the rows, and the added points that make it fair.

    Attributes
    ----------
    labels : int array (n,)
        0..m-1, each of which occurs.
    places : float array (g, d)
        Where the added points lie. There are none (g = 0) if no places made a clustering as good as plain k-means.
    weight : float
        Number of added points at each place; usually not a whole number.
    fairness : float
        What the search maximises: the smallest of the clusters' balances plus 0.1 times their mean.
    """

    labels: np.ndarray
    places: np.ndarray
    weight: float
    fairness: float


def antidote(
    X: np.ndarray,
    groups: np.ndarray,
    n_clusters: int,
    random_state: np.random.Generator,
    rho: float = 0.05,
    n_evaluations: int = 300,
) -> Antidote:
    """Run plain k-means on the rows and a few added points, which a random search places so that the clusters become fair.

    ``X`` (n, d), ``groups`` (n,), ``n_clusters`` and ``random_state`` are as in :meth:`clusterlets.methods.Method.fit`, and the
    other parameters as :class:`clusterlets.Antidote` declares them. ``ceil(rho * n)`` points are added, a fifth of them at each
    of five places.

    Returns
    -------
    Antidote
        The smallest or the mean of its :func:`cluster_balances` is at least as large as in the best of ten runs of plain
        k-means. All clusterings that are tried start from the centres of this best run.

    Notes
    -----
    Fairness is not promised: where the groups lie far apart, a few points change little. O(n k d) time for each of up to 30
    rounds of an evaluation, O(n d) memory; meant for a few thousand rows.
    """
    X, groups = checked_instances(X, groups, "an antidote", n_clusters)
    plain_centres = _plain_centres(X, n_clusters, random_state)
    n_points = ceil(rho * len(X) - 1e-9)  # 0.07 * 100 > 7 in floats
    evaluation = _Evaluation(X, groups, plain_centres, n_points / _N_PLACES)
    places, score, labels = _search(X, evaluation, random_state, n_evaluations)
    plain_labels = lloyd(X, plain_centres, max_iter=1).labels
    plain_score = evaluation.score(plain_labels)
    if score < plain_score:
        places, score, labels = places[:0], plain_score, plain_labels
    return Antidote(np.unique(labels, return_inverse=True)[1].astype(np.int64), places, evaluation.weight, score[0])


def cluster_balances(labels: np.ndarray, groups: np.ndarray, n_clusters: int) -> np.ndarray:
    """The balance of each cluster (C,): the smallest value of min(p / r, r / p) over all groups.

    p is the group's share in the cluster, and r its share in the table. The balance of a cluster is 1 if its shares are those
    of the table, and 0 if a group is missing. Bera et al. 2019 call the smallest of these balances the balance of the
    clustering. No cluster may be empty. O(n + C K).
    """
    n_groups = int(groups.max()) + 1
    counts = np.bincount(labels * n_groups + groups, minlength=n_clusters * n_groups).reshape(n_clusters, n_groups)
    totals = counts.sum(axis=0)
    counts, totals = counts[:, totals > 0], totals[totals > 0]
    ratios = counts * len(labels) / (counts.sum(axis=1, keepdims=True) * totals)
    return np.where(ratios > 1, 1 / np.maximum(ratios, 1), ratios).min(axis=1)


def _plain_centres(X: np.ndarray, n_clusters: int, random_state: np.random.Generator) -> np.ndarray:
    """Centres (m, d) of the best of several runs of plain k-means, without the centres of empty clusters."""
    runs = [kmeans(X, n_clusters, random_state) for _ in range(_N_STARTS)]
    best = min(runs, key=lambda run: run.inertia)
    return best.centres[np.unique(best.labels)]


class _Evaluation:
    """Clusters the rows X (n, d) together with added points, from the same centres each time, and scores the result."""

    def __init__(self, X: np.ndarray, groups: np.ndarray, centres: np.ndarray, weight: float):
        self.X, self.groups, self.centres, self.weight = X, groups, centres, weight
        self.tiles = tiles_of(X)

    def labels(self, places: np.ndarray) -> np.ndarray:
        """Labels (n,) of the rows if ``weight`` points are added at each of the places (g, d). O(n k d) per round."""
        centres, place_tiles = self.centres, tiles_of(places)
        labels, place_labels = np.empty(len(self.X), dtype=np.int64), np.empty(len(places), dtype=np.int64)
        distances, place_distances = np.empty(len(self.X)), np.empty(len(places))
        sums, sizes = np.empty_like(centres), np.empty(len(centres), dtype=np.int64)
        previous_labels = np.empty(0)
        for _ in range(_MAX_ROUNDS):
            assign(self.tiles, centres, labels, distances)
            assign(place_tiles, centres, place_labels, place_distances)
            all_labels = np.concatenate([labels, place_labels])
            if np.array_equal(all_labels, previous_labels):
                break
            previous_labels = all_labels
            sums_by_label(self.X, labels, sums, sizes)
            weights = sizes + self.weight * np.bincount(place_labels, minlength=len(centres))
            np.add.at(sums, place_labels, self.weight * places)
            has_weight = weights > 0
            centres = np.where(has_weight[:, None], sums / np.where(has_weight, weights, 1)[:, None], centres)
        return labels

    def score(self, labels: np.ndarray) -> tuple[float, float]:
        """Fairness (smallest balance plus 0.1 times the mean), and the negative sum of squared errors, which breaks ties."""
        sums, sizes = np.empty_like(self.centres), np.empty(len(self.centres), dtype=np.int64)
        sums_by_label(self.X, labels, sums, sizes)
        if not sizes.all():
            return _WORST_SCORE
        inertia = np.empty(len(sums))
        inertia_by_label(self.X, labels, sums / sizes[:, None], inertia)
        balances = cluster_balances(labels, self.groups, len(sums))
        return float(balances.min() + _MEAN_WEIGHT * balances.mean()), -float(inertia.sum())


def _search(X, evaluation: _Evaluation, random_state, n_evaluations: int) -> tuple[np.ndarray, tuple[float, float], np.ndarray]:
    """Search for the places with the best score; return them (g, d), their score, and the labels of the rows.

    Each evaluation moves one place: to a random point of the rows' bounding box, or by one random step along every feature.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    standard_deviations = np.sqrt(np.square(X - X.mean(axis=0)).mean(axis=0))
    places = X[random_state.integers(len(X), size=_N_PLACES)]
    labels = evaluation.labels(places)
    best_score, step = evaluation.score(labels), 1.0
    for _ in range(n_evaluations - 1):
        trial_places, place = places.copy(), random_state.integers(_N_PLACES)
        if random_state.random() < _JUMP_PROBABILITY:
            trial_places[place] = low + random_state.random(X.shape[1]) * (high - low)
        else:
            trial_places[place] = np.clip(
                places[place] + step * standard_deviations * _nearly_normal(random_state, X.shape[1]), low, high
            )
        trial_labels = evaluation.labels(trial_places)
        trial_score = evaluation.score(trial_labels)
        if trial_score[0] > best_score[0]:
            step *= _GROWTH
        elif trial_score < best_score:
            step = max(_MIN_STEP, step * _SHRINKAGE)
        if trial_score >= best_score:
            places, best_score, labels = trial_places, trial_score, trial_labels
    return places, best_score, labels


def _nearly_normal(random_state: np.random.Generator, size: int) -> np.ndarray:
    """Random numbers (size,) of mean 0 and variance 1. NumPy's normal numbers depend on the C library."""
    return random_state.random((_N_UNIFORMS, size)).sum(axis=0) - _N_UNIFORMS / 2
