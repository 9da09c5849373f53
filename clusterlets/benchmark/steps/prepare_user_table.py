"""The step that turns a user's own table into a prepared dataset."""

import json
from pathlib import Path

from clusterlets.benchmark.steps import Output
from clusterlets.benchmark.steps.prepare_dataset import check_scaling, save_table
from clusterlets.errors import ClusterletsError
from clusterlets.storage import hash_of_file
from clusterlets.tables import user_table


def prepare_user_table(name: str, table: str, settings: str, npz_path: Output, json_path: Output, sha256: str = "") -> None:
    """Read a user's own table and write it in the form of a prepared dataset.

    name: id of the table in the configuration
    table: the file (CSV, TSV, Excel or Parquet)
    settings: sensitive (a list of columns), features (a list or "numeric"), scaling, and how to read the file, as JSON
    npz_path: arrays to write: X, groups, feature_names, group_values (.npz)
    json_path: description to write: counts, fingerprint, source, warnings
    sha256: SHA-256 of the file when the workflow was planned; by default, any file is accepted
    """
    options = json.loads(settings)
    check_scaling(options["scaling"])
    sensitive, features = options["sensitive"], options["features"]
    reading = user_table.Reading(**{key: options[key] for key in user_table.READING if key in options})
    advice = "The configuration's features name the columns to cluster by."
    checked_table, remarks, *_ = user_table.read(Path(table), sensitive, features, reading, advice=advice)
    digest = hash_of_file(table)
    if sha256 not in ("", digest):
        raise ClusterletsError(f"{table} changed while the workflow ran. Run the same command again.")
    origin = {
        "dataset": name,
        "title": name,
        "source": table,
        "source_sha256": digest,
        "fingerprint_ok": None,
        "licence": "",
        "citation": "",
        "sensitive": "+".join(sensitive),
        "warnings": remarks,
    }
    save_table(checked_table, origin, options["scaling"], npz_path, json_path)
