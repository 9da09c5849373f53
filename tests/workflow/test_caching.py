"""Snakemake's cache between workflows restores results after an edit is undone, and in a different folder."""

from pathlib import Path

import pytest
from test_budget import LARGE_BUDGET_GRID, SLEEPY, SMALL_BUDGET_GRID, statuses

RUNS = "results/tiny/runs.csv"
MINE = """
import numpy as np
from clusterlets.methods import Method

class Mine(Method):
    name = "mine"

    def fit(self, X, groups, n_clusters, random_state):
        return np.arange(len(X)) // 10 % n_clusters
"""
STRIPES = {"name": "stripes", "command": "awk -v k={k} 'NR == 1 {print \"c\"; next} {print NR % k}' {table} > {labels}"}
METHODS = ["C", "random", {"path": "sleepy.py"}, {"path": "mine.py"}, STRIPES]
CACHED = {
    *("prepare_dataset", "measure_geometry", "measure_plain_cost", "extract_clusterlets", "sum_distances", "sample_partitions"),
    *(f"{rule} {method}" for rule in ("fit_method", "score_method") for method in ("random", "mine")),
    "score_method C",
}
# A fit that exceeded its budget, and the fits of an external program, are not cached.
NOT_CACHED = {f"{rule} {method}" for rule in ("fit_method", "score_method") for method in ("sleepy", "stripes")}


class CachingWorkflow:
    """A workflow that runs with a cache."""

    def __init__(self, workflow, cache):
        self.workflow, self.cache = workflow, cache
        (workflow.folder / "sleepy.py").write_text(SLEEPY)
        self.write_method(MINE)

    def write_method(self, source):
        (self.workflow.folder / "mine.py").write_text(source)

    def run(self, config):
        """Run up to ``runs.csv``. Returns those jobs in CACHED and NOT_CACHED that were computed, and not restored."""
        logs = self.workflow.folder / "results" / "tiny" / "logs"
        for log in logs.rglob("*.log"):
            log.unlink()
        environment = {"SNAKEMAKE_OUTPUT_CACHE": str(self.cache)}
        run = self.workflow.run(RUNS, "--cache", config={**config, "methods": METHODS, "k": [3]}, environment=environment)
        assert run.status == 0, run.output
        computed = [log.relative_to(logs) for log in logs.rglob("*.log") if log.stat().st_size]  # restored jobs have empty logs
        jobs = set()
        for log in computed:
            rule, *folders = log.with_suffix("").parts
            jobs.add(f"{rule} {folders[1]}" if rule in ("fit_method", "score_method") else rule)
        return jobs & (CACHED | NOT_CACHED)

    def results(self):
        return (self.workflow.folder / RUNS).read_bytes()


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def test_after_a_revert_and_in_a_different_folder_all_but_uncached_jobs_are_restored(workflow_in, tmp_path_factory, cache):
    here = CachingWorkflow(workflow_in(tmp_path_factory.mktemp("here")), cache)
    assert here.run(SMALL_BUDGET_GRID) == CACHED | NOT_CACHED
    assert ("sleepy", "timeout") in statuses(here.workflow)
    before = here.results()

    here.write_method(MINE.replace("// 10", "// 7"))
    assert here.run(SMALL_BUDGET_GRID) == {"fit_method mine", "score_method mine"} and here.results() != before
    here.write_method(MINE + "# undone\n")
    assert here.run(SMALL_BUDGET_GRID) == set() and here.results() == before

    there = CachingWorkflow(workflow_in(tmp_path_factory.mktemp("there")), cache)
    assert there.run(LARGE_BUDGET_GRID) == NOT_CACHED
    assert statuses(there.workflow) == {*statuses(here.workflow) - {("sleepy", "timeout")}, ("sleepy", "ok")}
    rows = [[line for line in run.results().splitlines() if b"sleepy" not in line] for run in (here, there)]
    assert rows[0] == rows[1]


def test_damaged_files_of_the_cache_are_replaced_within_one_run(workflow_in, tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    here = CachingWorkflow(workflow_in(tmp_path_factory.mktemp("here")), cache)
    assert here.run(SMALL_BUDGET_GRID) == CACHED | NOT_CACHED
    before = here.results()
    for file in filter(Path.is_file, cache.rglob("*")):
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    there = CachingWorkflow(workflow_in(tmp_path_factory.mktemp("there")), cache)
    assert there.run(SMALL_BUDGET_GRID) == CACHED | NOT_CACHED and there.results() == before
    third = CachingWorkflow(workflow_in(tmp_path_factory.mktemp("third")), cache)
    assert third.run(SMALL_BUDGET_GRID) == NOT_CACHED and third.results() == before
