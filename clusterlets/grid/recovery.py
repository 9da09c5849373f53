"""The clusters of any run of the grid, from what the workflow keeps of it.

Nothing is clustered anew: the workflow keeps the clusterlets, and matching them again with the same random stream gives
the clusters that were scored. Of FRAC and the baselines it keeps the clusters themselves.
"""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose
from pathlib import Path

import numpy as np

from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.datasets.numerals import number
from clusterlets.errors import ClusterletsError
from clusterlets.grid.artifacts import OK, SeedBlock
from clusterlets.grid.cells import CENTROID_MATCHER, Cell, centroid_configuration, seed_blocks, seeds_of
from clusterlets.grid.centroid_cells import centroid_match
from clusterlets.grid.pinball_cells import pinball_match
from clusterlets.grid.scoring import Match
from clusterlets.metrics import deviation_per_cluster

CLUSTERLETS = "Clusterlets"
# By the method's name in results/runs.csv: whose groups are its clusters, and the folder of its cells.
_SOURCES = {
    "FRAC (fair)": ("frac", "FRAC"),
    "FRAC (nearest)": ("frac", "FRAC"),
    "k-means": ("baselines", "baselines"),
    "random": ("baselines", "baselines"),
}


@dataclass(frozen=True)
class Run:
    """One run of the grid, by the names in results/runs.csv; matcher, and hops or omega, are of Clusterlets alone."""

    dataset: str
    method: str
    k: int
    seed: int
    matcher: str = ""
    hops: int | None = None
    omega: float | None = None

    @property
    def source(self) -> str:
        """Whose groups the run's clusters are made of."""
        return "clusterlets" if self.method == CLUSTERLETS else _SOURCES[self.method][0]

    @property
    def key(self) -> str:
        """The run's name in the files that the workflow keeps."""
        return str(self.seed) if self.method == CLUSTERLETS else f"{self.method}/{self.seed}"

    def cell(self, seeds: str) -> Cell:
        """The cell of the grid that the run is a row of."""
        if self.method != CLUSTERLETS:
            return Cell(self.dataset, _SOURCES[self.method][1], f"k{self.k}", seeds)
        if self.matcher == CENTROID_MATCHER:
            assert self.omega is not None
            return Cell(self.dataset, self.matcher, centroid_configuration(self.k, self.omega), seeds)
        return Cell(self.dataset, self.matcher, f"k{self.k}_hops{self.hops}", seeds)


@dataclass(frozen=True)
class Clusters:
    """A clustering: the groups that each cluster holds (C, N), the groups' colour counts (N, K), the group of each row (n,)."""

    membership: np.ndarray
    counts: np.ndarray
    labels: np.ndarray

    @property
    def composition(self) -> np.ndarray:
        """Instances of each colour in each cluster, (C, K)."""
        return self.membership.astype(np.int64) @ self.counts

    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and their clusters, by row; a row in several clusters comes several times."""
        rows, clusters = np.nonzero(self.membership.T[self.labels])
        return rows, clusters

    def refuse_if_unlike(self, row: Mapping, deviation: str, where: str) -> None:
        """Refuse clusters other than those that a row of results holds, as another configuration would give."""
        sizes = self.composition.sum(axis=1)
        mean = deviation_per_cluster(self.composition, self.counts.sum(axis=0), deviation).mean()
        found = {"n_clusters": len(sizes), "smallest": sizes.min(), "largest": sizes.max(), "deviation_mean": mean}
        scored = {name: number(str(row.get(name, ""))) for name in found}  # NaN where it is none, which is close to nothing
        if not all(isclose(scored[name], value, rel_tol=1e-9, abs_tol=1e-12) for name, value in found.items()):
            raise ClusterletsError(
                f"The clusters found are not those that {where} scored: it was made with another base_seed, scope or "
                "deviation. Name its configuration with --config, or run the workflow again."
            )


class Kept:
    """What the workflow keeps, in its folder of results.

    Parameters
    ----------
    config : mapping
        The configuration that the results were made with.
    results : str
        Their folder.
    asking : str
        What asking the workflow for a file needs besides its name, for the errors.
    """

    def __init__(self, config: Mapping, results: str, asking: str = ""):
        self._config, self._results, self._asking = config, results, asking

    def cell(self, run: Run) -> str:
        """File of the run's cell, which is also what to ask the workflow for."""
        return f"{self._results}/{run.cell(self._block(run)).path}"

    def remedy(self, path: str | os.PathLike, run: Run) -> str:
        """What makes a file of the run: asking for its cell, which brings all else, unless the cell is there already."""
        cell = self.cell(run)
        wanted = shlex.quote(os.fspath(path) if Path(cell).is_file() else cell)
        return f"This makes it:\n  snakemake --cores 2 {wanted}{self._asking}"

    def clusters(self, run: Run) -> Clusters:
        """The clusters of a run.

        Raises
        ------
        ClusterletsError
            If the run has no clusters, or what they are made from is missing or damaged.
        """
        labels, groups = self._arrays("labels", run)["labels"], self._arrays("groups", run)
        if run.method != CLUSTERLETS:
            return Clusters(np.eye(len(groups["counts"]), dtype=bool), groups["counts"], labels)
        membership = self._match(run)(Clusterlets.from_groups(**groups), run.seed)
        if membership is None:
            raise ClusterletsError(f"This run has no clusters: C found no valid partition, see {self.cell(run)}.")
        return Clusters(membership, groups["counts"], labels)

    def _match(self, run: Run) -> Match:
        if run.matcher == CENTROID_MATCHER:
            assert run.omega is not None
            return centroid_match(self._path("partitions", run), run.omega, self._config["equation"])
        assert run.hops is not None
        scope = self._config["greedy_scope" if run.matcher.startswith("G") else "pinball_scope"]
        return pinball_match(run.dataset, run.matcher, run.k, run.hops, self._config["base_seed"], scope)

    def _block(self, run: Run) -> str:
        seeds = self._config["seeds"]
        for block in seed_blocks(**seeds):
            if run.seed in seeds_of(block):
                return block
        raise ClusterletsError(f"--seed {run.seed} is none of the configured seeds, 0 to {seeds['count'] - 1}.")

    def _path(self, kind: str, run: Run) -> str:
        path = f"{self._results}/{kind}/{run.dataset}/{run.source}/k{run.k}/seeds{self._block(run)}.npz"
        if not Path(path).is_file():
            raise ClusterletsError(f"{path} is not there. {self.remedy(path, run)}")
        return path

    def _arrays(self, kind: str, run: Run) -> dict[str, np.ndarray]:
        block = SeedBlock.load(self._path(kind, run))
        if block.status != OK:
            raise ClusterletsError(f"This run has no clusters: it is {block.status}, see {self.cell(run)}.")
        if run.key not in block.values:
            path = self._path(kind, run)
            absent = f"{path} holds no run of {run.method} with seed {run.seed}"
            raise ClusterletsError(f"{absent}. Remove it. {self.remedy(path, run)}")
        return block.values[run.key]
