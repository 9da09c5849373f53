"""Costs and silhouettes of instances equal values worked out by hand, and follow their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from labelled_rows import labelled_rows
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from clusterlets.algorithms import row_samples
from clusterlets.algorithms.geometry import moments_by_label, row_sums
from clusterlets.algorithms.row_samples import sample_rows
from clusterlets.metrics.instances import SCORES, Instances, silhouettes
from clusterlets.metrics.score import evaluate

COSTS = ("social_cost", "kmedian_cost", "kcenter_cost")


def costs(X, groups, labels, centres):
    scores = evaluate(SCORES, Instances(X, groups, labels, centres))
    return {name: scores[name] for name in COSTS}


def sampled_instances(values, groups, n):
    """n instances, whose groups repeat ``groups``. The first of them are sampled, with the silhouettes ``values``."""
    X, labels, centres = np.zeros((n, 1)), np.zeros(n, dtype=int), np.zeros((1, 1))  # not used by the scores of silhouettes
    return Instances(X, np.resize(groups, n), labels, centres, values, np.arange(len(values)))


def silhouette_scores(values, groups, n):
    """All scores of :func:`sampled_instances` except the costs."""
    return {name: value for name, value in evaluate(SCORES, sampled_instances(values, groups, n)).items() if name not in COSTS}


def silhouettes_of(X, labels, rows=None):
    """The silhouettes of these rows, by default of all rows."""
    rows = np.arange(len(X)) if rows is None else rows
    return silhouettes(row_sums(X, rows, labels, labels.max() + 1), np.bincount(labels), labels[rows])


def silhouettes_by_definition(X, labels):
    distances, values = cdist(X, X), []
    for i, label in enumerate(labels):
        in_same_cluster = (labels == label) & (np.arange(len(X)) != i)
        if not in_same_cluster.any():
            values.append(0.0)
            continue
        a = distances[i, in_same_cluster].mean()
        b = min(distances[i, labels == other].mean() for other in set(labels) - {label})
        values.append((b - a) / max(a, b) if max(a, b) > 0 else 0.0)
    return values


class TestSilhouettes:
    def test_a_single_cluster_has_no_silhouettes(self):
        assert np.isnan(silhouettes_of(np.arange(4.0)[:, None], np.zeros(4, dtype=int))).all()

    def test_a_cluster_without_rows_does_not_count(self):
        X, labels = np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 0, 3, 3])
        assert silhouettes_of(X, labels).tolist() == silhouettes_of(X, labels // 3).tolist()

    @settings(max_examples=150)
    @given(labelled_rows())
    def test_silhouettes_follow_their_definition(self, case):
        X, labels, rng = case
        rows = rng.permutation(len(X))[: 1 + rng.integers(len(X))]
        expected = np.array(silhouettes_by_definition(X, labels))
        assert silhouettes_of(X, labels) == pytest.approx(expected, abs=1e-9)
        assert silhouettes_of(X, labels, rows) == pytest.approx(expected[rows], abs=1e-9)

    def test_labels_out_of_range_are_refused(self):
        for label in (-1, 2):
            with pytest.raises(ValueError, match="labels must lie in 0..1"):
                row_sums(np.zeros((2, 1)), np.array([0]), np.array([0, label]), 2)


class TestSamples:
    def test_few_rows_are_all_sampled(self):
        unused_stream = np.random.default_rng(0)
        assert np.array_equal(sample_rows(10_000, unused_stream), np.arange(10_000))
        assert unused_stream.random() == np.random.default_rng(0).random()

    def test_2000_distinct_rows_of_a_large_table_are_sampled(self):
        rows = sample_rows(10_001, np.random.default_rng(0))
        assert len(rows) == 2000 and (np.diff(rows) > 0).all() and rows.max() <= 10_000
        assert not np.array_equal(rows, sample_rows(10_001, np.random.default_rng(1)))
        assert len(sample_rows(2001, np.random.default_rng(0), exact_rows=2000)) == 2000

    def test_the_estimate_is_unbiased_and_its_standard_error_equals_its_spread(self, monkeypatch):
        monkeypatch.setattr(row_samples, "SAMPLED_ROWS", 60)
        table = load_iris()
        exact = silhouettes_of(table.data, table.target)
        means, errors = np.empty(400), np.empty(400)
        for seed in range(400):
            rows = sample_rows(150, np.random.default_rng(seed), exact_rows=100)
            scores = silhouette_scores(silhouettes_of(table.data, table.target, rows), table.target[rows], 150)
            means[seed], errors[seed] = scores["silhouette"], scores["silhouette_error"]
        assert abs(means.mean() - exact.mean()) < 4 * means.std() / np.sqrt(400)
        assert means.std() / errors.mean() == pytest.approx(1, abs=0.15)

    def test_a_single_cluster_has_no_scores(self):
        assert np.isnan(list(silhouette_scores(np.full(3, np.nan), np.array([0, 1, 1]), 3).values())).all()


class TestCosts:
    def test_an_empty_group_does_not_count(self):
        X, centres = np.array([[0.0], [2.0]]), np.array([[1.0]])
        without_gap, with_gap = (costs(X, np.array(codes), np.zeros(2, dtype=int), centres) for codes in ([0, 1], [0, 5]))
        assert without_gap == with_gap and without_gap["social_cost"] == 1

    @settings(max_examples=100)
    @given(labelled_rows())
    def test_costs_follow_their_definitions(self, case):
        X, labels, rng = case
        groups, centres = rng.integers(3, size=len(X)), moments_by_label(X, labels, labels.max() + 1)[0]
        distances = np.array([np.linalg.norm(row - X[labels == label].mean(axis=0)) for row, label in zip(X, labels)])
        social_cost = max((distances[groups == group] ** 2).mean() for group in set(groups))
        expected = {"social_cost": social_cost, "kmedian_cost": distances.sum(), "kcenter_cost": distances.max()}
        assert costs(X, groups, labels, centres) == pytest.approx(expected, abs=1e-9)
