"""The step that makes a table of a person's own file."""

import hashlib
import json
from pathlib import Path

from clusterlets.benchmark.steps.preparing import check_scaling, save_table
from clusterlets.datasets import own


def prepare_own_table(name: str, table: str, settings: str, npz_path: str, json_path: str) -> None:
    """Read a table of one's own and write it in the form of a prepared dataset.

    name: what the configuration calls it
    table: the file (CSV, TSV or Parquet)
    settings: sensitive (a list of columns), features (a list or "numeric"), separator and scaling, as JSON
    npz_path: arrays to write: X, colour, feature_names, colour_names (.npz)
    json_path: description to write: counts, fingerprint, file, remarks
    """
    chosen = json.loads(settings)
    check_scaling(chosen["scaling"])
    found, remarks = own.read(Path(table), chosen["sensitive"], chosen["features"], chosen["separator"])
    with open(table, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    origin = {
        "dataset": name,
        "title": name,
        "source": table,
        "source_sha256": digest,
        "fingerprint_ok": None,
        "licence": "",
        "citation": "",
        "colour": "+".join(chosen["sensitive"]),
        "warnings": remarks,
    }
    save_table(found, origin, chosen["scaling"], npz_path, json_path)
