"""New instances join clusters within limits. If they cannot, their largest miss is the least possible."""

import functools
import itertools
from fractions import Fraction

import numpy as np
import pytest

from clusterlets.algorithms import limit_assignment
from clusterlets.algorithms.limit_assignment import assign_new
from clusterlets.algorithms.limits import assignment_limits, deviation_limits, largest_deviation, ratio_limits, share_limits
from clusterlets.methods import get

TWO_COLUMNS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def problem(seed):
    """Costs and groups of few new instances, counts of the old ones, and limits on all of them."""
    rng = np.random.default_rng(seed)
    levels = (np.arange(2)[:, None], np.arange(3)[:, None], TWO_COLUMNS)[seed % 3]
    n_clusters = int(rng.integers(2, 4))
    n, n_groups = int(rng.integers(1, 8 if n_clusters == 3 else 10)), len(levels)
    composition = rng.integers(1, 12, (n_groups, n_clusters))
    groups = rng.integers(0, n_groups, n) if seed % 2 else np.full(n, rng.integers(0, n_groups))
    reference, bounds = composition.sum(axis=1), [Fraction(int(rng.integers(0, 20)), 100)] * levels.shape[1]
    limits = (
        deviation_limits(levels, reference, bounds),
        ratio_limits(levels, reference, [1 - 2 * bound for bound in bounds]),
        share_limits(0, {0: (Fraction(1, 3), Fraction(2, 3))}),
    )[seed % 5 % 3]
    return rng.random((n, n_clusters)), groups, composition, limits, levels


def largest_miss(labels, groups, composition, limits, levels):
    """By how much a share in a cluster misses its limit, straight from the limits; 0 if all are kept."""
    counts = composition.copy()
    np.add.at(counts, (groups, labels), 1)
    misses = [Fraction(0)]
    for limit in limits:
        in_a = (levels[:, limit.column] == limit.level) ^ limit.all_but
        in_b = np.full(len(levels), True) if limit.of_level is None else levels[:, limit.column] == limit.of_level
        for cluster in counts.T.tolist():
            a, b = (sum(itertools.compress(cluster, mask)) for mask in (in_a, in_b))
            unit = 1 if limit.of_level is None else 1 + limit.fraction
            misses.append((a - limit.fraction * b) / sum(cluster) / unit)
    return max(misses)


@functools.cache
def least_of_all_labels(seed):
    """The least largest miss of all labels of a problem's instances, and the least cost of labels with this miss."""
    costs, groups, composition, limits, levels = problem(seed)
    return min(
        (largest_miss(labels, groups, composition, limits, levels), costs[np.arange(len(labels)), labels].sum())
        for labels in map(np.array, itertools.product(range(costs.shape[1]), repeat=len(costs)))
    )


@pytest.mark.parametrize("seed", range(40))
def test_few_instances_get_the_cheapest_of_all_labels_with_the_least_miss(seed):
    costs, groups, composition, limits, levels = problem(seed)
    rows, slack = assignment_limits(limits, levels, composition, np.bincount(groups, minlength=len(levels)))
    new = assign_new(costs, groups, composition.sum(axis=0), rows, slack)
    least, cost = least_of_all_labels(seed)
    assert new.is_proved == (least > 0)
    if least == 0:
        assert costs[np.arange(len(costs)), new.labels].sum() == pytest.approx(cost)


@pytest.mark.parametrize("max_splits", [limit_assignment._MAX_SPLITS, 0], ids=["split", "searched"])
@pytest.mark.parametrize("seed", range(40))
def test_the_largest_miss_is_the_least_possible_and_a_proof_is_right(monkeypatch, seed, max_splits):
    monkeypatch.setattr(limit_assignment, "MAX_LABELLINGS", 0)
    monkeypatch.setattr(limit_assignment, "_MAX_SPLITS", max_splits)
    costs, groups, composition, limits, levels = problem(seed)
    rows, slack = assignment_limits(limits, levels, composition, np.bincount(groups, minlength=len(levels)))
    new = assign_new(costs, groups, composition.sum(axis=0), rows, slack)
    least, cost = least_of_all_labels(seed)
    miss = largest_miss(new.labels, groups, composition, limits, levels)
    # Limits are replaced by fractions with small denominators, which change a miss, but not whether a limit is kept.
    assert miss == pytest.approx(float(least), abs=0.01)
    assert (miss == 0) == (least == 0) == bool((new.excess <= 0).all())
    assert not (new.is_proved and least == 0)
    assert new.is_proved or least == 0 or not max_splits
    assert costs[np.arange(len(costs)), new.labels].sum() <= 1.3 * cost or miss < least


@pytest.mark.parametrize("n_clusters", [3, 10])
@pytest.mark.parametrize("n", [150, 2000])
def test_many_instances_of_one_group_miss_by_hardly_more_than_all_clusters_together(n_clusters, n):
    rng = np.random.default_rng(n)
    composition = np.tile(rng.integers(20, 40, n_clusters), (2, 1))
    reference, levels, limit = composition.sum(axis=1), np.arange(2)[:, None], Fraction(1, 20)
    groups, costs = np.ones(n, dtype=np.int64), rng.random((n, n_clusters)) ** 2
    limits = deviation_limits(levels, reference, [limit])
    rows, slack = assignment_limits(limits, levels, composition, np.array([0, n]))
    new = assign_new(costs, groups, composition.sum(axis=0), rows, slack)
    after, nearest = composition.copy(), composition.copy()
    np.add.at(after, (groups, new.labels), 1)
    np.add.at(nearest, (groups, costs.argmin(axis=1)), 1)
    miss, miss_of_nearest = (float(largest_deviation(counts, levels, reference) - limit) for counts in (after, nearest))
    mean = float(largest_deviation(after.sum(axis=1)[:, None], levels, reference) - limit)
    assert new.is_proved and mean > 0
    assert mean <= miss <= mean + 0.01 and miss <= miss_of_nearest
    assert new.misses.max() == pytest.approx(miss, abs=0.01)


def test_the_least_miss_of_a_batch_is_found_without_trying_all_counts(monkeypatch):
    """A batch for which a search of counts alone gives a miss of .0045, and six random batches."""
    rng = np.random.default_rng(0)
    batches = [(np.array([[63, 21, 52], [116, 38, 110]]), np.array([46, 54]), "0.02")]
    for _ in range(6):
        n_groups, k = rng.integers(2, 4), rng.integers(2, 5)
        batches.append((rng.integers(3, 60, (n_groups, k)), rng.integers(1, 30 if n_groups == 2 else 9, n_groups), "0.01"))
    method = get("fair-limit")()
    for composition, totals, limit in batches:
        method.sensitive_columns = {0: tuple("abc"[: len(totals)])}
        rows, slack = method.assignment_limits(composition, totals, composition.sum(axis=1), max_deviation=limit)
        new = limit_assignment._NewInstances(totals, composition.sum(axis=0), rows, slack)
        exact = new._split()
        monkeypatch.setattr(limit_assignment, "_MAX_SPLITS", 0)
        found, _ = new.least_miss(np.outer(totals, np.eye(len(slack[0]), dtype=np.int64)[0]))
        assert new.miss(found) == new.miss(exact) and (found.sum(axis=1) == totals).all() and found.min() >= 0
