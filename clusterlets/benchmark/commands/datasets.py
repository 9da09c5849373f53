"""``clusterlets datasets``: list the datasets of a configuration, and say which are prepared."""

import hashlib
import importlib
import importlib.util
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from clusterlets.benchmark.datasets import CLASS, describe
from clusterlets.benchmark.datasets.fetch import ask_sources
from clusterlets.benchmark.grid import datasets_list
from clusterlets.benchmark.grid.configuration import read_configuration
from clusterlets.commands import cli
from clusterlets.errors import ClusterletsError, UnusableFileError
from clusterlets.storage import load_json
from clusterlets.tables.table import BadData, check, fingerprint


def main(arguments: list[str]) -> int:
    """Print the datasets of a configuration: where they come from, their sizes and groups, and what is not prepared yet."""
    parser = cli.parser("datasets", main.__doc__)
    parser.add_argument("--config", metavar="FILE", help="values that replace those of config.yaml, as with --configfile")
    parser.add_argument(
        "--check",
        action="store_true",
        help="instead, download every dataset from each of its addresses; the status is 1 if all addresses of a dataset fail",
    )
    parser.add_argument(
        "--describe",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="instead, print the entry of sources.yaml for a new dataset from its raw files data/raw/NAME/FILE, and from its "
        "module clusterlets/benchmark/datasets/NAME.py if there is one",
    )
    options = parser.parse_args(arguments)
    if options.describe:
        print(yaml.safe_dump(entry_of(options.describe), sort_keys=False, allow_unicode=True), end="")
        return 0
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
        raise ClusterletsError(f"{problem.problem} Remove it; then `{prepare_command}` makes it again.") from None
    print(datasets_list.listing(descriptions))
    return 0


def entry_of(paths: list[Path]) -> dict[str, dict]:
    """The entry of ``sources.yaml`` for a dataset with these raw files, which lie in a folder of its name.

    Rows, features and fingerprint are of the table with its duplicates. They are missing if the dataset has no module.
    """
    missing = [str(path) for path in paths if not path.is_file()]
    if missing:
        raise ClusterletsError(f"--describe: there is no file {missing[0]}; name the raw files of a dataset.")
    (name, *others) = sorted({path.resolve().parent.name for path in paths})
    if others:
        raise ClusterletsError(f"--describe: {name} and {others[0]} are two folders; describe one dataset at a time.")
    contents = {path.name: path.read_bytes() for path in paths}
    files = [
        {"name": file, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for file, content in contents.items()
    ]
    entry: dict = {"title": "", "files": files, "sources": [], "licence": "", "citation": ""}
    module = f"clusterlets.benchmark.datasets.{name}"
    if name.isidentifier() and importlib.util.find_spec(module):
        try:
            table = importlib.import_module(module).prepare({path.name: path for path in paths})
            check(table)
        except BadData as problem:
            raise ClusterletsError(f"{name}: {problem}") from None
        except KeyError as file:
            raise ClusterletsError(f"--describe: {name} also needs the raw file {file}; name all of them.") from None
        entry |= {"rows": len(table.X), "features": table.X.shape[1]}
        entry |= {"positives": table.positives} if table.positives is not None else {}
        entry["fingerprint"] = fingerprint(table)
    return {name: entry}


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
