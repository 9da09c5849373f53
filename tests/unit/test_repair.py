"""Given clusters are repaired with the fewest moves, or at the least cost, or it is proved that they cannot be."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer

from clusterlets import InvalidInput, repair
from clusterlets.algorithms.limits import largest_deviation
from clusterlets.errors import NoClusteringError


def counts_of(labels, groups, k):
    counts = np.zeros((int(groups.max()) + 1, k), dtype=np.int64)
    np.add.at(counts, (groups, labels), 1)
    return counts


@pytest.mark.parametrize("seed", range(15))
def test_no_labels_within_the_limits_move_fewer_rows_and_no_cheaper_ones_move_as_few(seed):
    rng = np.random.default_rng(seed)
    k, two_columns = int(rng.integers(2, 4)), seed % 3 == 0
    levels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]) if two_columns else np.arange(2 + seed % 2)[:, None]
    n, least_size, limit = int(rng.integers(len(levels) + k, 10 if k == 2 else 9)), 1 + seed % 4 // 3, Fraction(seed % 8, 20)
    groups = rng.permutation(np.r_[np.arange(len(levels)), rng.integers(0, len(levels), n - len(levels))])
    labels, X = rng.permutation(np.r_[np.arange(k), rng.integers(0, k, n - k)]), rng.normal(size=(n, 2))
    centres = np.stack([X[labels == cluster].mean(axis=0) for cluster in range(k)])
    costs = ((X[:, None] - centres) ** 2).sum(axis=2)
    largest_size, allowed = n if seed % 2 else -(-n // k) + 1, []
    for new_labels in map(np.array, itertools.product(range(k), repeat=n)):
        counts = counts_of(new_labels, groups, k)
        sizes = counts.sum(axis=0)
        if least_size <= sizes.min() <= sizes.max() <= largest_size and largest_deviation(counts, levels) <= limit:
            allowed.append((int((new_labels != labels).sum()), costs[np.arange(n), new_labels].sum()))
    frame = pd.DataFrame({name: levels[groups, column] for column, name in zip(range(levels.shape[1]), "ab", strict=False)})
    arguments = {"sensitive_features": frame, "max_deviation": limit, "min_cluster_size": least_size}
    arguments |= {"max_cluster_size": largest_size}
    if not allowed:
        with pytest.raises(NoClusteringError, match="proved"):
            repair(X, labels, **arguments)
        return
    least_moves, cost = min(allowed)
    result, without_features = repair(X, labels, **arguments), repair(None, labels, **arguments)
    cheapest = repair(X, labels, objective="cost", **arguments)
    for repaired in (result, without_features, cheapest):
        counts = counts_of(repaired.labels, groups, k)
        assert largest_deviation(counts, levels) <= limit
        assert least_size <= counts.sum(axis=0).min() <= counts.sum(axis=0).max() <= largest_size
        assert repaired.moved.tolist() == (repaired.labels != labels).tolist()
        assert repaired.moved.sum() == sum(n_rows for *_, n_rows in repaired.moves)
        assert repaired.least_moves <= least_moves
    assert result.moved.sum() == without_features.moved.sum() == least_moves
    is_enumerated = k**n <= 2**16
    assert result.least_moves == least_moves or not is_enumerated
    assert cost - 1e-9 <= result.cost_after <= (1 if is_enumerated else 2) * cost + 1e-9
    assert result.cost_before == pytest.approx(costs[np.arange(n), labels].sum())
    least_cost = min(cost for _, cost in allowed)
    assert least_cost - 1e-9 <= cheapest.cost_after and (not is_enumerated or cheapest.cost_after <= least_cost + 1e-9)


@pytest.mark.parametrize("k", [5, 20])
@pytest.mark.parametrize("limit", ["1/50", "1/20"])
def test_clusters_of_nearly_one_group_are_repaired_with_hardly_more_moves_than_the_bound(k, limit):
    X, groups = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    labels = KMeans(k, n_init=1, random_state=0).fit(X).labels_
    for least_size in (1, 10):
        result = repair(X, labels, sensitive_features=groups, max_deviation=limit, min_cluster_size=least_size)
        counts = counts_of(result.labels, groups, k)
        assert largest_deviation(counts, np.arange(2)[:, None]) <= Fraction(limit) and counts.sum(axis=0).min() >= least_size
        assert result.least_moves <= result.moved.sum() <= max(result.least_moves + 2, 1.01 * result.least_moves)
        cheapest = repair(
            X, labels, sensitive_features=groups, max_deviation=limit, min_cluster_size=least_size, objective="cost"
        )
        assert cheapest.cost_after < result.cost_after and cheapest.moved.sum() > result.moved.sum()


def test_names_of_clusters_are_kept_and_the_moves_are_counted():
    segments, sex = np.array(["old", "old", "old", "old", "new", "new"]), list("ffffmm")
    result = repair(np.arange(6.0)[:, None], segments, sensitive_features=sex, shares={"f": (0.5, 0.7)})
    assert result.labels.tolist() == ["old", "old", "new", "new", "old", "new"]
    assert result.moves == [("new", "old", "m", 1), ("old", "new", "f", 2)]
    assert result.least_moves == 3
    # Without features, the first rows of a group stay or move by the order of the rows, each time alike.
    without = [repair(None, segments, sensitive_features=sex, shares={"f": (0.5, 0.7)}) for _ in range(2)]
    assert without[0].labels.tolist() == without[1].labels.tolist() and np.isnan(without[0].cost_before)


def test_clusters_within_the_limits_stay_as_they_are():
    result = repair(None, [2, 2, 5, 5], sensitive_features=list("fmfm"), max_deviation=0)
    assert result.labels.tolist() == [2, 2, 5, 5] and result.least_moves == 0 and not result.moves


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": ["a", None, "b", "b"]}, r"labels: row 1 \(counting from 0\) has none"),
        ({"labels": [[0, 1], [1, 0]]}, "one label per row"),
        ({"labels": [0, 1, 1]}, "sensitive_features has 4 rows, and there are 3 instances"),
        ({"X": [[0.0], [1.0]]}, "There are 4 labels, but X has 2 rows"),
        ({"X": None, "objective": "cost"}, "needs the features"),
        ({"objective": "rows"}, "must be moves or cost"),
        ({"max_deviation": 0.1, "min_ratio": 0.8}, "two kinds of bound"),
        ({"max_deviation": 2}, "max_deviation"),
    ],
)
def test_wrong_arguments_are_refused(change, message):
    arguments = {"X": [[0.0], [1.0], [2.0], [3.0]], "labels": [0, 0, 1, 1], "sensitive_features": list("fmfm")} | change
    with pytest.raises(InvalidInput, match=message):
        repair(arguments.pop("X"), arguments.pop("labels"), **arguments)
