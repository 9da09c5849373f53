"""Scores in the results equal those of fairness_report for the same clusters; prices are relative to plain k-means."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from clusterlets.algorithms.geometry import diameter
from clusterlets.estimators import fairness_report
from clusterlets.grid.artifacts import Prepared, SeedBatch
from clusterlets.grid.cells import sample_stream
from clusterlets.grid.fitting import Budget
from clusterlets.grid.paths import PLAIN_COST
from clusterlets.grid.pieces import save_pieces
from clusterlets.grid.runs_frame import read_runs
from clusterlets.grid.runs_table import COLUMNS, read_cell, write_cell
from clusterlets.grid.samples import Sample
from clusterlets.grid.scoring import match
from clusterlets.methods import get
from clusterlets.metrics import instances
from clusterlets.steps import collecting
from clusterlets.steps.distances import sum_distances
from clusterlets.steps.extraction import extract_clusterlets
from clusterlets.steps.scoring import score_method
from clusterlets.storage import save_arrays, save_json

INSTANCE_SCORES = [score.name for score in instances.SCORES]
GROUP_NAMES = ["setosa", "versicolor", "virginica"]


@pytest.fixture
def iris(tmp_path, monkeypatch):
    """The prepared table, saved in the working directory as ``table.npz``."""
    monkeypatch.chdir(tmp_path)
    X, groups = load_iris(return_X_y=True)
    save_arrays("table.npz", {"X": X, "groups": groups, "group_names": np.array(GROUP_NAMES)})
    return Prepared(X, groups, GROUP_NAMES)


def score_cell(X, matcher, hops):
    """Score a matcher with three seeds, and return the rows of its cell."""
    save_json("geometry.json", {"diameter": diameter(X), "groups": dict.fromkeys(GROUP_NAMES, 50)})
    score_method(
        method=json.dumps({"name": matcher}),
        dataset="iris",
        k=6,
        parameters=json.dumps({"hops": hops}),
        settings="{}",
        seeds="0-2",
        base_seed=0,
        budget="{}",
        deviation="absolute",
        geometry="geometry.json",
        data="table.npz",
        pieces="pieces.npz",
        labels="labels.npz",
        distances="distances.npz",
        output="cell.csv",
    )
    return read_cell("cell.csv")


def matching_of(matcher, hops, pieces, seed):
    """Which clusterlets each cluster of a matcher holds: booleans with a row for each cluster."""
    options = {"parameters": {"hops": hops}, "seeds": [seed], "base_seed": 0, "budget": Budget()}
    ((_, matching),) = match(get(matcher), "iris", 6, **options, pieces=pieces, partitions=None)
    return matching.result


def test_stored_scores_of_labels_and_memberships_equal_those_of_a_report(iris):
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.arange(150) % 4)
    overlapping = rng.random((150, 3)) < 0.5
    overlapping[np.arange(150), rng.integers(3, size=150)] = True
    labels_as_memberships, one_cluster = np.eye(4, dtype=bool)[labels], labels * 0
    clusterings = {"disjoint/0": labels, "disjoint/1": labels_as_memberships, "shared/0": overlapping, "one/0": one_cluster}
    save_pieces(iris, clusterings, "pieces.npz", "labels.npz", {}, Sample(np.arange(150)))
    pieces = SeedBatch.load("pieces.npz").values
    scores = {key: dict(zip(INSTANCE_SCORES, arrays["of_instances"].tolist())) for key, arrays in pieces.items()}
    silhouettes = [name for name in INSTANCE_SCORES if name.startswith("silhouette")]
    for key, clustering in clusterings.items():
        report = fairness_report(iris.X, clustering, iris.groups)
        expected = {name: report[name] for name in INSTANCE_SCORES}
        if key == "shared/0":
            expected |= dict.fromkeys(silhouettes, np.nan)
        assert scores[key] == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert scores["disjoint/1"] == pytest.approx(scores["disjoint/0"], rel=1e-12)
    assert [name for name, value in scores["one/0"].items() if np.isnan(value)] == silhouettes


def test_the_sample_of_rows_depends_only_on_the_dataset_and_has_at_most_2000_rows():
    first, same, different = (Sample.draw(2001, sample_stream(0, name)).rows for name in ("a", "a", "b"))
    assert np.array_equal(first, same) and not np.array_equal(first, different) and len(first) == 2000
    assert np.array_equal(Sample.draw(2000, sample_stream(0, "a")).rows, np.arange(2000))


@pytest.mark.parametrize(("matcher", "hops"), [("G-B", 2), ("G-D", 2), ("D", 3), ("B", 3)])
def test_scores_of_a_matcher_equal_those_of_a_report_on_its_clusters(iris, matcher, hops):
    table = {"data": "table.npz", "dataset": "iris", "base_seed": 0}
    extract_clusterlets(**table, k=6, seeds="0-2", pieces="pieces.npz", labels="labels.npz")
    sum_distances(**table, labels="labels.npz", output="distances.npz")
    rows = score_cell(iris.X, matcher, hops)
    pieces, labels = SeedBatch.load("pieces.npz"), SeedBatch.load("labels.npz")
    for row in rows:
        membership = matching_of(matcher, hops, pieces, int(row["seed"]))
        report = fairness_report(iris.X, membership.T[labels.values[row["seed"]]["labels"]], iris.groups)
        scores = {name: float(row[name]) for name in report if row.get(name)}
        assert scores == pytest.approx({name: report[name] for name in scores}, rel=1e-9, abs=1e-12)
        empty = {name for name in COLUMNS[COLUMNS.index("parameters") + 1 :] if not row[name]}
        undefined = {"silhouette", "silhouette_error", "silhouette_least_group"} if report["overlap"] else set()
        assert empty == {"cohesion_error"} | undefined
    assert any(float(row["overlap"]) for row in rows) == (matcher in ("D", "B"))  # only D and B share clusterlets


def test_prices_are_relative_to_the_cost_of_plain_k_means_and_do_not_depend_on_other_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = ("dataset", "method", "seed", "status", "n_clusters", "kmeans_cost")
    rows_and_prices = [
        (("a", "k-means", 0, "ok", 2, 120.0), 1.2),
        (("a", "k-means", 1, "failed", None, None), np.nan),
        (("a", "FRAC (fair)", 0, "ok", 8, 20.0), 0.8),  # cheaper than the best run of plain k-means
        (("a", "FRAC (fair)", 0, "ok", 2, 240.0), 2.4),
        (("a", "Clusterlets", 1, "ok", 4, 100.0), 2),  # a number of clusters between the two of plain k-means
        (("a", "Clusterlets", 1, "ok", 9, 10.0), np.nan),  # more clusters than the costs cover
        (("a", "Clusterlets", 1, "ok", 3, None), np.nan),  # overlapping clusters have no cost
        (("b", "FRAC (fair)", 0, "ok", 2, 5.0), 0.5),
    ]
    costs = {("a", 2): 100.0, ("a", 8): 25.0, ("b", 2): 10.0, ("b", 8): 0.0}
    for (dataset, k), cost in costs.items():
        save_json(PLAIN_COST.format(tables_of="results", dataset=dataset, k=k), {"cost": cost})
    config = json.dumps({"results": "results", "datasets": ["a", "b"], "k": [2, 8]})
    for cases in (rows_and_prices, rows_and_prices[2:]):
        write_cell("cell.csv", [dict(zip(columns, row, strict=True)) for row, _ in cases])
        monkeypatch.setattr(collecting, "cell_paths", lambda config, variant: ["cell.csv"])
        collecting.collect_runs(config, "runs.csv")
        prices = read_runs("runs.csv")["price_of_fairness"]
        assert prices.to_list() == pytest.approx([price for _, price in cases], nan_ok=True)
