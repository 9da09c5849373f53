"""D, B, G-D and G-B: by hand, and against a naive, exact implementation of section 3 of docs/reproduction.md."""

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from in_order import InOrder

from clusterlets import methods
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.matching.pinball import (
    _first_lowest_divergence,
    match_balance,
    match_distance,
    match_greedy_balance,
    match_greedy_distance,
)


def build(positions, sizes=None):
    """Clusterlets from positions and sizes by group; a position is a number or a tuple."""
    sizes = sizes or [[1] * len(group_values) for group_values in positions]
    group = np.repeat(np.arange(len(positions)), [len(group_values) for group_values in positions])
    flat_sizes = np.array([size for group_values in sizes for size in group_values])
    counts = np.zeros((len(group), len(positions)), dtype=np.int64)
    counts[np.arange(len(group)), group] = flat_sizes
    centroids = np.array([np.atleast_1d(p) for group_values in positions for p in group_values], dtype=float)
    labels = np.repeat(np.arange(len(group)), flat_sizes)
    return Clusterlets(group, counts, centroids, np.zeros(len(group)), labels)


def by_size(sizes):
    """Clusterlets whose sizes alone matter."""
    return build([[0] * len(group_sizes) for group_sizes in sizes], sizes)


def clusters(membership):
    return [set(np.flatnonzero(row).tolist()) for row in membership]


def random_clusterlets(rng, n_groups, dimensions=1, grid=True):
    """A few clusterlets, unequal numbers for each group; on a small grid, so that ties are common."""
    group_sizes = rng.integers(1, 6, n_groups)
    sizes = [rng.integers(1, 7, n).tolist() for n in group_sizes]
    draw = (lambda: rng.integers(0, 12, dimensions)) if grid else (lambda: rng.normal(size=dimensions))
    return build([[tuple(draw()) for _ in range(n)] for n in group_sizes], sizes)


# ---- by hand: two groups

TWO = [[0, 10], [1, 4, 12]]


def test_distances_that_are_equal_on_paper_tie():
    assert 0.7 - 0.4 < 0.4 - 0.1  # in floats
    clusterlets = build([[0.4], [0.1, 0.7]])
    assert clusters(match_distance(clusterlets, 1))[0] == {0, 1}
    assert clusters(match_greedy_distance(clusterlets, 1, InOrder(0, 1, 2)))[0] == {0, 1}


# ---- by hand: three groups


# ---- by hand: the greedies


def test_divergences_that_are_equal_on_paper_tie():
    # The same shares in another order of the groups: equal, but for the last bit of the sum.
    assert _first_lowest_divergence(np.array([[1, 4, 1], [1, 1, 4]]), np.array([7, 7, 7])) == 0
    assert _first_lowest_divergence(np.array([[1, 4, 1], [1, 3, 2]]), np.array([7, 7, 7])) == 1


# ---- against section 3, naively


def naive_route(start, n_groups, steps):
    """A walk on the line of groups: forward, bounce, back, bounce."""
    line = list(range(n_groups)) if start == 0 else [*range(start, -1, -1), *range(n_groups - 1, start, -1)]
    position, step, order = 0, 1, []
    for _ in range(steps):
        if not 0 <= position + step < len(line):
            step = -step
        position += step
        order.append(line[position])
    return order


def naive_deviation(clusterlets, group):
    totals = [int(t) for t in clusterlets.counts.sum(axis=0)]
    n = sum(totals)
    counts = [sum(int(clusterlets.counts[j, c]) for j in group) for c in range(len(totals))]
    return max(abs(Fraction(count, sum(counts)) - Fraction(total, n)) for count, total in zip(counts, totals))


def naive_divergence(clusterlets, group):
    totals = clusterlets.counts.sum(axis=0)
    counts = clusterlets.counts[sorted(group)].sum(axis=0)
    shares = [Fraction(int(c), int(counts.sum())) for c in counts]
    return sum(float(q) * math.log(q / Fraction(int(t), int(totals.sum()))) for q, t in zip(shares, totals) if q)


def distance(clusterlets, i, j):
    if clusterlets.centroids.shape[1] > 1:
        return math.dist(clusterlets.centroids[i], clusterlets.centroids[j])
    return abs(Fraction(clusterlets.centroids[i, 0]) - Fraction(clusterlets.centroids[j, 0]))


def naive_pinball(clusterlets, hops, cost):
    """Minimises ``cost(cluster, last, candidate)``; ties go to the lowest index."""
    n_groups = clusterlets.counts.shape[1]
    distinct = []
    for start in range(len(clusterlets)):
        group = int(clusterlets.group[start])
        if group > 0 and any(start in cluster for cluster in distinct):
            continue
        cluster, last = {start}, start
        for visited in naive_route(group, n_groups, hops * (n_groups - 1)):
            candidates = [j for j in range(len(clusterlets)) if clusterlets.group[j] == visited]
            last = min(candidates, key=lambda j: (cost(cluster, last, j), j))
            cluster = cluster | {last}
        if cluster not in distinct:
            distinct.append(cluster)
    return distinct


def naive_greedy(clusterlets, hops, order, choose, level):
    unused, grown = set(range(len(clusterlets))), []
    for start in order:
        if start not in unused:
            continue
        unused -= {start}
        cluster = [start]
        for _ in range(min(hops, len(clusterlets))):
            candidate = choose(cluster, sorted(unused))
            if candidate is None or level([*cluster, candidate]) > level(cluster):
                break
            cluster.append(candidate)
            unused -= {candidate}
        grown.append(set(cluster))
    return grown


def naive_distance_to_centre(clusterlets, group, j):
    sizes = [int(clusterlets.sizes[i]) for i in group]
    centre = [
        sum(Fraction(float(x)) * size for x, size in zip(clusterlets.centroids[group, axis], sizes)) / sum(sizes)
        for axis in range(clusterlets.centroids.shape[1])
    ]
    squares = [(Fraction(float(x)) - c) ** 2 for x, c in zip(clusterlets.centroids[j], centre)]
    return sum(squares)  # squared Euclidean distance: the same order, and exact


CASES = [(n_groups, scope, seed) for n_groups in (2, 3, 4) for scope in ("last", "cluster") for seed in range(25)]


@pytest.mark.parametrize(("n_groups", "scope", "seed"), CASES)
def test_pinball_matchers_against_the_naive_ones(n_groups, scope, seed):
    rng = np.random.default_rng([seed, n_groups])
    grid = seed % 3 > 0
    clusterlets = random_clusterlets(rng, n_groups, dimensions=1 if grid else 3, grid=grid)
    hops = int(rng.integers(1, 5))
    endless = 3 * len(clusterlets)  # by then no cluster grows any more

    def summed(cluster, last, j):
        return sum(distance(clusterlets, i, j) for i in (cluster if scope == "cluster" else {last}))

    def deviation(cluster, last, j):
        return naive_deviation(clusterlets, (cluster if scope == "cluster" else {last}) | {j})

    for match, cost in ((match_distance, summed), (match_balance, deviation)):
        assert clusters(match(clusterlets, hops, scope)) == naive_pinball(clusterlets, hops, cost)
        if seed < 6:
            assert clusters(match(clusterlets, 10**18, scope)) == naive_pinball(clusterlets, endless, cost)


@pytest.mark.parametrize(("n_groups", "scope", "seed"), CASES)
def test_greedy_matchers_against_the_naive_ones(n_groups, scope, seed):
    rng = np.random.default_rng([seed, n_groups])
    clusterlets = random_clusterlets(rng, n_groups, dimensions=1 + seed % 2)
    hops = int(rng.integers(1, 6)) if seed % 5 else 10**18
    order = np.random.default_rng(seed).permutation(len(clusterlets)).tolist()

    def reference(cluster):
        return cluster if scope == "cluster" else cluster[-1:]

    def nearest(cluster, unused):
        candidates = [j for j in unused if clusterlets.group[j] != clusterlets.group[cluster[-1]]]
        key = lambda j: (naive_distance_to_centre(clusterlets, reference(cluster), j), j)  # noqa: E731
        return min(candidates, key=key) if candidates else None

    def last_distance(cluster):
        if len(cluster) == 1:
            return math.inf
        return naive_distance_to_centre(clusterlets, reference(cluster[:-1]), cluster[-1])

    def fairest(cluster, unused):
        unions = {j: [*reference(cluster), j] for j in unused}
        least = min((naive_deviation(clusterlets, union) for union in unions.values()), default=None)
        tied = {
            j: naive_divergence(clusterlets, union)
            for j, union in unions.items()
            if naive_deviation(clusterlets, union) == least
        }
        return min((j for j in tied if tied[j] <= min(tied.values()) + 1e-12), default=None)

    membership = match_greedy_distance(clusterlets, hops, np.random.default_rng(seed), scope)
    assert clusters(membership) == naive_greedy(clusterlets, hops, order, nearest, last_distance)
    membership = match_greedy_balance(clusterlets, hops, np.random.default_rng(seed), scope)
    level = lambda cluster: naive_deviation(clusterlets, cluster)  # noqa: E731
    assert clusters(membership) == naive_greedy(clusterlets, hops, order, fairest, level)


def test_starts_are_uniform_among_the_unused():
    # Pairs far apart: each start takes its partner. All orders of the pairs are equally likely.
    clusterlets = build([[0, 100, 200], [1, 101, 201]])
    rng = np.random.default_rng(5)
    orders = {}
    for _ in range(1200):
        membership = match_greedy_distance(clusterlets, 1, rng)
        key = tuple(int(np.flatnonzero(row)[0]) for row in membership)
        orders[key] = orders.get(key, 0) + 1
    assert len(orders) == 6 and min(orders.values()) > 150  # 200 each, standard deviation 13


# ---- large counts


def test_ties_are_exact_at_a_million_instances():
    # 2 : 1 and 1 : 2 in units of 83,333 of a balanced dataset.
    unit = 83_333
    clusterlets = by_size([[2 * unit, 3 * unit], [4 * unit, unit]])
    assert clusters(match_balance(clusterlets, 1))[0] == {0, 2}
    # One instance more or less decides.
    clusterlets = by_size([[2 * unit, 3 * unit], [4 * unit + 1, unit - 1 + 2 * unit, unit]])
    expected = min((2, 3, 4), key=lambda j: naive_deviation(clusterlets, {0, j}))
    assert clusters(match_balance(clusterlets, 1))[0] == {0, expected}


# ---- refusals and the registry

ALL = [match_distance, match_balance, match_greedy_distance, match_greedy_balance]


@pytest.mark.parametrize(("name", "match"), list(zip(("D", "B", "G-D", "G-B"), ALL, strict=True)))
def test_the_registry_knows_each_matcher(name, match):
    rng = () if match in ALL[:2] else (np.random.default_rng(0),)
    assert np.array_equal(methods.get(name)().match(build(TWO), np.random.default_rng(0), hops=2), match(build(TWO), 2, *rng))


@pytest.mark.parametrize(("name", "other"), [("D", "centroid"), ("C", "pinball")])
def test_a_matcher_imports_neither_other_matchers_nor_heavy_packages(name, other):
    code = (
        "import sys; from clusterlets import methods; methods.get(sys.argv[1]);"
        "print([m for m in ('sklearn', 'scipy', 'pandas', 'numba', 'clusterlets.algorithms.matching.' + sys.argv[2])"
        " if m in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", code, name, other], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"
