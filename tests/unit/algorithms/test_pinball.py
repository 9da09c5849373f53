"""D, B, G-D and G-B make the clusters worked out by hand, and those of a naive implementation in exact arithmetic.

The naive implementation follows docs/reproduction.md, section 3.
"""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from in_order import InOrder

from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.matching.pinball import (
    _first_lowest_divergence,
    _route,
    match_balance,
    match_distance,
    match_greedy_balance,
    match_greedy_distance,
)


def build_clusterlets(positions, sizes=None):
    """Clusterlets, from a list of positions and a list of sizes for each group. A position is a number or a tuple."""
    sizes = sizes or [[1] * len(group) for group in positions]
    is_in_group = np.repeat(np.eye(len(positions), dtype=np.int64), [len(group) for group in positions], axis=0)
    counts = is_in_group * np.concatenate(sizes)[:, None]
    centroids = np.array([np.atleast_1d(p) for group in positions for p in group], dtype=float)
    return Clusterlets.from_pieces(counts, centroids, np.zeros(len(counts)))


def clusterlets_of_sizes(sizes):
    """Clusterlets at one position, for matchers that ignore positions."""
    return build_clusterlets([[0] * len(group_sizes) for group_sizes in sizes], sizes)


def clusters(membership):
    return [set(np.flatnonzero(row).tolist()) for row in membership]


def random_clusterlets(rng, n_groups, dimensions=1, is_on_grid=True):
    """One to five clusterlets of each group. By default, they lie on a small grid of whole numbers, where ties are common."""
    group_sizes = rng.integers(1, 6, n_groups)
    sizes = [rng.integers(1, 7, n).tolist() for n in group_sizes]
    draw = (lambda: rng.integers(0, 12, dimensions)) if is_on_grid else (lambda: rng.normal(size=dimensions))
    return build_clusterlets([[tuple(draw()) for _ in range(n)] for n in group_sizes], sizes)


# ---- two groups, worked out by hand. In the comments, 3@4 is clusterlet 3 at position 4, and an arrow is a hop.


def test_distances_that_differ_by_rounding_alone_tie():
    assert 0.7 - 0.4 < 0.4 - 0.1  # both are 0.3 but for rounding
    clusterlets = build_clusterlets([[0.4], [0.1, 0.7]])
    assert clusters(match_distance(clusterlets, 1))[0] == {0, 1}
    assert clusters(match_greedy_distance(clusterlets, 1, InOrder(0, 1, 2)))[0] == {0, 1}


def test_balance_makes_the_clusters_worked_out_by_hand():
    # Group 0 is 3/7 of the dataset. Its size 4 can reach a share of 4/5, 4/7 or 4/8, and the last is nearest to 3/7.
    # Its size 2 can reach 2/3, 2/5 or 2/6, and the second is nearest. Size 1 of group 1 is left over.
    # With size 1, the share is 4/5 for size 4, and 2/3 for size 2.
    assert clusters(match_balance(clusterlets_of_sizes([[4, 2], [1, 3, 4]]), 1)) == [{0, 4}, {1, 3}, {1, 2}]


def test_balance_ties_that_floats_would_miss_go_to_the_lower_index():
    # Group 0 is half of the dataset. Sizes 2 and 4 give it 1/3, and sizes 2 and 1 give it 2/3. Both are 1/6 off.
    assert abs(2 / 3 - 0.5) < abs(1 / 3 - 0.5)  # in floats
    for scope in ("last", "cluster"):
        assert clusters(match_balance(clusterlets_of_sizes([[2, 3], [4, 1]]), 1, scope))[0] == {0, 2}
        assert clusters(match_balance(clusterlets_of_sizes([[2, 3], [1, 4]]), 1, scope))[0] == {0, 2}


# ---- three groups, worked out by hand


def test_distance_visits_three_groups_in_turn():
    # The groups hold 0@0, 1@20 | 2@5, 3@-6 | 4@-1, 5@12. One sweep makes two clusters:
    #   0@0 -> 2@5 -> 4@-1, because 2@5 is 6 away from 4@-1 and 7 away from 5@12
    #   1@20 -> 2@5 -> 4@-1
    # The clusterlets left over visit the groups in another order:
    #   3@-6 -> 0@0 -> 4@-1
    #   5@12 -> 2@5 -> 0@0, because 2@5 is nearer to 0@0 than to 1@20
    clusterlets = build_clusterlets([[0, 20], [5, -6], [-1, 12]])
    assert clusters(match_distance(clusterlets, 1)) == [{0, 2, 4}, {1, 2, 4}, {0, 3, 4}, {0, 2, 5}]


@pytest.mark.parametrize(
    ("start_group", "n_groups", "hops", "expected"),
    [
        (0, 2, 3, [1, 0, 1]),
        (1, 2, 3, [0, 1, 0]),
        (0, 3, 3, [1, 2, 1, 0, 1, 2]),
        (1, 3, 2, [0, 2, 0, 1]),
        (2, 3, 3, [1, 0, 1, 2, 1, 0]),
        (0, 4, 2, [1, 2, 3, 2, 1, 0]),
        (2, 4, 2, [1, 0, 3, 0, 1, 2]),
        (1, 4, 2, [0, 3, 2, 3, 0, 1]),
    ],
)
def test_the_route_visits_the_groups_in_the_expected_order(start_group, n_groups, hops, expected):
    assert _route(start_group, n_groups, hops) == expected


# ---- greedy matchers, worked out by hand


def test_greedy_distance_weighs_by_size_and_stops_when_distance_grows():
    # 0@0 (size 1) takes 2@3 (size 3), which is 3 away. The centroid is now 9/4, so 1@5 is 2.75 away and joins.
    # The centroid is now 14/5, so 3@8 is 5.2 away and stays alone.
    clusterlets = build_clusterlets([[0, 5], [3, 8]], [[1, 1], [3, 1]])
    assert clusters(match_greedy_distance(clusterlets, 5, InOrder(0, 1, 2, 3))) == [{0, 1, 2}, {3}]
    # With equal sizes, 1@5 is 3.5 away from the centroid and stays out. As the next start, it takes 3@8.
    clusterlets = build_clusterlets([[0, 5], [3, 8]])
    assert clusters(match_greedy_distance(clusterlets, 5, InOrder(0, 1, 2, 3))) == [{0, 2}, {1, 3}]
    # Under "last", 1@5 joins, because it is 2 away from 2@3. Then 3@8 is 3 away from 1@5 and stays out.
    assert clusters(match_greedy_distance(clusterlets, 5, InOrder(0, 1, 2, 3), "last")) == [{0, 1, 2}, {3}]


def test_greedy_balance_breaks_ties_by_divergence_and_stops_when_deviation_rises():
    # Group 0 is a quarter of the dataset. Sizes 2 and 18 give it 1/10, and sizes 2 and 3 give it 4/10. Both are .15 off, but
    # the divergence is .0725 for the first and .0541 for the second. No further size improves the cluster of 2 and 3:
    # group 0 would have 7/10 with size 5, and 2/23 with size 18. So size 5 starts the next cluster.
    clusterlets = clusterlets_of_sizes([[2, 5], [18, 3]])
    assert clusters(match_greedy_balance(clusterlets, 4, InOrder(0, 1, 2, 3))) == [{0, 3}, {1, 2}]
    # B ignores divergence, so the lower index wins.
    assert clusters(match_balance(clusterlets, 1))[0] == {0, 2}


def test_greedy_balance_ties_of_divergence_go_to_the_lower_index():
    for sizes in ([[2, 3], [4, 1]], [[2, 3], [1, 4]]):
        assert clusters(match_greedy_balance(clusterlets_of_sizes(sizes), 1, InOrder(0, 1, 2, 3)))[0] == {0, 2}


def test_divergences_that_differ_by_rounding_alone_tie():
    # The two clusters have the same shares in a different order.
    assert _first_lowest_divergence(np.array([[1, 4, 1], [1, 1, 4]]), np.array([7, 7, 7])) == 0
    assert _first_lowest_divergence(np.array([[1, 4, 1], [1, 3, 2]]), np.array([7, 7, 7])) == 1


# ---- comparison with a naive implementation of section 3


def naive_route(start_group, n_groups, n_steps):
    """The groups that a walk visits. It goes along a line of all groups, and turns round at either end."""
    groups_in_line = list(range(n_groups))
    if start_group > 0:
        groups_in_line = [*range(start_group, -1, -1), *range(n_groups - 1, start_group, -1)]
    position, direction, visited_groups = 0, 1, []
    for _ in range(n_steps):
        if not 0 <= position + direction < n_groups:
            direction = -direction
        position += direction
        visited_groups.append(groups_in_line[position])
    return visited_groups


def naive_deviation(clusterlets, cluster):
    totals = [int(t) for t in clusterlets.counts.sum(axis=0)]
    n = sum(totals)
    counts = [sum(int(clusterlets.counts[j, c]) for j in cluster) for c in range(len(totals))]
    return max(abs(Fraction(count, sum(counts)) - Fraction(total, n)) for count, total in zip(counts, totals))


def naive_divergence(clusterlets, cluster):
    totals = clusterlets.counts.sum(axis=0)
    counts = clusterlets.counts[sorted(cluster)].sum(axis=0)
    shares = [Fraction(int(c), int(counts.sum())) for c in counts]
    return sum(float(q) * math.log(q / Fraction(int(t), int(totals.sum()))) for q, t in zip(shares, totals) if q)


def distance(clusterlets, i, j):
    if clusterlets.centroids.shape[1] > 1:
        return math.dist(clusterlets.centroids[i], clusterlets.centroids[j])
    return abs(Fraction(clusterlets.centroids[i, 0]) - Fraction(clusterlets.centroids[j, 0]))


def pinball_costs(clusterlets, scope):
    """The functions ``cost(cluster, last, candidate)`` that D and B minimise."""

    def summed_distance(cluster, last, j):
        return sum(distance(clusterlets, i, j) for i in (cluster if scope == "cluster" else {last}))

    def deviation(cluster, last, j):
        return naive_deviation(clusterlets, (cluster if scope == "cluster" else {last}) | {j})

    return summed_distance, deviation


def naive_pinball(clusterlets, hops, cost):
    """Clusters where each hop minimises ``cost(cluster, last, candidate)``; ties go to the lowest index.

    Every clusterlet of group 0 starts a cluster. A clusterlet of another group does so only if it is in no cluster yet.
    """
    n_groups = clusterlets.counts.shape[1]
    distinct_clusters = []
    for start in range(len(clusterlets)):
        group = int(clusterlets.group[start])
        if group > 0 and any(start in cluster for cluster in distinct_clusters):
            continue
        cluster, last = {start}, start
        for visited_group in naive_route(group, n_groups, hops * (n_groups - 1)):
            candidates = [j for j in range(len(clusterlets)) if clusterlets.group[j] == visited_group]
            last = min(candidates, key=lambda j: (cost(cluster, last, j), j))
            cluster = cluster | {last}
        if cluster not in distinct_clusters:
            distinct_clusters.append(cluster)
    return distinct_clusters


def naive_greedy(clusterlets, hops, order, choose, cost):
    """Clusters where each candidate ``choose(cluster, unused)`` joins unless it raises ``cost(cluster)``."""
    unused, finished_clusters = set(range(len(clusterlets))), []
    for start in order:
        if start not in unused:
            continue
        unused -= {start}
        cluster = [start]
        for _ in range(hops):
            candidate = choose(cluster, sorted(unused))
            if candidate is None or cost([*cluster, candidate]) > cost(cluster):
                break
            cluster.append(candidate)
            unused -= {candidate}
        finished_clusters.append(set(cluster))
    return finished_clusters


def naive_squared_distance_to_centre(clusterlets, cluster, j):
    sizes = [int(clusterlets.sizes[i]) for i in cluster]
    centre = [
        sum(Fraction(float(x)) * size for x, size in zip(clusterlets.centroids[cluster, axis], sizes)) / sum(sizes)
        for axis in range(clusterlets.centroids.shape[1])
    ]
    return sum((Fraction(float(x)) - c) ** 2 for x, c in zip(clusterlets.centroids[j], centre))


CASES = [(n_groups, scope, seed) for n_groups in (2, 3, 4) for scope in ("last", "cluster") for seed in range(12)]


@pytest.mark.parametrize(("n_groups", "scope", "seed"), CASES)
def test_pinball_matchers_equal_the_naive_ones(n_groups, scope, seed):
    rng = np.random.default_rng([seed, n_groups])
    is_on_grid = seed % 3 > 0
    clusterlets = random_clusterlets(rng, n_groups, dimensions=1 if is_on_grid else 3, is_on_grid=is_on_grid)
    hops = int(rng.integers(1, 5))
    summed_distance, deviation = pinball_costs(clusterlets, scope)
    assert clusters(match_distance(clusterlets, hops, scope)) == naive_pinball(clusterlets, hops, summed_distance)
    assert clusters(match_balance(clusterlets, hops, scope)) == naive_pinball(clusterlets, hops, deviation)


@pytest.mark.parametrize("scope", ["last", "cluster"])
@pytest.mark.parametrize("seed", range(12))
def test_unlimited_hops_end_when_no_cluster_grows(scope, seed):
    clusterlets = random_clusterlets(np.random.default_rng(seed), 2 + seed % 2)

    for match, cost in zip((match_distance, match_balance), pinball_costs(clusterlets, scope)):
        expected = naive_pinball(clusterlets, 3 * len(clusterlets), cost)
        assert clusters(match(clusterlets, 10**18, scope)) == expected
    for match in (match_greedy_distance, match_greedy_balance):
        memberships = (match(clusterlets, hops, np.random.default_rng(seed)) for hops in (len(clusterlets), 10**18))
        assert np.array_equal(*memberships)


@pytest.mark.parametrize(("n_groups", "scope", "seed"), CASES)
def test_greedy_matchers_equal_the_naive_ones(n_groups, scope, seed):
    rng = np.random.default_rng([seed, n_groups])
    clusterlets = random_clusterlets(rng, n_groups, dimensions=1 + seed % 2)
    hops = int(rng.integers(1, 6))
    order = np.random.default_rng(seed).permutation(len(clusterlets)).tolist()

    def in_scope(cluster):
        """The clusterlets that candidates are compared with."""
        return cluster if scope == "cluster" else cluster[-1:]

    def nearest(cluster, unused):
        candidates = [j for j in unused if clusterlets.group[j] != clusterlets.group[cluster[-1]]]
        return min(candidates, key=partial(naive_squared_distance_to_centre, clusterlets, in_scope(cluster)), default=None)

    def last_distance(cluster):
        if len(cluster) == 1:
            return math.inf
        return naive_squared_distance_to_centre(clusterlets, in_scope(cluster[:-1]), cluster[-1])

    def fairest(cluster, unused):
        if not unused:
            return None
        deviations = {j: naive_deviation(clusterlets, [*in_scope(cluster), j]) for j in unused}
        tied = [j for j in unused if deviations[j] == min(deviations.values())]
        divergences = {j: naive_divergence(clusterlets, [*in_scope(cluster), j]) for j in tied}
        return next(j for j in tied if divergences[j] <= min(divergences.values()) + 1e-12)

    membership = match_greedy_distance(clusterlets, hops, np.random.default_rng(seed), scope)
    assert clusters(membership) == naive_greedy(clusterlets, hops, order, nearest, last_distance)
    membership = match_greedy_balance(clusterlets, hops, np.random.default_rng(seed), scope)
    deviation = partial(naive_deviation, clusterlets)
    assert clusters(membership) == naive_greedy(clusterlets, hops, order, fairest, deviation)


# ---- large counts


def test_ties_are_exact_at_a_million_instances():
    # Group 0 is half of the dataset. The two candidates give it 2/6 and 2/3, which are both 1/6 off.
    unit = 83_333
    clusterlets = clusterlets_of_sizes([[2 * unit, 3 * unit], [4 * unit, unit]])
    assert clusters(match_balance(clusterlets, 1))[0] == {0, 2}
    # A single instance now breaks the tie.
    clusterlets = clusterlets_of_sizes([[2 * unit, 3 * unit], [4 * unit + 1, 3 * unit - 1, unit]])
    expected = min((2, 3, 4), key=lambda j: naive_deviation(clusterlets, {0, j}))
    assert clusters(match_balance(clusterlets, 1))[0] == {0, expected}
