"""Scores of the composition of clusters equal values worked out by hand, and follow their definitions."""

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.metrics import composition as metrics
from clusterlets.parameters import SHARES


def test_kl_is_finite_for_a_missing_group_and_zero_for_the_dataset_itself():
    deviation = metrics.deviation_per_cluster(np.array([[4, 0], [2, 6]]), np.array([2, 6]), "kl")
    assert deviation == pytest.approx([np.log(4), 0.0])


def test_an_unknown_kind_of_deviation_is_refused():
    with pytest.raises(
        ValueError, match="unknown kind of deviation: .squared.; one of absolute, relative, kl, first_group, least_share$"
    ):
        metrics.deviation_per_cluster(np.array([[1, 1]]), np.array([1, 1]), "squared")


def test_the_upper_bound_on_a_groups_rows_is_at_most_the_size_of_the_cluster():
    # The first cluster has no row of the second group, though at least .4 are due.
    assert SHARES.missed_rows(0.2, np.array([[5, 0], [4, 1]]), np.array([9, 1])) == 1
    assert SHARES.missed_rows(0.95, np.array([[10, 0], [0, 1]]), np.array([10, 1])) == 1


@st.composite
def compositions(draw):
    """The composition of disjoint clusters, none of them empty, and the counts of the groups in the dataset."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_clusters, n_groups = draw(st.integers(1, 6)), draw(st.integers(2, 5))
    composition = rng.integers(0, draw(st.sampled_from([2, 10, 1000])), size=(n_clusters, n_groups))
    composition[np.arange(n_clusters), rng.integers(n_groups, size=n_clusters)] += 1
    return composition, composition.sum(axis=0)


@settings(max_examples=200)
@given(compositions())
def test_scores_of_counts_match_their_definitions(case):
    composition, counts = case
    n, present_groups = int(counts.sum()), np.flatnonzero(counts)
    # The count of group h in a cluster, the size of the cluster, and the count of the group in the dataset.
    cells = [(int(row[h]), int(row.sum()), int(counts[h])) for row in composition for h in present_groups]
    ratios = [Fraction(m * n, size * n_h) for m, size, n_h in cells]
    worst_ratio = min(min(ratio, 1 / ratio) if ratio else Fraction(0) for ratio in ratios)
    assert metrics.delta_min(composition, counts) == 1 - float(worst_ratio)
    largest_violation = max(abs(m - Fraction(size * n_h, n)) for m, size, n_h in cells)
    assert metrics.additive_violation(composition, counts) == ceil(largest_violation)
    deviations = [size * abs(m / size - n_h / n) for m, size, n_h in cells]
    assert metrics.weighted_deviation(composition, counts) == pytest.approx(
        sum(deviations) / n / len(present_groups), abs=1e-12
    )
    divergences = [n_h / n * (np.log(n_h / n * size / m) if m else np.inf) for m, size, n_h in cells]
    assert metrics.vfc_error(composition, counts) == pytest.approx(sum(divergences), abs=1e-9)


@settings(max_examples=100)
@given(compositions(), st.floats(0, 0.99))
def test_delta_min_is_the_smallest_delta_without_a_violation(case, delta):
    composition, counts = case
    delta_min = metrics.delta_min(composition, counts)
    if delta >= delta_min:
        assert SHARES.missed_rows(delta, composition, counts) == 0
    elif delta < delta_min - 1e-6:
        assert SHARES.missed_rows(delta, composition, counts) > 0


def test_a_limit_is_kept_within_one_row_if_every_count_in_whole_numbers_is_at_most_one_row_beyond_it():
    assert metrics.deviation_beyond_row(np.array([[30, 10], [10, 50]]), np.array([40, 60]), []) == pytest.approx(
        0.75 - 0.4 - 1 / 40
    )
    columns = [["f", "f", "m", "m"], ["a", "b", "a", "b"]]
    sums = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]).T
    rng, n_kept = np.random.default_rng(0), 0
    for _ in range(400):
        composition = rng.integers(1, 30, size=(3, 4))
        counts = composition.sum(axis=0)
        excess = np.abs(composition @ sums * counts.sum() - composition.sum(axis=1, keepdims=True) * (counts @ sums))
        sizes, deviation = composition.sum(axis=1, keepdims=True), metrics.deviation_beyond_row(composition, counts, columns)
        for percent in (5, 10, 20):
            is_kept = (100 * (excess - counts.sum()) <= percent * sizes * counts.sum()).all()
            assert (deviation <= percent / 100 + 1e-13) == is_kept
            n_kept += is_kept
    assert 0 < n_kept < 1200
