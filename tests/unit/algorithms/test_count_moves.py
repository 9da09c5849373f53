"""Moving instances between clusters keeps labels fair and never raises the cost. It ends when no move lowers the cost."""

from itertools import combinations, permutations

import numpy as np
import pytest
from fair_tables import cost_of, counts_of, random_costs
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.algorithms.count_moves import move_counts
from clusterlets.algorithms.fair_assignment import round_within_bounds, share_bounds
from clusterlets.algorithms.transport import transport_groups

KINDS = ["plain", "few values", "equal", "apart"]


def problem(seed, n, k, n_groups, kind, delta):
    """Costs, groups, labels, and lowest and highest shares (K,). The labels are the cheapest for random fair counts."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, size=n - n_groups)]))
    costs = random_costs(rng, n, k, kind)
    if kind == "apart":
        cheap_clusters = rng.permutation(k)[groups % k]
        costs += 9 * (cheap_clusters[:, None] != np.arange(k))
    low, high = share_bounds(groups, delta)
    totals = np.bincount(groups)
    counts, _ = round_within_bounds(rng.dirichlet(np.ones(k), size=n_groups) * totals[:, None], low, high, totals)
    return costs, groups, transport_groups(costs, groups, counts), low, high


def are_fair(counts, low, high):
    sizes = counts.sum(axis=0)
    lowest, highest = np.floor(low[:, None] * sizes + 1e-9), np.ceil(high[:, None] * sizes - 1e-9)
    return (sizes > 0).all() and (counts >= lowest).all() and (counts <= highest).all()


@settings(max_examples=200)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 80),
    k=st.integers(1, 9),
    n_groups=st.integers(1, 7),
    kind=st.sampled_from(KINDS),
    delta=st.sampled_from([0.0, 0.1, 0.5, 0.99]),
    max_moves=st.sampled_from([0, 1, 3, 1000]),
)
def test_moves_never_cost_more_and_the_labels_stay_fair(seed, n, k, n_groups, kind, delta, max_moves):
    costs, groups, labels, low, high = problem(seed, n, min(k, n), min(n_groups, n), kind, delta)
    labels_before = labels.copy()
    moved_labels = move_counts(costs, groups, labels, low, high, max_moves)
    assert np.array_equal(labels, labels_before), "the argument was changed"
    counts = counts_of(moved_labels, groups, costs.shape[1])
    assert are_fair(counts, low, high)
    assert cost_of(costs, moved_labels) <= cost_of(costs, labels) + 1e-9
    if max_moves == 0 or kind == "equal":
        assert np.array_equal(moved_labels, labels)
    # Each group still has the cheapest labels for its counts.
    assert cost_of(costs, moved_labels) == pytest.approx(cost_of(costs, transport_groups(costs, groups, counts)), abs=1e-9)


@pytest.mark.parametrize("kind", ["plain", "few values", "apart"])
@pytest.mark.parametrize(("n_groups", "delta"), [(1, 0.0), (2, 0.0), (2, 0.3), (3, 0.0), (3, 0.3)])
def test_no_move_of_one_or_two_instances_lowers_the_final_cost(n_groups, delta, kind):
    """Try every single move, and every pair of moves of two different groups."""
    k = 3  # so any two moves have a cluster in common
    for seed in range(4):
        costs, groups, labels, low, high = problem(seed, 24, k, n_groups, kind, delta)
        moved_labels = move_counts(costs, groups, labels, low, high, 1000)
        counts, cost = counts_of(moved_labels, groups, k), cost_of(costs, moved_labels)
        single_moves = [(group, *clusters) for group in range(n_groups) for clusters in permutations(range(k), 2)]
        pairs = [pair for pair in combinations(single_moves, 2) if pair[0][0] != pair[1][0]]
        for moves in [*((single,) for single in single_moves), *pairs]:
            changed_counts = counts.copy()
            for group, source, target in moves:
                changed_counts[group, source] -= 1
                changed_counts[group, target] += 1
            if (changed_counts >= 0).all() and are_fair(changed_counts, low, high):
                cheapest_labels = transport_groups(costs, groups, changed_counts)
                assert cost_of(costs, cheapest_labels) >= cost - 1e-9
