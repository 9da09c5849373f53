"""The step that fetches the raw files of a dataset and writes their receipt."""

import os

from clusterlets.benchmark.datasets.fetch import fetch
from clusterlets.benchmark.steps import Output
from clusterlets.storage import save_json


def fetch_dataset(dataset: str, raw_dir: str, receipt_path: Output, mirror: str = "") -> None:
    """Fetch the raw files of a dataset into its folder and write the receipt (JSON, without times or paths).

    raw_dir: folder of the raw files of all datasets, <raw_dir>/<dataset>/<file>
    receipt_path: file to write: the raw files with their SHA-256, and the source that served them
    mirror: folder or address laid out <mirror>/<dataset>/<file>; by default the variable CLUSTERLETS_MIRROR
    """
    receipt = fetch(dataset, raw_dir, mirror or os.environ.get("CLUSTERLETS_MIRROR"))
    save_json(receipt_path, receipt)
