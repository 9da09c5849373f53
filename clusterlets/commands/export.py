"""``clusterlets export``: the clusters of any run of the grid, from what the workflow keeps of it."""

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from clusterlets.benchmark.configuration import read_configuration
from clusterlets.benchmark.grid import CENTROID_MATCHER, Cell, seed_blocks, seeds_of
from clusterlets.benchmark.groups import clusterlets_of
from clusterlets.benchmark.intermediates import OK, Block
from clusterlets.benchmark.rows import read_rows
from clusterlets.benchmark.steps.matching import Match, centroid_match, pinball_match
from clusterlets.commands.output import write_memberships
from clusterlets.errors import ClusterletsError
from clusterlets.matching import get_matcher

# By the name on the command line: who makes the labels, and the name of the method in results/runs.csv.
_LABELLED = {
    "frac-fair": ("frac", "FRAC (fair)"),
    "frac-nearest": ("frac", "FRAC (nearest)"),
    "k-means": ("yardsticks", "k-means"),
    "random": ("yardsticks", "random"),
}
_FOLDERS = {"frac": "FRAC", "yardsticks": "yardsticks"}

_EPILOG = """
examples (in the folder where the workflow ran):
  clusterlets export --dataset pima --matcher G-B -k 5 --hops 4 --seed 3 -o pima.csv
  clusterlets export --dataset pima --matcher C -k 20 --omega 0.25
  clusterlets export --dataset pima --method frac-fair -k 5 --seed 3
  clusterlets export --config workflow/configs/demo.yaml --dataset iris --matcher D -k 5 --hops 1

The lines hold row and cluster, both counted from 0; rows are in the order of the prepared table, <results>/prepared/<dataset>.npz. Of D and B, a
row that is in several clusters has several lines. Nothing is clustered anew: the workflow keeps the clusterlets, and
matching them again with the same random stream gives the clusters that were scored.
"""


def main(arguments: list[str]) -> int:
    """Run the command; returns the exit status."""
    options = _parser().parse_args(arguments)
    config = read_configuration(options.config)
    if options.dataset not in config["datasets"]:
        known = ", ".join(config["datasets"])
        raise ClusterletsError(f"There is no dataset {options.dataset!r} in the configuration; its datasets: {known}.")
    kept = _Kept(options, config)
    found = _of_clusterlets(options, config, kept) if options.method == "clusterlets" else _of_labels(options, kept)
    write_memberships(options.output, *found)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "clusterlets export",
        description="Write the cluster of each row in one run of the grid.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--dataset", required=True, help="name of the dataset, as in results/runs.csv")
    parser.add_argument(
        "--method", choices=("clusterlets", *_LABELLED), default="clusterlets", help="method (default: clusterlets)"
    )
    parser.add_argument("--matcher", help="D, B, G-D, G-B or C")
    parser.add_argument("-k", type=int, required=True, help="clusterlets of each colour; other methods: clusters")
    parser.add_argument("--hops", type=int, help="of D, B, G-D, G-B")
    parser.add_argument("--omega", type=float, help="of C")
    parser.add_argument("--seed", type=int, default=0, help="repetition (default: 0)")
    parser.add_argument("--config", metavar="FILE", help="values that replace those of config.yaml, as for snakemake")
    parser.add_argument("--results", metavar="FOLDER", help="folder of the results (default: as configured)")
    parser.add_argument("-o", "--output", metavar="FILE", help="CSV file to write (default: the screen)")
    return parser


class _Kept:
    """The files that the workflow keeps of one dataset, k and block of seeds."""

    def __init__(self, options: argparse.Namespace, config: Mapping):
        self.options = options
        self.results = options.results or config["results"]
        blocks = seed_blocks(**config["seeds"])
        holding = [block for block in blocks if options.seed in seeds_of(block)]
        if not holding:
            last = config["seeds"]["count"] - 1
            raise ClusterletsError(f"--seed {options.seed} is none of the configured seeds, 0 to {last}.")
        self.seeds = holding[0]

    def cell(self, method: str, *parameters: str) -> str:
        """File of the cell's rows, which is also what to ask the workflow for."""
        configuration = "_".join([f"k{self.options.k}", *parameters])
        return f"{self.results}/{Cell(self.options.dataset, method, configuration, self.seeds).path}"

    def path(self, kind: str, source: str, cell: str) -> str:
        """Path of an intermediate file; an error that says what makes it if it is not there."""
        path = f"{self.results}/{kind}/{self.options.dataset}/{source}/k{self.options.k}/seeds{self.seeds}.npz"
        if not Path(path).is_file():
            setting = f" --configfile {self.options.config}" if self.options.config else ""
            raise ClusterletsError(f"{path} is not there. This makes it:\n  snakemake --cores 2 {cell}{setting}")
        return path

    def arrays(self, kind: str, source: str, key: str, cell: str) -> dict[str, np.ndarray]:
        """What an intermediate file holds under a key."""
        block = Block.load(self.path(kind, source, cell))
        if block.status != OK:
            raise ClusterletsError(f"This run has no clusters: it is {block.status}, see {cell}.")
        return block.values[key]


def _of_labels(options: argparse.Namespace, kept: _Kept) -> tuple[np.ndarray, np.ndarray]:
    """Rows and clusters of FRAC and the yardsticks, whose labels are kept as they are."""
    useless = [f"--{name}" for name in ("matcher", "hops", "omega") if getattr(options, name) is not None]
    if useless:
        raise ClusterletsError(f"{' and '.join(useless)} has no use with --method {options.method}; leave it out.")
    source, name = _LABELLED[options.method]
    labels = kept.arrays("labels", source, f"{name}/{options.seed}", kept.cell(_FOLDERS[source]))["labels"]
    return np.arange(len(labels)), labels


def _of_clusterlets(options: argparse.Namespace, config: Mapping, kept: _Kept) -> tuple[np.ndarray, np.ndarray]:
    """Rows and clusters of a matching, which is made again as the cell's step made it."""
    if options.matcher is None:
        raise ClusterletsError("--matcher is missing: D, B, G-D, G-B or C; or name another --method.")
    parameter = get_matcher(options.matcher).parameter
    other = "omega" if parameter == "hops" else "hops"
    if getattr(options, parameter) is None or getattr(options, other) is not None:
        raise ClusterletsError(f"The matcher {options.matcher} needs --{parameter}, and has no use for --{other}.")
    cell = kept.cell(options.matcher, f"{parameter}{getattr(options, parameter):g}")
    labels = kept.arrays("labels", "clusterlets", str(options.seed), cell)["labels"]
    clusterlets = clusterlets_of(kept.arrays("groups", "clusterlets", str(options.seed), cell))
    membership = _match(options, config, kept, cell)(clusterlets, options.seed)
    if membership is None:
        raise ClusterletsError(f"This run has no clusters: C found no valid partition, see {cell}.")
    _compare_with_cell(cell, options.seed, membership.astype(np.int64) @ clusterlets.sizes)
    return np.nonzero(membership.T[labels])


def _match(options: argparse.Namespace, config: Mapping, kept: _Kept, cell: str) -> Match:
    if options.matcher == CENTROID_MATCHER:
        return centroid_match(kept.path("partitions", "clusterlets", cell), options.omega, config["equation"])
    scope = config["greedy_scope" if options.matcher.startswith("G") else "pinball_scope"]
    return pinball_match(options.dataset, options.matcher, options.k, options.hops, config["base_seed"], scope)


def _compare_with_cell(cell: str, seed: int, sizes: np.ndarray) -> None:
    """Refuse clusters other than those that were scored: then the results were made with another configuration."""
    scored = {row["seed"]: row for row in read_rows(cell)}[str(seed)] if Path(cell).is_file() else None
    found = [str(len(sizes)), str(sizes.min()), str(sizes.max())]
    if scored and [scored[name] for name in ("n_clusters", "smallest", "largest")] != found:
        raise ClusterletsError(
            f"The clusters found are not those that {cell} scored: it was made with another base_seed or scope. Name "
            "its configuration with --config."
        )
