"""The matchers of the module ``published`` make the clusters of the published package. The first tests show its quirks."""

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
