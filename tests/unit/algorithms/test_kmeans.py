"""k-means gives the labels of scikit-learn from the same centres, and those of exact arithmetic where rows tie."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from clusterlets.algorithms.kmeans import kmeans_labels, kmeans_plus_plus, lloyd, nearest_centres

TABLES = {
    "normal": lambda rng: rng.normal(size=(rng.integers(20, 400), rng.integers(2, 9))),
    "duplicates": lambda rng: rng.normal(size=(40, 3))[rng.integers(40, size=300)],
    "one feature": lambda rng: rng.normal(size=(rng.integers(10, 300), 1)),
    "sixty features": lambda rng: rng.normal(size=(200, 60)) * rng.lognormal(sigma=2, size=60),
    "far from the origin": lambda rng: rng.normal(size=(150, 4)) + 1000,
    "heavy tail": lambda rng: rng.standard_cauchy(size=(200, 2)),
}


# Functions that choose the first centres.


def random_rows(X, rng):
    return X[rng.choice(len(X), min(len(X), rng.integers(1, 31)), replace=False)]


def all_distinct_rows(X, rng):
    return np.unique(X, axis=0)[rng.permutation(len(np.unique(X, axis=0)))]


def random_rows_with_one_repeated(X, rng):
    """Two centres are equal, so all their rows tie, and the first of the two gets them all."""
    return np.repeat(X[rng.choice(len(X), 4, replace=False)], [1, 2, 1, 1], axis=0)


def random_rows_and_a_far_point(X, rng):
    return np.vstack([X[rng.choice(len(X), 3, replace=False)], X.max(axis=0) + 1e4 * np.ptp(X)])


def fitted_by_scikit_learn(X, centres):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KMeans(len(centres), init=centres, n_init=1).fit(X)


@pytest.mark.parametrize("start", [random_rows, all_distinct_rows, random_rows_with_one_repeated, random_rows_and_a_far_point])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("seed", range(4))
def test_labels_and_inertia_are_those_of_scikit_learn(table, start, seed):
    rng = np.random.default_rng(seed)
    X = TABLES[table](rng)
    centres = start(X, rng)
    result, expected = lloyd(X, centres), fitted_by_scikit_learn(X, centres)
    assert np.array_equal(result.labels, expected.labels_)
    assert result.inertia == pytest.approx(expected.inertia_, rel=1e-10, abs=1e-10)
    assert result.n_iter == expected.n_iter_
    assert result.centres == pytest.approx(expected.cluster_centers_, rel=1e-9, abs=1e-9)


def exact_lloyd(X, centres):
    """Labels and inertia of k-means in exact arithmetic, or None if a cluster becomes empty. Ties go to the lowest index."""
    X = [[Fraction(value) for value in row] for row in X.tolist()]
    centres = [[Fraction(value) for value in row] for row in centres.tolist()]
    labels = None
    while True:
        distances = [[sum((x - c) ** 2 for x, c in zip(row, centre)) for centre in centres] for row in X]
        previous_labels, labels = labels, [row.index(min(row)) for row in distances]
        if set(labels) != set(range(len(centres))):
            return None
        if labels == previous_labels:
            return np.array(labels), sum(min(row) for row in distances)
        centres = [
            [sum(values) / len(values) for values in zip(*(row for row, label in zip(X, labels) if label == index))]
            for index in range(len(centres))
        ]


def test_ties_go_to_the_lowest_centre_as_in_exact_arithmetic():
    """The rows lie on a small grid of whole numbers, so they are often halfway between two centres."""
    n_compared = n_with_ties = 0
    for seed in range(700):
        rng = np.random.default_rng(seed)
        X = rng.integers(4, size=(rng.integers(4, 12), rng.integers(1, 3))).astype(float)
        centres = all_distinct_rows(X, rng)[: rng.integers(1, 4)]
        expected = exact_lloyd(X, centres)
        if expected is None or not has_exact_means(expected[0]):
            continue
        labels, inertia = expected
        result = lloyd(X, centres, tol=0)
        assert np.array_equal(result.labels, labels)
        assert result.inertia == pytest.approx(float(inertia), abs=1e-12)
        distances = ((X[:, None] - centres) ** 2).sum(axis=2)
        n_with_ties += ((distances == distances.min(axis=1, keepdims=True)).sum(axis=1) > 1).any()
        n_compared += 1
    assert n_compared > 100 and n_with_ties > 20


def has_exact_means(labels):
    """Whether the means of whole numbers need no rounding, because the sizes of all clusters are powers of two."""
    sizes = np.bincount(labels)
    return (sizes & (sizes - 1) == 0).all()


@pytest.mark.parametrize(
    ("values", "chance"),
    [
        # Each candidate has a chance of 9 / 17.84 to be the row at 3. This row lowers the cost more than the others, so it
        # becomes a centre if either candidate is this row.
        ([0.0, 3.0, -2.0, -2.2], 1 - (8.84 / 17.84) ** 2),
        # Each candidate has a chance of 4 / 13 to be the row at 2. Both rows lower the cost to 1, so the first candidate wins.
        ([0.0, 2.0, 3.0], 4 / 13),
    ],
)
def test_the_better_of_two_candidates_drawn_by_squared_distance_becomes_a_centre(values, chance):
    """If the first centre is row 0, the second is row 1 with this chance."""
    X = np.array(values)[:, None]
    pairs = np.array([kmeans_plus_plus(X, 2, np.random.default_rng(seed)) for seed in range(1500)])
    second_centres = pairs[pairs[:, 0] == 0][:, 1]
    assert (second_centres == 1).mean() == pytest.approx(chance, abs=0.06)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 12), n=st.integers(1, 40), d=st.integers(1, 4))
def test_first_centres_are_k_distinct_rows_or_all_distinct_rows(seed, k, n, d):
    X = np.random.default_rng(seed).integers(3, size=(n, d)).astype(float)
    rows = kmeans_plus_plus(X, k, np.random.default_rng(seed))
    n_distinct = len(np.unique(X, axis=0))
    assert len(np.unique(X[rows], axis=0)) == len(rows) == min(k, n_distinct)


def test_labels_have_no_gaps_and_depend_on_the_seed():
    X = np.random.default_rng(0).normal(size=(500, 3))
    first, repeated, other = (kmeans_labels(X, 8, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, repeated) and not np.array_equal(first, other)
    assert np.array_equal(np.unique(first), np.arange(8))


def test_a_centre_without_rows_moves_to_the_farthest_row():
    """At first, both rows are nearest to the second centre."""
    result = lloyd(np.array([[0.0], [1.0]]), np.array([[100.0], [0.0]]))
    assert result.labels.tolist() == [1, 0] and result.centres.tolist() == [[1], [0]]


def test_equal_rows_need_one_round_and_a_centre_without_rows_stays_where_it_is():
    result = lloyd(np.ones((3, 1)), np.array([[1.0], [5.0]]))
    assert (result.n_iter, result.centres.tolist()) == (1, [[1], [5]])


def test_a_row_belongs_to_the_nearest_centre_or_the_first_of_equally_near_ones():
    assert nearest_centres([[0], [1], [3]], [[2], [0]]).tolist() == [1, 0, 0]


def test_max_iter_limits_the_rounds_and_its_default_is_that_of_scikit_learn():
    assert lloyd.__defaults__ == (KMeans().max_iter, KMeans().tol)
    X = np.random.default_rng(0).normal(size=(200, 2))
    centres = X[:5]
    result = lloyd(X, centres, max_iter=1)
    nearest = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    means = np.array([X[nearest == index].mean(axis=0) for index in range(5)])
    assert result.n_iter == 1 and result.centres == pytest.approx(means)
    assert np.array_equal(result.labels, ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1))
