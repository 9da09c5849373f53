"""A stand-in for conda, for Snakemake to call where there is none, or no channel.

``conda env create`` makes a virtual environment with exactly what a file of ``envs/`` lists and what that needs, from the
package index, by the versions and hashes of ``requirements.lock``; its Python is the one that runs this, not the file's.
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

# Packages with a different name on the package index than on conda-forge.
ON_THE_INDEX = {"matplotlib-base": "matplotlib"}


def pins(file: Path) -> dict[str, str]:
    """The exact versions that a file of ``envs/`` lists, by their names on the package index; Python's too."""
    specs = (spec.split(" ==") for spec in yaml.safe_load(file.read_text())["dependencies"])
    return {ON_THE_INDEX.get(name, name): version for name, version in specs}


def locked(names: set[str]) -> str:
    """The part of the lock that holds these distributions and all that they need."""
    entries = re.findall(r"^[\w.-]+==.*(?:\n +--hash.*)+", LOCK.read_text(), re.MULTILINE)
    distributions = with_dependencies(names)
    return "\n".join(entry for entry in entries if entry.split("==")[0] in distributions)


def with_dependencies(names: set[str]) -> dict[str, dict[str, str]]:
    """These distributions and all that they need, by name: the names and version specifiers that each one requires."""
    distributions, pending = {}, set(names)
    while pending:
        name = pending.pop()
        requirements = map(Requirement, requires(name) or [])
        required = [item for item in requirements if not item.marker or item.marker.evaluate({"extra": ""})]
        distributions[name] = {canonicalize_name(item.name): str(item.specifier) for item in required}
        pending |= distributions[name].keys() - distributions.keys()
    return distributions


def create(prefix: str, file: Path) -> None:
    """A virtual environment with what ``file`` lists; raises CalledProcessError where the package index fails."""
    venv.create(prefix)
    uv = Path(sys.executable).with_name("uv")  # seconds, where pip takes a minute
    python = ["--python", f"{prefix}/bin/python"]
    install = [uv, "pip", "install", *python] if uv.is_file() else [sys.executable, "-m", "pip", *python, "install"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirements:
        print(locked(pins(file).keys() - {"python"}), file=requirements, flush=True)
        options = ["--quiet", "--no-deps", "--require-hashes", "--requirement", requirements.name]
        subprocess.run([*install, *options], check=True)


def install(folder: Path) -> Path:
    """Put the stand-in, as ``conda`` and ``activate``, into ``folder``/bin; returns the list of what was activated."""
    commands, activated = folder / "bin", folder / "activated"
    commands.mkdir(parents=True)
    (commands / "conda").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "{folder}" "$@"\n')
    (commands / "conda").chmod(0o755)
    (commands / "activate").write_text(f'export PATH="$1/bin:$PATH"\necho "$1" >> "{activated}"\n')
    return activated


def main(folder: str, *arguments: str) -> None:
    """Answer what Snakemake asks conda for."""
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
