"""Every score of clusterings with three groups, worked out by hand. No two groups or clusters are alike."""

import pickle
import re
from math import inf, log, nan, sqrt
from pathlib import Path

import numpy as np
import pytest
from test_table import scores_of

from clusterlets.algorithms.matching.objectives import deviations
from clusterlets.errors import ClusterletsError
from clusterlets.estimators import fairness_report
from clusterlets.metrics.all_scores import SCORES, score
from clusterlets.metrics.composition import (
    additive_violation,
    balance,
    delta_min,
    deviation_of_columns,
    deviation_per_cluster,
    vfc_error,
    weighted_deviation,
)
from clusterlets.metrics.gaps import assignment_gap
from clusterlets.metrics.instances import Instances, silhouette_error, silhouette_of_groups
from clusterlets.metrics.pieces import JoinedClusterlets, Pieces, centroid_silhouette, cohesion_with_error
from clusterlets.metrics.prices import price_of_fairness
from clusterlets.metrics.score import Score

DOCS = Path(__file__).parents[3] / "docs/extending.md"

# Sizes 7, 10 and 6; the groups have 9, 6 and 8 of 23 instances.
COMPOSITION = np.array([[1, 2, 4], [5, 3, 2], [3, 1, 2]])
TOTALS = COMPOSITION.sum(axis=0)
EXPECTED = [9 / 23, 6 / 23, 8 / 23]
SHARES = [[1 / 7, 2 / 7, 4 / 7], [5 / 10, 3 / 10, 2 / 10], [3 / 6, 1 / 6, 2 / 6]]
# The largest difference is 1/7 - 9/23 (negative), 5/10 - 9/23 = 25/230 below 8/23 - 2/10 = 34/230 (negative), 3/6 - 9/23.
ABSOLUTE = [40 / 161, 34 / 230, 15 / 138]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("absolute", ABSOLUTE),
        ("first_group", ABSOLUTE),
        ("least_share", ABSOLUTE),
        ("relative", [40 / 63, 34 / 80, 13 / 36]),  # by 9/23, 8/23 and 6/23, the larger shares
        ("kl", [sum(p * log(p / r) for p, r in zip(row, EXPECTED, strict=True)) for row in SHARES]),
    ],
)
def test_deviations_of_three_groups(kind, expected):
    assert deviation_per_cluster(COMPOSITION, TOTALS, kind) == pytest.approx(expected, abs=1e-12)


def test_a_cluster_of_one_group_deviates_by_the_first_or_the_least_share_in_the_published_kinds():
    composition = np.array([[0, 4, 0], [2, 1, 3]])  # of 2, 5 and 3: shares .2, .5 and .3
    for kind, single in (("absolute", 0.5), ("first_group", 0.8), ("least_share", 0.2)):
        assert deviation_per_cluster(composition, composition.sum(axis=0), kind) == pytest.approx([single, 1 / 3])


def test_scores_of_shares_of_three_groups():
    assert balance(COMPOSITION) == 1 / 4
    assert balance(COMPOSITION[1:]) == 1 / 3
    assert delta_min(COMPOSITION, TOTALS) == pytest.approx(1 - 23 / 63)  # 1/7 against 9/23
    # Three times the counts: 3 against 21 * 9/23 = 8.217, 5.217 too few; the next is 12 against 7.304, 4.696 too many.
    assert additive_violation(3 * COMPOSITION, 3 * TOTALS) == 6
    assert additive_violation(COMPOSITION[[2, 1]], TOTALS) == 2  # 2 against 10 * 8/23 = 3.478
    per_cluster = [(40 + 4 + 36) / 23, (25 + 9 + 34) / 23, (15 + 13 + 2) / 23]  # instances, over the groups
    assert weighted_deviation(COMPOSITION, TOTALS) == pytest.approx(sum(per_cluster) / 3 / 23)
    divergences = [sum(r * log(r / p) for p, r in zip(row, EXPECTED, strict=True)) for row in SHARES]
    assert vfc_error(COMPOSITION, TOTALS) == pytest.approx(sum(divergences))
    assert vfc_error(COMPOSITION - [[1, 0, 0], [0, 0, 0], [0, 0, 0]], TOTALS) == inf


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([], 40 / 161),
        ([("a", "b", "a")], 13 / 138),  # a and b have 17 and 6: 5/6 - 17/23 in the last cluster
        ([("a", "b", "a"), ("x", "x", "y")], 36 / 161),  # x and y have 15 and 8: 4/7 - 8/23 in the first
        ([("x", "x", "y"), ("a", "b", "a")], 36 / 161),
    ],
)
def test_the_largest_deviation_of_any_column(columns, expected):
    assert deviation_of_columns(COMPOSITION, TOTALS, columns) == pytest.approx(expected)


# One feature. Clusters 0, 2, 4 (mean 2) and 10, 11, 15 (mean 12); groups 0, 1, 2 and 1, 1, 2.
X, GROUPS, LABELS = np.array([[0.0], [2], [4], [10], [11], [15]]), np.array([0, 1, 2, 1, 1, 2]), np.array([0, 0, 0, 1, 1, 1])
SILHOUETTES = [9 / 12, 8 / 10, 5 / 8, 5 / 8, 6.5 / 9, 8.5 / 13]


def test_scores_of_distances():
    values = scores_of(X, GROUPS, LABELS, np.eye(2, dtype=bool), plain_cost=11.0)
    expected = {
        "n_clusters": 2,
        "smallest": 3,
        "largest": 3,
        # Shares 1/6, 3/6 and 2/6 of the table, 1/3, 1/3 and 1/3 of the first cluster, 0, 2/3 and 1/3 of the other.
        "deviation_mean": 1 / 6,
        "deviation_std": 0,
        "deviation_max": 1 / 6,
        "column_deviation": 1 / 6,
        "deviation_beyond_row": 0,  # one of three rows is a larger share
        "balance": 0,
        "balance_ratio": 0,
        "delta_min": 1,
        "additive_violation": 1,
        "weighted_deviation": ((1 / 6 + 1 / 6 + 0) / 3 + (1 / 6 + 1 / 6 + 0) / 3) / 2,
        "vfc_error": inf,
        "overlap": 0,
        # Sums over all pairs 2 (2 + 4 + 2) and 2 (1 + 5 + 4), of 9 pairs each; the diameter is 15.
        "cohesion": 1 - (16 / 9 + 20 / 9) / 2 / 15,
        "cohesion_error": nan,
        "kmeans_cost": 8 + 14,
        "price_of_fairness": 2,
        "social_cost": (4 + 9) / 2,  # the means of the groups are 4, 5/3 and 13/2
        "kmedian_cost": 2 + 0 + 2 + 2 + 1 + 3,
        "kcenter_cost": 3,
        "silhouette": sum(SILHOUETTES) / 6,
        "silhouette_error": 0,
        "silhouette_least_group": (5 / 8 + 8.5 / 13) / 2,  # group 2; group 1 has .716, and group 0 .75
        "centroid_silhouette": 0,  # each cluster is a single piece
    }
    assert values == pytest.approx(expected, nan_ok=True) and set(expected) == {entry.name for entry in SCORES}


def test_scores_of_unequal_clusters_of_several_pieces():
    # Pieces 0, 4, 10 and 11, 15; clusters {0, 4} with 2 rows, and {10, (11, 15)} with 3.
    piece_of, groups = np.array([0, 1, 2, 3, 3]), np.array([0, 1, 1, 2, 0])
    membership = np.array([[1, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
    values = scores_of(np.array([[0.0], [4], [10], [11], [15]]), groups, piece_of, membership)
    # Shares 2/5, 2/5 and 1/5; the first cluster lacks the last group, and has 1/2 - 2/5 of the others.
    assert values["deviation_mean"] == pytest.approx((1 / 5 + 2 / 15) / 2)
    assert values["deviation_std"] == pytest.approx((1 / 5 - 2 / 15) / 2)
    assert values["deviation_max"] == pytest.approx(1 / 5)
    assert values["weighted_deviation"] == pytest.approx((2 * (0.1 + 0.1 + 0.2) / 3 + 3 * (1 / 15 + 1 / 15 + 2 / 15) / 3) / 5)
    assert (values["smallest"], values["largest"], values["balance"], values["balance_ratio"]) == (2, 3, 0, 0)
    assert values["kmeans_cost"] == pytest.approx(8 + 14) and values["social_cost"] == pytest.approx((4 + 9) / 2)
    assert values["cohesion"] == pytest.approx(1 - (8 / 4 + 20 / 9) / 2 / 15)
    # Centroids 0, 4 and 10, 13: (b - a) / max(a, b) with a = 4, 4, 3, 3 and b = 11.5, 7.5, 8, 11.
    assert values["centroid_silhouette"] == pytest.approx((7.5 / 11.5 + 3.5 / 7.5 + 5 / 8 + 8 / 11) / 4)


def test_scores_of_overlapping_clusters():
    piece_of, groups = np.array([0, 1, 1, 2]), np.array([0, 1, 2, 2])
    membership = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)
    values = scores_of(np.array([[0.0], [2], [4], [9]]), groups, piece_of, membership)
    # Two of the four rows are in both clusters, which have compositions 1, 1, 1 and 0, 1, 2.
    assert values["overlap"] == 2 / 4
    assert values["weighted_deviation"] == pytest.approx(
        (3 * (1 / 12 + 1 / 12 + 1 / 6) / 3 + 3 * (1 / 4 + 1 / 12 + 1 / 6) / 3) / 6
    )
    assert np.isnan([values[name] for name in ("kmeans_cost", "price_of_fairness", "centroid_silhouette")]).all()


def test_scores_of_three_clusters_of_clusterlets():
    # Two clusterlets at 0 and 1, one at 5, and two at 7 and 10: a = 1, 1, 0 (alone), 3, 3 and b = 5, 4, -, 2, 5.
    joined = JoinedClusterlets(np.eye(3, dtype=bool)[:, [0, 0, 1, 2, 2]], np.array([[0.0], [1], [5], [7], [10]]))
    assert centroid_silhouette(joined) == pytest.approx((4 / 5 + 3 / 4 + 0 - 1 / 3 + 2 / 5) / 5)
    pieces = Pieces(np.eye(3, dtype=bool), COMPOSITION, np.zeros((3, 1)), np.zeros(3), np.zeros((3, 3)), 1.0)
    expected = {"n_clusters": 3, "smallest": 6, "largest": 10, "balance": 1 / 4, "balance_ratio": (1 / 4) / (6 / 9)}
    expected |= {"deviation_max": 40 / 161, "deviation_mean": sum(ABSOLUTE) / 3}
    expected["deviation_std"] = sqrt(sum((value - sum(ABSOLUTE) / 3) ** 2 for value in ABSOLUTE) / 3)
    assert {name: score(name).function(pieces) for name in expected} == pytest.approx(expected)
    assert deviations(COMPOSITION, TOTALS) == pytest.approx(ABSOLUTE)


def test_silhouettes_of_a_sample():
    # Rows 0, 2, 4 and 5 of six; group 0 is not drawn. The mean is .425, and the error is corrected by 1 - 4/6.
    drawn = Instances(
        X, np.array([1, 0, 2, 0, 1, 1]), LABELS, np.array([[2.0], [12]]), np.array([0.1, 0.4, 0.9, 0.3]), np.array([0, 2, 4, 5])
    )
    assert silhouette_of_groups(drawn) == pytest.approx({1: 1.3 / 3, 2: 0.4})
    squares = 0.325**2 + 0.025**2 + 0.475**2 + 0.125**2
    assert silhouette_error(drawn) == pytest.approx(sqrt(squares / 3 / 4 * (1 - 4 / 6)))


def test_the_error_of_an_estimated_cohesion():
    sums = np.array([[[8.0, 7], [9, 20]], [[16, 7], [9, 2]], [[12, 7], [9, 11]]])  # two clusters of 2 and 3 rows
    estimates = [1 - (8 / 4 + 20 / 9) / 2 / 15, 1 - (16 / 4 + 2 / 9) / 2 / 15, 1 - (12 / 4 + 11 / 9) / 2 / 15]
    mean = sum(estimates) / 3
    error = sqrt(sum((value - mean) ** 2 for value in estimates) / 2 / 3)
    assert cohesion_with_error(np.eye(2, dtype=bool), np.array([2, 3]), sums, 15.0) == pytest.approx((mean, error))


def test_the_price_between_numbers_of_clusters_and_outside():
    reference = {2: 80.0, 4: 20.0, 9: 5.0, 12: 0.0}
    assert price_of_fairness(60.0, 4, reference) == 3
    # log 3 lies between log 2 and log 4, and 80 falls to 20 by the power -2: 80 (3/2)^-2.
    assert price_of_fairness(60.0, 3, reference) == pytest.approx(60 / (80 * (2 / 3) ** 2))
    assert price_of_fairness(60.0, 6, reference) == pytest.approx(60 / (20 * (1 / 4) ** (log(6 / 4) / log(9 / 4))))
    assert price_of_fairness(60.0, 9, reference) == 12 and price_of_fairness(60.0, 2, reference) == 0.75
    assert np.isnan([price_of_fairness(60.0, k, reference) for k in (1, 10, 12)]).all()
    assert np.isnan([price_of_fairness(nan, 4, reference), price_of_fairness(1.0, 4, {4: 0.0})]).all()


def test_the_score_in_the_docs_is_one():
    (source,) = re.findall(r"```python\n(Score\(\n.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    entry = eval(source, {"Score": Score, "Pieces": Pieces})
    pieces = Pieces(np.eye(3, dtype=bool), COMPOSITION, np.zeros((3, 1)), np.zeros(3), np.zeros((3, 3)), 1.0)
    assert entry.function(pieces) == 5 / 23


def test_the_clusters_of_a_report():
    groups = np.concatenate([np.repeat(["a", "b", "c"], row) for row in COMPOSITION])
    labels = np.repeat([4, 7, 9], COMPOSITION.sum(axis=1))
    report = fairness_report(np.arange(23.0)[:, None], labels, groups)
    assert report.shares == pytest.approx(dict(zip("abc", EXPECTED, strict=True)))
    table = pickle.loads(pickle.dumps(report)).clusters
    assert table.index.tolist() == [4, 7, 9] and table["size"].tolist() == [7, 10, 6]
    assert table["deviation"].tolist() == pytest.approx(ABSOLUTE)
    assert table["furthest_off"].tolist() == ["a", "c", "a"]
    assert table["excess"].tolist() == pytest.approx([-40 / 161, -34 / 230, 15 / 138])
    merged = np.minimum(labels, 7)  # the last two clusters have 8, 4 and 4 of 16
    assert fairness_report(np.arange(23.0)[:, None], merged, groups).clusters["furthest_off"].tolist() == ["a", "a"]
    assert table[["share of a", "share of b", "share of c"]].to_numpy() == pytest.approx(np.array(SHARES))


@pytest.mark.parametrize("label", [-1, 2])
def test_a_label_that_is_the_index_of_no_centre_is_refused(label):
    assert assignment_gap(X, GROUPS, LABELS, centres=np.array([[2.0], [12]])) == 0
    labels = np.array([0, 1, label, 0, 1, 1])
    with pytest.raises(ClusterletsError, match=r"Labels must lie in 0\.\.1"):
        assignment_gap(X, GROUPS, labels, centres=np.array([[2.0], [12]]))
