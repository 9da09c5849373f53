"""What runs again after a change: exactly what it touches, rule by rule, as Snakemake plans it and as it runs."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter

import pytest

CELL = "results/tiny/runs/iris/D/k2_hops2/seeds0-1.csv"

# Jobs of the tiny grid: two datasets, two k, one block of seeds.
MATCHER = {"score_method": 4}
PINBALL = {"score_method": 4 * 4}
CENTROID = MATCHER
METHOD = {"fit_method": 4, "score_method": 4}
METHODS = {"fit_method": 3 * 4, "score_method": 3 * 4}
SCORES = {"score_method": 8 * 4}
BLOCKS = {"extract_clusterlets": 4, "sample_partitions": 4, "sum_distances": 4, "fit_method": 3 * 4, **SCORES}
USUAL = ["C", "G-B", "D", "B", "G-D", "FRAC", "k-means", "random"]
TABLES = {"prepare_dataset": 2, "measure_geometry": 2, "list_data": 1}
FETCHED = {"fetch_dataset": 2}
ACCOUNTS_AND_PAGES = dict.fromkeys(
    ("account", "plot_runtime", "plot_seconds_against_rows", "write_report", "write_leaderboard", "write_manifest"), 1
)
HALF = {rule: count // 2 for rule, count in BLOCKS.items()}


NO_CODE = (".*", "__pycache__", "*.egg-info", "tests", "docs", "results", "data")


class Checkout:
    """A finished run and the code that made it, both copied, so that either can be changed."""

    def __init__(self, finished, folder):
        self.root = folder / "code"
        shutil.copytree(finished.root, self.root, ignore=shutil.ignore_patterns(*NO_CODE), copy_function=shutil.copy2)
        self.workflow = finished.copy(folder / "run", self.root)

    def edit(self, file, old, new):
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old!r} to change"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def comment(self, file):
        path = self.root / file
        path.write_text(path.read_text(encoding="utf-8") + "\n# a comment\n", encoding="utf-8")

    def planned(self, *targets, **config):
        """Jobs by rule that a run would execute."""
        run = self.workflow.run(*targets, "--dry-run", "--quiet", "rules", config=config)
        assert run.status == 0, run.output
        return planned(run.output)

    def executed(self, *targets, **config):
        """Jobs by rule that a run executed, judged by the logs that it wrote."""
        began = time.time()
        run = self.workflow.run(*targets, config=config)
        assert run.status == 0, run.output
        logs = self.workflow.folder / "results" / "tiny" / "logs"
        written = (log.relative_to(logs) for log in logs.rglob("*.log") if log.stat().st_mtime >= began)
        return Counter(log.parts[0].removesuffix(".log") for log in written)


def planned(output):
    """Snakemake's table of jobs; without the target, which does nothing."""
    table = re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE)
    assert table or "Nothing to be done" in output, output
    return {rule: int(count) for rule, count in table if rule not in ("all", "total")}


@pytest.fixture(scope="module")
def original(finished, tmp_path_factory):
    """A copy that the tests put back as it was."""
    return Checkout(finished, tmp_path_factory.mktemp("original"))


@pytest.fixture(scope="module")
def sums(original, tmp_path_factory):
    """The jobs that sum up any grid: every rule that makes neither data nor a block or cell."""
    empty = type(original.workflow)(tmp_path_factory.mktemp("empty"), original.root)
    all_rules = planned(empty.run("--dry-run", "--quiet", "rules").output)
    data_and_cells = BLOCKS | TABLES | FETCHED
    assert {rule: all_rules.get(rule) for rule in data_and_cells} == data_and_cells
    return {rule: count for rule, count in all_rules.items() if rule not in data_and_cells}


@pytest.fixture
def checkout(original):
    """The copy, whose code is put back after the test."""
    backup = original.root.with_name("kept")
    shutil.copytree(original.root, backup, copy_function=shutil.copy2)
    yield original
    shutil.rmtree(original.root)
    backup.rename(original.root)


SETTINGS = {
    "another k": ({"k": [2, 3, 4]}, HALF),
    "another block of seeds": ({"seeds": {"count": 4, "block": 2}}, BLOCKS),
    "another omega": ({"omega": [0.5, 0.25]}, CENTROID),
    "further hops": ({"hops": [2, 3]}, PINBALL),
    "another sample size": ({"sample_size": 200}, {"sample_partitions": 4} | CENTROID),
    "another tau of FRAC": ({"methods": [*USUAL[:5], {"name": "FRAC", "parameters": {"tau": [0.1]}}, *USUAL[6:]]}, METHOD),
    "another limit of the fits": ({"limits": {"seconds": 60, "memory_mb": None}}, {}),
    "a method more": ({"methods": [*USUAL, "FRAC-OE"]}, METHOD),
    "another dataset": (
        {"datasets": ["iris", "breast_cancer", "wine"]},
        HALF | {"fetch_dataset": 1, "prepare_dataset": 1, "measure_geometry": 1, "list_data": 1},
    ),
    "one dataset less": ({"datasets": ["iris"]}, {"list_data": 1}),
    "one matcher less": ({"methods": [name for name in USUAL if name != "G-D"]}, {}),
    "FRAC left out": ({"methods": [name for name in USUAL if name != "FRAC"]}, {}),
}


@pytest.mark.parametrize("change", SETTINGS)
def test_a_setting_runs_what_is_new_and_the_summaries(original, sums, change):
    config, expected = SETTINGS[change]
    assert original.planned(**config) == expected | sums


def test_another_matcher_runs_its_cells(original, sums):
    cells = list((original.workflow.folder / "results" / "tiny" / "runs").glob("*/G-D"))
    for cell in cells:
        cell.rename(cell.with_name("aside"))
    try:
        # Listed first, it changes the settings; otherwise Snakemake would not look for files missing below finished summaries.
        assert original.planned(methods=["G-D", *(name for name in USUAL if name != "G-D")]) == MATCHER | sums
    finally:
        for cell in cells:
            cell.with_name("aside").rename(cell)


NUMERIC = BLOCKS | TABLES
CODE = {
    "clusterlets/algorithms/matching/pinball.py": PINBALL,
    "clusterlets/algorithms/matching/centroid.py": {"sample_partitions": 4} | CENTROID,
    "clusterlets/algorithms/matching/objectives.py": {"sample_partitions": 4, "score_method": 5 * 4},
    "clusterlets/algorithms/frac.py": METHOD,
    "clusterlets/metrics/table.py": SCORES,
    "clusterlets/metrics/pieces.py": SCORES | {"measure_geometry": 2},
    "clusterlets/metrics/instances.py": BLOCKS,
    "clusterlets/methods/g_d.py": MATCHER,
    "clusterlets/methods/random.py": METHOD,
    "clusterlets/steps/fitting.py": METHODS,
    "clusterlets/datasets/bundled.py": FETCHED | NUMERIC,
}


@pytest.mark.parametrize("module", CODE)
def test_an_edited_module_runs_its_steps_and_what_follows(checkout, sums, module):
    checkout.comment(module)
    assert checkout.planned() == CODE[module] | sums


UNREAD = [
    "README.md",
    "Makefile",
    "workflow/rules/methods.smk",
    "clusterlets/methods/frac_oe.py",
    "clusterlets/commands/cluster.py",
]


@pytest.mark.parametrize("module", UNREAD)
def test_a_comment_that_no_step_reads_runs_nothing(checkout, module):
    checkout.comment(module)
    assert checkout.planned() == {}


def test_why_names_the_module_that_changed(checkout):
    checkout.comment("clusterlets/algorithms/matching/objectives.py")
    why = subprocess.run(
        [sys.executable, "-m", "clusterlets", "why", CELL, "--configfile", "settings.yaml"],
        cwd=checkout.workflow.folder,
        env={**os.environ, "PYTHONPATH": str(checkout.root)},
        capture_output=True,
        text=True,
    )
    assert why.stdout == "Its code changed: clusterlets/algorithms/matching/objectives.py\n    iris: score D k2_hops2\n", why
    assert why.stderr == "" and why.returncode == 0


def test_another_numpy_runs_the_numeric_steps_and_fetches_nothing(checkout, sums):
    checkout.edit("requirements.lock", "\nnumpy==", "\nnumpy==1")
    assert checkout.planned() == NUMERIC | sums


def test_another_drawing_library_computes_nothing(checkout, sums):
    checkout.edit("requirements.lock", "\nmatplotlib==", "\nmatplotlib==1")
    computing = {"collect_runs", "recover_clusters"}
    assert checkout.planned() == {rule: count for rule, count in sums.items() if rule not in computing}


def test_a_touched_but_equal_raw_file_runs_nothing(original):
    for path in (original.workflow.folder / "data" / "raw").rglob("*"):
        os.utime(path)
    assert original.planned() == {}


def test_another_place_and_core_count_run_nothing(original):
    run = original.workflow.run("--cores", "1")
    assert run.status == 0 and "Nothing to be done" in run.output


def test_an_edited_figure_is_drawn_again_and_nothing_else(checkout, sums):
    checkout.comment("clusterlets/report/figures/cohesion_vs_deviation.py")
    expected = {"plot_cohesion_vs_deviation": 1, **ACCOUNTS_AND_PAGES}
    assert expected.items() <= sums.items()
    assert checkout.planned() == expected == checkout.executed()
    assert checkout.planned() == {}


NEW_FIGURE = """
from clusterlets.report.drawing.style import single_panel
from clusterlets.report.figures import Declaration

FIGURES = [
    Declaration(
        name="runs_by_method",
        title="Runs of each method",
        caption="One bar per method; {braces} and *stars* are text.",
        reads=("runs.csv",),
        sections=("report.html#figures",),
    )
]


def draw(runs):
    figure, axes = single_panel(2)
    axes.bar(*zip(*runs["method"].value_counts().items()))
    return figure
"""


def test_a_new_figure_is_one_file(finished, tmp_path):
    checkout = Checkout(finished, tmp_path)
    (checkout.root / "clusterlets/report/figures/many_runs.py").write_text(NEW_FIGURE)
    expected = {"plot_many_runs": 1, **ACCOUNTS_AND_PAGES}
    assert checkout.planned() == expected == checkout.executed()
    results = checkout.workflow.folder / "results" / "tiny"
    assert (results / "figures/runs_by_method.pdf").is_file()
    assert '"figures/runs_by_method.png"' in (results / "manifest.json").read_text()
    report = (results / "report.html").read_text(encoding="utf-8")
    assert 'id="figure-runs_by_method"' in report and 'alt="Runs of each method"' in report
    run = checkout.workflow.run("--report", str(tmp_path / "page.html"))
    assert run.status == 0 and "WARNING" not in run.output, run.output
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    entries, _ = json.JSONDecoder().raw_decode("{" + page.partition("var results = {")[2])
    assert "{braces} and *stars* are text." in entries["results/tiny/figures/runs_by_method.png"]["caption"]


def test_what_was_planned_is_what_runs(checkout):
    """Last in this file, as it leaves another grid in the copy. Up to the runs only: summing them up would take longer."""
    runs, settings = "results/tiny/runs.csv", {"omega": [0.5, 0.25]}
    checkout.comment("clusterlets/algorithms/matching/pinball.py")
    expected = {"score_method": 4 * 4 + 4, "collect_runs": 1}
    assert checkout.planned(runs, **settings) == expected == checkout.executed(runs, **settings)
    assert checkout.planned(runs, **settings) == {}
