"""Changing the budget reruns the cells that exceeded the old one, and no others."""

import csv

SLEEPY = """
import time
import numpy as np
from clusterlets.methods import Method

class Sleepy(Method):
    name = "sleepy"

    def fit(self, X, groups, n_clusters, random_state):
        time.sleep(1.5)
        return np.arange(len(X)) % n_clusters
"""
RUNS = "results/tiny/runs.csv"
SMALL_GRID = {"datasets": ["iris"], "k": [2], "methods": ["D", "random", {"path": "sleepy.py"}]}
# Sleepy exceeds the small budget, and keeps the large one.
SMALL_BUDGET_GRID, LARGE_BUDGET_GRID = (
    {**SMALL_GRID, "budget": {"seconds": seconds, "memory_mb": 4000}} for seconds in (0.3, 60)
)


def statuses(workflow):
    """Pairs of a method and a status of its runs."""
    rows = csv.DictReader((workflow.folder / RUNS).read_text().splitlines())
    return {(row["method"], row["status"]) for row in rows}


def test_a_changed_budget_reruns_only_the_cells_that_exceeded_the_old_one(workflow):
    (workflow.folder / "sleepy.py").write_text(SLEEPY)
    assert workflow.run(RUNS, config=SMALL_BUDGET_GRID).status == 0
    assert statuses(workflow) == {("Clusterlets", "ok"), ("random", "ok"), ("sleepy", "timeout")}
    assert "Nothing to be done" in workflow.run(RUNS, config=SMALL_BUDGET_GRID).output
    # The steps are the fit and the scores of sleepy, and the table of all runs.
    second_run = workflow.run(RUNS, config=LARGE_BUDGET_GRID)
    assert second_run.status == 0 and "Done: 3 of 3 steps" in second_run.output
    assert statuses(workflow) == {("Clusterlets", "ok"), ("random", "ok"), ("sleepy", "ok")}
    assert "Nothing to be done" in workflow.run(RUNS, config=LARGE_BUDGET_GRID).output
