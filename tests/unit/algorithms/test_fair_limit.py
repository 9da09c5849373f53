"""fair-limit keeps its limits exactly. On small tables, its cost is compared with the least cost of all clusterings."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from fair_tables import all_labels, counts_of, squared_distances, sse
from hypothesis import given, settings
from hypothesis import strategies as st

import clusterlets.algorithms.fair_limit as module
from clusterlets.algorithms import limit_counts
from clusterlets.algorithms.fair_limit import fair_limit
from clusterlets.algorithms.frac import rows_for_new
from clusterlets.algorithms.kmeans import kmeans
from clusterlets.algorithms.limit_assignment import assign_new
from clusterlets.algorithms.limits import (
    deviation_limits,
    exact_fraction,
    largest_deviation,
    levels_of_groups,
    limit_rows,
    ratio_limits,
    share_limits,
    violation_units,
)
from clusterlets.errors import NoClusteringError


def checked_fit(X, groups, k, limit, seed=0, columns=None, least_size=1, largest_size=None, **options):
    """The result of a fit, after a check that it keeps the limit on deviations.

    ``columns`` has the levels of the groups in each sensitive column. By default, every group is a level of a single column.
    """
    levels, _ = levels_of_groups(columns or [list(range(groups.max() + 1))])
    limits = deviation_limits(levels, np.bincount(groups), [exact_fraction(limit)] * levels.shape[1])
    result = fair_limit(X, groups, k, np.random.default_rng(seed), limits, levels, least_size, largest_size, **options)
    counts = counts_of(result.labels, groups, k)
    assert largest_deviation(counts, levels) <= exact_fraction(limit) and counts.sum(axis=0).min() >= least_size
    assert largest_size is None or counts.sum(axis=0).max() <= largest_size
    assert result.inertia == pytest.approx(sse(X, result.labels), abs=1e-9)
    return result


def least_cost_by_deviation(X, groups, k):
    """For each largest deviation that a clustering can have, the least cost of all clusterings that have it."""
    levels, costs = np.arange(groups.max() + 1)[:, None], {}
    for labels in all_labels(len(X), k):
        counts = counts_of(labels, groups, k)
        if labels[0] == 0 and counts.sum(axis=0).all():  # the other labels of row 0 give the same clusterings
            deviation = largest_deviation(counts, levels)
            costs[deviation] = min(costs.get(deviation, np.inf), sse(X, labels))
    return costs


@pytest.mark.parametrize(
    ("seed", "n", "k", "n_groups"),
    [
        *((0, 6, 3, 1), (1, 8, 2, 2), (2, 6, 3, 3), (3, 7, 2, 2)),
        *(pytest.param(seed, 10, 3, n_groups, marks=pytest.mark.slow) for seed, n_groups in ((6, 2), (7, 3), (8, 4))),
    ],
)
def test_feasible_limits_are_kept_and_infeasible_limits_are_refused(seed, n, k, n_groups):
    """The limits are the largest deviations of all clusterings, and a number just below the smallest of them."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 2)), 1)
    groups = np.r_[np.arange(n_groups), rng.integers(0, n_groups, n - n_groups)]
    costs = least_cost_by_deviation(X, groups, k)
    for deviation in sorted(costs):
        least_cost = min(cost for d, cost in costs.items() if d <= deviation)
        assert checked_fit(X, groups, k, deviation).inertia == pytest.approx(least_cost, rel=1e-9, abs=1e-9)
    if min(costs) > 0:
        with pytest.raises(NoClusteringError) as error:
            checked_fit(X, groups, k, min(costs) - Fraction(1, 10**9))
        assert error.value.status == "infeasible"


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(2, 40),
    n_groups=st.integers(1, 5),
    k=st.integers(1, 4),
    limit=st.sampled_from([0, 0.01, 0.1, 0.3, 1, 5]),
    least_size=st.integers(1, 4),
)
def test_every_table_is_clustered_within_the_limit_or_refused(seed, n, n_groups, k, limit, least_size):
    """The tables have rare groups, duplicate rows, groups of a single row, and one or two sensitive columns."""
    rng = np.random.default_rng(seed)
    n_groups, k = min(n_groups, n), min(k, n)
    X = np.round(rng.normal(size=(n, 1 + seed % 3)), seed % 2)
    groups = np.r_[np.arange(n_groups), np.minimum(rng.geometric(0.5, n - n_groups) - 1, n_groups - 1)]
    columns = [list(range(n_groups)), [group % 2 for group in range(n_groups)]][: 1 + seed % 2]
    try:
        checked_fit(X, groups, k, limit, columns=columns, least_size=least_size, n_init=1)
    except NoClusteringError as error:
        assert error.status == "infeasible" and error.labels is None


def test_a_tiny_table_has_the_least_cost_of_all_clusterings():
    """The least cost is that of :func:`least_cost_by_deviation`, which takes seconds; four starts end 14 % above it."""
    rng = np.random.default_rng(3)
    X, groups = rng.normal(size=(10, 2)), rng.permutation(np.repeat([0, 1, 2], [4, 3, 3]))
    X[:5] += 5
    assert checked_fit(X, groups, 3, 0.2).inertia == pytest.approx(49.0844928312081)


def least_cost_in_places(places, sizes, k, limit):
    """The least cost of all clusterings within the limit. Of two groups, ``sizes`` (2, P) rows are in ``places`` (P, d).

    Rows of a group in the same place are alike, so a clustering is a split of each of these numbers among the clusters.
    """
    splits = np.zeros((1, 0, k), dtype=int)
    for size in sizes.ravel():
        of_size = np.array([split for split in product(range(size + 1), repeat=k) if sum(split) == size])
        splits = np.concatenate([np.repeat(splits, len(of_size), axis=0), np.tile(of_size, (len(splits), 1))[:, None]], axis=1)
    by_group = splits.reshape(len(splits), *sizes.shape, k)
    clusters, counts = by_group.sum(axis=1), by_group.sum(axis=2)
    n = counts.sum(axis=1)
    deviations = np.abs(counts[:, 0] * sizes.sum() - n * sizes[0].sum())  # times the number of rows and the cluster's size
    is_within = ((n > 0) & (deviations * limit.denominator <= limit.numerator * n * sizes.sum())).all(axis=1)
    sums = clusters[is_within].transpose(0, 2, 1) @ places
    within = np.square(sums).sum(axis=2) / n[is_within]
    return (sizes.sum(axis=0) * np.square(places).sum(axis=1)).sum() - within.sum(axis=1).max()


@pytest.mark.parametrize(("seed", "k", "n_places", "limit"), [(18, 2, 5, "0.05"), (18, 2, 5, "0.1"), (61, 3, 3, "0.05")])
def test_a_table_of_a_few_places_has_the_least_cost_of_all_clusterings(seed, k, n_places, limit):
    """Without tabu search and relocated centres, one of the two fits ends 2 to 4 % above it."""
    rng = np.random.default_rng(seed)
    places, sizes = rng.integers(0, 30, (n_places, 2)).astype(float), rng.integers(1, 4, (2, n_places))
    X, groups = np.repeat(np.tile(places, (2, 1)), sizes.ravel(), axis=0), np.repeat([0, 1], sizes.sum(axis=1))
    least = least_cost_in_places(places, sizes, k, Fraction(limit))
    assert [checked_fit(X, groups, k, limit, fit).inertia for fit in range(2)] == pytest.approx([least, least])


@pytest.mark.parametrize("sizes", [(2, 4), (3, 3), (1, 3)])
def test_sizes_of_a_few_rows_are_kept_at_the_least_cost_or_proved_infeasible(sizes):
    rng = np.random.default_rng(sum(sizes))
    X, groups = np.round(rng.normal(size=(9, 2)), 1), rng.permutation([0, 0, 0, 1, 1, 1, 1, 1, 2])
    for limit in (Fraction(1, 3), Fraction(1, 2), 1):
        costs = [
            sse(X, labels)
            for labels in all_labels(9, 3)
            if labels[0] == 0
            and sizes[0] <= np.bincount(labels, minlength=3).min() <= np.bincount(labels).max() <= sizes[1]
            and largest_deviation(counts_of(labels, groups, 3), np.arange(3)[:, None]) <= limit
        ]
        try:
            result = checked_fit(X, groups, 3, limit, least_size=sizes[0], largest_size=sizes[1])
        except NoClusteringError as error:
            assert not costs and error.status == "infeasible"
        else:
            assert result.inertia == pytest.approx(min(costs), rel=1e-9)


def test_the_dual_knows_the_smallest_size_within_the_limits_and_the_sizes_asked_for():
    """With 30 % of a group and a limit of 0.02, a cluster has at least seven rows: 2/7 is the first fraction within."""
    groups, levels = np.repeat([0, 1], [30, 70]), np.arange(2)[:, None]
    limits = limit_rows(deviation_limits(levels, np.array([30, 70]), [exact_fraction("0.02")]), levels, np.array([30, 70]))

    def slack_of_sizes(*sizes):
        table = module._Table(np.zeros((100, 1)), groups, 5, np.array([30, 70]), limits, *sizes)
        constraints, slack = table.dual_constraints()
        assert slack.shape == (len(constraints), 5) and (slack[: len(limits)] == 0).all()
        return {int(constraint[0]): slack[i, 0] for i, constraint in enumerate(constraints) if np.ptp(constraint) == 0}

    assert slack_of_sizes(1, 100) == {-1: -7}
    assert slack_of_sizes(9, 25) == {-1: -10, 1: 25}  # no cluster of nine keeps the limits
    assert slack_of_sizes(60, 100) == {}  # five such clusters need more rows than there are


def least_cost_on_a_line(x, k, least_size, largest_size):
    """The least cost of k clusters of numbers in ascending order: clusters of a line are intervals."""
    n, sums, squares = len(x), np.r_[0, np.cumsum(x)], np.r_[0, np.cumsum(x * x)]
    best = np.full(n + 1, np.inf)
    best[0] = 0
    for _ in range(k):
        best = np.array(
            [
                min(
                    (
                        best[start] + squares[end] - squares[start] - (sums[end] - sums[start]) ** 2 / (end - start)
                        for start in range(max(0, end - largest_size), end - least_size + 1)
                    ),
                    default=np.inf,
                )
                for end in range(n + 1)
            ]
        )
    return best[n]


@pytest.mark.parametrize(("least_size", "largest_size"), [(60, 75), (1, 60), (55, 400), (50, 50)])
def test_sizes_that_bind_cost_no_more_than_they_must(least_size, largest_size):
    """On a line, with clusters of very different density."""
    rng = np.random.default_rng(least_size)
    n = 50 * 4 if least_size == largest_size else 240
    k, x = 4, np.sort(np.r_[rng.normal(size=n // 2), 3 + 2 * rng.random(n // 4), rng.normal(8, 0.2, size=n // 4)])
    optimum = least_cost_on_a_line(x, k, least_size, largest_size)
    groups = np.zeros(n, dtype=np.int64)
    result = checked_fit(x[:, None], groups, k, 1, least_size=least_size, largest_size=largest_size)
    assert optimum * (1 - 1e-9) <= result.inertia <= 1.001 * optimum


def test_more_starts_never_cost_more_and_any_number_of_threads_gives_the_same_labels():
    rng = np.random.default_rng(5)
    X, groups = np.round(rng.normal(size=(1_100, 2)), 1), rng.integers(0, 2, 1_100)
    costs = [checked_fit(X, groups, 12, 0.05, n_init=n_init).inertia for n_init in (1, 4, 5, 16)]
    assert costs == sorted(costs, reverse=True) and costs[-1] < costs[0] == costs[1]
    results = [checked_fit(X, groups, 12, 0.05, n_init=8, n_jobs=n_jobs) for n_jobs in (1, 3)]
    assert results[0].labels.tobytes() == results[1].labels.tobytes() and results[0].n_iter == results[1].n_iter


@pytest.mark.parametrize(("n", "n_starts"), [(900, 32), (2_900, 8), (11_000, 2), (12_500, 1)])
def test_the_larger_the_table_the_fewer_starts_continue_on_it(n, n_starts):
    """A chunk of trials gives eight starts, with and without swaps, or its best two, or one. Equal starts count once.

    Small tables have four chunks.
    """
    X, groups = np.random.default_rng(n).normal(size=(n, 2)), np.arange(n) % 2
    steps = []
    checked_fit(X, groups, 9, 0.1, report=lambda step, cost: steps.append(step))
    assert n_starts // 2 < steps.count("start on the table") <= n_starts


def test_swaps_are_judged_by_their_cost_at_fixed_prices():
    rng = np.random.default_rng(0)
    X, groups, weights = rng.normal(size=(60, 3)), rng.integers(0, 2, 60), rng.random(60)
    values = squared_distances(X, X[:5] + 0.1) + rng.random((2, 5))[groups]
    new_values = squared_distances(X, X[17:18])[:, 0] + np.array([0.3, 0.1])[groups]
    least, second = np.sort(values, axis=1)[:, :2].T
    changes = module._costs_of_swaps(weights, values.argmin(axis=1), least, second, new_values, 5)
    for old in range(5):
        others = np.delete(values, old, axis=1).min(axis=1)
        assert changes[old] == pytest.approx((weights * (np.minimum(others, new_values) - least)).sum())


def test_swaps_find_a_grid_of_blobs_that_the_starts_miss():
    """Without swaps, the four starts end 1.18 times as high as the blobs' own means: two blobs share a centre."""
    rng = np.random.default_rng(0)
    places = np.repeat(np.arange(36), 30)
    X = 6.0 * np.stack(divmod(places, 6), axis=1) + rng.normal(size=(1080, 2))
    assert checked_fit(X, np.arange(1080) % 2, 36, 0.2).inertia < sse(X, places)


@pytest.mark.parametrize(
    ("seed", "n", "k", "limit"), [(0, 40, 4, "0.1"), (1, 40, 8, "0.1"), (11, 36, 6, "0.05"), (2, 40, 8, "0")]
)
def test_on_a_small_table_no_move_and_no_exchange_of_two_rows_within_the_limits_lowers_the_cost(seed, n, k, limit):
    """Without moves, the first case fails, and without exchanges, the second and the third."""
    rng = np.random.default_rng(seed)
    X, groups = rng.normal(size=(n, 2)), rng.permutation(n) % 2
    labels = checked_fit(X, groups, k, limit, seed).labels
    others = [np.r_[labels[:i], cluster, labels[i + 1 :]] for i in range(n) for cluster in range(k)]
    for i, j in combinations(range(n), 2):
        exchanged = labels.copy()
        exchanged[[i, j]] = labels[[j, i]]
        others.append(exchanged)
    for other in others:
        counts = counts_of(other, groups, k)
        if counts.sum(axis=0).all() and largest_deviation(counts, np.arange(2)[:, None]) <= exact_fraction(limit):
            assert sse(X, other) >= sse(X, labels) * (1 - 1e-9)


def test_a_fit_costs_no_more_than_plain_k_means_of_the_same_seed_where_that_keeps_the_limit():
    """The groups are spread alike over all clusters, and k-means has many local optima."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, groups = np.repeat(rng.random(size=(700, 2)), 2, axis=0), np.tile([0, 1], 700)
        plain = kmeans(X, 9, np.random.default_rng(seed))
        assert checked_fit(X, groups, 9, 0, seed, n_init=1).inertia <= plain.inertia * (1 + 1e-9)


def test_a_limit_of_one_gives_plain_k_means_and_a_limit_of_zero_gives_exact_proportions():
    rng = np.random.default_rng(1)
    X = np.r_[rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 20]
    groups = np.repeat([0, 1], 30)
    plain = checked_fit(X, groups, 2, 1).labels
    assert sorted(counts_of(plain, groups, 2).tolist()) == [[0, 30], [30, 0]]
    counts = counts_of(checked_fit(X, groups, 3, 0).labels, groups, 3)
    assert (counts[0] == counts[1]).all()


def test_the_error_of_a_failed_search_holds_nearly_fair_labels():
    """Only huge clusters have shares within this limit. The table is too large to prove that the limit is infeasible."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], [4001, 4003, 8009])
    X = rng.normal(size=(len(groups), 2))
    levels = np.arange(3)[:, None]
    limits = deviation_limits(levels, np.bincount(groups), [Fraction(1, 2 * 10**4)])
    with pytest.raises(NoClusteringError) as error:
        fair_limit(X, groups, 3, np.random.default_rng(0), limits, levels)
    assert error.value.status == "not_converged" and (np.bincount(error.value.labels) > 0).sum() == 3
    assert largest_deviation(counts_of(error.value.labels, groups, 3), levels) < 0.01


def test_the_same_seed_gives_the_same_labels_and_max_seconds_ends_the_search():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(13_000, 3)), rng.integers(0, 3, 13_000)
    first, second = (checked_fit(X, groups, 4, 0.01, seed=3, n_init=1) for _ in range(2))
    assert np.array_equal(first.labels, second.labels) and 0 <= first.gap < 0.01
    messages = []  # one for each stage of the search
    checked_fit(X, groups, 4, 0.01, n_init=1, max_seconds=0, report=lambda message, cost: messages.append(message))
    assert messages == ["start on the table"]


def test_looking_at_the_time_changes_nothing_and_after_the_deadline_nothing_is_polished(monkeypatch):
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(400, 3)), rng.integers(0, 6, 400)
    whole_fit = checked_fit(X, groups, 4, 0.05)
    monkeypatch.setattr(limit_counts, "_STEPS_SIZE", 0)
    monkeypatch.setattr(module, "_POLISH_SIZE", 1)
    assert np.array_equal(checked_fit(X, groups, 4, 0.05, max_seconds=1e6).labels, whole_fit.labels)
    monkeypatch.setattr(module, "_polish", None)
    monkeypatch.setattr(module, "cheaper_labels", None)
    checked_fit(X, groups, 4, 0.05, max_seconds=0)


def test_labels_to_start_from_are_never_made_worse():
    rng = np.random.default_rng(14)
    X, groups = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    best = checked_fit(X, groups, 5, 0.05, n_init=12)
    one_start = checked_fit(X, groups, 5, 0.05, n_init=1, max_seconds=0)
    started = checked_fit(X, groups, 5, 0.05, n_init=1, max_seconds=0, start=best.labels)
    assert started.inertia <= best.inertia < one_start.inertia


@pytest.mark.parametrize("bounds", [(0.6, 0.7), (0, 0.4)])
@pytest.mark.parametrize("k", [1, 2])
def test_bounds_that_exclude_the_shares_of_the_whole_table_are_infeasible(bounds, k):
    """Each group is half of the table, and the bounds exclude this share."""
    X, groups = np.random.default_rng(0).normal(size=(20, 2)), np.repeat([0, 1], 10)
    limits = share_limits(0, {0: tuple(map(exact_fraction, bounds))})
    with pytest.raises(NoClusteringError, match="even one cluster of all rows breaks them") as error:
        fair_limit(X, groups, k, np.random.default_rng(0), limits, np.arange(2)[:, None])
    assert error.value.status == "infeasible"


def test_ratios_hold_for_all_pairs_of_groups():
    rng = np.random.default_rng(2)
    X, groups = rng.normal(size=(500, 2)), rng.integers(0, 4, 500)
    levels, totals = np.arange(4)[:, None], np.bincount(groups)
    limits = ratio_limits(levels, totals, [Fraction(4, 5)])
    assert len(limit_rows(limits, levels, totals)) == 12  # ordered pairs of groups
    labels = fair_limit(X, groups, 5, rng, limits, levels).labels
    fractions = counts_of(labels, groups, 5) / totals[:, None]
    assert (fractions.min(axis=0) >= 0.8 * fractions.max(axis=0) - 1e-12).all()


def test_the_violation_unit_of_a_single_group_is_the_change_by_one_instance():
    assert violation_units(np.array([[-3], [2]])).tolist() == [3, 2]


def test_new_instances_of_a_single_group_keep_the_limits_of_frac():
    """With tau = 1/4, each cluster needs two of the six old and two new rows. The second cluster has one old row."""
    composition = np.array([[5, 1]])
    limits = rows_for_new(composition, np.array([2]), np.array([True]), tau=0.25)
    new = assign_new(np.array([[0.0, 9.0], [0.0, 1.0]]), np.zeros(2, dtype=np.int64), composition[0], *limits)
    assert new.labels.tolist() == [0, 1] and (new.excess <= 0).all()
