"""The exact fair assignment against every assignment of small tables, and the bounds on both sides of it."""

import numpy as np
import pytest
from exact_assignment import exact_assignment
from fair_tables import is_fair, lowest_cost

from clusterlets.algorithms.fair_assignment import fair_assignment
from clusterlets.errors import ClusterletsError

DELTAS = [0.0, 0.2, 0.5]


def small_problem(seed):
    rng = np.random.default_rng(seed)
    n_groups, k = 2 + seed % 2, 1 + seed % 3
    n = int(rng.integers(max(n_groups, k, 4), 10))
    groups = rng.permutation(np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, size=n - n_groups)]))
    X = rng.normal(size=(n, 2)) if seed % 5 else rng.integers(0, 3, size=(n, 2)).astype(float)
    X += 2 * groups[:, None]
    return np.square(X[:, None] - X[rng.permutation(n)[:k]]).sum(axis=2), groups


@pytest.mark.parametrize("seed", range(60))
def test_it_is_the_cheapest_and_lies_between_bound_and_cost_of_the_quick_one(seed):
    costs, groups = small_problem(seed)
    for delta in DELTAS:
        exact, quick = exact_assignment(costs, groups, delta), fair_assignment(costs, groups, delta)
        least = lowest_cost(costs, groups, delta)
        assert exact.is_optimal and is_fair(exact.labels, groups, costs.shape[1], delta)
        assert exact.cost == pytest.approx(costs[np.arange(len(groups)), exact.labels].sum())
        assert exact.cost == pytest.approx(least, rel=1e-5, abs=1e-9)
        assert exact.bound <= least + 1e-9 and exact.bound == pytest.approx(least, rel=1e-5, abs=1e-9)
        assert quick.bound <= least * (1 + 1e-9) + 1e-9 and least <= quick.cost + 1e-9


def test_a_case_by_hand():
    """Two of each group, apart: no centre may take two of a group and none of the other. Three and one are allowed."""
    costs = np.array([[0.0, 9.0], [0.0, 5.0], [7.0, 0.0], [8.0, 0.0]])
    exact = exact_assignment(costs, np.array([0, 0, 1, 1]))
    assert exact.labels.tolist() == [0, 1, 1, 1] and exact.cost == 5


def test_no_cluster_is_empty():
    exact = exact_assignment(np.array([[0.0, 3.0], [0.0, 2.0], [0.0, 4.0]]), np.zeros(3, int))
    assert exact.labels.tolist() == [0, 1, 0] and exact.cost == 2


def test_as_many_clusters_as_instances():
    costs = np.array([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0]])
    exact = exact_assignment(costs, np.array([0, 1, 0]))
    assert exact.labels.tolist() == [1, 0, 2] and exact.cost == 5


def test_equal_centres_cost_nothing():
    exact = exact_assignment(np.zeros((12, 3)), np.arange(12) % 2)
    assert exact.cost == exact.bound == 0 and exact.is_optimal and is_fair(exact.labels, np.arange(12) % 2, 3, 0.0)


@pytest.mark.parametrize("unit", [1e-8, 1e12])
def test_the_unit_of_costs_does_not_matter(unit):
    costs, groups = small_problem(5)
    assert exact_assignment(costs * unit, groups).cost == pytest.approx(exact_assignment(costs, groups).cost * unit)


def test_a_constant_added_to_all_costs_changes_nothing():
    costs, groups = small_problem(5)
    exact, offset = exact_assignment(costs, groups), exact_assignment(costs + 1e6, groups)
    assert (offset.labels == exact.labels).all()


def test_a_larger_table_is_solved_to_optimality():
    rng = np.random.default_rng(0)
    groups = (rng.random(300) < 0.3).astype(int)
    X = rng.normal(size=(300, 2)) + groups[:, None]
    costs = np.square(X[:, None] - X[:4]).sum(axis=2)
    exact, quick = exact_assignment(costs, groups), fair_assignment(costs, groups)
    assert exact.is_optimal and is_fair(exact.labels, groups, 4, 0.0)
    assert quick.bound <= exact.bound * (1 + 1e-6) <= exact.cost * (1 + 2e-6) <= quick.cost * (1 + 3e-6)


def test_when_time_runs_out_there_is_still_an_assignment_and_a_bound():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, size=400)
    costs = rng.random((400, 8))
    exact = exact_assignment(costs, groups, time_limit=0.01)
    assert not exact.is_optimal and is_fair(exact.labels, groups, 8, 0.0) and 0 < exact.bound <= exact.cost


def test_unusable_input_is_refused():
    with pytest.raises(ClusterletsError, match="2 instances cannot fill 3 clusters"):
        exact_assignment(np.zeros((2, 3)), np.array([0, 1]))
    with pytest.raises(ClusterletsError, match="delta must be"):
        exact_assignment(np.zeros((4, 2)), np.array([0, 1, 0, 1]), delta=1.0)
