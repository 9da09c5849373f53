"""The step that records what a finished run is made of, byte for byte."""

import json
from pathlib import Path

from clusterlets.errors import ClusterletsError
from clusterlets.grid.fingerprints import locked_versions
from clusterlets.provenance import manifest
from clusterlets.provenance.environment import processor
from clusterlets.provenance.libraries import MODULES
from clusterlets.steps import Output
from clusterlets.storage import hash_of_file, load_json, write_json


def write_manifest(config: str, results: str, files: str, user_files: str, lock: str, output: Output) -> None:
    """Write hashes of the cells and of everything made from them, with settings, locked versions, fingerprints of the data,
    and the processor.

    files: results other than cells, as paths below the folder ``results``, separated by commas
    user_files: JSON object with the SHA-256, at the time of planning, of every file of the user's own methods, by path
    lock: the pip lock file
    output: the manifest (.json)
    """
    settings, folder = json.loads(config), Path(results)
    descriptions = {name: load_json(folder / "prepared" / f"{name}.json") for name in settings["datasets"]}
    locked = locked_versions(lock, MODULES)  # also the installed ones: every step refuses others
    user_hashes = json.loads(user_files)
    changed = [path for path, digest in user_hashes.items() if not Path(path).is_file() or hash_of_file(path) != digest]
    if changed:
        raise ClusterletsError(f"{changed[0]} changed while the workflow ran. Run the same command again.")
    write_json(output, manifest.make(folder, files.split(","), settings, descriptions, locked, processor(), user_hashes))
