"""The step that records what a finished run is made of, byte for byte."""

import json
from pathlib import Path

from clusterlets.grid.fingerprints import locked_versions
from clusterlets.provenance import manifest
from clusterlets.provenance.environment import processor
from clusterlets.provenance.libraries import MODULES
from clusterlets.steps import Output
from clusterlets.storage import load_json, write_json


def write_manifest(config: str, results: str, files: str, lock: str, output: Output) -> None:
    """Write hashes of the cells and of everything made from them, with settings, locked versions, fingerprints of the data,
    and the processor.

    config: the workflow's configuration, as JSON
    results: the results folder
    files: results other than cells, below that folder, separated by commas
    lock: the pip lock file
    output: the manifest (.json)
    """
    settings, folder = json.loads(config), Path(results)
    descriptions = {name: load_json(folder / "prepared" / f"{name}.json") for name in settings["datasets"]}
    locked = locked_versions(lock, MODULES)  # every step has checked that it imports these
    write_json(output, manifest.make(folder, files.split(","), settings, descriptions, locked, processor()))
