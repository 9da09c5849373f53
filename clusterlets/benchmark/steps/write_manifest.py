"""The step that writes the manifest of a finished run."""

import json
from pathlib import Path

from clusterlets.benchmark.grid.locks import planned_versions
from clusterlets.benchmark.provenance import manifest
from clusterlets.benchmark.provenance.accounts import files_written
from clusterlets.benchmark.provenance.environment import processor
from clusterlets.benchmark.provenance.libraries import MODULES
from clusterlets.benchmark.steps import Output
from clusterlets.errors import ClusterletsError
from clusterlets.storage import hash_of_file, load_json, write_json


def write_manifest(config: str, results: str, files: str, user_files: str, output: Output) -> None:
    """Write the hashes of all results, with the settings, versions and data that they depend on.

    files: results other than cells, as paths below the folder ``results``, separated by commas
    user_files: SHA-256 of every file of the user's own methods when the workflow was planned, as JSON by path
    output: the manifest (.json)
    """
    settings, folder = json.loads(config), Path(results)
    manifest.check_before(folder, files.split(","), settings, files_written(folder / "logs"))
    descriptions = {name: load_json(folder / "prepared" / f"{name}.json") for name in settings["datasets"]}
    user_hashes = json.loads(user_files)
    changed = [path for path, digest in user_hashes.items() if not Path(path).is_file() or hash_of_file(path) != digest]
    if changed:
        raise ClusterletsError(f"{changed[0]} changed while the workflow ran. Run the same command again.")
    versions = planned_versions(MODULES)
    write_json(output, manifest.make(folder, files.split(","), settings, descriptions, versions, processor(), user_hashes))
