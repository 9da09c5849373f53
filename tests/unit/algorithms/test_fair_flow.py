"""fair-flow comes near the least cost of all fair clusterings of small tables, and costs less than published methods."""

from unittest.mock import Mock

import numpy as np
import pytest
from fair_tables import all_labels, counts_of, is_fair, sse, table
from real_tables import standardised

import clusterlets.algorithms.fair_flow as module
from clusterlets.algorithms.fair_flow import fair_flow


def test_ten_starts_come_near_the_best_of_all_fair_clusterings():
    excesses = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, k, n_groups = 7, 2 + seed % 2, 2 + seed // 2 % 2
        X, groups = table(rng, n, n_groups, ["plain", "apart"][seed % 2])
        optimum = min(sse(X, labels) for labels in all_labels(n, k) if is_fair(labels, groups, k, 0.0))
        best = min(fair_flow(X, groups, k, np.random.default_rng(start)).inertia for start in range(10))
        excesses.append(best / optimum - 1)
    assert min(excesses) >= -1e-9 and np.quantile(excesses, 0.9) < 1e-9 and max(excesses) < 0.15


def test_fair_clusters_join_groups_that_lie_apart():
    """Each group has a lower and an upper place. One cluster joins the lower places, and the other joins the upper places."""
    X = np.array([[0.0, 0.0]] * 5 + [[0.0, 3.0]] * 5 + [[20.0, 0.0]] * 5 + [[20.0, 3.0]] * 5)
    result = fair_flow(X, np.repeat([0, 1], 10), 2, np.random.default_rng(0))
    # Two clusters of ten cost 2,000. Clusters of nine and eleven are also fair up to rounding, and cost hardly less.
    assert 1900 < result.inertia <= 2000 + 1e-9
    for place_labels in (result.labels[:5], result.labels[5:10]):
        assert np.bincount(place_labels, minlength=2).max() >= 4


def test_more_rounds_never_raise_the_cost():
    X, groups = table(np.random.default_rng(2), 500, 3, "apart")
    inertias = []
    for max_iter in (1, 2, 5, 1000):
        result = fair_flow(X, groups, 6, np.random.default_rng(0), max_iter=max_iter)
        assert 1 <= result.n_iter <= max_iter
        inertias.append(result.inertia)
    assert inertias == sorted(inertias, reverse=True)


def test_a_bound_on_the_balance_is_kept_and_a_weaker_bound_costs_less():
    X, groups = table(np.random.default_rng(3), 600, 2, "apart")
    counts = np.bincount(groups)
    table_balance = counts.min() / counts.max()
    costs = []
    for balance in (0.9 * table_balance, 0.5 * table_balance, 0.0):
        result = fair_flow(X, groups, 4, np.random.default_rng(0), balance=balance)
        cluster_counts = counts_of(result.labels, groups, 4)
        assert (cluster_counts.min(axis=0) / cluster_counts.max(axis=0) >= balance).all()
        costs.append(result.inertia)
    assert costs == sorted(costs, reverse=True) and costs[2] < 0.9 * costs[0]


def test_the_weights_of_the_sample_add_up_to_the_size_of_each_group(monkeypatch):
    monkeypatch.setattr(module, "_SAMPLE", 300)
    fractional_lloyd = Mock(wraps=module.fractional_lloyd)
    monkeypatch.setattr(module, "fractional_lloyd", fractional_lloyd)
    X, groups = table(np.random.default_rng(6), 2000, 3, "plain")
    groups[np.flatnonzero(groups == 2)[20:]] = 0  # group 2 keeps 20 rows
    fair_flow(X, groups, 2, np.random.default_rng(0))
    fractional_lloyd.assert_called_once()
    rows, weights, sample_groups, *_ = fractional_lloyd.call_args.args
    assert len(rows) < 500  # about 300, not all 2000
    assert np.bincount(sample_groups, weights) == pytest.approx(np.bincount(groups), rel=1e-3)


# `exact_sum` is the sum of squares of Lloyd's algorithm with an exact assignment in every round. `published_sum` is the one
# published for the method MS-FlowFC. benchmarks/bench_fair_flow.py measures more cases.
@pytest.mark.parametrize(
    ("name", "k", "seeds", "exact_sum", "published_sum"),
    [
        ("magic", 5, [0, 1], 105_824, 111_668),
        pytest.param("magic", 20, [0], 75_372, 82_013, marks=pytest.mark.slow),
        pytest.param("adult", 5, [0], None, 244_783, marks=pytest.mark.slow),
    ],
)
def test_sums_of_squares_of_real_tables_are_below_the_published_sums(name, k, seeds, exact_sum, published_sum):
    X, groups = standardised(name)
    best = min((fair_flow(X, groups, k, np.random.default_rng(seed)) for seed in seeds), key=lambda run: run.inertia)
    assert is_fair(best.labels, groups, k, 0.0) and best.inertia == pytest.approx(sse(X, best.labels))
    assert best.inertia < published_sum and best.gap < 0.003
    assert exact_sum is None or best.inertia < 1.01 * exact_sum
