"""``clusterlets export``: the clusters of any run of the grid, from what the workflow keeps of it."""

import argparse
import shlex
from pathlib import Path

from clusterlets.algorithms.matching import get_matcher
from clusterlets.commands.output import given, whole, write_memberships
from clusterlets.errors import ClusterletsError, UnusableFileError
from clusterlets.grid.configuration import read_configuration
from clusterlets.grid.recovery import CLUSTERLETS, Clusters, Kept, Run
from clusterlets.grid.runs_table import read_cell
from clusterlets.text import counted

# By the name on the command line: the method's name in results/runs.csv.
_METHODS = {
    "frac-fair": "FRAC (fair)",
    "frac-nearest": "FRAC (nearest)",
    "k-means": "k-means",
    "random": "random",
}

_EPILOG = """
examples (in the folder where the workflow ran):
  clusterlets export --dataset pima --matcher G-B -k 5 --hops 4 --seed 3 -o pima.csv
  clusterlets export --dataset pima --matcher C -k 20 --omega 0.25
  clusterlets export --dataset pima --method frac-fair -k 5 --seed 3
  clusterlets export --config workflow/configs/demo.yaml --dataset iris --matcher D -k 5 --hops 1

The lines hold row and cluster, both counted from 0; rows are in the order of the prepared table,
<results>/prepared/<dataset>.npz. Of D and B, a row that is in several clusters has several lines. Nothing is clustered anew:
the workflow keeps the clusterlets, and matching them again with the same random stream gives the clusters that were scored.
"""


def main(arguments: list[str]) -> int:
    """Run the command; returns the exit status."""
    options = _parser().parse_args(arguments)
    config = read_configuration(options.config)
    if options.dataset not in config["datasets"]:
        known = ", ".join(config["datasets"])
        raise ClusterletsError(f"There is no dataset {options.dataset!r} in the configuration; its datasets: {known}.")
    asking = f" --configfile {shlex.quote(options.config)}" if options.config else ""
    run, kept = _run(options), Kept(config, options.results or config["results"], asking)
    try:
        clusters = kept.clusters(run)
        _compare_with_cell(clusters, run, kept.cell(run), config["deviation"])
    except UnusableFileError as problem:  # the workflow makes it, and this command does not
        raise ClusterletsError(f"{problem.happened} {kept.remedy(problem.path, run)}") from None
    write_memberships(options.output, *clusters.members())
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
        "--method", choices=("clusterlets", *_METHODS), default="clusterlets", help="method (default: clusterlets)"
    )
    parser.add_argument("--matcher", help="D, B, G-D, G-B or C")
    parser.add_argument("-k", type=whole(1), required=True, help="clusterlets of each colour; other methods: clusters")
    parser.add_argument("--hops", type=whole(1), help="of D, B, G-D, G-B")
    parser.add_argument("--omega", type=float, help="of C")
    parser.add_argument("--seed", type=whole(0), default=0, help="repetition (default: 0)")
    parser.add_argument("--config", type=given, metavar="FILE", help="values that replace config.yaml's, as for snakemake")
    parser.add_argument("--results", type=given, metavar="FOLDER", help="folder of the results (default: as configured)")
    parser.add_argument("-o", "--output", type=given, metavar="FILE", help="CSV file to write (default: the screen)")
    return parser


def _run(options: argparse.Namespace) -> Run:
    """The run that the options name."""
    if options.method != "clusterlets":
        useless = [f"--{name}" for name in ("matcher", "hops", "omega") if getattr(options, name) is not None]
        if useless:
            raise ClusterletsError(f"{' and '.join(useless)} has no use with --method {options.method}; leave it out.")
        return Run(options.dataset, _METHODS[options.method], options.k, options.seed)
    if options.matcher is None:
        raise ClusterletsError("--matcher is missing: D, B, G-D, G-B or C; or name another --method.")
    parameter = get_matcher(options.matcher).parameter
    other = "omega" if parameter == "hops" else "hops"
    if getattr(options, parameter) is None or getattr(options, other) is not None:
        raise ClusterletsError(f"The matcher {options.matcher} needs --{parameter}, and has no use for --{other}.")
    return Run(options.dataset, CLUSTERLETS, options.k, options.seed, options.matcher, options.hops, options.omega)


def _compare_with_cell(clusters: Clusters, run: Run, cell: str, deviation: str) -> None:
    """Refuse clusters other than those that the cell scored, where there is one."""
    if Path(cell).is_file():
        names = {"method": run.method, "seed": str(run.seed)}
        scored = [row for row in read_cell(cell) if all(row.get(name) == value for name, value in names.items())]
        if len(scored) != 1:
            raise ClusterletsError(
                f"{cell} holds {counted(len(scored), 'row')} of {run.method} with seed {run.seed}, and should hold one. "
                "Remove it, and run the workflow again."
            )
        clusters.refuse_if_unlike(scored[0], deviation, cell)
