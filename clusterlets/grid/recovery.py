"""Recover the clusters of any run of the grid from the files that the workflow keeps.

For a method that clusters instances, the workflow keeps the clusters. For a matcher it keeps the clusterlets, and matching
these again with the same random stream gives the same clusters.
"""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from typing import cast

import numpy as np

from clusterlets.datasets.numerals import parse_number
from clusterlets.errors import ClusterletsError
from clusterlets.grid.artifacts import OK, SeedBatch
from clusterlets.grid.cells import Cell, Value, cells, parse_parameters, seed_batches, seeds_of
from clusterlets.grid.entries import load_method
from clusterlets.grid.fitting import Budget
from clusterlets.grid.paths import cell_batch_path
from clusterlets.grid.scoring import CLUSTERLETS, match
from clusterlets.methods import Matcher
from clusterlets.metrics.composition import deviation_per_cluster


@dataclass(frozen=True)
class Run:
    """One run of the grid. ``method`` is named in the configuration, and one of its outputs is ``name_in_results``."""

    dataset: str
    method: str
    name_in_results: str
    k: int
    seed: int
    parameters: Mapping[str, Value] = field(default_factory=dict)

    @classmethod
    def from_row(cls, row: Mapping, config: Mapping) -> "Run":
        """Read the run from a row of results/runs.csv."""
        name = row["matcher"] if row["method"] == CLUSTERLETS else row["method"]
        text = row["parameters"]
        parameters = parse_parameters(text) if isinstance(text, str) else {}
        return cls(row["dataset"], method_of(name, config), name, int(row["k"]), int(row["seed"]), parameters)

    def cell(self, seeds: str) -> Cell:
        """The cell of the grid that contains the run."""
        return Cell(self.dataset, self.method, self.k, self.parameters, seeds)


def method_of(name: str, config: Mapping) -> str:
    """The method that has an output of this name. Raises ClusterletsError if the configuration has no such method."""
    outputs = {output: method for method, entry in config["method_settings"].items() for output in entry["names"]}
    if name not in outputs:
        raise ClusterletsError(f"No configured method has the output {name!r}; the outputs are {', '.join(outputs)}.")
    return outputs[name]


@dataclass(frozen=True)
class Clusters:
    """A clustering whose clusters are unions of pieces: clusterlets, or for other methods those that grid.pieces makes.

    ``membership`` (C, P), bool, says which pieces each cluster contains. ``counts`` (P, K) holds the instances of each group in
    each piece, and ``labels`` (n,) the piece of each row.
    """

    membership: np.ndarray
    counts: np.ndarray
    labels: np.ndarray

    @property
    def composition(self) -> np.ndarray:
        """Number of instances of each group in each cluster, (C, K)."""
        return self.membership.astype(np.int64) @ self.counts

    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """Two arrays, ordered by row: rows, and the cluster of each. A row that is in several clusters is repeated."""
        rows, clusters = np.nonzero(self.membership.T[self.labels])
        return rows, clusters

    def check_against_row(self, row: Mapping, deviation: str, results_file: str) -> None:
        """Raise ClusterletsError if the scores in ``row``, from a results file, are not those of these clusters."""
        sizes = self.composition.sum(axis=1)
        mean = deviation_per_cluster(self.composition, self.counts.sum(axis=0), deviation).mean()
        expected = {"n_clusters": len(sizes), "smallest": sizes.min(), "largest": sizes.max(), "deviation_mean": mean}
        # Non-numeric values become NaN, which matches nothing.
        row_values = {name: parse_number(str(row.get(name, ""))) for name in expected}
        if not all(isclose(row_values[name], value, rel_tol=1e-9, abs_tol=1e-12) for name, value in expected.items()):
            raise ClusterletsError(
                f"The recovered clusters are not those that were scored in {results_file}, which was probably made "
                "with another base_seed, scope or deviation. Use the configuration that made it, or run the workflow again."
            )


class IntermediateFiles:
    """The files that the workflow keeps in the folder ``results`` for the configuration ``config``.

    If a file is missing, the error message shows the command that makes it: ``snakemake``, with ``snakemake_options``.
    """

    def __init__(self, config: Mapping, results: str, snakemake_options: str = ""):
        self._config, self._results, self._snakemake_options = config, results, snakemake_options

    def cell_file(self, run: Run) -> str:
        """The file of the run's cell."""
        return f"{self._results}/{run.cell(self._batch(run)).path}"

    def remedy(self, path: str | os.PathLike, run: Run) -> str:
        """A sentence that says how to make a file of the run."""
        cell = self.cell_file(run)
        if cell not in {f"{self._results}/{configured.path}" for configured in cells(self._config)}:
            return "The configured grid has no such run: add its k and parameters to the configuration, and run the workflow."
        # If the cell is missing, making it makes this file too. If not, Snakemake has no reason to make it, so name this file.
        target = shlex.quote(os.fspath(path) if Path(cell).is_file() else cell)
        return f"This command makes it:\n  snakemake --cores 2 {target}{self._snakemake_options}"

    def clusters(self, run: Run) -> Clusters:
        """Recover the clusters of a run.

        Raises
        ------
        ClusterletsError
            If the run has no clusters, or if a file that is needed to recover them is missing or damaged.
        """
        arrays = self._arrays("pieces", run)
        labels, counts = self._arrays("labels", run)["labels"], arrays["counts"]
        if not self._is_matcher(run):
            return Clusters(arrays["membership"], counts, labels)
        entry = self._config["method_settings"][run.method]
        partitions = SeedBatch.load(self._path("partitions", run)) if entry["needs_partitions"] else None
        settings = {name: self._config[key] for name, key in entry["settings"].items()}
        ((_, matching),) = match(  # one seed, so one pair of seed and fit
            method=cast(type[Matcher], load_method({"name": run.method, **entry})),
            dataset=run.dataset,
            k=run.k,
            parameters={**run.parameters, **settings},
            seeds=[run.seed],
            base_seed=self._config["base_seed"],
            budget=Budget(),  # none
            pieces=SeedBatch.load(self._path("pieces", run)),
            partitions=partitions,
        )
        if matching.status != OK:
            raise ClusterletsError(f"This run has no clusters: its status is {matching.status}, see {self.cell_file(run)}.")
        return Clusters(matching.result, counts, labels)

    def _is_matcher(self, run: Run) -> bool:
        return self._config["method_settings"][run.method]["is_matcher"]

    def _batch(self, run: Run) -> str:
        seeds = self._config["seeds"]
        for batch in seed_batches(**seeds):
            if run.seed in seeds_of(batch):
                return batch
        raise ClusterletsError(f"--seed {run.seed} is not among the configured seeds, 0 to {seeds['count'] - 1}.")

    def _path(self, kind: str, run: Run) -> str:
        cell = run.cell(self._batch(run))
        path = cell_batch_path(kind, cell, self._is_matcher(run), self._results)
        if not Path(path).is_file():
            raise ClusterletsError(f"{path} does not exist. {self.remedy(path, run)}")
        return path

    def _arrays(self, kind: str, run: Run) -> dict[str, np.ndarray]:
        """The arrays of the run's seed in its file of this kind."""
        batch = SeedBatch.load(self._path(kind, run))
        status, _ = batch.status_of(run.seed)
        if status != OK:
            raise ClusterletsError(f"This run has no clusters: its status is {status}, see {self.cell_file(run)}.")
        # All matchers share the clusterlets, so their keys have no name.
        key = str(run.seed) if self._is_matcher(run) else f"{run.name_in_results}/{run.seed}"
        if key not in batch.values:
            path = self._path(kind, run)
            problem = f"{path} holds no run of {run.name_in_results} with seed {run.seed}"
            raise ClusterletsError(f"{problem}. Remove it. {self.remedy(path, run)}")
        return batch.values[key]
