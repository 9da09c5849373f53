"""A user's own method is one file and one entry in the configuration. Whatever the method does, the rest of the grid runs."""

import hashlib
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from test_reruns import jobs_in

from clusterlets.benchmark.grid.artifacts import SeedBatch
from clusterlets.benchmark.grid.cells import random_stream

ROOT = Path(__file__).resolve().parents[2]
METHOD_FILE = "shuffled.py"
USUAL_METHODS = ["C", "G-B", "D", "B", "G-D", "FRAC", "k-means", "random"]
GRID = {"datasets": ["iris"], "budget": {"seconds": 2, "memory_mb": 500}}  # the other settings are those of the tiny grid
STREAM = 3219977535  # number of the random stream of "shuffled", which follows from the name and must never change
SHUFFLED = {"path": METHOD_FILE, "parameters": {"share": [0.2]}}
AWK_COMMAND = """awk -v k={k} 'NR == 1 {print "cluster"; next} {print NR % k}' {table} > {labels}"""
STRIPES = {"name": "stripes", "command": AWK_COMMAND}
# Methods that go wrong: the body of fit, and the status and the note of the runs. The budget is 2 s of CPU time. By the clock,
# a fit may take four times as long.
FAULTY = {
    "sleeper": ("time.sleep(60)", "timeout", "stopped after 8 s"),
    "hog": ("return np.ones(10**9)", "out_of_memory", "more than 500 MB"),
    "raiser": ('raise ValueError("no luck")', "failed", "ValueError: no luck"),
    "short": (
        "return np.zeros(len(X) - 1, dtype=int)",
        "failed",
        "fit must return labels (150,) or memberships (150, C), not (149,)",
    ),
}
# A user's own matcher. Cluster i joins clusterlet i - turn * g of each group g, modulo the number of clusters.
ABREAST = """
import numpy as np

from clusterlets.methods import Matcher


class Abreast(Matcher):
    name = "abreast"
    parameters = {"turn": [0, 1]}

    def match(self, clusterlets, random_state, turn=0):
        positions = np.concatenate([np.arange(size) for size in np.bincount(clusterlets.group)])
        positions = (positions + turn * clusterlets.group) % (positions.max() + 1)
        return positions == np.arange(positions.max() + 1)[:, None]
"""
FAULTY_SOURCE = """
import time

import numpy as np

from clusterlets.methods import Method


class Faulty(Method):
    name = "{name}"

    def fit(self, X, groups, n_clusters, random_state):
        {body}
"""
# Rules that do not run again for a new method, and the folders whose files a new method must not change.
DATA_RULES = {"fetch_dataset", "prepare_dataset", "list_data", "measure_geometry", "measure_plain_cost"}
CLUSTERLET_RULES = {"extract_clusterlets", "sum_distances", "sample_partitions"}
UNCHANGED_FOLDERS = ("prepared", "geometry", "plain_costs", "pieces", "labels", "distances", "partitions", "runs")


def documented_source():
    """The source of the method that docs/extending.md shows."""
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    section = re.split(r"^#+ .*A method of your own.*$", text, maxsplit=1, flags=re.MULTILINE)[1]
    return re.search(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)[1]


class Grids:
    """A finished run, then a dry run with the documented method, then a run with this method and others, some faulty."""

    def __init__(self, workflow):
        self.workflow, self.results = workflow, workflow.folder / "results" / "tiny"
        self.run(USUAL_METHODS, "data")  # lists one dataset instead of two
        self.files_before = self.unchanged_files()
        (workflow.folder / METHOD_FILE).write_text(documented_source(), encoding="utf-8")
        self.plan = self.run([*USUAL_METHODS, SHUFFLED], "--dry-run")
        (workflow.folder / "abreast.py").write_text(ABREAST, encoding="utf-8")
        self.methods = [*USUAL_METHODS, SHUFFLED, STRIPES, {"path": "abreast.py", "parameters": {"turn": [1]}}]
        for name, (body, _, _) in FAULTY.items():
            (workflow.folder / f"{name}.py").write_text(FAULTY_SOURCE.format(name=name, body=body), encoding="utf-8")
            self.methods.append({"path": f"{name}.py"})
        self.run(self.methods)
        self.rows = workflow.rows("runs.csv")

    def run(self, methods, *arguments):
        run = self.workflow.run(*arguments, config={**GRID, "methods": methods})
        assert run.status == 0, run.output
        return run.output

    def unchanged_files(self):
        """Hash and time, by path, of the files in UNCHANGED_FOLDERS and of the logs of the jobs that made them."""
        logs = [f"logs/{rule}" for rule in (*DATA_RULES, *CLUSTERLET_RULES, "fit_method", "score_method")]
        files = [
            path for folder in (*UNCHANGED_FOLDERS, *logs) for path in (self.results / folder).rglob("*") if path.is_file()
        ]
        return {path.relative_to(self.results).as_posix(): (_hash(path), path.stat().st_mtime_ns) for path in files}

    def rows_of(self, name):
        return [row for row in self.rows if row["method"] == name]


def _hash(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def grids(finished, tmp_path_factory):
    return Grids(finished.copy(tmp_path_factory.mktemp("own")))


JOBS_OF_SHUFFLED = [f"iris: score shuffled k{k}" for k in (2, 3)] + [f"iris: shuffled k{k}_share0.2" for k in (2, 3)]


def test_for_a_new_method_only_its_own_jobs_and_the_summaries_are_planned(grids):
    jobs = jobs_in(grids.plan)
    assert (jobs.pop("fit_method"), jobs.pop("score_method"), jobs.pop("collect_runs")) == (2, 2, 1)
    assert not (DATA_RULES | CLUSTERLET_RULES) & set(jobs)
    cell_jobs = re.findall(r"^Job \d+: (iris: .*)$", grids.plan, re.MULTILINE)
    assert sorted(cell_jobs) == JOBS_OF_SHUFFLED


def test_new_methods_change_no_file_of_the_others(grids):
    after = grids.unchanged_files()
    assert {name: after.get(name) for name in grids.files_before} == grids.files_before
    new_methods = {"shuffled", "stripes", "abreast", *FAULTY}
    assert all(new_methods & set(name.split("/")) for name in after.keys() - grids.files_before.keys())


def test_the_results_contain_the_runs_of_the_method(grids):
    rows = grids.rows_of("shuffled")
    assert [(row["k"], row["seed"], row["parameters"], row["status"]) for row in rows] == [
        (k, seed, "share=0.2", "ok") for k in ("2", "3") for seed in ("0", "1")
    ]
    assert all(row["n_clusters"] == row["k"] and not row["matcher"] and float(row["deviation_mean"]) > 0 for row in rows)
    assert len({row["kmeans_cost"] for row in rows}) == 4  # every run has its own random stream


def test_a_program_in_another_language_can_be_a_method(grids):
    rows = grids.rows_of("stripes")
    assert [row["status"] for row in rows] == ["ok"] * 4 and {row["parameters"] for row in rows} == {""}
    assert {(row["k"], row["smallest"], row["largest"]) for row in rows} == {("2", "75", "75"), ("3", "50", "50")}


def test_a_users_own_matcher_joins_the_clusterlets_that_the_others_join(grids):
    rows = [row for row in grids.rows if row["matcher"] == "abreast"]
    assert {row["method"] for row in rows} == {"Clusterlets"} and {row["status"] for row in rows} == {"ok"}
    assert [(row["k"], row["parameters"], row["n_clusters"]) for row in rows if row["seed"] == "0"] == [
        (k, "turn=1", k) for k in ("2", "3")
    ]
    clusterlets = {(row["k"], row["seed"]): row["n_clusterlets"] for row in grids.rows if row["matcher"] == "D"}
    assert all(row["n_clusterlets"] == clusterlets[row["k"], row["seed"]] for row in rows)


def test_runs_of_a_faulty_method_have_a_status_and_a_note_and_the_other_methods_have_results(grids):
    for name, (_, status, note) in FAULTY.items():
        assert [(row["status"], row["note"], row["n_clusters"]) for row in grids.rows_of(name)] == [(status, note, "")] * 4
    others = Counter(row["status"] for row in grids.rows if row["method"] not in FAULTY)
    n_methods = len(USUAL_METHODS) + 3  # and shuffled, stripes, abreast
    assert set(others) <= {"ok", "no_valid_partition"} and others["ok"] >= 4 * n_methods


def test_the_report_names_every_method_and_counts_runs_without_a_result(grids):
    page = (grids.results / "report.html").read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<(style|script)\b.*?</\1>", " ", page)).split())
    for name in ("shuffled", "stripes", "abreast", *FAULTY):
        assert name in text, name
    for name, (_, status, _) in FAULTY.items():
        assert f"4 runs of {name} have no result, status {status}: iris (4)." in text


@pytest.mark.parametrize("seed", [0, 1])
def test_the_labels_of_each_run_are_kept(grids, seed):
    batch = SeedBatch.load(str(grids.results / "labels/iris/shuffled/k3_share0.2/seeds0-1.npz"))
    stream = random_stream(0, "iris", 3, seed, STREAM)
    expected = np.unique(stream.integers(3, size=150), return_inverse=True)[1]
    assert (batch.values[f"shuffled/{seed}"]["labels"] == expected).all()


def test_nothing_is_left_to_do_until_the_code_of_the_method_changes(grids):
    config = {**GRID, "methods": grids.methods}
    assert "Nothing to be done" in grids.workflow.run("--dry-run", config=config).output
    path = grids.workflow.folder / METHOD_FILE
    source = path.read_text(encoding="utf-8")
    path.write_text(source + "CHANGED = True\n", encoding="utf-8")
    output = grids.workflow.run("--dry-run", "--quiet", "host", config=config).output
    path.write_text(source, encoding="utf-8")
    changed = re.findall(r"^Job \d+: (iris: .*)\nReason: (.*)$", output, re.MULTILINE)
    assert sorted(job for job, _ in changed) == JOBS_OF_SHUFFLED
    assert all("before: './shuffled.py: " in reason or "updated by another job" in reason for _, reason in changed)


def test_a_changed_budget_reruns_only_the_cells_that_exceeded_the_old_one(grids):
    larger_budget = {**GRID, "budget": {"seconds": 3, "memory_mb": 500}, "methods": grids.methods}
    run = grids.workflow.run("--dry-run", config=larger_budget)
    assert run.status == 0, run.output
    jobs = jobs_in(run.output)
    assert (jobs["fit_method"], jobs["score_method"]) == (4, 4)
    cell_jobs = re.findall(r"^Job \d+: iris: (?!score)(\w+) k", run.output, re.MULTILINE)
    assert Counter(cell_jobs) == {"sleeper": 2, "hog": 2}
