"""The demo runs every method of workflow/configs/field.yaml, called the field, and each appears in its results."""

import csv
import subprocess
import sys
from itertools import product

import pytest

from clusterlets import methods
from clusterlets.benchmark.analysis.leaderboard import LIMITS
from clusterlets.benchmark.analysis.selection import PAPER_NAMES
from clusterlets.benchmark.grid.configuration import CONFIGURATION, read_configuration

CONFIGURATIONS = CONFIGURATION.parent / "workflow/configs"
FIELD = read_configuration(CONFIGURATIONS / "field.yaml")["methods"]
TABLES = ("breast_cancer", "iris", "wine")
TWO_GROUP_METHODS = {name for name in FIELD if methods.get(name).most_groups == 2}  # only breast_cancer has two groups
OUTPUTS = [name for method in FIELD for name in methods.get(method).names_in_results()]
NAMES_IN_TABLES = {PAPER_NAMES.get(name, name) for name in OUTPUTS}


@pytest.fixture(scope="module")
def results(demo):
    """The folder of the demo's results."""
    return demo.folder / "results/demo"


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_method_has_runs_on_every_table_and_only_methods_for_two_groups_lack_results(results):
    assert read_configuration(CONFIGURATIONS / "demo.yaml")["methods"] == FIELD
    rows = rows_of(results / "runs.csv")
    assert {(row["dataset"], row["matcher"] or row["method"]) for row in rows} == {*product(TABLES, OUTPUTS)}
    for row in rows:
        is_supported = row["method"] not in TWO_GROUP_METHODS or row["dataset"] == "breast_cancer"
        assert row["status"] == ("ok" if is_supported else "unsupported"), row


def test_the_table_of_methods_gives_the_citation_of_each_method(results):
    rows = {row["method"]: row for row in rows_of(results / "methods.csv")}
    for method in map(methods.get, FIELD):
        for name in method.names_in_results():
            assert rows[PAPER_NAMES.get(name, name)]["citation"] == method.citation


def test_all_methods_that_have_results_everywhere_are_ranked(results):
    ranked = {row["method"] for row in rows_of(results / "statistics/mean_ranks.csv") if row["ranking"] == "all_methods"}
    assert ranked == NAMES_IN_TABLES - TWO_GROUP_METHODS
    assert (results / "figures/critical_difference_all_methods.png").read_bytes().startswith(b"\x89PNG")


def test_the_report_says_which_runs_have_no_result(results):
    page = (results / "report.html").read_text(encoding="utf-8")
    assert "runs of tree-fairlets have no result" in page and "status unsupported" in page


def test_the_leaderboard_has_every_method_under_every_limit(results):
    kinds = {row["method"]: row["kind"] for row in rows_of(results / "leaderboard_points.csv")}
    assert kinds.keys() == NAMES_IN_TABLES
    assert {name for name, kind in kinds.items() if kind == "control"} == {"k-means", "random"}
    assert {name for name, kind in kinds.items() if kind == "output"} == {"FRAC (nearest)", "FRAC-OE (nearest)"}
    rows = [row for row in rows_of(results / "leaderboard.csv") if row["kind"] != "clusterlets"]
    keys = [(row["dataset"], row["limit"], row["method"]) for row in rows]
    names = [name for name, kind in kinds.items() if kind != "clusterlets"]
    assert sorted(keys) == sorted(product(TABLES, map("{:g}".format, LIMITS), names))
    unsupported = [row for row in rows if row["method"] in TWO_GROUP_METHODS and row["dataset"] != "breast_cancer"]
    assert {(row["method"], row["outcome"], row["failed"]) for row in unsupported} == {
        ("fairlets", "unsupported", "2"),  # two seeds
        ("tree-fairlets", "unsupported", "4"),  # and two values of its parameter
    }
    rows_within_limit = [row for row in rows if row["outcome"] == "keeps the limit"]
    assert rows_within_limit and all(float(row["deviation_max"]) <= float(row["limit"]) + 1e-6 for row in rows_within_limit)


# fair-lp under a different name, with the same random stream and the values that the demo tries.
TWIN = """
from clusterlets.methods.fair_lp import FairLP


class Twin(FairLP):
    name = "twin"
    stream = FairLP.stream_number()
    parameters = {"max_deviation": [0.02, 0.05]}
"""
UNLUCKY = """
from clusterlets.methods import Method


class Unlucky(Method):
    name = "unlucky"

    def fit(self, X, groups, n_clusters, random_state):
        raise ValueError("no luck")
"""


def rank(demo, name, source):
    """Rank the method in this source among the methods of the demo."""
    (demo.folder / f"{name}.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "clusterlets", "rank", f"{name}.py", "--cores", "2", "--reference", "results/demo"]
    return subprocess.run(command, cwd=demo.folder, text=True, capture_output=True)


def test_a_method_ranked_alone_gets_the_same_points_as_in_the_field(demo, results):
    ranked = rank(demo, "twin", TWIN)
    assert ranked.returncode == 0, ranked.stderr
    boards = demo.folder / "results/rank/leaderboards/twin"
    points = rows_of(boards / "leaderboard_points.csv")
    expected_points = [row for row in rows_of(results / "leaderboard_points.csv") if row["method"] == "fair-lp"]
    assert points == [{**row, "method": "twin"} for row in expected_points]
    overall = rows_of(boards / "leaderboard_overall.csv")
    rows_of_field = {(row["method"], row["limit"]): row for row in rows_of(results / "leaderboard_overall.csv")}
    for row in overall:
        expected = rows_of_field[row["method"].replace("twin", "fair-lp"), row["limit"]]
        assert {**row, "place": "", "method": ""} == {**expected, "place": "", "method": ""}
    n_methods = len({row["method"] for row in overall if row["place"]})
    assert n_methods == 14 and ranked.stdout.count(f" of {n_methods} ") == len(LIMITS)
    assert "Fewer than 6 tables are too few to tell methods apart" in ranked.stdout


def test_a_method_that_fails_is_not_ranked(demo):
    ranked = rank(demo, "unlucky", UNLUCKY)
    message = "clusterlets rank: unlucky failed on iris, so it was not compared: ValueError: no luck"
    assert ranked.returncode == 1 and not ranked.stdout
    assert ranked.stderr.splitlines()[-1] == message
