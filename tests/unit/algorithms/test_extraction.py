"""Clusterlets: one group each, as many as requested or as there are distinct instances, in order, reproducible."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.algorithms.extraction import clusterlets_from_labels, extract_clusterlets
from clusterlets.algorithms.geometry import moments_by_label
from clusterlets.algorithms.kmeans import kmeans_labels
from clusterlets.errors import ClusterletsError


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 8), st.booleans())
def test_clusterlets_hold_one_group_each_and_describe_their_members(seed, n_groups, k, on_grid):
    rng = np.random.default_rng(seed)
    groups = np.concatenate([np.arange(n_groups), rng.integers(n_groups, size=30)])
    X = rng.integers(0, 3, size=(len(groups), 2)).astype(float) if on_grid else rng.normal(size=(len(groups), 2))
    clusterlets = extract_clusterlets(X, groups, k, np.random.default_rng(seed))
    for group in range(n_groups):
        n_distinct = len(np.unique(X[groups == group], axis=0))
        assert (clusterlets.group == group).sum() == min(k, n_distinct)
    assert (np.diff(clusterlets.group) >= 0).all()
    assert np.array_equal(clusterlets.group[clusterlets.labels], groups)
    assert np.array_equal(clusterlets.sizes, np.bincount(clusterlets.labels))
    assert np.array_equal(clusterlets.group_counts, np.bincount(groups))
    for index in range(len(clusterlets)):
        members = X[clusterlets.labels == index]
        assert clusterlets.centroids[index] == pytest.approx(members.mean(axis=0))
        assert clusterlets.inertia[index] == pytest.approx(((members - members.mean(axis=0)) ** 2).sum())


def test_the_same_stream_gives_the_same_clusterlets_and_a_different_one_gives_others():
    rng = np.random.default_rng(3)
    X, groups = rng.normal(size=(300, 3)), rng.integers(2, size=300)
    first, again, other = (extract_clusterlets(X, groups, 8, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first.labels, again.labels)
    assert not np.array_equal(first.labels, other.labels)


def test_well_separated_blobs_are_found():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])
    X = np.vstack([centre + rng.normal(size=(20, 2)) for centre in centres])
    labels = kmeans_labels(X, 3, np.random.default_rng(0))
    assert all(len(set(labels[start : start + 20])) == 1 for start in (0, 20, 40))
    assert set(labels) == {0, 1, 2}


def test_repeated_rows_make_one_clusterlet():
    labels = kmeans_labels(np.ones((50, 2)), 5, np.random.default_rng(0))
    assert np.array_equal(labels, np.zeros(50, dtype=int))


def test_distinct_rows_that_show_up_late_are_counted():
    X = np.vstack([np.zeros((500, 1)), np.arange(1.0, 5.0)[:, None]])
    assert len(set(kmeans_labels(X, 5, np.random.default_rng(0)))) == 5


def test_a_gap_in_the_group_codes_is_refused():
    with pytest.raises(ClusterletsError, match="group 1 has no instance"):
        extract_clusterlets(np.zeros((2, 1)), np.array([0, 2]), 2, np.random.default_rng(0))


def test_clusterlets_of_two_groups_or_out_of_order_are_refused():
    X = np.zeros((2, 1))
    with pytest.raises(ValueError, match="exactly one group"):
        clusterlets_from_labels(X, np.array([0, 1]), np.array([0, 0]))
    with pytest.raises(ValueError, match="sorted"):
        clusterlets_from_labels(X, np.array([0, 1]), np.array([1, 0]))


def test_moments_by_hand():
    means, inertia = moments_by_label(np.array([[0.0], [2.0], [7.0]]), np.array([0, 0, 1]), 2)
    assert np.array_equal(means, [[1.0], [7.0]])
    assert np.array_equal(inertia, [2.0, 0.0])
