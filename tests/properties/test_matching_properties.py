"""Properties of every matching, for any clusterlets."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_order import InOrder

from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.matching import pinball as pinball_module
from clusterlets.algorithms.matching.centroid import match_centroid, sample_partitions
from clusterlets.algorithms.matching.pinball import (
    SCOPES,
    _first_lowest_divergence,
    match_balance,
    match_distance,
    match_greedy_balance,
    match_greedy_distance,
)

quick = settings(max_examples=60)
scopes = st.sampled_from(SCOPES)
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
@given(clusterlets=clusterlet_sets(), seed=seeds, scope=scopes)
def test_greedy_distance_never_puts_one_group_twice_in_a_row(clusterlets, seed, scope):
    membership = match_greedy_distance(clusterlets, 1, np.random.default_rng(seed), scope)
    pairs = membership[membership.sum(axis=1) == 2]
    assert ((holds_groups(clusterlets, pairs) > 0).sum(axis=1) == 2).all()
    # The first join is unconditional: a clusterlet stays alone only if no other group is left, so all are of one group.
    alone = membership[membership.sum(axis=1) == 1].any(axis=0)
    assert len(set(clusterlets.group[alone].tolist())) <= 1


def without_ties(clusterlets, seed):
    """The same groups at random positions and of random sizes, so that no two costs are equal."""
    rng, n = np.random.default_rng(seed), len(clusterlets)
    counts = (clusterlets.counts > 0) * rng.integers(1, 2**20, (n, 1))
    return replace(clusterlets, centroids=rng.normal(size=(n, 3)), counts=counts)


def shuffled_within_groups(clusterlets, groups, draw):
    """The clusterlets in another order within these groups, and the new position of each."""
    order = []
    for group in range(clusterlets.counts.shape[1]):
        ids = np.flatnonzero(clusterlets.group == group).tolist()
        order += draw(st.permutations(ids)) if group in groups else ids
    counts, centroids = clusterlets.counts[order], clusterlets.centroids[order]
    return replace(clusterlets, counts=counts, centroids=centroids), np.argsort(order)


# With three groups B's costs often tie, whatever the sizes: the group that a union lacks decides its deviation.
@pytest.mark.parametrize(("match", "most_groups"), [(match_distance, 4), (match_balance, 2)])
@quick
@given(data=st.data(), hops=hop_counts, scope=scopes, seed=seeds)
def test_order_within_a_group_does_not_matter_to_pinball_without_ties(match, most_groups, data, hops, scope, seed):
    """Any order if hops = 1; with more, group 0 only: a cluster started from what it left may cover the next."""
    clusterlets = without_ties(data.draw(clusterlet_sets(most_groups)), seed)
    groups = range(clusterlets.counts.shape[1] if hops == 1 else 1)
    shuffled, position = shuffled_within_groups(clusterlets, groups, data.draw)
    assert as_sets(match(shuffled, hops, scope)[:, position]) == as_sets(match(clusterlets, hops, scope))


@greedy
@quick
@given(clusterlets=clusterlet_sets(), data=st.data(), hops=hop_counts, scope=scopes, seed=seeds)
def test_order_within_a_group_does_not_matter_to_the_greedies_without_ties(match, clusterlets, data, hops, scope, seed):
    """For the same starts in the same order. Unions of one group deviate equally: G-B's first such choice is a tie."""
    clusterlets = without_ties(clusterlets, seed)
    shuffled, position = shuffled_within_groups(clusterlets, range(clusterlets.counts.shape[1]), data.draw)
    starts = np.random.default_rng(seed).permutation(len(clusterlets))
    with patch.object(pinball_module, "_first_lowest_divergence", wraps=_first_lowest_divergence) as tie_breaker:
        expected = match(clusterlets, hops, InOrder(*starts), scope)
    if all(len(call.args[0]) == 1 for call in tie_breaker.call_args_list):
        membership = match(shuffled, hops, InOrder(*position[starts]), scope)[:, position]
        assert (membership == expected).all()  # the clusters' order included


@quick
@given(clusterlets=clusterlet_sets(most_groups=3, fewest=2, most=3), data=st.data(), seed=seeds)
def test_order_within_a_group_does_not_matter_to_the_front_without_ties(clusterlets, data, seed):
    clusterlets = without_ties(clusterlets, seed)
    shuffled, position = shuffled_within_groups(clusterlets, range(clusterlets.counts.shape[1]), data.draw)
    fronts = [sample_partitions(c, 200_000, np.random.default_rng(0)) for c in (clusterlets, shuffled)]
    assert fronts[0].drawn == fronts[1].drawn == "enumerated"
    np.testing.assert_array_equal(fronts[0].silhouette, fronts[1].silhouette)
    np.testing.assert_array_equal(fronts[0].deviation, fronts[1].deviation)
    for omega in (0, 0.5, 1) if len(fronts[0]) else ():
        memberships = [match_centroid(front, omega) for front in fronts]
        assert as_sets(memberships[0]) == as_sets(memberships[1][:, position])


@pytest.mark.parametrize("factor", [2, 8])
@quick
@given(clusterlets=clusterlet_sets(), hops=hop_counts, scope=scopes, seed=seeds)
def test_units_do_not_matter(factor, clusterlets, hops, scope, seed):
    """Only shares of instances and ratios of distances count."""
    larger = replace(clusterlets, counts=clusterlets.counts * factor, centroids=clusterlets.centroids * factor)
    for match in (match_distance, match_balance):
        assert (match(clusterlets, hops, scope) == match(larger, hops, scope)).all()
    for match in (match_greedy_distance, match_greedy_balance):
        memberships = [match(c, hops, np.random.default_rng(seed), scope) for c in (clusterlets, larger)]
        assert memberships[0].shape == memberships[1].shape and (memberships[0] == memberships[1]).all()


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


@quick
@given(clusterlets=clusterlet_sets(most_groups=3, fewest=2, most=3))
def test_names_of_groups_do_not_matter_to_the_front(clusterlets):
    """The groups in reverse: other labels, the same scores (all partitions are tried)."""
    last = clusterlets.counts.shape[1] - 1
    mirrored = Clusterlets(
        last - clusterlets.group[::-1],
        clusterlets.counts[::-1, ::-1],
        clusterlets.centroids[::-1],
        clusterlets.inertia,
        clusterlets.labels,
    )
    fronts = [sample_partitions(c, 200_000, np.random.default_rng(0)) for c in (clusterlets, mirrored)]
    assert fronts[0].drawn == fronts[1].drawn == "enumerated" and fronts[0].n_valid == fronts[1].n_valid
    np.testing.assert_array_equal(fronts[0].silhouette, fronts[1].silhouette)
    np.testing.assert_allclose(fronts[0].deviation, fronts[1].deviation, rtol=1e-15)
