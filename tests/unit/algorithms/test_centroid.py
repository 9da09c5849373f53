"""Matcher C: its front and choices against naive and exact enumeration; its sampling against exact probabilities."""

import os
import subprocess
import sys
import tracemalloc
from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.stats import chisquare
from sklearn.metrics import silhouette_score
from test_pinball import naive_deviation

from clusterlets.algorithms.centroids import centroid_distances, centroid_silhouette
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.matching import centroid
from clusterlets.algorithms.matching.centroid import ParetoFront, match_centroid, sample_partitions

OMEGAS = (0, 0.25, 0.5, 0.75, 1)


def build(group_sizes, positions, sizes):
    counts = np.repeat(np.eye(len(group_sizes), dtype=np.int64), group_sizes, axis=0) * np.asarray(sizes)[:, None]
    return Clusterlets.from_pieces(counts, np.asarray(positions, dtype=float).reshape(len(counts), -1), np.zeros(len(counts)))


def on_a_grid(group_sizes, seed, width=6, largest=4):
    """Clusterlets on few points of a line and with few sizes, so that many partitions tie."""
    rng = np.random.default_rng(seed)
    n = sum(group_sizes)
    return build(group_sizes, rng.integers(0, width, n), rng.integers(1, largest + 1, n))


def anywhere(group_sizes, seed):
    rng = np.random.default_rng(seed)
    n = sum(group_sizes)
    return build(group_sizes, rng.normal(size=(n, 5)), rng.integers(5, 500, n))


# ---- naive: all set partitions; scores as fractions, for centroids at whole numbers of a line


def set_partitions(n):
    """Canonical labels of all partitions, in lexicographic order."""
    if n == 0:
        return [()]
    return [(*head, label) for head in set_partitions(n - 1) for label in range(max(head, default=-1) + 2)]


def is_valid(clusterlets, labels):
    blocks = [[j for j in range(len(labels)) if labels[j] == b] for b in set(labels)]
    groups = set(clusterlets.group.tolist())
    return len(blocks) > 1 and all(len(block) > 1 and {int(clusterlets.group[j]) for j in block} == groups for block in blocks)


def naive_scores(clusterlets, labels):
    x = [int(p) for p in clusterlets.centroids[:, 0]]
    assert x == clusterlets.centroids[:, 0].tolist()
    blocks = {b: [j for j in range(len(x)) if labels[j] == b] for b in set(labels)}
    total = Fraction(0)
    for i, label in enumerate(labels):
        means = {b: Fraction(sum(abs(x[i] - x[j]) for j in block), len(block) - (b == label)) for b, block in blocks.items()}
        within, nearest = means.pop(label), min(means.values())
        total += (nearest - within) / max(nearest, within) if max(nearest, within) else 0
    return total / len(x), max(naive_deviation(clusterlets, block) for block in blocks.values())


def score_all(clusterlets, partitions):
    return {labels: naive_scores(clusterlets, labels) for labels in set(partitions)}


def naive_front(scored):
    """(s, deviation, labels), by ascending deviation."""
    front = []
    for deviation, minus_s, labels in sorted((deviation, -s, labels) for labels, (s, deviation) in scored.items()):
        if not front or -minus_s > front[-1][0]:
            front.append((-minus_s, deviation, labels))
    return front


def naive_best(scored, omega, equation="corrected"):
    omega = Fraction(omega)

    def key(labels):
        s, delta = scored[labels]
        objective = omega * s + (1 - omega) * (1 - delta) if equation == "corrected" else 1 + omega * (s - delta)
        return -objective, -s, delta, labels

    return min(scored, key=key)


def best(front, omega, equation="corrected"):
    """Labels of the best partition, whose blocks are numbered as they appear."""
    return tuple(match_centroid(front, omega, equation).argmax(axis=0).tolist())


def canonical(labels):
    numbers = {}
    return tuple(numbers.setdefault(label, len(numbers)) for label in labels)


def assert_front(front, expected):
    assert [tuple(row) for row in front.labels.tolist()] == [labels for _, _, labels in expected]
    np.testing.assert_allclose(front.silhouette, [float(s) for s, _, _ in expected], rtol=0, atol=1e-12)
    np.testing.assert_allclose(front.deviation, [float(d) for _, d, _ in expected], rtol=1e-15)


def samples_of(clusterlets, sample_size, seed):
    group_sizes = np.bincount(clusterlets.group)
    batches = centroid._sample(group_sizes, sample_size, np.random.default_rng(seed))
    return [canonical(column) for batch in batches for column in batch.T.tolist()]


# ---- enumeration


@pytest.mark.parametrize("group_sizes", [(2, 2), (2, 3), (3, 3), (2, 5), (4, 3), (4, 4), (2, 2, 2), (2, 2, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_the_enumerated_front_is_that_of_all_partitions(group_sizes, seed):
    clusterlets = on_a_grid(group_sizes, [seed, *group_sizes])
    partitions = [p for p in set_partitions(sum(group_sizes)) if is_valid(clusterlets, p)]
    front = sample_partitions(clusterlets, 5000, np.random.default_rng(0))
    assert (front.drawn, front.n_valid) == ("enumerated", len(partitions))
    scored = score_all(clusterlets, partitions)
    assert_front(front, naive_front(scored))
    for omega in OMEGAS:
        for equation in ("corrected", "printed"):
            assert best(front, omega, equation) == naive_best(scored, omega, equation)


def test_partitions_are_enumerated_if_they_are_no_more_than_the_samples():
    clusterlets = on_a_grid((3, 3), 1)  # 203 partitions
    assert sample_partitions(clusterlets, 203, np.random.default_rng(0)).drawn == "enumerated"
    assert sample_partitions(clusterlets, 202, np.random.default_rng(0)).drawn == "sampled"


@pytest.mark.parametrize("group_sizes", [(1, 1), (1, 6), (5, 1), (3, 1, 30)])
def test_a_group_of_one_clusterlet_leaves_no_partition(group_sizes):
    front = sample_partitions(anywhere(group_sizes, 0), 100, np.random.default_rng(0))
    assert (len(front), front.n_valid, front.drawn) == (0, 0, "enumerated")
    assert front.labels.shape == (0, sum(group_sizes))
    assert match_centroid(front, 0.5) is None


# ---- sampling


def in_parts(monkeypatch, merged, scored):
    """Merge at most ``merged`` partitions at once, and score at most ``scored`` labels."""
    front = centroid._Search.front

    def front_of_parts(self, batches, drawn):
        parts = (batch[:, start : start + merged] for batch in batches for start in range(0, batch.shape[1], merged))
        return front(self, parts, drawn)

    monkeypatch.setattr(centroid._Search, "front", front_of_parts)
    monkeypatch.setattr(centroid, "_SCORED", scored)


@pytest.mark.parametrize("group_sizes", [(4, 4), (3, 7), (3, 3, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_the_sampled_front_is_that_of_all_samples(group_sizes, seed, monkeypatch):
    in_parts(monkeypatch, merged=16, scored=50)
    clusterlets = on_a_grid(group_sizes, [seed, *group_sizes])
    partitions = samples_of(clusterlets, 500, seed)
    assert all(is_valid(clusterlets, labels) for labels in partitions)
    front = sample_partitions(clusterlets, 500, np.random.default_rng(seed))
    assert (front.drawn, front.n_valid) == ("sampled", len(partitions))
    scored = score_all(clusterlets, partitions)
    assert_front(front, naive_front(scored))
    for omega in OMEGAS:
        assert best(front, omega) == naive_best(scored, omega)


def test_equal_centroids_have_a_silhouette_of_0():
    clusterlets = build((4, 5), np.zeros(9), [1, 2, 3, 4, 5, 1, 2, 3, 4])
    partitions = samples_of(clusterlets, 400, 3)
    front = sample_partitions(clusterlets, 400, np.random.default_rng(3))
    assert front.silhouette.tolist() == [0.0]
    assert_front(front, naive_front(score_all(clusterlets, partitions)))


def process_probabilities(n):
    """Exact probability of each partition (a frozenset of blocks) under the sampling process."""
    probabilities = Counter()

    def go(left, blocks, probability):
        if not left:
            probabilities[frozenset(blocks)] += probability
            return
        for size in range(2, n):
            if size >= len(left):
                go(frozenset(), (*blocks, left), probability / (n - 2))
                continue
            for block in combinations(sorted(left), size):
                rest = left - frozenset(block)
                go(rest, (*blocks, frozenset(block)), probability / (n - 2) / comb(len(left), size))

    go(frozenset(range(n)), (), Fraction(1))
    assert sum(probabilities.values()) == 1
    return probabilities


@pytest.mark.parametrize("group_sizes", [(3, 4), (2, 2, 2)])
def test_samples_have_the_probabilities_of_the_process(group_sizes):
    n, sample_size = sum(group_sizes), 40_000
    clusterlets = anywhere(group_sizes, 0)
    expected = Counter()
    for blocks, probability in process_probabilities(n).items():
        labels = canonical([next(b for b in blocks if j in b) for j in range(n)])
        expected[labels if is_valid(clusterlets, labels) else "invalid"] += probability
    seen = Counter(samples_of(clusterlets, sample_size, 1))
    seen["invalid"] = sample_size - seen.total()
    assert set(seen) <= set(expected)
    kinds = sorted(expected, key=str)
    result = chisquare([seen[kind] for kind in kinds], [float(expected[kind]) * sample_size for kind in kinds])
    assert result.pvalue > 1e-3


def test_block_sizes_fill_the_partition_and_leave_no_single_clusterlet():
    by_n_blocks = [sizes for sizes in centroid._draw_block_sizes(9, 2000, np.random.default_rng(0)) if sizes.size]
    assert [len(sizes) for sizes in by_n_blocks] == [2, 3, 4]
    assert all((sizes.sum(axis=0) == 9).all() and sizes.min() == 2 for sizes in by_n_blocks)


class AllButTwo:
    """A generator by which every sample's first block leaves two clusterlets; all else is random."""

    def __init__(self):
        self.random = np.random.default_rng(0)
        self.permuted = self.random.permuted

    def integers(self, low, high=None, **options):
        if high is None:
            return self.random.integers(low, **options)
        return np.full(options["size"], high - 2, dtype=options["dtype"])


def test_batches_hold_as_many_samples_as_requested(monkeypatch):
    monkeypatch.setattr(centroid, "_DRAWN", 64)
    monkeypatch.setattr(centroid, "_DEALT", 16)
    group_sizes = np.array([4, 5])
    batches = list(centroid._construct(group_sizes, 150, AllButTwo()))
    assert max(batch.shape[1] for batch in batches) == 16
    assert sum(batch.shape[1] for batch in batches) == 150
    monkeypatch.setattr(centroid, "_deal", lambda sizes, group_sizes, random_state: sizes)
    assert sum(batch.shape[1] for batch in centroid._sample(group_sizes, 150, AllButTwo())) == 150


def test_partitions_are_constructed_if_too_few_samples_are_valid(monkeypatch):
    clusterlets = on_a_grid((6, 6), 0)
    n_valid = sample_partitions(clusterlets, 600, np.random.default_rng(0)).n_valid
    for rare, drawn in ((600 / n_valid, "sampled"), (599 / n_valid, "constructed")):
        monkeypatch.setattr(centroid, "_RARE", rare)
        assert sample_partitions(clusterlets, 600, np.random.default_rng(0)).drawn == drawn


@pytest.mark.parametrize("exponent", [-100, 100])
def test_units_do_not_matter_even_beyond_single_precision(exponent):
    clusterlets = anywhere((6, 6), 0)
    rescaled = build((6, 6), clusterlets.centroids * 2.0**exponent, clusterlets.sizes)
    fronts = [sample_partitions(c, 3000, np.random.default_rng(0)) for c in (clusterlets, rescaled)]
    assert fronts[0].labels.tobytes() == fronts[1].labels.tobytes()
    assert fronts[0].silhouette.tobytes() == fronts[1].silhouette.tobytes()


def test_many_clusterlets_need_wider_integers():
    front = sample_partitions(anywhere((150, 150), 0), 300, np.random.default_rng(0))
    assert front.drawn == "sampled" and front.n_valid > 200
    assert all(is_valid(anywhere((150, 150), 0), tuple(labels)) for labels in front.labels.tolist())


# ---- construction


def test_many_groups_are_drawn_by_construction():
    group_sizes = (2,) * 8  # 128 valid partitions among 10^10
    clusterlets = on_a_grid(group_sizes, 2, width=9)
    front = sample_partitions(clusterlets, 6000, np.random.default_rng(0))
    assert front.drawn == "constructed" and 5000 < front.n_valid <= 6000
    everything = [
        canonical([label for pair in zip(swaps, (1 - s for s in swaps)) for label in pair])
        for code in range(128)
        for swaps in [[0, *(code >> i & 1 for i in range(7))]]
    ]
    assert all(is_valid(clusterlets, labels) for labels in everything)
    assert_front(front, naive_front(score_all(clusterlets, everything)))


def test_construction_deals_every_group_to_every_block():
    group_sizes = np.array([3, 5, 4, 6, 3, 3])
    clusterlets = anywhere(group_sizes, 1)
    partitions = [
        tuple(column)
        for batch in centroid._construct(group_sizes, 3000, np.random.default_rng(0))
        for column in batch.T.tolist()
    ]
    assert all(is_valid(clusterlets, labels) for labels in set(partitions))
    assert {max(labels) + 1 for labels in partitions} == {2, 3}
    # The first group's 3 clusterlets over two blocks: all 6 ways are equally likely.
    heads = Counter(labels[:3] for labels in partitions if max(labels) == 1)
    assert len(heads) == 6 and chisquare(list(heads.values())).pvalue > 1e-3


# ---- bulk scores and what they may not change


@pytest.mark.parametrize("seed", range(3))
def test_bulk_scores_are_within_the_slack(seed):
    clusterlets = anywhere((20, 20), seed)
    if seed == 2:  # tight heaps far apart: distances over twelve orders of magnitude
        heaps = np.random.default_rng(0).integers(0, 4, 40)[:, None] * 1e3
        clusterlets = build((20, 20), heaps + clusterlets.centroids * 1e-6, clusterlets.sizes)
    search = centroid._Search(clusterlets)
    # At least the bound derived in its docstring, but not so large that everything would be scored again.
    assert search.bulk is np.float32 and (4 * 40 + 12) * np.finfo(np.float32).eps < search.slack < 5e-5
    distances = centroid_distances(clusterlets.centroids)
    for batch in centroid._sample(np.array([20, 20]), 300, np.random.default_rng(seed)):
        if batch.size:
            silhouettes, deviations = search._bulk_scores(batch)
            labels = batch.T.astype(int)
            exact = [centroid_silhouette(distances, row) for row in labels]
            assert np.abs(silhouettes - exact).max() < search.slack / 2
            shares = [
                [clusterlets.counts[row == b].sum(axis=0) / clusterlets.counts[row == b].sum() for b in range(row.max() + 1)]
                for row in labels
            ]
            dataset = clusterlets.group_counts / clusterlets.group_counts.sum()
            np.testing.assert_allclose(deviations, [np.abs(s - dataset).max() for s in shares], rtol=1e-12)


@pytest.mark.parametrize("merged, scored", [(333, 10**6), (10**6, 3333), (333, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_the_front_depends_neither_on_the_rounding_of_bulk_scores_nor_on_batches(seed, merged, scored, monkeypatch):
    clusterlets = anywhere((10, 12), seed) if seed else on_a_grid((10, 12), 0, width=4, largest=2)
    plain = sample_partitions(clusterlets, 20_000, np.random.default_rng(seed))
    noise = np.random.default_rng(99)
    bulk_scores = centroid._Search._bulk_scores

    def perturbed_scores(self, labels):
        silhouettes, deviations = bulk_scores(self, labels)
        return silhouettes + noise.uniform(-0.5, 0.5, len(silhouettes)) * self.slack, deviations

    monkeypatch.setattr(centroid._Search, "_bulk_scores", perturbed_scores)
    in_parts(monkeypatch, merged, scored)
    perturbed = sample_partitions(clusterlets, 20_000, np.random.default_rng(seed))
    assert plain.labels.tobytes() == perturbed.labels.tobytes()
    assert plain.silhouette.tobytes() == perturbed.silhouette.tobytes()
    assert plain.deviation.tobytes() == perturbed.deviation.tobytes()


def test_only_truly_beaten_partitions_are_dropped():
    search = centroid._Search(anywhere((5, 5), 0))
    rng = np.random.default_rng(0)
    truth, deviation = rng.integers(0, 40, 600) * search.slack / 4, rng.integers(0, 30, 600) / 30
    silhouettes = np.array([2.0, 8.0]) * search.slack
    front = ParetoFront(np.zeros((2, 10), dtype=int), silhouettes, np.array([0.2, 0.5]), "sampled", 2)
    bulk = truth + rng.uniform(-1, 1, 600) * search.slack
    beaten = search._certainly_beaten(front, bulk, deviation)
    s = np.append(truth, front.silhouette)
    beaters = (np.append(deviation, front.deviation) <= deviation[:, None]) & (s > truth[:, None])
    assert beaters.any(axis=1)[beaten].all()
    assert beaten.sum() > 300  # most of them


def test_single_precision_is_used_only_where_it_is_exact_enough():
    ordinary = anywhere((5, 5), 0)
    assert centroid._Search(ordinary).bulk is np.float32
    many = build((5, 5), ordinary.centroids, ordinary.sizes * 100_000)
    assert centroid._Search(many).bulk is np.float64
    for total, bulk in ((2**24 - 1, np.float32), (2**24, np.float64)):
        sizes = [1] * 9 + [total - 9]
        assert centroid._Search(build((5, 5), ordinary.centroids, sizes)).bulk is bulk
    tiny = build((5, 5), [0, 1e-35, *range(1, 9)], ordinary.sizes)
    assert centroid._Search(tiny).bulk is np.float64
    # The scale of the counts does not matter; in single precision it would.
    plain, scaled = (sample_partitions(c, 5000, np.random.default_rng(0)) for c in (ordinary, many))
    assert plain.labels.tobytes() == scaled.labels.tobytes()


# ---- silhouette


@pytest.mark.parametrize("seed", range(8))
def test_silhouette_matches_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    centroids = rng.normal(size=(12, 3)) if seed % 2 else rng.integers(0, 2, (12, 2)).astype(float)  # many coincide
    labels = np.unique(rng.integers(0, 2 + seed, 12), return_inverse=True)[1]
    silhouette = centroid_silhouette(centroid_distances(centroids), labels)
    assert silhouette == pytest.approx(silhouette_score(centroids, labels), abs=1e-12)


def test_silhouette_by_hand():
    distances = np.abs(np.subtract.outer([0.0, 1, 4, 6], [0.0, 1, 4, 6]))
    # Within 1, 1, 2, 2; nearest 5, 4, 7/2, 11/2.
    expected = (4 / 5 + 3 / 4 + 3 / 7 + 7 / 11) / 4
    assert centroid_silhouette(distances, [0, 0, 1, 1]) == pytest.approx(expected, abs=1e-15)
    assert centroid_silhouette(distances, [0, 0, 0, 1]) == pytest.approx((1 - 2.5 / 6 + 1 - 2 / 5 + 2 / 3.5 - 1) / 4)
    assert centroid_silhouette(np.zeros((4, 4)), [0, 0, 1, 1]) == 0


# ---- choosing


FIRST, SECOND = (0, 1, 0, 1), (0, 1, 1, 0)


def front_of(*points):
    """A front of two made-up points (s, deviation)."""
    s, deviation = np.array(points, dtype=float).T
    return ParetoFront(np.array([FIRST, SECOND]), s, deviation, "sampled", 2)


def test_tied_objectives_go_to_the_higher_silhouette():
    assert best(front_of((0.25, 0.0), (0.5, 0.25)), 0.5) == SECOND  # .625 both at one half
    assert 0.5 * 0 + 0.5 * (1 - 0.08) > 0.5 * 0.06 + 0.5 * (1 - 0.14)  # in floats; .46 both on paper
    assert best(front_of((0, 0.08), (0.06, 0.14)), 0.5) == SECOND


def test_the_printed_equation_does_not_weigh():
    front = front_of((0.25, 0.0), (0.4, 0.25))
    assert best(front, 0) == FIRST
    assert best(front, 0, "printed") == SECOND  # 1 whatever the deviation, so the higher silhouette wins
    assert best(front, 0.25) == best(front, 0.25, "printed") == FIRST
    assert best(front, 0.75) == SECOND
    # As printed, it is s - delta at every omega > 0; only the corrected equation weighs.
    assert best(front, 0.75, "printed") == FIRST


def test_the_membership_is_that_of_the_best_partition():
    membership = match_centroid(front_of((0.25, 0.0), (0.4, 0.25)), 1.0)
    assert membership.dtype == bool
    assert membership.tolist() == [[True, False, False, True], [False, True, True, False]]


def test_many_samples_take_little_memory():
    clusterlets = anywhere((30, 30), 0)
    tracemalloc.start()
    sample_partitions(clusterlets, 250_000, np.random.default_rng(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


THREADS = """
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from threadpoolctl import threadpool_info
from clusterlets.estimators import ClusterletClustering

def limits():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

def fit(seed):
    for _ in range(6):
        ClusterletClustering(5, matcher="C", sample_size=2000, random_state=seed).fit(X, sensitive_features=groups)

X, groups = np.random.default_rng(0).normal(size=(100, 4)), np.arange(100) % 2
X @ X.T
before = limits()
with ThreadPoolExecutor(8) as threads:
    list(threads.map(fit, range(8)))
print(before, limits())
"""


def test_sampling_in_threads_leaves_the_callers_thread_limits_unchanged():
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    process = subprocess.run([sys.executable, "-c", THREADS], env=environment, capture_output=True, text=True, check=True)
    before, after = process.stdout.split("] [")
    assert before.strip("[]\n") == after.strip("[]\n") != ""


def test_a_set_has_few_partitions_up_to_its_bell_number():
    for n, bell in enumerate([1, 2, 5, 15, 52, 203], 1):
        assert centroid._has_few_partitions(n, bell) and not centroid._has_few_partitions(n, bell - 1)
        assert not centroid._has_few_partitions(n + 1, bell)
