"""Scores in the results equal those of fairness_report for the same clusters; prices are relative to plain k-means."""

import itertools
import json
import zlib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from clusterlets.algorithms.geometry import diameter
from clusterlets.benchmark.grid.artifacts import Prepared, SeedBatch
from clusterlets.benchmark.grid.cells import Cell, sample_stream, seeds_of
from clusterlets.benchmark.grid.paths import PLAIN_COST, fitted_pieces, prepared_path, shared_inputs
from clusterlets.benchmark.grid.pieces import save_pieces
from clusterlets.benchmark.grid.runs_columns import COLUMNS, read_cell, write_cell
from clusterlets.benchmark.grid.runs_frame import read_runs
from clusterlets.benchmark.grid.samples import Sample
from clusterlets.benchmark.grid.scoring import CLUSTERLETS, match
from clusterlets.benchmark.steps import collect_runs
from clusterlets.benchmark.steps.extract_clusterlets import extract_clusterlets
from clusterlets.benchmark.steps.fit_method import fit_method
from clusterlets.benchmark.steps.measure_geometry import measure_geometry
from clusterlets.benchmark.steps.prepare_user_table import prepare_user_table
from clusterlets.benchmark.steps.score_method import score_method
from clusterlets.benchmark.steps.sum_distances import sum_distances
from clusterlets.errors import UnusableFileError
from clusterlets.estimators import fairness_report
from clusterlets.methods import get
from clusterlets.metrics import instances
from clusterlets.parameter_text import format_parameters
from clusterlets.storage import load_rows, save_arrays, save_json
from clusterlets.supervision.fits import Budget

INSTANCE_SCORES = [score.name for score in instances.SCORES]
GROUP_NAMES = ["setosa", "versicolor", "virginica"]


@pytest.fixture
def iris(tmp_path, monkeypatch):
    """The prepared table, saved in the folder ``tables``."""
    monkeypatch.chdir(tmp_path)
    X, groups = load_iris(return_X_y=True)
    save_arrays(prepared_path("npz", "tables", "iris"), {"X": X, "groups": groups, "group_values": np.array([GROUP_NAMES]).T})
    return Prepared(X, groups, [[name] for name in GROUP_NAMES])


def score_cell(cell):
    """Score a matcher on the files in the folder ``tables``, and return the rows of its cell."""
    score_method(
        method=json.dumps({"name": cell.method}),
        dataset=cell.dataset,
        k=cell.k,
        parameters=json.dumps(cell.parameters),
        settings="{}",
        seeds=cell.seeds,
        base_seed=0,
        budget="{}",
        tables_of="tables",
        deviation="absolute",
        output="cell.csv",
    )
    return read_cell("cell.csv", cell)


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
    cell = Cell("iris", matcher, 6, {"hops": [1, hops]}, "0-2")
    files = shared_inputs(cell, get(matcher), "tables")
    save_json(
        files["geometry"],
        {"diameter": diameter(iris.X), "group_values": [[name] for name in GROUP_NAMES], "group_sizes": [50] * 3},
    )
    table = {"data": files["data"], "dataset": "iris", "base_seed": 0}
    extract_clusterlets(**table, k=6, seeds="0-2", pieces=files["pieces"], labels=files["labels"])
    sum_distances(**table, labels=files["labels"], output=files["distances"])
    rows = score_cell(cell)
    pieces, labels = SeedBatch.load(files["pieces"]), SeedBatch.load(files["labels"])
    assert [(row["hops"], row["seed"]) for row in rows] == [(str(each), seed) for each in (1, hops) for seed in "012"]
    for row in rows:
        membership = matching_of(matcher, int(row["hops"]), pieces, int(row["seed"]))
        report = fairness_report(iris.X, membership.T[labels.values[row["seed"]]["labels"]], iris.groups)
        scores = {name: float(row[name]) for name in report if row.get(name)}
        assert scores == pytest.approx({name: report[name] for name in scores}, rel=1e-9, abs=1e-12)
        empty = {name for name in COLUMNS[COLUMNS.index("parameters") + 1 :] if not row[name]}
        undefined = {"silhouette", "silhouette_error", "silhouette_least_group"} if report["overlap"] else set()
        assert empty == {"cohesion_error"} | undefined
    assert any(float(row["overlap"]) for row in rows) == (matcher in ("D", "B"))  # only D and B share clusterlets


def test_one_column_whose_values_hold_the_sign_between_names_counts_as_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.arange(80)
    skills, x = np.array(["R + SQL", "R + Java", "C + SQL", "C + Java"])[rows % 4], np.isin(rows % 4, (1, 2)) * 10
    lines = [f"{feature},{row % 7},{skill}\n" for row, feature, skill in zip(rows, x, skills, strict=True)]
    (tmp_path / "people.csv").write_text("".join(["x,y,skills\n", *lines]))
    data, table = prepared_path("npz", "tables", "people"), {"dataset": "people", "base_seed": 0}
    settings = json.dumps({"sensitive": ["skills"], "features": "numeric", "scaling": "none"})
    prepare_user_table("people", "people.csv", settings, data, prepared_path("json", "tables", "people"))
    deviations = []
    for bound in (0.02, 1):  # every cluster keeps the shares of R and of SQL in both, but not the shares of the four skills
        cell = Cell("people", "fair-limit", 2, {"max_deviation": [bound]}, "0-0")
        measure_geometry(data, **table, output=shared_inputs(cell, get("fair-limit"), "tables")["geometry"])
        fit = {"method": '{"name": "fair-limit"}', "k": 2, "parameters": json.dumps({"max_deviation": bound}), "seeds": "0-0"}
        fit_method(data, **table, **fit, budget="{}", pieces=fitted_pieces(cell, "tables")[0], labels="labels.npz")
        deviations.append(float(score_cell(cell)[0]["column_deviation"]))
    assert deviations[0] <= 0.02 and deviations[1] == 0.25


def save_cell(cell, path, order=None):
    """Write a cell of a matcher without scores."""
    configurations = [format_parameters(parameters) for parameters in order or cell.configurations]
    columns = {"dataset": cell.dataset, "method": CLUSTERLETS, "matcher": cell.method, "k": cell.k}
    runs = itertools.product(configurations, seeds_of(cell.seeds))
    write_cell(path, [{**columns, "parameters": text, "seed": seed} for text, seed in runs])


def test_runs_are_in_the_order_of_the_parameters_and_then_of_the_batches(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    grid = [Cell("a", "D", 5, {"hops": [4, 10, 2]}, seeds) for seeds in ("0-1", "2-3")] + [
        Cell("a", "C", 5, {"x": [2, 1]}, "0-1")
    ]
    cells = {cell.path: cell for cell in grid}
    for path, cell in cells.items():
        save_cell(cell, path)
    monkeypatch.setattr(collect_runs, "cells_by_path", lambda config, variant: cells)
    monkeypatch.setattr(collect_runs, "plain_cost_paths", lambda config, variant: {})
    collect_runs.collect_runs("{}", "runs.csv")
    runs = [(row.parameters, int(row.seed)) for row in read_runs("runs.csv").itertuples()]
    expected = [(text, seed) for text in ("hops=4", "hops=10", "hops=2") for seed in range(4)]
    assert runs == expected + [(text, seed) for text in ("x=2", "x=1") for seed in range(2)]


CELL = Cell("a", "D", 5, {"hops": [2, 4]}, "0-1")


@pytest.mark.parametrize(
    "other",
    [
        {"parameters": {"hops": [2]}},
        {"parameters": {"hops": [4, 2]}},
        {"parameters": {"hops": [2, 4, 8]}},
        {"dataset": "b"},
        {"method": "B"},
        {"k": 7},
        {"seeds": "2-3"},
        {"seeds": "0-0"},
    ],
    ids=str,
)
def test_a_cell_that_does_not_hold_the_runs_of_its_path_and_configuration_is_refused_and_kept(other, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_cell(replace(CELL, **other), CELL.path)
    monkeypatch.setattr(collect_runs, "cells_by_path", lambda config, variant: {CELL.path: CELL})
    with pytest.raises(UnusableFileError, match="seeds0-1.csv does not hold the runs of .* left as it is. Remove"):
        collect_runs.collect_runs("{}", "runs.csv")
    assert (tmp_path / CELL.path).is_file() and not (tmp_path / "runs.csv").exists()


def test_pandas_reads_a_cell_and_its_columns_are_those_of_the_runs_and_a_crc(tmp_path):
    save_cell(CELL, tmp_path / "cell.csv")
    frame = pd.read_csv(tmp_path / "cell.csv")
    assert [*frame] == [*COLUMNS, "crc32"] and frame["seed"].tolist() == [0, 1, 0, 1]
    content = frame.drop(columns="crc32").to_csv(index=False, lineterminator="\n")
    assert set(frame["crc32"]) == {zlib.crc32(content.encode())}


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
        monkeypatch.setattr(collect_runs, "read_cell", lambda path, cell: load_rows(path))  # these rows are of many cells
        monkeypatch.setattr(collect_runs, "cells_by_path", lambda config, variant: {"cell.csv": Cell("a", "D", 2, {}, "0-1")})
        collect_runs.collect_runs(config, "runs.csv")
        prices = read_runs("runs.csv")["price_of_fairness"]
        assert prices.to_list() == pytest.approx([price for _, price in cases], nan_ok=True)
