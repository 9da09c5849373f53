"""A table that is too large for exact sums, from the fit to the report. The test lowers the limit."""

import json
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import tiny_grid

from clusterlets.algorithms import geometry, row_samples
from clusterlets.benchmark.grid.configuration import read_configuration
from clusterlets.benchmark.grid.runs_frame import read_runs
from clusterlets.benchmark.steps.__main__ import main
from clusterlets.benchmark.steps.write_report import write_report
from clusterlets.storage import load_json

ROWS = 2400
GRID = {
    "datasets": [{"name": "people", "path": "people.csv", "sensitive": "city"}],
    "k": [4],
    "hops": [2],
    "seeds": {"count": 2, "batch": 2},
    "methods": ["G-B", "B", "k-means", "random"],
    "budget": {"seconds": 60, "memory_mb": None},
}


def test_sums_are_exact_up_to_100_000_rows():
    assert row_samples.ALL_PAIRS_ROWS == 100_000


@pytest.fixture
def run_in(tmp_path, monkeypatch):
    """A function that runs every step up to the tables in a new folder with the given name, and returns the runs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 2)) + 6 * rng.integers(2, size=(ROWS, 1))
    cities = ("ab"[code] for code in rng.integers(2, size=ROWS))
    rows = [f"{x},{y},{city}\n" for (x, y), city in zip(X.tolist(), cities, strict=True)]
    (tmp_path / "people.csv").write_text("".join(["x,y,city\n", *rows]))
    steps = tiny_grid.plan(tmp_path, GRID, ["results/tables/all_tables.tex"])

    def run(name):
        (tmp_path / name).mkdir()
        shutil.copy(tmp_path / "people.csv", tmp_path / name)
        monkeypatch.chdir(tmp_path / name)
        for step in steps:
            assert main(step) == 0
        return read_runs("results/runs.csv")

    return run


@pytest.mark.slow
def test_a_table_above_the_limit_is_scored_on_samples_and_the_report_says_so(run_in, tmp_path, monkeypatch):
    monkeypatch.setattr(row_samples, "ALL_PAIRS_ROWS", ROWS)
    exact = run_in("exact")
    monkeypatch.setattr(row_samples, "ALL_PAIRS_ROWS", ROWS - 1)
    monkeypatch.setattr(geometry, "sampled_sums", partial(geometry.sampled_sums, sample_size=20))
    run_in("again")
    sampled = run_in("sampled")
    # Both runs draw the same samples.
    for path in ("runs.csv", "geometry/people.city.json", "distances/people.city/clusterlets/k4/seeds0-1.npz"):
        assert Path("results", path).read_bytes() == Path("../again/results", path).read_bytes()
    assert exact["cohesion_error"].isna().all() and len(sampled) == 8  # four methods with two seeds
    assert (sampled["cohesion_error"] > 0).all() and sampled["cohesion_error"].max() < 0.01
    assert (np.abs(sampled["cohesion"] - exact["cohesion"]) < 4 * sampled["cohesion_error"]).all()
    assert (sampled["overlap"] > 0).any()
    other_columns = [column for column in exact if column not in ("cohesion", "cohesion_error")]
    assert sampled[other_columns].equals(exact[other_columns])

    sampled_geometry, exact_geometry = (
        load_json(tmp_path / name / "results/geometry/people.city.json") for name in ("sampled", "exact")
    )
    assert exact_geometry.keys() == sampled_geometry.keys() - {"cohesion_error", "diameter_at_most"}
    assert sampled_geometry["diameter"] == sampled_geometry["diameter_at_most"] == exact_geometry["diameter"]
    assert 0 < abs(sampled_geometry["cohesion"] - exact_geometry["cohesion"]) < 4 * sampled_geometry["cohesion_error"]

    config = json.dumps(read_configuration("../settings.json"))
    write_report(config, "results", "report.html", "summary.txt")
    error = f"{sampled['cohesion_error'].max():.2g}"
    sentence = f"is estimated from samples of its rows; the largest standard error of a run is {error} "
    assert sentence in Path("report.html").read_text(encoding="utf-8")
