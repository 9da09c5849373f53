"""The step that makes the checked table of a dataset from its raw files, as arrays and a description."""

import hashlib
import json
from pathlib import Path

import numpy as np

from clusterlets import datasets, storage
from clusterlets.datasets.table import Table, fingerprint, standardise, unexpected
from clusterlets.errors import ClusterletsError

_SCALINGS = ("none", "standard")


def prepare_dataset(
    dataset: str, raw_dir: str, receipt_path: str, scaling: str, npz_path: str, json_path: str
) -> None:
    """Check the raw files against their receipt, prepare them, and write both forms of the result, or neither.

    dataset: name of the dataset
    raw_dir: folder of the raw files of all datasets, <raw_dir>/<dataset>/<file>
    receipt_path: receipt of the fetch; removed where the raw files do not serve, so that the next run fetches again
    scaling: none, or standard (zero mean, unit population variance, constant columns 0) after the table was checked
    npz_path: arrays to write: X float64 (n, d), colour int64 (n,), feature_names and colour_names (text)
    json_path: description to write: counts, fingerprint, source, licence, citation, warnings
    """
    if scaling not in _SCALINGS:
        raise ClusterletsError(f"scaling: {scaling!r} is unknown; it must be one of {', '.join(_SCALINGS)}.")
    receipt = _checked_receipt(dataset, Path(raw_dir) / dataset, Path(receipt_path))
    try:
        table = datasets.prepare(dataset, raw_dir)
    except ClusterletsError:
        Path(receipt_path).unlink()
        raise
    description = _description(table, receipt, scaling)
    storage.save_arrays(npz_path, {
        "X": standardise(table.X) if scaling == "standard" else table.X,
        "colour": table.colour.astype(np.int64),
        "feature_names": np.array(table.feature_names),
        "colour_names": np.array(table.colour_names),
    })
    try:
        storage.write_json(json_path, description)
    except BaseException:
        Path(npz_path).unlink()
        raise


def _checked_receipt(dataset: str, folder: Path, receipt_path: Path) -> dict:
    """The receipt, if the raw files are still those that it lists.

    Otherwise the receipt goes, and a changed file is set aside, so that the next run neither trusts nor loses it.
    """
    try:
        receipt = json.loads(receipt_path.read_text(encoding="utf-8"))
        listed = {file: entry["sha256"] for file, entry in receipt["files"].items()}
    except FileNotFoundError:
        raise ClusterletsError(
            f"{dataset}: {receipt_path} does not exist. Run the step that fetches the dataset."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        receipt_path.unlink()
        raise ClusterletsError(
            f"{dataset}: the receipt {receipt_path} was damaged and has been removed. Run the same command again."
        ) from None
    for file, expected in listed.items():
        _compare(dataset, folder / file, expected, receipt_path)
    return receipt


def _compare(dataset: str, path: Path, expected: str, receipt_path: Path) -> None:
    if not path.is_file():
        happened = "has gone"
    elif hashlib.sha256(path.read_bytes()).hexdigest() != expected:
        aside = path.with_name(path.name + ".changed")
        path.replace(aside)
        happened = f"is no longer what was fetched, and now lies at {aside}"
    else:
        return
    receipt_path.unlink()
    raise ClusterletsError(
        f"{dataset}: {path} {happened}. Its receipt has been removed, so running the same command again fetches the "
        "file anew. To use a file of your own, put it back at that name first."
    )


def _description(table: Table, receipt: dict, scaling: str) -> dict:
    known = datasets.describe(receipt["dataset"])
    warnings = [] if known["strict"] else unexpected(table, known)
    if receipt["sha256_matches"] is False:
        warnings.append("the raw bytes differ from those known, the prepared table was checked instead")
    return {
        "dataset": known["name"],
        "title": known["title"],
        "rows": len(table.X),
        "features": table.X.shape[1],
        "colours": dict(zip(table.colour_names, table.colour_counts.tolist(), strict=True)),
        "positives": table.positives,
        "scaling": scaling,
        "fingerprint": fingerprint(table),
        "source": receipt["source"],
        "sha256_matches": receipt["sha256_matches"],
        "licence": known["licence"],
        "citation": known["citation"],
        "warnings": warnings,
    }
