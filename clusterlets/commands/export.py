"""``clusterlets export``: write the clusters of any run of the grid, recovered from the workflow's intermediate files."""

import argparse
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from clusterlets.commands import cli
from clusterlets.errors import ClusterletsError, UnusableFileError
from clusterlets.grid.cells import as_text, parse_parameters
from clusterlets.grid.configuration import CONFIGURATION, read_configuration
from clusterlets.grid.recovery import Clusters, IntermediateFiles, Run, method_of
from clusterlets.grid.runs_table import read_cell
from clusterlets.text import counted

_EPILOG = """
examples (in the folder where the workflow ran):
  clusterlets export --dataset pima --method G-B -k 5 --parameters hops=4 --seed 3 -o pima.csv
  clusterlets export --dataset pima --method C -k 20 --parameters omega=0.25
  clusterlets export --dataset pima --method frac-fair -k 5 --seed 3
  clusterlets export --config workflow/configs/demo.yaml --dataset iris --method D -k 5 --parameters hops=1

Each line holds a row and its cluster, both counted from 0. Rows are in the order of the prepared table,
<results>/prepared/<dataset>.npz. The clusters of D and B may overlap: a row that is in several clusters has several lines.
No fit is repeated: matching the saved clusterlets with the same random stream gives the clusters that were scored.
"""


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    options = _parser().parse_args(arguments)
    config = read_configuration(options.config)
    if options.dataset not in config["datasets"]:
        names = ", ".join(config["datasets"])
        raise ClusterletsError(f"There is no dataset {options.dataset!r} in the configuration; its datasets: {names}.")
    results = options.results or config["results"]
    cli.check_output_files({"-o": options.output}, _inputs(options, config, results))
    config_option = f" --configfile {shlex.quote(options.config)}" if options.config else ""
    run, intermediates = _requested_run(options, config), IntermediateFiles(config, results, config_option)
    try:
        clusters = intermediates.clusters(run)
        _check_against_cell(clusters, run, intermediates.cell_file(run), config["deviation"])
    except UnusableFileError as error:  # only the workflow can make the file again
        raise ClusterletsError(f"{error.problem} {intermediates.remedy(error.path, run)}") from None
    rows, cluster_numbers = clusters.members()
    cli.write_table(options.output, pd.DataFrame({"row": rows, "cluster": cluster_numbers}))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = cli.parser("export", "Write the cluster of each row in one run of the grid.", _EPILOG)
    parser.add_argument("--dataset", required=True, help="name of the dataset, as in results/runs.csv")
    parser.add_argument(
        "--method", required=True, help="as in results/runs.csv, such as G-B or 'FRAC (fair)'; frac-fair works too"
    )
    parser.add_argument(
        "-k", type=cli.whole_number(1), required=True, help="number of clusterlets per group, or of clusters for other methods"
    )
    parser.add_argument("--parameters", default="", help="as in results/runs.csv: hops=4; by default none")
    parser.add_argument("--seed", type=cli.whole_number(0), default=0, help="repetition (default: 0)")
    parser.add_argument(
        "--config", type=cli.nonempty, metavar="FILE", help="values that replace those of config.yaml, as with --configfile"
    )
    parser.add_argument("--results", type=cli.nonempty, metavar="FOLDER", help="folder of the results (default: as configured)")
    cli.add_output_files(parser, output="CSV file to write (default: -, which is standard output)")
    parser.set_defaults(output=cli.STANDARD_OUTPUT)
    return parser


def _inputs(options: argparse.Namespace, config: Mapping, results: str) -> Iterator[tuple[str, str | Path]]:
    """The files that the command or the workflow reads, each with a description."""
    yield from (("the configuration", path) for path in (CONFIGURATION, options.config) if path)
    for entry in config["method_settings"].values():
        files = [*([entry["path"]] if "path" in entry else []), *entry.get("files", [])]
        yield from (("a file of a method of the configuration", path) for path in files)
    yield from (("a table of the configuration", table["path"]) for table in config["tables"].values() if "path" in table)
    yield from cli.files_below("a file of the results", results)


def _requested_run(options: argparse.Namespace, config: Mapping) -> Run:
    full_names = {_shell_name(name): name for entry in config["method_settings"].values() for name in entry["names"]}
    is_full_name = options.method in full_names.values()
    name = options.method if is_full_name else full_names.get(_shell_name(options.method), options.method)
    method = method_of(name, config)
    choices, parameters = config["method_settings"][method]["parameters"], parse_parameters(options.parameters)
    if parameters.keys() != choices.keys():
        example = ",".join(f"{parameter}={as_text(values[0])}" for parameter, values in choices.items())
        needs = (
            f"needs --parameters with a value for each, such as {example}" if choices else "takes no --parameters; leave it out"
        )
        raise ClusterletsError(f"{name} {needs}.")
    ordered_parameters = {parameter: parameters[parameter] for parameter in choices}
    return Run(options.dataset, method, name, options.k, options.seed, ordered_parameters)


def _shell_name(name: str) -> str:
    """The name in a form that needs no quotes in a shell: frac-fair for FRAC (fair)."""
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")


def _check_against_cell(clusters: Clusters, run: Run, cell_path: str, deviation: str) -> None:
    """Refuse clusters that differ from the ones that the workflow scored, if the file of their cell exists."""
    if not Path(cell_path).is_file():
        return
    name, seed = run.name_in_results, str(run.seed)
    rows = [row for row in read_cell(cell_path) if name in (row["method"], row["matcher"]) and row["seed"] == seed]
    if len(rows) != 1:
        raise ClusterletsError(
            f"{cell_path} holds {counted(len(rows), 'row')} of {name} with seed {seed}, but should hold one. "
            "Remove it, and run the workflow again."
        )
    clusters.check_against_row(rows[0], deviation, cell_path)
