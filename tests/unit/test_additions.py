"""A new method or figure takes one file, and a new score one entry. The tests add all three to a copy of the checkout."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
STRIPED = '''
import numpy as np

from clusterlets.methods import PARTS, Choice, Integer, Method, Real


class Striped(Method):
    """Stripes of the rows, in the order of their first feature."""

    name = "striped"
    citation = "Nobody, A method for this test alone"
    guarantee = "nothing"
    cost = "no time at all"
    parameters = {
        "width": Integer(1, 9, grid=[1, 2], trades_fairness=True, meaning="Rows of a stripe."),
        "order": Choice(("up", "down"), meaning="Which rows come first."),
        "slack": Real(0, 1, also=[None], bound=PARTS, meaning="Part of each group that every cluster must hold at least."),
    }

    def fit(self, X, groups, n_clusters, random_state, width=1, order="up", slack=None):
        from clusterlets.algorithms.kmeans import kmeans_labels

        self.order_ = np.argsort(X[:, 0] if order == "up" else -X[:, 0], kind="stable")
        return kmeans_labels(X, n_clusters, random_state)
'''
FIGURE = """
from clusterlets.pages.style import single_panel
from clusterlets.benchmark.report.figures import Declaration

FIGURES = [
    Declaration(
        name="stripes", title="Stripes", caption="All of them.", reads=("runs.csv",), sections=("report.html#figures",)
    )
]


def draw(runs):
    figure, axes = single_panel(1)
    axes.plot(runs["rows_of_pieces"])
    return figure
"""
SCORE = """    Score(
        "{name}",
        computed_from={computed_from},
        function=lambda values: int({result}),
        unit="rows",
        better="lower",
        range=(1, 10**9),
        meaning="a test",
    ),
"""
# For each module of metrics: the line after which the entry is inserted, and the fields of the entry.
SCORES = {
    "all_scores": (
        "FURTHER_SCORES = (\n",
        {"name": "rows_of_pieces", "computed_from": "Pieces", "result": "values.counts.sum()"},
    ),
    "instances": ("SCORES = (\n", {"name": "rows_of_instances", "computed_from": "Instances", "result": "len(values.X)"}),
}
SCORE_NAMES = [fields["name"] for _, fields in SCORES.values()]
REGISTRY_TESTS = [
    "tests/unit/methods/test_methods.py",
    "tests/unit/methods/test_parameters.py",
    "tests/unit/metrics/test_table.py",
    "tests/unit/benchmark/report/test_declarations.py",
    "tests/unit/benchmark/steps/test_score_columns.py",
    "tests/unit/test_estimators.py",
    "tests/unit/test_generated.py",
    "tests/unit/benchmark/grid/test_field_configurations.py",
    "tests/unit/benchmark/grid/test_grid.py::test_random_streams_never_change",
    "tests/unit/test_library.py::test_every_public_name_is_the_object_of_that_name",
]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the checkout with a new method, a new figure and two new scores. Its generated files are renewed."""
    copy = tmp_path_factory.mktemp("copy") / "checkout"
    ignored = shutil.ignore_patterns(".*", "results", "data", "*.egg-info")  # the copy keeps the compiled kernels
    shutil.copytree(ROOT, copy, ignore=ignored, symlinks=True)
    (copy / "clusterlets/methods/striped.py").write_text(STRIPED, encoding="utf-8")
    (copy / "clusterlets/benchmark/report/figures/stripes.py").write_text(FIGURE, encoding="utf-8")
    for module, (line_before, fields) in SCORES.items():
        path = copy / f"clusterlets/metrics/{module}.py"
        source = path.read_text(encoding="utf-8")
        assert source.count(line_before) == 1
        path.write_text(source.replace(line_before, line_before + SCORE.format(**fields)), encoding="utf-8")
    run(copy, "docs/generate.py")
    return copy


def run(checkout, *command):
    """Run Python in the copy, with the package of the copy; returns the output."""
    variables = {**os.environ, "PYTHONPATH": f"{checkout}{os.pathsep}{checkout / 'tests/support'}"}
    process = subprocess.run([sys.executable, "-P", *command], cwd=checkout, env=variables, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def test_the_generated_files_include_the_additions(checkout):
    page = (checkout / "docs/methods.md").read_text()
    assert "| `striped` | Stripes of the rows" in page
    assert "| `striped` | `width` | a whole number from 1 to 9 |" in page
    page = (checkout / "docs/results-format.md").read_text()
    for name in SCORE_NAMES:
        assert f"| {name} | rows, 1..1e+09, lower is better | a test |" in page


def test_the_workflow_plans_the_cells_of_the_method_and_the_figure(checkout):
    options = ("--config", "methods=[k-means, striped]", "datasets=[iris]", "--configfile", "workflow/configs/demo.yaml")
    plan = run(checkout, "-m", "snakemake", "--dry-run", "--cores", "1", *options)
    assert "iris: striped k3_width2" in plan
    assert "plot_stripes" in plan


# Prints the row of runs.csv and the fairness report of one clustering, and a report page with the new figure.
SCORE_AND_REPORT = """
import csv, json
from pathlib import Path
import numpy as np
from synthetic_runs import synthetic_runs
from clusterlets import fairness_report
from clusterlets.benchmark.grid.artifacts import Prepared, SeedBatch
from clusterlets.benchmark.grid.configuration import read_configuration
from clusterlets.benchmark.grid.pieces import save_pieces
from clusterlets.benchmark.grid.runs_columns import write_runs
from clusterlets.benchmark.grid.samples import Sample
from clusterlets.benchmark.grid.scoring import cluster_outcomes, score_all
from clusterlets.methods import get
from clusterlets.benchmark.paper.results import Results
from clusterlets.benchmark.report import page
from clusterlets.benchmark.steps.plot import plot

X, groups, labels = np.arange(12.0)[:, None], np.arange(12) % 2, np.arange(12) // 4
save_pieces(Prepared(X, groups, [["a"], ["b"]]), {"k-means/0": labels}, "pieces.npz", "labels.npz", {}, Sample(np.arange(12)))
outcomes = cluster_outcomes(get("k-means"), 3, [0], SeedBatch.load("pieces.npz"), {"a": 6, "b": 6})
write_runs("runs.csv", score_all(get("k-means"), "x", 3, {}, outcomes, 11.0, "absolute"))
with open("runs.csv", newline="") as file:
    (run,) = csv.DictReader(file)
plot("stripes", ".")
outputs = page.StepOutputs({"stripes": Path("figures/stripes.png").read_bytes()})
html = page.render(Results.from_runs(synthetic_runs(("pima",), seeds=2, ks=(2,)), read_configuration()), outputs)
print(json.dumps([run, fairness_report(X, labels, groups), html], default=str))
"""


def test_the_results_have_the_scores_and_the_report_explains_them_and_shows_the_figure(checkout):
    row, report, html = json.loads(run(checkout, "-c", SCORE_AND_REPORT))
    for name in SCORE_NAMES:
        assert float(row[name]) == report[name] == 12
        assert name in html
    assert 'id="figure-stripes"' in html
    assert "All of them." in html


def test_the_registry_tests_pass_with_the_additions(checkout):
    # Words in the names of the tests, and in the ids of their parameters, that concern the additions.
    keywords = "striped or Striped or every or registry or generated or streams or itself or better_clustering or stored_scores"
    run(checkout, "-m", "pytest", "-q", "-p", "no:cacheprovider", *REGISTRY_TESTS, "-k", keywords)
