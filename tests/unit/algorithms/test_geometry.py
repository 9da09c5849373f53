"""Distances and their sums equal those of SciPy's full matrix of distances. Estimates of sums are unbiased."""

from unittest.mock import Mock

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from clusterlets.algorithms import geometry
from clusterlets.algorithms.geometry import (
    diameter,
    diameter_bounds,
    distance_sums,
    row_sums,
    sampled_sums,
    squared_distances_to_centres,
    within_sums,
)


def sums_by_brute_force(X, labels, n_groups):
    distances = cdist(X, X)
    return np.array([[distances[np.ix_(labels == a, labels == b)].sum() for b in range(n_groups)] for a in range(n_groups)])


@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 260])
def test_sums_equal_those_of_the_full_matrix(n):
    rng = np.random.default_rng(n)
    X, labels = rng.normal(size=(n, 4)), rng.integers(5, size=n)
    expected = sums_by_brute_force(X, labels, 5)
    assert np.allclose(distance_sums(X, labels, 5), expected, rtol=1e-10, atol=1e-9)
    assert np.allclose(within_sums(X, labels, 5), np.diag(expected), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("outlier", [1e9, 1e12, 1e15])
def test_an_outlier_does_not_reduce_the_precision_of_the_other_pairs(outlier):
    rng = np.random.default_rng(2)
    X, labels = rng.normal(size=(300, 3)), np.arange(300) % 3
    X[299] = outlier
    labels[299] = 3
    expected = sums_by_brute_force(X, labels, 4)
    assert np.allclose(distance_sums(X, labels, 4), expected, rtol=1e-12)


@pytest.mark.parametrize(("n_groups", "n_calls"), [(2, 1), (7, 12 * 7)])
def test_several_labellings_give_the_same_sums_together_as_one_by_one(n_groups, n_calls, monkeypatch):
    """With 2 groups, one call for all pairs is cheaper. With 7, one call for each group of each labelling is."""
    rng = np.random.default_rng(4)
    X, labels = rng.normal(size=(50, 3)), rng.integers(n_groups, size=(12, 50))
    all_sums = distance_sums(X, labels, n_groups)
    assert np.array_equal(all_sums, [distance_sums(X, labelling, n_groups) for labelling in labels])
    within = all_sums.diagonal(axis1=1, axis2=2)
    assert np.array_equal(within, [within_sums(X, labelling, n_groups) for labelling in labels])
    counted_sums = Mock(wraps=distance_sums)
    monkeypatch.setattr(geometry, "distance_sums", counted_sums)
    assert np.array_equal(within, within_sums(X, labels, n_groups)) and counted_sums.call_count == n_calls


@pytest.mark.parametrize("labels", [[0, 1, 2], [0, -1, 1], [[0, 1, 1], [0, 1, 2]]])
def test_labels_out_of_range_are_refused(labels):
    with pytest.raises(ValueError, match=r"0\.\.1"):
        distance_sums(np.zeros((3, 2)), labels, 2)


def random_groups(n, shares, seed=0):
    """Rows, and labels of groups with these shares. Group 1 is spread far more widely than the others."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(len(shares), n, p=shares)
    return rng.normal(size=(n, 2)) * (1 + 9 * (labels == 1))[:, None] + 5 * labels[:, None], labels


def random_order(n, seed):
    return np.random.default_rng(seed).permutation(n)


def test_estimates_from_samples_are_unbiased_and_spread_by_their_standard_error():
    X, labels = random_groups(20_000, [0.5, 0.3, 0.15, 0.05])
    exact = distance_sums(X, labels, 4)
    samples = np.array([sampled_sums(X, labels, 4, random_order(20_000, seed), sample_size=100) for seed in range(60)])
    assert np.array_equal(samples, samples.transpose(0, 1, 3, 2))
    estimates = samples.mean(axis=1)
    standard_errors = samples.std(axis=1, ddof=1) / np.sqrt(16)  # of the mean of 16 samples
    spread = estimates.std(axis=0, ddof=1)
    assert (np.abs(estimates.mean(axis=0) - exact) < 4 * spread / np.sqrt(60)).all(), "biased"
    # The spread of 60 estimates is itself accurate only to about a tenth.
    assert np.sqrt((standard_errors**2).mean(axis=0)) == pytest.approx(spread, rel=0.5)
    assert (spread / exact).max() < 0.1


def test_sums_are_exact_for_groups_that_are_sampled_whole():
    X, labels = random_groups(50, [0.4, 0.3, 0.3])
    labels[labels == 2] = 3  # group 2 is empty
    X, labels = np.vstack([X, [[7.0, 7.0], [9.0, 5.0]]]), np.append(labels, [4, 5])  # groups 4 and 5 have one row each
    estimates = sampled_sums(X, labels, 6, random_order(52, 0), sample_size=10**6)
    assert len(estimates) == 16
    assert np.allclose(estimates, sums_by_brute_force(X, labels, 6), rtol=1e-12)
    estimates_of_few_rows = sampled_sums(X[:12], labels[:12], 5, random_order(12, 0), sample_size=1)
    assert np.allclose(estimates_of_few_rows, sums_by_brute_force(X[:12], labels[:12], 5), rtol=1e-12)


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.96, 0.04]])
def test_each_sample_takes_the_next_rows_of_each_group_and_at_least_twenty(shares):
    X, labels = random_groups(900, shares)
    order = random_order(900, 0)
    sums = sampled_sums(X, labels, 2, order, sample_size=50)
    sizes = np.bincount(labels)
    sample_sizes = np.maximum(np.rint(sizes / 18).astype(int), 20)  # 50 of 900 rows are one in 18
    for sample in (0, 7):
        windows = [np.arange(sample * size, (sample + 1) * size) for size in sample_sizes]
        rows = [order[labels[order] == group].take(window, mode="wrap") for group, window in enumerate(windows)]
        expected = np.full((2, 2), cdist(X[rows[0]], X[rows[1]]).mean() * sizes.prod())
        for group in (0, 1):
            sum_in_sample, m, n = cdist(X[rows[group]], X[rows[group]]).sum(), sample_sizes[group], sizes[group]
            expected[group, group] = sum_in_sample * n * (n - 1) / (m * (m - 1))
        assert sums[sample] == pytest.approx(expected, rel=1e-12)
    assert not np.array_equal(sums, sampled_sums(X, labels, 2, random_order(900, 1), 50))


@pytest.mark.parametrize("n", [1, 2, 50, 1000])
@pytest.mark.parametrize("distribution", ["normal", "heavy tail", "integers"])
def test_the_diameter_is_the_largest_distance(n, distribution):
    rng = np.random.default_rng(n)
    draw = {"normal": rng.normal, "heavy tail": rng.standard_cauchy, "integers": lambda size: rng.integers(9, size=size)}
    X = draw[distribution](size=(n, 3)).astype(float)
    assert diameter(X) == pytest.approx(cdist(X, X).max(), rel=1e-12)


def test_the_largest_distance_of_too_many_rows_is_exact_or_bounded(monkeypatch):
    """The search starts with the outermost 2 rows. With a limit of 10, it gives bounds if over 10 pairs may be farther."""
    triangle, square = np.zeros((11, 2)), np.full((11, 2), 20.0)
    triangle[:3] = np.column_stack([np.cos([0, 2, 4]), np.sin([0, 2, 4])])
    square[:4] += [[5, 0], [0, 4.9], [-4.8, 0], [0, -4.7]]
    assert diameter_bounds(square) == (9.8, 9.8) and diameter(square[:10]) == 9.8  # 9.8 is 5 + 4.8
    monkeypatch.setattr(geometry, "ALL_PAIRS_ROWS", 10)
    largest_distance = cdist(triangle, triangle).max()
    assert diameter_bounds(triangle) == pytest.approx((largest_distance, largest_distance), rel=1e-15)
    radii = np.linalg.norm(square - square.mean(axis=0), axis=1)
    outermost_distance = np.hypot(5, 4.9)  # of the first two rows, which lie farthest from the centroid
    assert diameter_bounds(square) == pytest.approx((outermost_distance, radii[0] + radii[2]), rel=2e-9)
    assert diameter(square) == pytest.approx(outermost_distance) and diameter_bounds(square[:10]) == (9.8, 9.8)


def test_sums_from_some_rows_and_distances_to_centres_equal_those_worked_out_by_hand():
    X, labels = np.array([[0.0], [3.0], [7.0]]), np.array([0, 0, 1])
    sums = [[11, 3], [0, 7]]
    assert row_sums(X, np.array([2, 0]), labels, 2).tolist() == sums
    assert row_sums(X, np.array([2, 0]), np.array([labels, 1 - labels]), 2).tolist() == [sums, sums[::-1]]
    costs = squared_distances_to_centres(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0], [3.0, 0.0]]), 4)
    assert costs.tolist() == [[0, 9, 0, 0], [25, 16, 25, 25]]  # the first centre stands in for the two missing ones
