"""The matchers of the module ``published`` make the clusters of the published package. The first tests show its quirks."""

from itertools import product
from math import log

import numpy as np
import pytest
from in_order import InOrder
from test_pinball import build_clusterlets, clusters, random_clusterlets

from clusterlets import methods
from clusterlets.algorithms.matching import pinball, published

# The expected clusters were made by the published package, clusterlets 0.0.3.
CLUSTERLETS = build_clusterlets([[0, 10, 20], [1, 4, 12]], [[4, 2, 3], [1, 3, 4]])


def unordered_clusters(membership):
    return {frozenset(cluster) for cluster in clusters(membership)}


def test_costs_are_mirrored_as_if_they_were_symmetric():
    # The pair (1, 3) wrongly gets the low cost of the pair (0, 4). So clusterlet 1 joins 3, although they deviate by .137.
    published_clusters = unordered_clusters(published.match_balance(CLUSTERLETS, 1))
    assert published_clusters == {frozenset(pair) for pair in ([2, 3], [0, 4], [0, 5], [1, 3])}
    assert unordered_clusters(pinball.match_balance(CLUSTERLETS, 1)) != published_clusters


def test_later_starts_of_d_make_one_fewer_sweep():
    # Clusterlet 3 is left over and hops to clusterlet 0. In the paper's text, it then hops back to group 1, to clusterlet 2.
    clusterlets = build_clusterlets([[0, 10], [1, 4, 12]])
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
def test_greedy_distance_reads_an_index_into_one_list_as_an_index_into_another(hops, order, expected):
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


def test_the_costs_of_all_pairs_equal_those_worked_out_one_by_one():
    sizes = [[4, 2, 3], [1, 3, 7, 2]]
    costs = published._mirrored_costs(build_clusterlets([[0] * 3, [0] * 4], sizes))
    shares = [9 / 22, 13 / 22]
    for a, b in product(range(3), range(4)):
        first, second = (a, b) if a <= b else (b, a)  # the pair (b, a) takes the place of (a, b)
        union = sizes[0][first], sizes[1][second]
        expected = sum(share * log(share * sum(union) / count) for share, count in zip(shares, union, strict=True))
        assert costs[a, 3 + b] == costs[3 + b, a] == pytest.approx(expected), (a, b)


def test_three_groups_by_hand():
    # 1@10 and the list of the later groups 2@1, 3@12, 4@5: the nearest, number 1, is taken from the list 0, 2, 3, 4 instead.
    # Then 5.5 and the list 3@12, 4@5: number 1 again, now of 0, 3, 4. Of 0 and 4, the second cluster is made.
    clusterlets = build_clusterlets([[0, 10], [1], [12, 5]])
    assert clusters(published.match_greedy_distance(clusterlets, 2, InOrder(1, 0, 2, 3, 4))) == [{1, 2, 3}, {0, 4}]
    # A union without all groups costs infinitely much, so the first unused ones join: 0 and 2. Then 3, 3, 4 beats 3, 3, 1.
    clusterlets = build_clusterlets([[0, 0], [0], [0, 0]], [[2, 1], [3], [1, 4]])
    assert clusters(published.match_greedy_balance(clusterlets, 3, InOrder(1, 3, 0, 2, 4))) == [{0, 1, 2, 4}, {3}]


def test_greedy_distance_takes_the_first_unused_clusterlet_if_no_other_group_is_left():
    clusterlets = build_clusterlets([[0, 10, 20, 30], [1]])
    assert clusters(published.match_greedy_distance(clusterlets, 1, InOrder(4, 3, 2, 1, 0))) == [{0, 4}, {1, 3}, {2}]


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
