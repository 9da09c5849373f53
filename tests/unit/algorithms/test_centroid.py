"""Matcher C finds the same front as an exact search of all partitions, and draws partitions with the right probabilities.

Here s is the silhouette of a partition. The deviation of a partition is the largest deviation of its parts.
"""

import os
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy.stats import chisquare
from test_pinball import naive_deviation

from clusterlets.algorithms.centroids import centroid_distances, centroid_silhouette
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.matching import centroid
from clusterlets.algorithms.matching.centroid import ParetoFront, match_centroid, sample_partitions

OMEGAS = (0, 0.25, 0.5, 0.75, 1)


def clusterlets_at(group_sizes, positions, sizes):
    """Clusterlets at these positions and of these sizes. ``group_sizes`` is the number of clusterlets in each group."""
    counts = np.repeat(np.eye(len(group_sizes), dtype=np.int64), group_sizes, axis=0) * np.asarray(sizes)[:, None]
    centroids = np.asarray(positions, dtype=float).reshape(len(counts), -1)
    return Clusterlets.from_pieces(counts, centroids, np.zeros(len(counts)))


def clusterlets_on_a_grid(group_sizes, seed, width=6, largest=4):
    """Clusterlets at a few positions on a line and of a few sizes, so that many partitions tie."""
    rng = np.random.default_rng(seed)
    n = sum(group_sizes)
    return clusterlets_at(group_sizes, rng.integers(0, width, n), rng.integers(1, largest + 1, n))


def random_clusterlets(group_sizes, seed):
    rng = np.random.default_rng(seed)
    n = sum(group_sizes)
    return clusterlets_at(group_sizes, rng.normal(size=(n, 5)), rng.integers(5, 500, n))


# ---- an exact search of all partitions, for centroids at whole numbers on a line


def set_partitions(n):
    """Labels of all partitions of n clusterlets, in lexicographic order. Parts are numbered in order of appearance."""
    if n == 0:
        return [()]
    return [(*head, label) for head in set_partitions(n - 1) for label in range(max(head, default=-1) + 2)]


def parts_of(labels):
    """The clusterlets of each part, by the part's label."""
    return {b: [j for j in range(len(labels)) if labels[j] == b] for b in set(labels)}


def is_valid(clusterlets, labels):
    """Whether there are several parts, each of several clusterlets and with all groups."""
    parts, groups = parts_of(labels).values(), set(clusterlets.group)
    return len(parts) > 1 and all(len(part) > 1 and set(clusterlets.group[part]) == groups for part in parts)


def naive_scores(clusterlets, labels):
    """The pair (s, deviation) of a partition, as fractions."""
    x = [int(p) for p in clusterlets.centroids[:, 0]]
    assert x == clusterlets.centroids[:, 0].tolist()
    parts = parts_of(labels)
    sum_of_silhouettes = Fraction(0)
    for i, label in enumerate(labels):
        mean_distances = {
            b: Fraction(sum(abs(x[i] - x[j]) for j in part), len(part) - (b == label)) for b, part in parts.items()
        }
        within = mean_distances.pop(label)
        nearest = min(mean_distances.values())
        if nearest or within:
            sum_of_silhouettes += (nearest - within) / max(nearest, within)
    return sum_of_silhouettes / len(x), max(naive_deviation(clusterlets, part) for part in parts.values())


def score_all(clusterlets, partitions):
    return {labels: naive_scores(clusterlets, labels) for labels in set(partitions)}


def naive_front(scores):
    """The partitions that no other beats, as (s, deviation, labels), in order of ascending deviation."""
    front = []
    for labels in sorted(scores, key=lambda labels: (scores[labels][1], -scores[labels][0], labels)):
        s, deviation = scores[labels]
        if not front or s > front[-1][0]:
            front.append((s, deviation, labels))
    return front


def naive_best(scores, omega, equation="corrected"):
    omega = Fraction(omega)

    def rank(labels):
        s, deviation = scores[labels]
        objectives = {"corrected": omega * s + (1 - omega) * (1 - deviation), "printed": 1 + omega * (s - deviation)}
        return -objectives[equation], -s, deviation, labels

    return min(scores, key=rank)


def best_labels(front, omega, equation="corrected"):
    """Labels of the partition that the matcher chooses from a front."""
    return tuple(match_centroid(front, omega, equation).argmax(axis=0).tolist())


def numbered_by_appearance(labels):
    part_numbers = {}
    return tuple(part_numbers.setdefault(label, len(part_numbers)) for label in labels)


def assert_front(front, expected):
    assert [tuple(row) for row in front.labels.tolist()] == [labels for _, _, labels in expected]
    np.testing.assert_allclose(front.silhouette, [float(s) for s, _, _ in expected], rtol=0, atol=1e-12)
    np.testing.assert_allclose(front.deviation, [float(d) for _, d, _ in expected], rtol=1e-15)


def valid_samples(clusterlets, sample_size, seed):
    """Labels of the valid partitions that ``sample_partitions`` draws with this seed."""
    group_sizes = np.bincount(clusterlets.group)
    chunks = centroid._sample(group_sizes, sample_size, np.random.default_rng(seed))
    return [numbered_by_appearance(column) for chunk in chunks for column in chunk.T.tolist()]


# ---- enumeration


@pytest.mark.parametrize("group_sizes", [(2, 2), (2, 5), (4, 3), (2, 2, 2), (2, 2, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_the_enumerated_front_equals_the_naive_front_of_all_partitions(group_sizes, seed):
    clusterlets = clusterlets_on_a_grid(group_sizes, [seed, *group_sizes])
    partitions = [p for p in set_partitions(sum(group_sizes)) if is_valid(clusterlets, p)]
    front = sample_partitions(clusterlets, 5000, np.random.default_rng(0))
    assert (front.drawn, front.n_valid) == ("enumerated", len(partitions))
    scores = score_all(clusterlets, partitions)
    assert_front(front, naive_front(scores))
    for omega in OMEGAS:
        for equation in ("corrected", "printed"):
            assert best_labels(front, omega, equation) == naive_best(scores, omega, equation)


def test_partitions_are_enumerated_if_their_number_is_at_most_the_sample_size():
    clusterlets = clusterlets_on_a_grid((3, 3), 1)  # 203 partitions
    assert sample_partitions(clusterlets, 203, np.random.default_rng(0)).drawn == "enumerated"
    assert sample_partitions(clusterlets, 202, np.random.default_rng(0)).drawn == "sampled"


@pytest.mark.parametrize("group_sizes", [(1, 1), (1, 6), (5, 1), (3, 1, 30)])
def test_no_partition_is_valid_if_a_group_has_one_clusterlet(group_sizes):
    front = sample_partitions(random_clusterlets(group_sizes, 0), 100, np.random.default_rng(0))
    assert (len(front), front.n_valid, front.drawn) == (0, 0, "enumerated")
    assert front.labels.shape == (0, sum(group_sizes))
    assert match_centroid(front, 0.5) is None


# ---- sampling


def limit_chunks(monkeypatch, n_merged, n_labels):
    """Make the search merge at most ``n_merged`` partitions at a time, and score at most ``n_labels`` labels at a time."""
    original_front = centroid._Search.front

    def front_of_small_chunks(self, chunks, drawn):
        slices = (chunk[:, start : start + n_merged] for chunk in chunks for start in range(0, chunk.shape[1], n_merged))
        return original_front(self, slices, drawn)

    monkeypatch.setattr(centroid._Search, "front", front_of_small_chunks)
    monkeypatch.setattr(centroid, "_LABELS_SCORED_AT_ONCE", n_labels)


@pytest.mark.parametrize("group_sizes", [(4, 4), (3, 7), (3, 3, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_the_sampled_front_equals_the_naive_front_of_all_samples(group_sizes, seed, monkeypatch):
    limit_chunks(monkeypatch, n_merged=16, n_labels=50)
    clusterlets = clusterlets_on_a_grid(group_sizes, [seed, *group_sizes])
    partitions = valid_samples(clusterlets, 500, seed)
    assert all(is_valid(clusterlets, labels) for labels in partitions)
    front = sample_partitions(clusterlets, 500, np.random.default_rng(seed))
    assert (front.drawn, front.n_valid) == ("sampled", len(partitions))
    scores = score_all(clusterlets, partitions)
    assert_front(front, naive_front(scores))
    for omega in OMEGAS:
        assert best_labels(front, omega) == naive_best(scores, omega)


def sampling_probabilities(n):
    """The exact probability with which ``sample_partitions`` draws each partition. A partition is a frozenset of parts."""
    probabilities = Counter()

    def add_parts(remaining, parts, probability):
        if not remaining:
            probabilities[frozenset(parts)] += probability
            return
        for size in range(2, n):
            if size >= len(remaining):  # the last part takes all that remain
                add_parts(frozenset(), (*parts, remaining), probability / (n - 2))
                continue
            for part in combinations(sorted(remaining), size):
                rest = remaining - frozenset(part)
                add_parts(rest, (*parts, frozenset(part)), probability / (n - 2) / comb(len(remaining), size))

    add_parts(frozenset(range(n)), (), Fraction(1))
    assert sum(probabilities.values()) == 1
    return probabilities


@pytest.mark.parametrize("group_sizes", [(3, 4), (2, 2, 2)])
def test_partitions_are_drawn_with_the_probabilities_of_the_definition(group_sizes):
    n, sample_size = sum(group_sizes), 40_000
    clusterlets = random_clusterlets(group_sizes, 0)
    expected = Counter()
    for parts, probability in sampling_probabilities(n).items():
        labels = numbered_by_appearance([next(b for b in parts if j in b) for j in range(n)])
        expected[labels if is_valid(clusterlets, labels) else "invalid"] += probability
    observed = Counter(valid_samples(clusterlets, sample_size, 1))
    observed["invalid"] = sample_size - observed.total()
    assert set(observed) <= set(expected)
    outcomes = sorted(expected, key=str)
    result = chisquare([observed[o] for o in outcomes], [float(expected[o]) * sample_size for o in outcomes])
    assert result.pvalue > 1e-3


class AllButTwo:
    """A random generator that leaves two clusterlets for the second part, so every sample has two parts and is kept."""

    def __init__(self):
        self.random = np.random.default_rng(0)
        self.permuted = self.random.permuted

    def integers(self, low, high=None, **options):  # only part sizes are drawn with `high`
        if high is None:
            return self.random.integers(low, **options)
        return np.full(options["size"], high - 2, dtype=options["dtype"])


def test_all_chunks_together_hold_the_requested_number_of_samples(monkeypatch):
    monkeypatch.setattr(centroid, "_DRAWN_AT_ONCE", 64)
    monkeypatch.setattr(centroid, "_DEALT_AT_ONCE", 16)
    group_sizes = np.array([4, 5])
    chunks = list(centroid._construct(group_sizes, 150, AllButTwo()))
    assert max(chunk.shape[1] for chunk in chunks) == 16
    assert sum(chunk.shape[1] for chunk in chunks) == 150
    # Without a deal, no partition is left out as invalid.
    monkeypatch.setattr(centroid, "_deal", lambda sizes, group_sizes, random_state: sizes)
    assert sum(chunk.shape[1] for chunk in centroid._sample(group_sizes, 150, AllButTwo())) == 150


def test_partitions_are_constructed_if_too_few_samples_are_valid(monkeypatch):
    clusterlets = clusterlets_on_a_grid((6, 6), 0)
    n_valid = sample_partitions(clusterlets, 600, np.random.default_rng(0)).n_valid
    # Partitions are constructed if there are more samples per valid one than the threshold.
    for threshold, drawn in ((600 / n_valid, "sampled"), (599 / n_valid, "constructed")):
        monkeypatch.setattr(centroid, "_SAMPLES_PER_VALID_ONE", threshold)
        assert sample_partitions(clusterlets, 600, np.random.default_rng(0)).drawn == drawn


@pytest.mark.parametrize("exponent", [-140, 140])
def test_the_unit_of_the_features_does_not_change_the_front_even_beyond_the_range_of_single_precision(exponent):
    clusterlets = random_clusterlets((6, 6), 0)
    rescaled = clusterlets_at((6, 6), clusterlets.centroids * 2.0**exponent, clusterlets.sizes)
    fronts = [sample_partitions(c, 3000, np.random.default_rng(0)) for c in (clusterlets, rescaled)]
    assert fronts[0].labels.tobytes() == fronts[1].labels.tobytes()
    assert fronts[0].silhouette.tobytes() == fronts[1].silhouette.tobytes()


def test_partitions_of_more_than_255_clusterlets_are_valid():
    clusterlets = random_clusterlets((150, 150), 0)
    front = sample_partitions(clusterlets, 300, np.random.default_rng(0))
    assert front.drawn == "sampled" and front.n_valid > 200
    assert all(is_valid(clusterlets, labels) for labels in front.labels.tolist())


# ---- construction


def test_partitions_of_many_groups_are_constructed():
    group_sizes = (2,) * 8  # 128 valid partitions among 10^10
    clusterlets = clusterlets_on_a_grid(group_sizes, 2, width=9)
    front = sample_partitions(clusterlets, 6000, np.random.default_rng(0))
    assert front.drawn == "constructed" and 5000 < front.n_valid <= 6000
    # A valid partition has two parts, and each part holds one of the two clusterlets of every group.
    all_valid = [
        tuple(label for first in (0, *choices) for label in (first, 1 - first)) for choices in product((0, 1), repeat=7)
    ]
    assert all(is_valid(clusterlets, labels) for labels in all_valid)
    assert_front(front, naive_front(score_all(clusterlets, all_valid)))


def test_construction_deals_every_group_to_every_part():
    group_sizes = np.array([3, 5, 4, 6, 3, 3])
    clusterlets = random_clusterlets(group_sizes, 1)
    partitions = [
        tuple(column)
        for chunk in centroid._construct(group_sizes, 3000, np.random.default_rng(0))
        for column in chunk.T.tolist()
    ]
    assert all(is_valid(clusterlets, labels) for labels in set(partitions))
    assert {max(labels) + 1 for labels in partitions} == {2, 3}
    # With two parts, all 6 ways to deal the 3 clusterlets of the first group are equally likely.
    first_group_labels = Counter(labels[:3] for labels in partitions if max(labels) == 1)
    assert len(first_group_labels) == 6 and chisquare(list(first_group_labels.values())).pvalue > 1e-3


# ---- bulk scores, whose rounding must not change the front


@pytest.mark.parametrize("seed", range(3))
def test_bulk_scores_are_within_the_error_bound(seed):
    clusterlets = random_clusterlets((20, 20), seed)
    if seed == 2:  # dense heaps far apart: distances differ by many orders of magnitude
        heaps = np.random.default_rng(0).integers(0, 4, 40)[:, None] * 1e3
        clusterlets = clusterlets_at((20, 20), heaps + clusterlets.centroids * 1e-6, clusterlets.sizes)
    search = centroid._Search(clusterlets)
    assert search.bulk_dtype is np.float32
    # The docstring of error_bound derives the lower limit. Below the upper limit, few partitions are scored again.
    assert (4 * 40 + 12) * np.finfo(np.float32).eps < search.error_bound < 5e-5
    distances = centroid_distances(clusterlets.centroids)
    for chunk in centroid._sample(np.array([20, 20]), 300, np.random.default_rng(seed)):
        if not chunk.size:
            continue
        bulk_silhouettes, bulk_deviations = search._bulk_scores(chunk)
        partitions = chunk.T.astype(int)
        silhouettes = [centroid_silhouette(distances, labels) for labels in partitions]
        assert np.abs(bulk_silhouettes - silhouettes).max() < search.error_bound / 2  # the bound doubles the derived error
        deviations = [
            max(float(naive_deviation(clusterlets, np.flatnonzero(labels == b))) for b in set(labels)) for labels in partitions
        ]
        np.testing.assert_allclose(bulk_deviations, deviations, rtol=1e-12)


@pytest.mark.parametrize("n_merged, n_labels", [(333, 10**6), (10**6, 3333), (3333, 1)])
@pytest.mark.parametrize("seed", range(2))
def test_the_front_depends_neither_on_the_rounding_of_bulk_scores_nor_on_the_size_of_chunks(
    seed, n_merged, n_labels, monkeypatch
):
    clusterlets = random_clusterlets((10, 12), seed) if seed else clusterlets_on_a_grid((10, 12), 0, width=4, largest=2)
    plain = sample_partitions(clusterlets, 20_000, np.random.default_rng(seed))
    noise = np.random.default_rng(99)
    bulk_scores = centroid._Search._bulk_scores

    def perturbed_scores(self, labels):
        silhouettes, deviations = bulk_scores(self, labels)
        return silhouettes + noise.uniform(-0.5, 0.5, len(silhouettes)) * self.error_bound, deviations

    monkeypatch.setattr(centroid._Search, "_bulk_scores", perturbed_scores)
    limit_chunks(monkeypatch, n_merged, n_labels)
    perturbed = sample_partitions(clusterlets, 20_000, np.random.default_rng(seed))
    assert plain.labels.tobytes() == perturbed.labels.tobytes()
    assert plain.silhouette.tobytes() == perturbed.silhouette.tobytes()
    assert plain.deviation.tobytes() == perturbed.deviation.tobytes()


def test_single_precision_is_used_only_if_it_is_exact_enough():
    ordinary = random_clusterlets((5, 5), 0)
    assert centroid._Search(ordinary).bulk_dtype is np.float32
    large = clusterlets_at((5, 5), ordinary.centroids, ordinary.sizes * 100_000)  # counts add up to 2^24 or more
    assert centroid._Search(large).bulk_dtype is np.float64
    for total, bulk_dtype in ((2**24 - 1, np.float32), (2**24, np.float64)):
        sizes = [1] * 9 + [total - 9]
        assert centroid._Search(clusterlets_at((5, 5), ordinary.centroids, sizes)).bulk_dtype is bulk_dtype
    tiny = clusterlets_at((5, 5), [0, 1e-35, *range(1, 9)], ordinary.sizes)  # a distance may underflow
    assert centroid._Search(tiny).bulk_dtype is np.float64
    # A common factor of all counts must not change the front. In single precision it would.
    plain, scaled = (sample_partitions(c, 5000, np.random.default_rng(0)) for c in (ordinary, large))
    assert plain.labels.tobytes() == scaled.labels.tobytes()


# ---- silhouette


def test_silhouette_matches_hand_computation():
    distances = np.abs(np.subtract.outer([0.0, 1, 4, 6], [0.0, 1, 4, 6]))
    # Mean distances: 1, 1, 2, 2 to the others in the part; 5, 4, 7/2, 11/2 to the other part.
    expected = (4 / 5 + 3 / 4 + 3 / 7 + 7 / 11) / 4
    assert centroid_silhouette(distances, [0, 0, 1, 1]) == pytest.approx(expected, abs=1e-15)
    assert centroid_silhouette(distances, [0, 0, 0, 1]) == pytest.approx((1 - 2.5 / 6 + 1 - 2 / 5 + 2 / 3.5 - 1) / 4)
    assert centroid_silhouette(np.zeros((4, 4)), [0, 0, 1, 1]) == 0


# ---- the partition that the matcher chooses from the front


FIRST, SECOND = (0, 1, 0, 1), (0, 1, 1, 0)  # labels of two partitions


def front_of(*points):
    """A front of the partitions FIRST and SECOND, with made-up points (s, deviation)."""
    s, deviation = np.array(points, dtype=float).T
    return ParetoFront(np.array([FIRST, SECOND]), s, deviation, "sampled", 2)


def test_ties_in_the_objective_go_to_the_higher_silhouette():
    assert best_labels(front_of((0.25, 0.0), (0.5, 0.25)), 0.5) == SECOND  # both objectives are 0.625
    assert 0.5 * 0 + 0.5 * (1 - 0.08) > 0.5 * 0.06 + 0.5 * (1 - 0.14)  # in floats, although both are 0.46 on paper
    assert best_labels(front_of((0, 0.08), (0.06, 0.14)), 0.5) == SECOND


FITS_IN_THREADS = """
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from threadpoolctl import threadpool_info
from clusterlets.estimators import ClusterletClustering

def limits():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

def fit(seed):
    for _ in range(2):
        ClusterletClustering(5, matcher="C", sample_size=2000, random_state=seed).fit(X, sensitive_features=groups)

X, groups = np.random.default_rng(0).normal(size=(100, 4)), np.arange(100) % 2
X @ X.T  # BLAS is in use before the first fit
before = limits()
with ThreadPoolExecutor(8) as threads:
    list(threads.map(fit, range(8)))
print(before, limits(), sep=";")
"""


def test_sampling_in_threads_leaves_the_callers_thread_limits_unchanged():
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    process = subprocess.run(
        [sys.executable, "-c", FITS_IN_THREADS], env=environment, capture_output=True, text=True, check=True
    )
    before, after = process.stdout.strip().split(";")
    assert before == after != "[]"  # an empty list would mean that no BLAS library was found
