"""After a change, exactly the jobs that depend on it run again, in plans and in real runs."""

import json
import os
import re
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest

# Jobs of the tiny grid, by rule. It has two datasets, two k and one batch of seeds. Three of its eight methods are fitted, and
# all are scored.
SHARED_RULES = ("extract_clusterlets", "sample_partitions", "sum_distances")
BATCH_JOBS = {**dict.fromkeys(SHARED_RULES, 4), "measure_plain_cost": 4, "fit_method": 3 * 4, "score_method": 8 * 4}
USUAL_METHODS = ["C", "G-B", "D", "B", "G-D", "FRAC", "k-means", "random"]
TABLE_JOBS = {"prepare_dataset": 2, "measure_geometry": 2, "list_data": 1}
FETCH_JOBS = {"fetch_dataset": 2}
ACCOUNT_AND_PAGE_JOBS = dict.fromkeys(("account", "write_report", "write_manifest"), 1)
NOT_COPIED = (".*", "*.egg-info", "tests", "docs", "results", "data")  # the copy keeps the compiled kernels


class Checkout:
    """Copies of a finished run and of the code that made it. A test may change both."""

    def __init__(self, finished, folder):
        self.root = folder / "code"
        shutil.copytree(finished.root, self.root, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
        self.workflow = finished.copy(folder / "run", self.root)

    def edit(self, file, old, new):
        """Replace the first ``old`` in a file of the code by ``new``."""
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old!r} to change"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def change(self, *files):
        """Change the code of these files, but not what it computes."""
        for file in files:
            with open(self.root / file, "a", encoding="utf-8") as module:
                module.write("\nCHANGED = True\n")

    def planned(self, *targets, **config):
        """Number of jobs by rule that a run would execute."""
        run = self.workflow.run(*targets, "--dry-run", "--quiet", "rules", config=config)
        assert run.status == 0, run.output
        return jobs_in(run.output)

    def executed(self, *targets, **config):
        """Run the workflow, and count the jobs by rule, judged by the logs that they wrote."""
        began = time.time()
        run = self.workflow.run(*targets, config=config)
        assert run.status == 0, run.output
        logs = self.workflow.folder / "results" / "tiny" / "logs"
        written = (log.relative_to(logs) for log in logs.rglob("*.log") if log.stat().st_mtime >= began)
        return Counter(log.parts[0].removesuffix(".log") for log in written)


def jobs_in(output):
    """Number of jobs by rule in Snakemake's table, without the target rule, which does nothing."""
    table = re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE)
    assert table or "Nothing to be done" in output, output
    return {rule: int(count) for rule, count in table if rule not in ("all", "total")}


@pytest.fixture(scope="module")
def original(finished, tmp_path_factory):
    """Copies of the finished run and of its code. A test that changes them must restore them."""
    return Checkout(finished, tmp_path_factory.mktemp("original"))


@pytest.fixture(scope="module")
def summary_jobs(original, tmp_path_factory):
    """Number of jobs by rule, for the rules that sum up the grid. It is the same for every grid."""
    empty = type(original.workflow)(tmp_path_factory.mktemp("empty"), original.root)
    all_rules = jobs_in(empty.run("--dry-run", "--quiet", "rules").output)
    early_jobs = BATCH_JOBS | TABLE_JOBS | FETCH_JOBS
    assert {rule: all_rules.get(rule) for rule in early_jobs} == early_jobs
    return {rule: count for rule, count in all_rules.items() if rule not in early_jobs}


@pytest.fixture
def checkout(original):
    """The same copies, for a test that changes the code. The code is restored after the test."""
    backup = original.root.with_name("backup")
    shutil.copytree(original.root, backup, symlinks=True)
    yield original
    shutil.rmtree(original.root)
    backup.rename(original.root)


# A configuration that enlarges the tiny grid in every way.
LARGER = {
    "datasets": ["iris", "breast_cancer", "wine"],
    "k": [2, 3, 4],
    "seeds": {"count": 4, "batch": 2},
    "omega": [0.5, 0.25],
    "hops": [2, 3],
    "methods": [*USUAL_METHODS, "FRAC-OE"],
}
N_NEW_BATCHES = 3 * 3 * 2 - 4  # three datasets, three k and two batches, without those of the tiny grid
# For each change: the new settings, and the jobs that run besides the summaries.
CHANGES = {
    "a larger grid": (
        LARGER,
        {
            **{"fetch_dataset": 1, "prepare_dataset": 1, "measure_geometry": 1, "list_data": 1},
            "measure_plain_cost": 3 * 3 - 4,
            **dict.fromkeys(SHARED_RULES, N_NEW_BATCHES),
            "fit_method": 3 * N_NEW_BATCHES + 18,  # FRAC-OE is new in all 18 batches
            # Five matchers and four methods. In the four batches of the tiny grid, the matchers have new hops and omegas, and
            # three methods have nothing new.
            "score_method": (5 + 4) * 18 - 3 * 4,
        },
    ),
    "a smaller grid, and a different limit for the fits": (
        {
            "datasets": ["iris"],
            "methods": [name for name in USUAL_METHODS if name not in ("G-D", "FRAC")],
            "budget": {"seconds": 60, "memory_mb": None},
        },
        {"list_data": 1},
    ),
    "a different sample size, and a different tau for FRAC": (
        {
            "sample_size": 200,
            "methods": [*USUAL_METHODS[:5], {"name": "FRAC", "parameters": {"tau": [0.1]}}, *USUAL_METHODS[6:]],
        },
        {"sample_partitions": 4, "fit_method": 4, "score_method": 4 + 4},  # of C, which uses the sample, and FRAC
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_settings_run_only_new_jobs_and_the_summaries(original, summary_jobs, change):
    config, expected = CHANGES[change]
    assert original.planned(**config) == expected | summary_jobs


UNUSED_MODULES = (
    "methods/frac_oe",
    "commands/cluster",
    "commands/__init__",
    "benchmark/grid/configuration",
    "supervision/measures",
    "extras",
)


def test_changes_that_cannot_affect_results_run_nothing(checkout):
    """The changes are in comments, docstrings, the version, texts that explain, modules that no job imports, times of files,
    the number of cores, and the excluded datasets, to which one is added that the grid does not have.
    """
    for path in [*checkout.root.glob("clusterlets/**/*.py"), *checkout.root.glob("workflow/**/*.[ps]*")]:  # .py and .smk
        text = path.read_text(encoding="utf-8")
        docstring = text.replace('"""', '"""More: ', 1) if text.startswith('"""') else text
        path.write_text(f"# a comment\n\n{docstring}\n# a comment\n", encoding="utf-8")
    checkout.edit("clusterlets/__init__.py", '__version__ = "', '__version__ = "1')
    checkout.edit("clusterlets/metrics/all_scores.py", 'meaning="', 'meaning="more ')
    checkout.edit("clusterlets/methods/frac.py", 'citation = "', 'citation = "X and ')
    checkout.edit("clusterlets/methods/frac.py", 'meaning="', 'meaning="more ')
    checkout.edit("clusterlets/benchmark/datasets/sources.yaml", 'citation: "R. A. Fisher', 'citation: "Sir R. A. Fisher')
    checkout.change(*(f"clusterlets/{module}.py" for module in UNUSED_MODULES))
    for path in (checkout.workflow.folder / "data" / "raw").rglob("*"):
        os.utime(path)
    run = checkout.workflow.run("--dry-run", "--quiet", "rules", "--cores", "1", "--config", "exclude=nbfi")
    assert run.status == 0 and jobs_in(run.output) == {}, run.output


DATA_JOBS = {"fetch_dataset": 2, "prepare_dataset": 2}
EARLY_JOBS = {**DATA_JOBS, "measure_geometry": 2, "list_data": 1, **BATCH_JOBS}  # all but the summaries
# For each file or library, the jobs of data and cells whose code it is part of. Other jobs then run because they read results.
DEPENDENT_JOBS = {
    "algorithms/matching/pinball.py": {"score_method": 16},
    "algorithms/matching/centroid.py": {"sample_partitions": 4, "score_method": 4},
    "algorithms/frac.py": {"fit_method": 4, "score_method": 4},
    "metrics/all_scores.py": {"score_method": 32},
    "metrics/instances.py": {"extract_clusterlets": 4, "fit_method": 12, "score_method": 32},
    "methods/d.py": {"score_method": 4},
    "methods/random.py": {"fit_method": 4, "score_method": 4},
    "benchmark/steps/fit_method.py": {"fit_method": 12},
    "supervision/program.py": {},
    "benchmark/datasets/bundled.py": DATA_JOBS,
    "benchmark/datasets/sources.yaml iris": {"fetch_dataset": 1, "prepare_dataset": 1},
    "__main__.py": EARLY_JOBS,
    "benchmark/steps/__main__.py": EARLY_JOBS,
    "numpy": {rule: jobs for rule, jobs in EARLY_JOBS.items() if rule != "fetch_dataset"},
    "numba": {
        **{"measure_geometry": 2, "measure_plain_cost": 4, "extract_clusterlets": 4, "sum_distances": 4},
        **{"fit_method": 12, "score_method": 12},
    },
    "matplotlib": {},
}


def test_jobs_depend_on_the_modules_and_libraries_that_they_run(finished, summary_jobs):
    """Snakemake records each job's code among its parameters. The next test shows that a changed parameter reruns the job."""
    jobs = {}
    for file in filter(Path.is_file, (finished.folder / ".snakemake" / "metadata").rglob("*")):
        record = json.loads(file.read_text(encoding="utf-8"))
        for log in record["log"]:
            jobs[log] = record["rule"], {parameter.strip("'").rpartition(": ")[0] for parameter in record["params"]}
    assert Counter(rule for rule, _ in jobs.values()) == EARLY_JOBS | summary_jobs
    dependent = {name: Counter(rule for rule, parts in jobs.values() if name in parts) for name in DEPENDENT_JOBS}
    early_dependent = {
        name: {rule: counts[rule] for rule in EARLY_JOBS if rule in counts} for name, counts in dependent.items()
    }
    assert early_dependent == DEPENDENT_JOBS
    assert {"collect_runs"} <= dependent["numpy"].keys() - dependent["matplotlib"].keys()
    assert {"analyse", "write_report", "plot_heatmaps"} <= dependent["matplotlib"].keys()
    assert dependent["__main__.py"] == EARLY_JOBS | summary_jobs


def test_changed_code_reruns_the_jobs_that_depend_on_it(checkout, summary_jobs):
    checkout.change("clusterlets/algorithms/frac.py", "clusterlets/methods/d.py")
    # FRAC is fitted and scored on both datasets, and D, which has no fit, is scored.
    assert checkout.planned() == {"fit_method": 4, "score_method": 8} | summary_jobs


NEW_FIGURE = """
from clusterlets.pages.style import single_panel
from clusterlets.benchmark.report.figures import Declaration

FIGURES = [
    Declaration(
        name="runs_by_method",
        title="Runs of each method",
        caption="One bar per method.",
        reads=("runs.csv",),
        sections=("report.html#figures",),
    )
]


def draw(runs):
    figure, axes = single_panel(2)
    axes.bar(*zip(*runs["method"].value_counts().items()))
    return figure
"""


def test_a_new_figure_is_one_file_and_an_edited_one_is_drawn_again(finished, summary_jobs, tmp_path):
    checkout = Checkout(finished, tmp_path)
    (checkout.root / "clusterlets/benchmark/report/figures/many_runs.py").write_text(NEW_FIGURE)
    checkout.change("clusterlets/benchmark/report/figures/cohesion_vs_deviation.py")
    expected = {"plot_many_runs": 1, "plot_cohesion_vs_deviation": 1, **ACCOUNT_AND_PAGE_JOBS}
    assert {*expected} - {"plot_many_runs"} <= summary_jobs.keys()
    assert checkout.planned() == expected == checkout.executed()
    results = checkout.workflow.folder / "results" / "tiny"
    assert (results / "figures/runs_by_method.pdf").is_file()
    assert '"figures/runs_by_method.png"' in (results / "manifest.json").read_text()
    report = (results / "report.html").read_text(encoding="utf-8")
    assert 'id="figure-runs_by_method"' in report and 'alt="Runs of each method"' in report
    run = checkout.workflow.run("--report", str(tmp_path / "page.html"))
    assert run.status == 0 and "WARNING" not in run.output, run.output
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "results/tiny/figures/runs_by_method.png" in page


def test_a_run_executes_exactly_the_jobs_that_were_planned(checkout):
    """This must be the last test of the file, because it leaves a different grid in the copy. It omits the slow summaries."""
    runs, settings = "results/tiny/runs.csv", {"omega": [0.5, 0.25]}
    checkout.change("clusterlets/algorithms/matching/pinball.py")
    expected = {"score_method": 4 * 4 + 4, "collect_runs": 1}
    assert checkout.planned(runs, **settings) == expected == checkout.executed(runs, **settings)
    assert checkout.planned(runs, **settings) == {}
