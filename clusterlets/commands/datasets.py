"""``clusterlets datasets``: list the datasets of a configuration, and say which are prepared."""

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from clusterlets.commands import cli
from clusterlets.datasets import CLASS, describe
from clusterlets.datasets.fetch import ask_sources
from clusterlets.errors import ClusterletsError, UnusableFileError
from clusterlets.grid import datasets_table
from clusterlets.grid.configuration import read_configuration
from clusterlets.storage import load_json


def main(arguments: list[str]) -> int:
    """Print the datasets of a configuration: where they come from, their sizes and groups, and what is not prepared yet."""
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
