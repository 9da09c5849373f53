"""A gap is at least 0, is 0 for plain k-means, and never understates the distance from the cheapest assignment."""

from fractions import Fraction

import numpy as np
import pytest
from fair_tables import cost_of, counts_of, least_cost_of_all, squared_distances
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.algorithms.kmeans import kmeans_plus_plus, lloyd
from clusterlets.algorithms.limit_assignment import assign_new
from clusterlets.algorithms.limits import assignment_limits, share_limits
from clusterlets.errors import ClusterletsError
from clusterlets.metrics.composition import delta_min
from clusterlets.metrics.gaps import assignment_gap


def delta_min_of(labels, groups, k):
    composition = counts_of(labels, groups, k).T
    return delta_min(composition[composition.any(axis=1)], np.bincount(groups))


def random_table(seed, n=60, n_groups=2):
    """Features, groups and the generator that drew the features."""
    rng = np.random.default_rng(seed)
    groups = np.arange(n) % n_groups
    return rng.normal(size=(n, 2)) + groups[:, None], groups, rng


@pytest.mark.parametrize("seed", range(25))
def test_labels_that_are_as_fair_as_the_given_ones_never_cost_less_than_the_bound(seed):
    """The bound is the cost of the given labels / (1 + gap)."""
    n_groups = 2 + seed % 2
    X, groups, rng = random_table(seed, 6, n_groups)
    k = 2 + seed % 4 // 2
    centres = X[rng.permutation(len(X))[:k]]
    labels = rng.integers(0, k, size=len(X))
    gap = assignment_gap(X, groups, labels, centres)
    costs = squared_distances(X, centres)
    largest_delta = delta_min_of(labels, groups, k) + 1e-12
    least_cost = least_cost_of_all(costs, lambda candidate: delta_min_of(candidate, groups, k) <= largest_delta)
    cost = cost_of(costs, labels)
    assert gap >= 0 and cost / (1 + gap) <= least_cost * (1 + 1e-9) + 1e-12
    assert gap >= cost / least_cost - 1 - 1e-9


@pytest.mark.parametrize("n_groups", [1, 2, 3])
def test_plain_k_means_has_no_gap(n_groups):
    X, groups, rng = random_table(1, 120, n_groups)
    result = lloyd(X, X[kmeans_plus_plus(X, 4, rng)], max_iter=1000, tol=0)
    assert assignment_gap(X, groups, result.labels) == pytest.approx(0, abs=1e-9)
    assert assignment_gap(X, groups, result.labels, result.centres) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 5)])
def test_the_gap_of_a_cheap_fair_assignment_is_small(delta):
    X, groups, _ = random_table(4, 3000, 3)
    share = Fraction(1, 3)  # of each group
    limits = share_limits(0, dict.fromkeys(range(3), (share * (1 - delta), share / (1 - delta))))
    no_instances = np.zeros((3, 5), dtype=np.int64)
    rows_and_slack = assignment_limits(limits, np.arange(3)[:, None], no_instances, np.bincount(groups), allow_rounding=True)
    labels = assign_new(squared_distances(X, X[:5]), groups, no_instances.sum(axis=0), *rows_and_slack).labels
    assert 0 <= assignment_gap(X, groups, labels, X[:5]) < 0.02


def test_a_larger_delta_gives_a_larger_gap():
    X, groups, _ = random_table(3)
    exactly_fair_labels = np.arange(60) // 2 % 3
    gaps = [assignment_gap(X, groups, exactly_fair_labels, X[:3], delta) for delta in (0.0, 0.3, 0.7, 1.0)]
    assert (np.diff(gaps) >= -1e-6).all() and gaps[-1] > gaps[0]
    assert assignment_gap(X, groups, exactly_fair_labels, X[:3]) == gaps[0]


@settings(max_examples=80)
@given(st.data())
def test_a_gap_is_never_negative(data):
    n = data.draw(st.integers(1, 25))
    k = data.draw(st.integers(1, min(n, 5)))
    numbers = st.one_of(st.integers(-3, 3), st.floats(-1e4, 1e4))
    X = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)), dtype=float)[:, None]
    groups = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    labels = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    assert assignment_gap(X, groups, labels) >= 0
    assert assignment_gap(X, groups, labels, X[:k]) >= 0


class TestInput:
    def test_labels_that_are_less_fair_than_requested_are_refused(self):
        X, groups = np.zeros((4, 1)), np.array([0, 0, 1, 1])
        with pytest.raises(ClusterletsError, match="unfairness of 1; delta must lie between that and 1"):
            assignment_gap(X, groups, groups, delta=0.5)

    def test_arrays_of_different_lengths_are_refused(self):
        with pytest.raises(ClusterletsError, match="2 instances, 1 groups and 2 labels"):
            assignment_gap(np.zeros((2, 1)), np.zeros(1, int), np.zeros(2, int))
