"""Limits on the groups of a cluster, and counts that keep them, are compared with all possible counts."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.algorithms import limit_counts
from clusterlets.algorithms.limit_counts import _join, clusters_at_most, feasible_counts, most_clusters, moved_towards
from clusterlets.algorithms.limits import (
    deviation_limits,
    exact_fraction,
    fraction_above,
    fraction_below,
    largest_deviation,
    levels_of_groups,
    limit_rows,
    ratio_limits,
    share_limits,
)
from clusterlets.errors import NoClusteringError

LIMITS = ["0", "0.05", "0.1", "1/6", "0.25", "1/3", "0.5", "1", "2"]


def all_clusters_up_to(totals):
    """The counts (K, m) of every cluster that has at most ``totals`` instances of the groups."""
    return np.array(list(product(*(range(total + 1) for total in totals)))).T


def most_clusters_by_brute_force(totals, allowed_clusters):
    """The largest number of allowed clusters into which the totals can be split; 0 if there is no such split."""
    sums, n_clusters, largest = {(0,) * len(totals)}, 0, 0
    while sums:
        if tuple(totals) in sums:
            largest = n_clusters
        sums = {tuple(np.add(s, cluster)) for s in sums for cluster in allowed_clusters if (np.add(s, cluster) <= totals).all()}
        n_clusters += 1
    return largest


@given(st.fractions(0, 3), st.integers(1, 60))
def test_the_fractions_below_and_above_are_the_closest_of_all_candidates(number, max_denominator):
    candidates = [Fraction(number.numerator * q // number.denominator, q) for q in range(1, max_denominator + 1)]
    assert fraction_below(number, max_denominator) == max(candidates)
    candidates = [Fraction(-(-number.numerator * q // number.denominator), q) for q in range(1, max_denominator + 1)]
    assert fraction_above(number, max_denominator) == min(candidates)


def test_a_float_is_read_as_its_shortest_decimal():
    assert exact_fraction(0.03) == exact_fraction("0.03") == exact_fraction("3/100") == Fraction(3, 100)
    assert Fraction(0.03) < Fraction(3, 100)
    assert exact_fraction(np.float64(0.1)) == Fraction(1, 10) and exact_fraction(1) == 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.sampled_from(LIMITS), st.data())
def test_a_cluster_satisfies_the_constraints_if_and_only_if_it_keeps_the_limits(totals, limit, data):
    totals, clusters = np.array(totals), all_clusters_up_to(totals)
    columns = [[data.draw(st.integers(0, 1)) for _ in totals], list(range(len(totals)))]
    levels, _ = levels_of_groups(columns)
    ratio, (min_share, max_share) = Fraction(4, 5), (Fraction(1, 3), Fraction(1, 2))

    def keeps(limits):
        return (limit_rows(limits, levels, totals) @ clusters <= 0).all(axis=0)

    keeps_deviations = keeps(deviation_limits(levels, totals, [exact_fraction(limit), exact_fraction("0.3")]))
    keeps_ratio = keeps(ratio_limits(levels, totals, [Fraction(0), ratio]))
    keeps_share = keeps(share_limits(1, {0: (min_share, max_share)}))
    for i, counts in enumerate(clusters.T):
        fractions = [Fraction(int(count), int(total)) for count, total in zip(counts, totals, strict=True)]
        assert keeps_ratio[i] == (min(fractions) >= ratio * max(fractions))
        if counts.any():
            deviations = [largest_deviation(counts[:, None], levels[:, [column]], totals) for column in (0, 1)]
            assert keeps_deviations[i] == (deviations[0] <= exact_fraction(limit) and deviations[1] <= exact_fraction("0.3"))
            assert keeps_share[i] == (min_share <= Fraction(int(counts[0]), int(counts.sum())) <= max_share)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.sampled_from(LIMITS),
    st.integers(1, 4),
    st.integers(1, 4),
    st.data(),
)
def test_counts_keep_the_limits_or_are_proved_not_to_exist(totals, limit, k, least_size, data):
    totals = np.array(totals)
    target_counts = np.array([[data.draw(st.floats(0, 5)) for _ in range(k)] for _ in totals])
    levels, _ = levels_of_groups([list(range(len(totals)))])
    constraints = limit_rows(deviation_limits(levels, totals, [exact_fraction(limit)]), levels, totals)
    clusters = all_clusters_up_to(totals)
    allowed_clusters = clusters.T[(clusters.sum(axis=0) >= least_size) & (constraints @ clusters <= 0).all(axis=0)]
    max_clusters, cluster_counts = most_clusters(totals, constraints, least_size)
    assert max_clusters == most_clusters_by_brute_force(totals, allowed_clusters)
    assert max_clusters <= clusters_at_most(totals, constraints, least_size) <= totals.sum() // least_size
    if max_clusters:
        assert (np.sum(cluster_counts, axis=0) == totals).all()
    if max_clusters >= k:
        counts = feasible_counts(target_counts, totals, constraints, least_size)
        assert counts.shape == (len(totals), k) and (counts >= 0).all()
        assert (counts.sum(axis=1) == totals).all() and (counts.sum(axis=0) >= least_size).all()
        assert (constraints @ counts <= 0).all()
    else:
        with pytest.raises(NoClusteringError, match=str(max_clusters) if max_clusters else None) as error:
            feasible_counts(target_counts, totals, constraints, least_size)
        assert error.value.status == "infeasible"


@pytest.mark.parametrize(
    ("totals", "limit", "bound"), [([10] * 6, "0.08", 10), ([4500, 5500], "0.002", 500), ([60, 300, 2000], "0.01", 60)]
)
def test_the_bound_on_the_number_of_clusters_is_the_one_worked_out_by_hand(totals, limit, bound):
    """In the first case, every cluster needs a row of each group. In the second, it needs 20 rows to come close enough to .45.

    In the third, it needs a row of the group of 60.
    """
    totals = np.array(totals)
    levels = np.arange(len(totals))[:, None]
    constraints = limit_rows(deviation_limits(levels, totals, [exact_fraction(limit)]), levels, totals)
    assert clusters_at_most(totals, constraints, 1) == bound


@pytest.mark.parametrize("k", [37, 39])
def test_clusters_of_a_finer_split_are_joined_where_the_search_fails(k):
    """The search finds counts for 43 clusters, but not for 37 to 39, and for 37 the mixed-integer program fails as well."""
    totals, levels = np.array([211, 113, 254]), np.arange(3)[:, None]
    rows = limit_rows(deviation_limits(levels, totals, [exact_fraction("0.03")]), levels, totals)
    counts = feasible_counts(np.repeat(totals[:, None] / k, k, axis=1), totals, rows)
    assert (rows @ counts <= 0).all() and counts.sum(axis=1).tolist() == totals.tolist() and counts.sum(axis=0).min() > 0


def test_clusters_are_joined_to_the_sizes_that_are_wanted():
    assert _join(np.ones((1, 10), dtype=np.int64), np.array([[3.0, 6.0, 1.0]])).tolist() == [[3, 6, 1]]


def test_whole_counts_within_the_limits_are_found_from_themselves_and_from_far_away():
    totals, levels = np.array([40, 60]), np.arange(2)[:, None]
    rows = limit_rows(deviation_limits(levels, totals, [exact_fraction("0.1")]), levels, totals)
    wanted, far = np.array([[15, 9, 16], [20, 15, 25]]), np.array([[4, 32, 4], [6, 48, 6]])
    assert (feasible_counts(wanted.astype(float), totals, rows) == wanted).all()
    slack, least_sizes = np.zeros((len(rows), 3), dtype=np.int64), np.ones(3, dtype=np.int64)
    assert (moved_towards(wanted.astype(float), far, rows, slack, least_sizes) == wanted).all()
    # After the deadline, counts that keep the limits stay as they are.
    assert (moved_towards(wanted.astype(float), far, rows, slack, least_sizes, deadline=-np.inf) == far).all()


def test_after_the_deadline_no_search_runs_where_counts_are_known(monkeypatch):
    totals, levels = np.array([41, 60]), np.arange(2)[:, None]
    rows = limit_rows(deviation_limits(levels, totals, [exact_fraction("0.1")]), levels, totals)
    apart, known = np.array([[41.0, 0, 0], [0, 30, 30]]), np.array([[4, 32, 5], [6, 48, 6]])
    assert (rows @ feasible_counts(apart, totals, rows, deadline=-np.inf) <= 0).all()  # unknown ones are searched
    monkeypatch.setattr(limit_counts, "_search", None)
    counts = feasible_counts(apart, totals, rows, known=known, deadline=-np.inf)
    assert (rows @ counts <= 0).all() and counts.sum(axis=1).tolist() == totals.tolist()


def test_a_mixed_integer_program_finds_counts_where_the_search_and_joining_fail():
    totals, levels = np.array([206, 112, 93, 50]), np.arange(4)[:, None]
    rows = limit_rows(deviation_limits(levels, totals, [exact_fraction("0.01")]), levels, totals)
    counts = feasible_counts(np.repeat(totals[:, None] / 16, 16, axis=1), totals, rows)
    assert (rows @ counts <= 0).all() and counts.sum(axis=1).tolist() == totals.tolist() and counts.sum(axis=0).min() > 0


def test_known_counts_are_moved_where_the_search_fails():
    totals, levels = np.array([211, 113, 254]), np.arange(3)[:, None]
    rows = limit_rows(deviation_limits(levels, totals, [exact_fraction("0.03")]), levels, totals)
    wanted = np.random.default_rng(0).dirichlet(np.ones(40), size=3) * totals[:, None]
    known = feasible_counts(np.repeat(totals[:, None] / 40, 40, axis=1), totals, rows)
    counts = feasible_counts(wanted, totals, rows, known=known)
    assert (rows @ counts <= 0).all() and np.abs(counts - wanted).sum() <= np.abs(known - wanted).sum()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=3),
    st.sampled_from(["0", "0.1", "0.25", "1"]),
    st.integers(1, 4),
    st.integers(1, 12),
    st.integers(1, 30),
)
def test_counts_keep_both_sizes_or_are_refused(totals, limit, k, least_size, largest_size):
    totals, levels = np.array(totals), np.arange(len(totals))[:, None]
    rows = limit_rows(deviation_limits(levels, totals, [exact_fraction(limit)]), levels, totals)
    wanted = np.random.default_rng(0).dirichlet(np.ones(k), size=len(totals)) * totals[:, None]
    n = totals.sum()
    fits = k * least_size <= n <= k * largest_size
    try:
        counts = feasible_counts(wanted, totals, rows, least_size, largest_size)
    except NoClusteringError as error:
        assert not fits or len(rows)  # sizes alone can be kept if they fit
        assert fits or error.status == "infeasible" or least_size > largest_size
        return
    sizes = counts.sum(axis=0)
    assert fits and (rows @ counts <= 0).all() and (counts >= 0).all() and (counts.sum(axis=1) == totals).all()
    assert sizes.min() >= least_size and sizes.max() <= largest_size
