"""Properties of every matching, for any clusterlets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.matching.centroid import match_centroid, sample_partitions
from clusterlets.algorithms.matching.pinball import (
    match_balance,
    match_distance,
    match_greedy_balance,
    match_greedy_distance,
)

quick = settings(max_examples=60)
scopes = st.sampled_from(["last", "cluster"])
hop_counts = st.integers(1, 5)
seeds = st.integers(0, 2**32 - 1)
pinball = pytest.mark.parametrize("match", [match_distance, match_balance])
greedy = pytest.mark.parametrize("match", [match_greedy_distance, match_greedy_balance])


@st.composite
def clusterlet_sets(draw, most_groups=4, fewest=1, most=5):
    """A few groups, each with its own number of clusterlets, often duplicates of each other."""
    group_sizes = draw(st.lists(st.integers(fewest, most), min_size=2, max_size=most_groups))
    n = sum(group_sizes)
    group = np.repeat(np.arange(len(group_sizes)), group_sizes)
    counts = np.zeros((n, len(group_sizes)), dtype=np.int64)
    counts[np.arange(n), group] = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    coordinate = st.integers(-3, 3).map(float)
    centroids = draw(st.lists(st.tuples(coordinate, coordinate), min_size=n, max_size=n))
    return Clusterlets(group, counts, np.array(centroids), np.zeros(n), np.zeros(0, dtype=np.int64))


def as_sets(membership):
    return {frozenset(np.flatnonzero(row).tolist()) for row in membership}


def holds_groups(clusterlets, membership):
    """Instances of each group in each cluster."""
    return membership.astype(int) @ clusterlets.counts


@pinball
@quick
@given(clusterlets=clusterlet_sets(), hops=hop_counts, scope=scopes)
def test_pinball_covers_all_within_the_bound_and_repeats_no_cluster(match, clusterlets, hops, scope):
    membership = match(clusterlets, hops, scope)
    n_groups = clusterlets.counts.shape[1]
    assert membership.dtype == bool and membership.shape[1] == len(clusterlets)
    assert membership.any(axis=0).all()
    assert membership.sum(axis=1).max() <= 1 + hops * (n_groups - 1)
    assert len(as_sets(membership)) == len(membership)
    assert (holds_groups(clusterlets, membership) > 0).all()  # a sweep passes every group
    assert (membership == match(clusterlets, hops, scope)).all()


@greedy
@quick
@given(clusterlets=clusterlet_sets(), hops=hop_counts, scope=scopes, seed=seeds)
def test_greedy_is_crisp_and_within_the_bound(match, clusterlets, hops, scope, seed):
    membership = match(clusterlets, hops, np.random.default_rng(seed), scope)
    assert membership.dtype == bool
    assert (membership.sum(axis=0) == 1).all()
    assert membership.any(axis=1).all() and membership.sum(axis=1).max() <= 1 + hops
    assert (membership == match(clusterlets, hops, np.random.default_rng(seed), scope)).all()


@quick
@given(clusterlets=clusterlet_sets(), hops=hop_counts, seed=seeds)
def test_greedy_balance_never_worsens_its_start(clusterlets, hops, seed):
    membership = match_greedy_balance(clusterlets, hops, np.random.default_rng(seed))
    dataset = clusterlets.group_counts / clusterlets.group_counts.sum()
    alone = np.abs(np.eye(len(dataset))[clusterlets.group] - dataset).max(axis=1)
    counts = holds_groups(clusterlets, membership)
    deviation = np.abs(counts / counts.sum(axis=1, keepdims=True) - dataset).max(axis=1)
    assert all(d <= alone[row].max() + 1e-12 for d, row in zip(deviation, membership))


@quick
@given(
    clusterlets=clusterlet_sets(most_groups=3, fewest=2, most=6),
    omega=st.floats(0, 1),
    seed=seeds,
    sample_size=st.integers(1, 300),
)
def test_centroid_is_crisp_and_every_block_holds_every_group(clusterlets, omega, seed, sample_size):
    front = sample_partitions(clusterlets, sample_size, np.random.default_rng(seed))
    assert (np.diff(front.deviation) > 0).all() and (np.diff(front.silhouette) > 0).all()
    assert front.n_valid <= sample_size
    for labels in front.labels:  # canonical
        assert [label for i, label in enumerate(labels) if label not in labels[:i]] == list(range(labels.max() + 1))
    if len(front):
        membership = match_centroid(front, omega)
        assert len(membership) >= 2
        assert (membership.sum(axis=0) == 1).all()
        assert (holds_groups(clusterlets, membership) > 0).all()
