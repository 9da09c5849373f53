"""Clusterlets hold one group each, are sorted by group, and depend only on the table and the seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.algorithms.extraction import clusterlets_from_labels, extract_clusterlets
from clusterlets.errors import ClusterletsError


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n_groups=st.integers(1, 4), k=st.integers(2, 8), has_duplicates=st.booleans())
def test_clusterlets_hold_one_group_each_and_describe_their_members(seed, n_groups, k, has_duplicates):
    rng = np.random.default_rng(seed)
    groups = np.concatenate([np.arange(n_groups), rng.integers(n_groups, size=30)])
    X = rng.integers(0, 3, size=(len(groups), 2)).astype(float) if has_duplicates else rng.normal(size=(len(groups), 2))
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


def test_a_gap_in_the_group_codes_is_refused():
    with pytest.raises(ClusterletsError, match="group 1 has no instance"):
        extract_clusterlets(np.zeros((2, 1)), np.array([0, 2]), 2, np.random.default_rng(0))


def test_labels_that_mix_groups_or_are_not_sorted_by_group_are_refused():
    X = np.zeros((2, 1))
    with pytest.raises(ValueError, match="exactly one group"):
        clusterlets_from_labels(X, np.array([0, 1]), np.array([0, 0]))
    with pytest.raises(ValueError, match="sorted"):
        clusterlets_from_labels(X, np.array([0, 1]), np.array([1, 0]))
