"""The methods of workflow/configs/field.yaml, called the field, run on a tiny grid and appear in its results."""

import csv
import io
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from clusterlets import methods
from clusterlets.benchmark.analysis.leaderboard import LIMITS
from clusterlets.benchmark.analysis.selection import PAPER_NAMES
from clusterlets.benchmark.grid.configuration import read_configuration

ROOT = Path(__file__).resolve().parents[2]
FIELD = read_configuration(ROOT / "workflow/configs/field.yaml")
TWO_GROUP_METHODS = {name for name in FIELD["methods"] if methods.get(name).most_groups == 2}


def names_in_tables(methods_of_field):
    """The names under which methods and their outputs appear in the tables."""
    names = {name for method in methods_of_field for name in methods.get(method).names_in_results()}
    return {PAPER_NAMES.get(name, name) for name in names}


def third_values(grid):
    """The third value that the field tries for each parameter of a method. Other settings give hops, omega and n_init."""
    return {
        name: values[2:3] or values[:1]
        for name, values in grid["parameters"].items()
        if name not in ("hops", "omega", "n_init")
    }


@pytest.fixture(scope="module")
def finished_field(workflow_in, tmp_path_factory):
    """A finished run of all methods of the field, with the third value of their parameters."""
    entries = [{"name": name, "parameters": third_values(grid)} for name, grid in FIELD["method_settings"].items()]
    small_grid = {"datasets": ["iris", "wine"], "scaling": "standard", "k": [3], "seeds": {"count": 2, "batch": 2}}
    small_grid |= {"starts": 2, "ladders": True}
    workflow = workflow_in(tmp_path_factory.mktemp("field"))
    run = workflow.run(config={**small_grid, "methods": entries, "budget": {"seconds": 60, "memory_mb": 4000}})
    assert run.status == 0, run.output
    return workflow


@pytest.fixture(scope="module")
def field(finished_field):
    """Content of the results of this run, by path."""
    return finished_field.results()


def rows_of(content):
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_every_method_has_runs_on_every_table_and_only_methods_for_two_groups_lack_results(field):
    rows = rows_of(field["runs.csv"])
    names = [name for method in FIELD["methods"] for name in methods.get(method).names_in_results()]
    pairs = [(row["dataset"], row["matcher"] or row["method"]) for row in rows]
    assert sorted(pairs) == sorted(2 * [*product(("iris", "wine"), names)])  # two seeds
    for row in rows:
        assert row["status"] == ("unsupported" if row["method"] in TWO_GROUP_METHODS else "ok"), row


def test_the_table_of_methods_gives_the_citation_of_each_method(field):
    rows = {row["method"]: row for row in rows_of(field["methods.csv"])}
    for method in map(methods.get, FIELD["methods"]):
        for name in method.names_in_results():
            assert rows[PAPER_NAMES.get(name, name)]["citation"] == method.citation


def test_all_methods_that_have_results_are_ranked(field):
    ranked = {row["method"] for row in rows_of(field["statistics/mean_ranks.csv"]) if row["ranking"] == "all_methods"}
    assert ranked == names_in_tables(FIELD["methods"]) - TWO_GROUP_METHODS
    assert field["figures/critical_difference_all_methods.png"].startswith(b"\x89PNG")


def test_the_report_says_which_runs_have_no_result(field):
    page = field["report.html"].decode()
    assert "run of tree-fairlets has no result" in page or "runs of tree-fairlets have no result" in page
    assert "status unsupported" in page


def test_the_leaderboard_has_every_method_under_every_limit(field):
    kinds = {row["method"]: row["kind"] for row in rows_of(field["leaderboard_points.csv"])}
    assert kinds.keys() == names_in_tables(FIELD["methods"])
    assert {name for name, kind in kinds.items() if kind == "control"} == {"k-means", "random"}
    assert {name for name, kind in kinds.items() if kind == "output"} == {"FRAC (nearest)", "FRAC-OE (nearest)"}
    rows = [row for row in rows_of(field["leaderboard.csv"]) if row["kind"] != "clusterlets"]
    keys = [(row["dataset"], row["limit"], row["method"]) for row in rows]
    names = [name for name, kind in kinds.items() if kind != "clusterlets"]
    assert sorted(keys) == sorted(product(("iris", "wine"), map("{:g}".format, LIMITS), names))
    outcomes = {(row["outcome"], row["failed"]) for row in rows if row["method"] in TWO_GROUP_METHODS}
    assert outcomes == {("unsupported", "2")}
    rows_within_limit = [row for row in rows if row["outcome"] == "keeps the limit"]
    assert rows_within_limit and all(float(row["deviation_max"]) <= float(row["limit"]) + 1e-6 for row in rows_within_limit)
    assert {row["starts"] for row in rows} == {"2"}


# fair-lp under a different name, with the same random stream and the third value that the field tries.
TWIN = """
from clusterlets.methods.fair_lp import FairLP


class Twin(FairLP):
    name = "twin"
    stream = FairLP.stream_number()
    parameters = {"max_deviation": [0.03]}
"""
UNLUCKY = """
from clusterlets.methods import Method


class Unlucky(Method):
    name = "unlucky"

    def fit(self, X, groups, n_clusters, random_state):
        raise ValueError("no luck")
"""


def rank(finished_field, folder, file):
    """Rank the method in a file of ``folder`` among the methods of the finished run."""
    command = [sys.executable, "-m", "clusterlets", "rank", file, "--cores", "2"]
    reference = finished_field.folder / "results/tiny"
    return subprocess.run([*command, "--reference", reference], cwd=folder, text=True, capture_output=True)


def test_a_method_ranked_alone_gets_the_same_points_as_in_the_field(finished_field, field, tmp_path):
    (tmp_path / "twin.py").write_text(TWIN, encoding="utf-8")
    ranked = rank(finished_field, tmp_path, "twin.py")
    assert ranked.returncode == 0, ranked.stderr
    points = rows_of((tmp_path / "results/rank/leaderboards/twin/leaderboard_points.csv").read_bytes())
    expected_points = [row for row in rows_of(field["leaderboard_points.csv"]) if row["method"] == "fair-lp"]
    assert points == [{**row, "method": "twin"} for row in expected_points]
    overall = rows_of((tmp_path / "results/rank/leaderboards/twin/leaderboard_overall.csv").read_bytes())
    rows_of_field = {(row["method"], row["limit"]): row for row in rows_of(field["leaderboard_overall.csv"])}
    for row in overall:
        expected = rows_of_field[row["method"].replace("twin", "fair-lp"), row["limit"]]
        assert {**row, "place": "", "method": ""} == {**expected, "place": "", "method": ""}
    n_methods = len({row["method"] for row in overall if row["place"]})
    assert n_methods == 14 and ranked.stdout.count(f" of {n_methods} ") == len(LIMITS)
    assert "Fewer than 6 tables are too few to tell methods apart" in ranked.stdout


def test_a_method_that_fails_is_not_ranked(finished_field, tmp_path):
    (tmp_path / "unlucky.py").write_text(UNLUCKY, encoding="utf-8")
    ranked = rank(finished_field, tmp_path, "unlucky.py")
    message = "clusterlets rank: unlucky failed on iris, so it was not compared: ValueError: no luck"
    assert ranked.returncode == 1 and not ranked.stdout
    assert ranked.stderr.splitlines()[-1] == message
