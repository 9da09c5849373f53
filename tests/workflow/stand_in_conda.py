"""A stand-in for conda, so that tests of the profile for conda need neither conda nor a channel.

``conda env create`` makes a virtual environment with exactly the packages that a file of ``envs/`` lists, and their
dependencies. They come from the package index, with the versions and hashes of ``requirements.lock``. The environment has the
Python that runs this program, whatever version the file names.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import venv
from importlib.metadata import requires
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCK = Path(__file__).resolve().parents[2] / "requirements.lock"

# Names on the package index, by name on conda-forge, of the packages for which the two differ.
ON_THE_INDEX = {"matplotlib-base": "matplotlib"}


def pins(file: Path) -> dict[str, str]:
    """The exact versions that a file of ``envs/`` lists, Python included, by names on the package index."""
    specs = (spec.split(" ==") for spec in yaml.safe_load(file.read_text())["dependencies"])
    return {ON_THE_INDEX.get(name, name): version for name, version in specs}


def locked_entries(names: set[str]) -> str:
    """The entries of the lock for these distributions and all their dependencies."""
    entries = re.findall(r"^[\w.-]+==.*(?:\n +--hash.*)+", LOCK.read_text(), re.MULTILINE)
    distributions = with_dependencies(names)
    return "\n".join(entry for entry in entries if entry.split("==")[0] in distributions)


def with_dependencies(names: set[str]) -> dict[str, dict[str, str]]:
    """The requirements (version specifiers by name) of each of these distributions and of all their dependencies."""
    requirements, pending = {}, set(names)
    while pending:
        name = pending.pop()
        declared = map(Requirement, requires(name) or [])
        required = [item for item in declared if not item.marker or item.marker.evaluate({"extra": ""})]
        requirements[name] = {canonicalize_name(item.name): str(item.specifier) for item in required}
        pending |= requirements[name].keys() - requirements.keys()
    return requirements


def create(prefix: str, file: Path) -> None:
    """Create a virtual environment in ``prefix`` with the packages of ``file``. Raises CalledProcessError if this fails."""
    venv.create(prefix)
    uv = Path(sys.executable).with_name("uv")  # takes seconds where pip takes a minute
    python = ["--python", f"{prefix}/bin/python"]
    command = [uv, "pip", "install", *python] if uv.is_file() else [sys.executable, "-m", "pip", *python, "install"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirements:
        print(locked_entries(pins(file).keys() - {"python"}), file=requirements, flush=True)
        options = ["--quiet", "--no-deps", "--require-hashes", "--requirement", requirements.name]
        subprocess.run([*command, *options], check=True)


def install(folder: Path) -> Path:
    """Write ``conda`` and ``activate`` to ``folder``/bin. Returns the file to which each activation adds a line."""
    commands, activations = folder / "bin", folder / "activated"
    commands.mkdir(parents=True)
    (commands / "conda").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "{folder}" "$@"\n')
    (commands / "conda").chmod(0o755)
    (commands / "activate").write_text(f'export PATH="$1/bin:$PATH"\necho "$1" >> "{activations}"\n')
    return activations


def main(folder: str, *arguments: str) -> None:
    """Answer the commands of conda that Snakemake calls. ``folder`` is the one that ``install`` was given."""
    match arguments:
        case ["info", "--json"]:
            print(json.dumps({"conda_prefix": folder, "platform": "linux-64"}))
        case ["--version"]:
            print("conda 24.7.1")
        case ["config", "--get", "channel_priority", "--json"]:
            print(json.dumps({"get": {"channel_priority": "strict"}}))
        case ["env", "create", *options]:
            parser = argparse.ArgumentParser()
            parser.add_argument("--file", type=Path)
            parser.add_argument("--prefix")
            parsed, _ = parser.parse_known_args(options)
            create(parsed.prefix, parsed.file)
        case ["clean", *_]:
            pass
        case _:
            sys.exit(f"the stand-in for conda does not know: {' '.join(arguments)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
