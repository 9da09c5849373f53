"""The published code's matchers: runs of that package on small cases, and what they must keep on any table."""

import numpy as np
import pytest
from in_order import InOrder
from test_pinball import build, clusters, random_clusterlets

from clusterlets import methods
from clusterlets.algorithms.matching import pinball, published

# Sizes and positions by group. The expected clusters are what clusterlets 0.0.3 gives for them.
CASE = build([[0, 10, 20], [1, 4, 12]], [[4, 2, 3], [1, 3, 4]])


def as_sets(membership):
    return {frozenset(cluster) for cluster in clusters(membership)}


def test_costs_are_mirrored_as_if_they_were_symmetric():
    # 1 looks for its partner among 3, 4, 5. The cost of (1, 3) is that of (0, 4), the lowest; its own would be .137 off.
    assert as_sets(published.match_balance(CASE, 1)) == {frozenset(pair) for pair in ([2, 3], [0, 4], [0, 5], [1, 3])}
    assert as_sets(pinball.match_balance(CASE, 1)) != as_sets(published.match_balance(CASE, 1))


def test_later_starts_of_d_make_one_fewer_sweep():
    # 3@4 is left over. It goes to 0@0 and, by the text, back to group 1: 2@1.
    clusterlets = build([[0, 10], [1, 4, 12]])
    assert clusters(pinball.match_distance(clusterlets, 2)) == [{0, 2}, {1, 4}, {0, 2, 3}]
    assert clusters(published.match_distance(clusterlets, 2)) == [{0, 2}, {1, 4}, {0, 3}]


@pytest.mark.parametrize(
    ("hops", "order", "expected"),
    [
        (1, (1, 0, 5, 2, 3, 4), [{1, 3}, {0, 2}, {4, 5}]),
        (1, (1, 2, 5, 0, 3, 4), [{1, 3}, {2, 4}, {0, 5}]),
        (3, (1, 4, 0, 2, 3, 5), [{0, 1, 2, 3}, {4, 5}]),
        (3, (0, 4, 1, 2, 3, 5), [{0, 1, 2, 3}, {4, 5}]),
    ],
)
def test_greedy_distance_uses_an_index_of_one_list_in_another(hops, order, expected):
    assert clusters(published.match_greedy_distance(CASE, hops, InOrder(*order))) == expected


@pytest.mark.parametrize(
    ("hops", "order", "expected"),
    [
        (1, (1, 0, 3, 2, 4, 5), [{1, 4}, {0, 5}, {2, 3}]),
        (1, (0, 1, 2, 3, 4, 5), [{0, 5}, {1, 4}, {2, 3}]),
        (3, (1, 0, 2, 3, 4, 5), [{1, 2, 3, 4}, {0, 5}]),
        (3, (0, 1, 2, 3, 4, 5), [{0, 5}, {1, 2, 3, 4}]),
    ],
)
def test_greedy_balance_goes_by_divergence_of_the_dataset_from_the_cluster(hops, order, expected):
    assert clusters(published.match_greedy_balance(CASE, hops, InOrder(*order))) == expected


@pytest.mark.parametrize("n_groups", [1, 2, 3])
@pytest.mark.parametrize("seed", range(15))
def test_every_clusterlet_is_covered_and_the_greedy_ones_use_each_once(seed, n_groups):
    clusterlets = random_clusterlets(np.random.default_rng(seed), n_groups, dimensions=2)
    for hops in (1, 3):
        for match in (published.match_distance, published.match_balance):
            assert match(clusterlets, hops).any(axis=0).all()
        for match in (published.match_greedy_distance, published.match_greedy_balance):
            membership = match(clusterlets, hops, np.random.default_rng(seed))
            assert (membership.sum(axis=0) == 1).all() and membership.sum(axis=1).max() <= hops + 1


@pytest.mark.parametrize("module", [pinball, published])
@pytest.mark.parametrize(
    ("name", "function"),
    [("D", "match_distance"), ("B", "match_balance"), ("G-D", "match_greedy_distance"), ("G-B", "match_greedy_balance")],
)
def test_the_methods_run_these_matchers(module, name, function):
    random_state = [np.random.default_rng(3)] if name.startswith("G") else []
    expected = getattr(module, function)(CASE, 2, *random_state)
    scope = {"scope": "published"} if module is published else {}
    assert np.array_equal(methods.get(name)().match(CASE, np.random.default_rng(3), hops=2, **scope), expected)
