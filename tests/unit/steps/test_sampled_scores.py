"""Tables above the limit of exact sums, from the fit to the report, tested on a small table with a smaller limit."""

import csv
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from clusterlets.algorithms import geometry
from clusterlets.algorithms.row_samples import EXACT_LIMIT
from clusterlets.grid.cells import cells
from clusterlets.grid.configuration import read_configuration
from clusterlets.grid.runs_frame import read_runs
from clusterlets.methods import Matcher, get
from clusterlets.steps.analysis import analyse
from clusterlets.steps.collecting import collect_runs
from clusterlets.steps.distances import sum_distances
from clusterlets.steps.extraction import extract_clusterlets
from clusterlets.steps.fitting import fit_method
from clusterlets.steps.geometry import measure_geometry
from clusterlets.steps.plain_costs import cost_plainly
from clusterlets.steps.report import write_report
from clusterlets.steps.scoring import score_method
from clusterlets.steps.user_table import prepare_user_table
from clusterlets.storage import load_json

ROWS = 2400
GRID = """
datasets: [{name: people, path: people.csv, sensitive: city}]
k: [4]
hops: [2]
seeds: {count: 2, block: 2}
methods: [G-B, B, k-means, random]
"""
READ = {"sensitive": ["city"], "features": "numeric", "separator": None, "scaling": "none"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A table and its grid in the working directory."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 2)) + 6 * rng.integers(2, size=(ROWS, 1))
    with open("people.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "y", "city"])
        writer.writerows([*row, "ab"[code]] for row, code in zip(X.tolist(), rng.integers(2, size=ROWS)))
    tmp_path.joinpath("grid.yaml").write_text(GRID)


def steps_to_runs(folder):
    """Run every step up to ``runs.csv`` in a folder as the rules do; returns the runs and the configuration."""
    config = read_configuration("grid.yaml") | {"results": folder}
    (dataset,) = config["datasets"]
    data, geometry_path = f"{folder}/prepared/{dataset}.npz", f"{folder}/geometry/{dataset}.json"
    prepare_user_table("people", "people.csv", json.dumps(READ), data, f"{folder}/prepared/{dataset}.json")
    measure_geometry(data, dataset, 0, geometry_path)
    cost_plainly(data, dataset, 4, f"{folder}/plain_costs/{dataset}/k4.json")
    block_files = {name: f"{folder}/{name}.npz" for name in ("pieces", "labels")}
    extract_clusterlets(data, dataset, 4, "0-1", 0, **block_files)
    sum_distances(data, dataset, block_files["labels"], 0, f"{folder}/distances.npz")
    for cell in cells(config):
        method, entry = get(cell.method), json.dumps({"name": cell.method})
        parameters, settings = (json.dumps(values) for values in (cell.parameters, settings_of(method, config)))
        score = partial(score_method, entry, dataset, 4, parameters, settings, "0-1", 0, "{}")
        if issubclass(method, Matcher):
            matcher_inputs = {"data": data, "labels": block_files["labels"], "distances": f"{folder}/distances.npz"}
            score(block_files["pieces"], geometry_path, "absolute", f"{folder}/{cell.path}", **matcher_inputs)
        else:
            pieces = f"{folder}/{cell.method}.npz"
            fit_method(data, entry, dataset, 4, parameters, "0-1", 0, "{}", pieces, f"{folder}/labels.{cell.method}.npz")
            score(pieces, geometry_path, "absolute", f"{folder}/{cell.path}")
    collect_runs(json.dumps(config), f"{folder}/runs.csv")
    return read_runs(f"{folder}/runs.csv"), config


def settings_of(method, config):
    """The settings of the configuration that a method takes as parameters."""
    return {name: config[key] for name, key in method.settings.items()}


def test_a_table_above_the_limit_is_scored_on_samples_up_to_the_report(monkeypatch):
    assert EXACT_LIMIT == geometry.EXACT_LIMIT == 100_000
    monkeypatch.setattr(geometry, "EXACT_LIMIT", ROWS)
    exact, _ = steps_to_runs("exact")
    monkeypatch.setattr(geometry, "EXACT_LIMIT", ROWS - 1)
    monkeypatch.setattr(geometry, "sampled_sums", partial(geometry.sampled_sums, sample_size=20))
    sampled, config = steps_to_runs("sampled")
    steps_to_runs("again")
    for name in ("runs.csv", "geometry/people.city.json", "distances.npz", "k-means.npz"):
        assert Path("sampled", name).read_bytes() == Path("again", name).read_bytes()
    assert exact["cohesion_error"].isna().all() and len(sampled) == 8
    assert (sampled["cohesion_error"] > 0).all() and sampled["cohesion_error"].max() < 0.01
    assert (np.abs(sampled["cohesion"] - exact["cohesion"]) < 4 * sampled["cohesion_error"]).all()
    assert (sampled["overlap"] > 0).any()
    other_columns = [column for column in exact if column not in ("cohesion", "cohesion_error")]
    assert sampled[other_columns].equals(exact[other_columns])

    sampled_geometry, exact_geometry = (load_json(f"{name}/geometry/people.city.json") for name in ("sampled", "exact"))
    assert exact_geometry.keys() == sampled_geometry.keys() - {"cohesion_error", "diameter_at_most"}
    assert sampled_geometry["diameter"] == sampled_geometry["diameter_at_most"] == exact_geometry["diameter"]
    assert 0 < abs(sampled_geometry["cohesion"] - exact_geometry["cohesion"]) < 4 * sampled_geometry["cohesion_error"]

    analyse("sampled/runs.csv", json.dumps(config), "sampled")
    write_report("sampled/runs.csv", json.dumps(config), "sampled", "report.html", "summary.txt")
    sentence = (
        f"is estimated from samples of its rows; the largest standard error of a run is {sampled['cohesion_error'].max():.2g} "
    )
    assert sentence in Path("report.html").read_text(encoding="utf-8")
