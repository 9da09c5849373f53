"""``clusterlets datasets``: list the datasets of a configuration, say which are prepared, and estimate the cost of the grid."""

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from clusterlets.commands import cli
from clusterlets.datasets import CLASS, describe
from clusterlets.datasets.fetch import ask_sources
from clusterlets.errors import ClusterletsError, UnusableFileError
from clusterlets.grid import datasets_table, estimate
from clusterlets.grid.configuration import read_configuration
from clusterlets.storage import load_json


def main(arguments: list[str]) -> int:
    """Print the datasets of a configuration, and an estimate of time, disk and memory for its grid."""
    parser = cli.parser("datasets", main.__doc__)
    parser.add_argument("--config", metavar="FILE", help="values that replace those of config.yaml, as with --configfile")
    parser.add_argument(
        "--check",
        action="store_true",
        help="instead, download every dataset from each of its addresses; the status is 1 if all addresses of a dataset fail",
    )
    options = parser.parse_args(arguments)
    config = read_configuration(options.config)
    if options.check:
        return _try_sources(dict.fromkeys(settings["name"] for settings in config["tables"].values() if "path" not in settings))
    prepared_folder = Path(config["results"]) / "prepared"
    prepare_command = f"snakemake data --cores 2 --configfile {shlex.quote(options.config)}" if options.config else "make data"
    try:
        descriptions = {
            dataset: _read_description(prepared_folder, dataset, settings) for dataset, settings in config["tables"].items()
        }
    except UnusableFileError as problem:
        raise ClusterletsError(f"{problem.problem} `{prepare_command}` makes it again.") from None
    print(datasets_table.listing(descriptions))
    print(_describe_estimate(descriptions, config, prepare_command))
    return 0


def _try_sources(names: Iterable[str]) -> int:
    """Download datasets from all sources, print what each source serves, and return 1 if a dataset is unavailable, else 0."""
    unavailable = []
    for name in names:
        answers = ask_sources(name)
        verdicts = [f"  {'+' if answer.is_right else '-'} {answer.source}: {answer.verdict}" for answer in answers]
        print(name, *verdicts, sep="\n", flush=True)
        if not any(answer.is_right for answer in answers):
            unavailable.append(name)
    print(f"\nNo source serves {', '.join(unavailable)}." if unavailable else "\nEvery dataset has a source that serves it.")
    return 1 if unavailable else 0


def _read_description(folder: Path, dataset: str, settings: Mapping) -> Mapping:
    """The description of a dataset that its preparation wrote to the folder, or else the one from sources.yaml."""
    description_file = folder / f"{dataset}.json"
    if description_file.is_file():
        return load_json(description_file)
    if "path" in settings:
        return {"source": f"{settings['path']}, not read yet", "licence": "", "citation": ""}
    description = {**describe(settings["name"]), "source": "not fetched yet"}
    if settings["duplicates"] != description["duplicates"]:
        description["rows"] = None  # the count in sources.yaml is for its own treatment of duplicates
    return description if settings["sensitive"] == [CLASS] else description | {"features": None}


def _describe_estimate(descriptions: Mapping[str, Mapping], config: Mapping, prepare_command: str) -> str:
    costs = {}
    for dataset, description in descriptions.items():
        if description.get("rows"):
            halves = [description["rows"] // 2] * 2  # assume two equal groups until the groups are counted
            counts = list((description.get("groups") or {}).values()) or halves
            costs[dataset] = estimate.dataset_cost(description["rows"], description["features"] or 0, counts, config)
    total = estimate.total_cost(list(costs.values()))
    rows = [
        {
            "dataset": name,
            "CPU time": _format_time(cost.seconds),
            "disk": f"{cost.disk / 1e6:,.1f} MB",
            "memory of a job": f"{cost.memory / 1e6:,.0f} MB",
        }
        for name, cost in [*costs.items(), ("all, with the report", total)]
    ]
    cores = os.cpu_count() or 1
    lines = [
        f"Estimate for the grid of {len(config['k'])} k and {config['seeds']['count']} seeds, good to a factor of two:",
        datasets_table.to_text(rows, list(rows[0])),
        f"On this machine's {cores} cores about {_format_time(total.seconds / cores)}; finished jobs are not run again.",
    ]
    unknown_sizes = ", ".join(name for name in descriptions if name not in costs)
    if unknown_sizes:
        lines.append(
            f"Not included, because their rows have not been counted yet: {unknown_sizes}. `{prepare_command}` counts them."
        )
    return "\n".join(lines)


def _format_time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
