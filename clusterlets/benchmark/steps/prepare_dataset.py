"""The step that prepares a dataset: it checks the raw files, and writes the table as arrays with a description."""

import hashlib
from pathlib import Path

import numpy as np

from clusterlets import storage
from clusterlets.benchmark import datasets
from clusterlets.benchmark.steps import Input, Output
from clusterlets.errors import ClusterletsError
from clusterlets.tables.table import CLASS, Table, describe_differences, fingerprint, scaled

_SCALINGS = ("none", "standard")


def prepare_dataset(
    dataset: str,
    raw_dir: str,
    receipt_path: Input,
    scaling: str,
    npz_path: Output,
    json_path: Output,
    sensitive: str = CLASS,
    duplicates: str | None = None,
) -> None:
    """Check the raw files of a dataset against their receipt, and write the prepared table.

    raw_dir: folder of the raw files of all datasets, <raw_dir>/<dataset>/<file>
    receipt_path: receipt of the fetch; removed if the raw files are unusable, so that the next run fetches again
    scaling: none, or standard (zero mean, unit population variance, constant columns 0)
    npz_path: arrays to write: X float64 (n, d), groups int64 (n,), feature_names (d,) and group_values (K, S), as text
    json_path: description to write: counts, fingerprint, source, licence, citation, warnings
    sensitive: class, a sensitive attribute of the dataset, or several attributes joined by +
    duplicates: keep, or drop (rows that equal an earlier one in all features and the class); by default as in sources.yaml
    """
    check_scaling(scaling)
    receipt = _checked_receipt(dataset, Path(raw_dir) / dataset, Path(receipt_path))
    try:
        table = datasets.prepare(dataset, raw_dir, duplicates)
    except ClusterletsError:
        Path(receipt_path).unlink()
        raise
    warnings, n_dropped = _warnings(table, receipt), table.dropped_duplicates
    if n_dropped:
        warnings.append(f"{n_dropped} of {len(table.X) + n_dropped} rows equal an earlier one and were left out")
    if sensitive != CLASS:
        n_rows = len(table.X)
        table = datasets.with_sensitive(dataset, table, sensitive.split("+"))
        if len(table.X) < n_rows:
            warnings.append(f"{n_rows - len(table.X)} of {n_rows} rows have no value of {sensitive} and were left out")
    details = {"sensitive": sensitive, "dropped_duplicates": n_dropped, "warnings": warnings}
    save_table(table, _origin(receipt) | details, scaling, npz_path, json_path)


def check_scaling(scaling: str) -> None:
    """Raise ClusterletsError if no scaling has this name."""
    if scaling not in _SCALINGS:
        raise ClusterletsError(f"scaling: {scaling!r} is unknown; it must be one of {', '.join(_SCALINGS)}.")


def save_table(table: Table, origin: dict, scaling: str, npz_path: str, json_path: str) -> None:
    """Write a table as arrays, and a description that begins with ``origin``. Unless both can be written, neither is kept."""
    description = origin | {
        "rows": len(table.X),
        "features": table.X.shape[1],
        "groups": dict(zip(table.group_names, table.group_counts.tolist(), strict=True)),
        "positives": table.positives,
        "scaling": scaling,
        "fingerprint": fingerprint(table),
    }
    storage.save_arrays(
        npz_path,
        {
            "X": scaled(table, scaling),
            "groups": table.groups.astype(np.int64),
            "feature_names": np.array(table.feature_names),
            "group_values": np.array(table.group_values),
        },
    )
    try:
        storage.save_json(json_path, description)
    except BaseException:
        Path(npz_path).unlink()
        raise


def _checked_receipt(dataset: str, folder: Path, receipt_path: Path) -> dict:
    """Read the receipt and check the raw files against it. If they differ, the receipt is removed."""
    receipt = storage.load_json(receipt_path)
    expected_files = {file["name"] for file in datasets.describe(dataset)["files"]}
    if receipt["dataset"] != dataset or set(receipt["files"]) != expected_files:
        receipt_path.unlink()
        raise ClusterletsError(
            f"{dataset}: the receipt {receipt_path} lists other files and has been removed. Run the same command again."
        )
    for file, entry in receipt["files"].items():
        _require_unchanged(dataset, folder / file, entry["sha256"], receipt_path)
    return receipt


def _require_unchanged(dataset: str, path: Path, expected_hash: str, receipt_path: Path) -> None:
    if not path.is_file():
        problem = "is missing"
    elif hashlib.sha256(path.read_bytes()).hexdigest() != expected_hash:
        problem = "has changed since it was fetched"
    else:
        return
    receipt_path.unlink()
    raise ClusterletsError(
        f"{dataset}: {path} {problem}. Its receipt has been removed, so running the same command again uses what is at this "
        "path as your own file, or fetches the file if you delete it first."
    )


def _warnings(table: Table, receipt: dict) -> list[str]:
    description = datasets.describe(receipt["dataset"])
    warnings = [] if description["strict"] else describe_differences(table, description)
    if receipt["sha256_matches"] is False:
        warnings.append("the raw bytes differ from the known ones, so the prepared table was checked instead")
    return warnings


def _origin(receipt: dict) -> dict:
    """The part of the description that says where the table comes from."""
    description = datasets.describe(receipt["dataset"])
    return {
        "dataset": description["name"],
        "title": description["title"],
        "source": receipt["source"],
        "sha256_matches": receipt["sha256_matches"],
        # True for a strict dataset with a known fingerprint, which datasets.prepare has checked; otherwise None.
        "fingerprint_ok": (description["strict"] and description["fingerprint"] is not None) or None,
        "licence": description["licence"],
        "citation": description["citation"],
    }
