"""Matchers that follow the published code make the clusters that its package makes of small tables, and valid ones of any."""

import numpy as np
import pytest
from in_order import InOrder
from test_pinball import build, clusters, random_clusterlets

from clusterlets import methods
from clusterlets.algorithms.matching import pinball, published

# Positions and sizes by group. The tests expect the clusters that the package clusterlets 0.0.3 makes of them.
CLUSTERLETS = build([[0, 10, 20], [1, 4, 12]], [[4, 2, 3], [1, 3, 4]])


def unordered(membership):
    return {frozenset(cluster) for cluster in clusters(membership)}


def test_costs_are_mirrored_as_if_they_were_symmetric():
    # Clusterlet 1 may join 3, 4 or 5. It joins 3, as the pair (1, 3) gets the low cost of (0, 4), although it deviates by .137.
    assert unordered(published.match_balance(CLUSTERLETS, 1)) == {frozenset(pair) for pair in ([2, 3], [0, 4], [0, 5], [1, 3])}
    assert unordered(pinball.match_balance(CLUSTERLETS, 1)) != unordered(published.match_balance(CLUSTERLETS, 1))


def test_later_starts_of_d_make_one_fewer_sweep():
    # Clusterlet 3 is left over and goes to clusterlet 0. By the paper's text, it then goes back to group 1, to clusterlet 2.
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
def test_greedy_distance_uses_an_index_of_one_list_in_another_list(hops, order, expected):
    assert clusters(published.match_greedy_distance(CLUSTERLETS, hops, InOrder(*order))) == expected


@pytest.mark.parametrize(
    ("hops", "order", "expected"),
    [
        (1, (1, 0, 3, 2, 4, 5), [{1, 4}, {0, 5}, {2, 3}]),
        (1, (0, 1, 2, 3, 4, 5), [{0, 5}, {1, 4}, {2, 3}]),
        (3, (1, 0, 2, 3, 4, 5), [{1, 2, 3, 4}, {0, 5}]),
        (3, (0, 1, 2, 3, 4, 5), [{0, 5}, {1, 2, 3, 4}]),
    ],
)
def test_greedy_balance_minimises_the_divergence_of_the_dataset_from_the_cluster(hops, order, expected):
    assert clusters(published.match_greedy_balance(CLUSTERLETS, hops, InOrder(*order))) == expected


@pytest.mark.parametrize("n_groups", [1, 2, 3])
@pytest.mark.parametrize("seed", range(15))
def test_every_clusterlet_is_in_a_cluster_and_greedy_matchers_use_each_clusterlet_once(seed, n_groups):
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
def test_the_methods_run_the_matchers_of_both_modules(module, name, function):
    random_state = [np.random.default_rng(3)] if name.startswith("G") else []
    expected = getattr(module, function)(CLUSTERLETS, 2, *random_state)
    scope = {"scope": "published"} if module is published else {}
    assert np.array_equal(methods.get(name)().match(CLUSTERLETS, np.random.default_rng(3), hops=2, **scope), expected)
