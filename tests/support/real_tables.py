"""Raw tables of the benchmark's datasets, where this machine has a mirror of them; else a test is skipped."""

import functools
import os
from pathlib import Path

import numpy as np
import pytest

from clusterlets import datasets

_CHECKOUT = Path(__file__).parents[2]
_MIRROR = Path(os.environ.get("CLUSTERLETS_MIRROR") or _CHECKOUT.parent / "shared" / "datasets")


def mirror() -> Path:
    """The folder that holds a folder of raw files for each dataset."""
    if not _MIRROR.is_dir():
        pytest.skip(f"no mirror of the raw files: neither CLUSTERLETS_MIRROR nor {_MIRROR} is a folder")
    return _MIRROR


@functools.cache
def standardised(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, d) of a dataset with standardised features, and groups (n,)."""
    prepared = datasets.prepare(name, mirror())
    X, width = prepared.X - prepared.X.mean(axis=0), prepared.X.std(axis=0)
    return X / np.where(width > 0, width, 1), prepared.groups


def adult_of_vfc() -> tuple[np.ndarray, np.ndarray]:
    """Adult as the paper on VFC prepares it: five features of 32,561 rows, standardised and then of length 1, and the sex."""
    rows = [line.split(", ") for line in (mirror() / "adult" / "adult.data").read_text().splitlines() if line]
    X = np.array([[float(row[column]) for column in (0, 2, 4, 10, 12)] for row in rows])
    sex = np.array([row[9] == "Male" for row in rows]).astype(int)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X /= np.sqrt(np.square(X).sum(axis=1))[:, None]
    return X, sex
