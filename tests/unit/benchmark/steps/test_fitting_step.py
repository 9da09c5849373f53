"""The step that fits a method protects the table, and keeps the best of several starts."""

import json

import numpy as np
import pytest

from clusterlets import methods
from clusterlets.algorithms.kmeans import kmeans
from clusterlets.benchmark.grid.artifacts import SeedBatch
from clusterlets.benchmark.grid.cells import random_stream
from clusterlets.benchmark.steps.fit_method import fit_method
from clusterlets.errors import NoClusteringError
from clusterlets.methods.interface.running import objective_of
from clusterlets.storage import save_arrays

HALVES_SOURCE = """
from clusterlets.methods import Method

class Halves(Method):
    name = "halves"
    is_random = {is_random}

    def fit(self, X, groups, n_clusters, random_state):
        labels = (X[:, 0] > X[:, 0].mean()).astype(int)
        X[:], groups[:] = 0, 0
        return labels
"""


def run_step(folder, X, entry, k, seeds, n_starts=1):
    """Fit the method of a configuration's ``entry`` to a table of two groups, and return its pieces and labels."""
    save_arrays(folder / "data.npz", {"X": X, "groups": np.arange(len(X)) % 2, "group_values": np.array([["a"], ["b"]])})
    data, pieces, labels = (str(folder / f"{name}.npz") for name in ("data", "pieces", "labels"))
    fit_method(
        data,
        method=json.dumps(entry),
        dataset="table",
        k=k,
        parameters="{}",
        seeds=seeds,
        base_seed=0,
        budget="{}",
        pieces=pieces,
        labels=labels,
        starts=n_starts,
    )
    return SeedBatch.load(pieces), SeedBatch.load(labels)


@pytest.mark.parametrize("is_random", [True, False])
def test_a_fit_that_changes_its_table_fails(tmp_path, is_random):
    (tmp_path / "halves.py").write_text(HALVES_SOURCE.format(is_random=is_random))
    for batch in run_step(tmp_path, np.arange(8.0)[:, None], {"path": str(tmp_path / "halves.py")}, 2, "0-2"):
        assert not batch.values and set(batch.failures) == {"0", "1", "2"}
        assert all(status == "failed" and "read-only" in note for status, note in batch.failures.values())


def test_a_run_keeps_the_best_of_its_starts(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 2))
    costs = {}
    for n_starts in (1, 6):
        pieces, _ = run_step(tmp_path, X, {"name": "k-means"}, 7, "0-3", n_starts)
        costs[n_starts] = [pieces.values[f"k-means/{seed}"]["inertia"].sum() for seed in range(4)]
    stream_number = methods.get("k-means").stream
    streams = [[random_stream(0, "table", 7, seed, stream_number, start) for start in range(6)] for seed in range(4)]
    inertia = np.array([[kmeans(X, 7, stream).inertia for stream in streams_of_seed] for streams_of_seed in streams])
    assert costs[1] == pytest.approx(inertia[:, 0]) and costs[6] == pytest.approx(inertia.min(axis=1))
    assert sum(costs[6]) < sum(costs[1])


def test_a_method_that_makes_its_own_starts_gets_their_number_as_n_init(tmp_path):
    source = """
from clusterlets.methods import Method
class Own(Method):
    name = "own"
    def fit(self, X, groups, n_clusters, random_state, n_init=1):
        self.note_ = f"n_init {n_init}"
        return groups
"""
    (tmp_path / "own.py").write_text(source)
    for n_starts, note in ((1, "n_init 1"), (6, "n_init 6")):
        pieces, _ = run_step(tmp_path, np.arange(8.0)[:, None], {"path": str(tmp_path / "own.py")}, 2, "0-1", n_starts)
        assert [pieces.status_of(seed) for seed in range(2)] == [("ok", note)] * 2


def test_starts_are_judged_by_the_methods_own_objective_or_else_by_the_squared_error():
    X, groups = np.random.default_rng(1).normal(size=(60, 2)), np.arange(60) % 2
    for name in ("fairkm", "vfc", "fair-lloyd"):
        fitted, clusterings = methods.fit(methods.get(name), X, groups, 3, np.random.default_rng(0), {})
        assert objective_of(fitted, clusterings, X) == fitted.objective_
    fitted, clusterings = methods.fit(methods.get("FRAC"), X, groups, 3, np.random.default_rng(0), {})
    labels = clusterings["FRAC (fair)"]
    expected = sum(np.square(X[labels == label] - X[labels == label].mean(axis=0)).sum() for label in range(3))
    assert objective_of(fitted, clusterings, X) == pytest.approx(expected)


SOMETIMES_SOURCE = """
import numpy as np
from clusterlets.errors import NoClusteringError
from clusterlets.methods import N_INIT, Method

class Sometimes(Method):
    name = "sometimes"
    parameters = {"n_init": N_INIT}
    calls = 0

    def fit(self, X, groups, n_clusters, random_state, first=2):
        Sometimes.calls += 1
        if Sometimes.calls < first:
            raise NoClusteringError("not_converged", f"call {Sometimes.calls}")
        self.objective_ = [5, 3, 4][Sometimes.calls - first]
        return np.arange(len(X)) % self.objective_
"""


def test_a_start_without_a_clustering_does_not_count_unless_none_has_one(tmp_path):
    (tmp_path / "sometimes.py").write_text(SOMETIMES_SOURCE)
    X, groups = np.arange(60.0)[:, None], np.arange(60) % 2

    def fit(first, n_init):
        method = methods.from_file(tmp_path / "sometimes.py")
        parameters = {"first": first, "n_init": n_init}
        return methods.fit(method, X, groups, 5, np.random.default_rng(0), parameters)[0].objective_

    assert fit(first=2, n_init=4) == 3 and fit(first=3, n_init=3) == 5
    with pytest.raises(NoClusteringError, match="call 2"):
        fit(first=3, n_init=2)
