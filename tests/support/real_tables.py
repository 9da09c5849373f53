"""Tables of the benchmark's datasets, from a mirror of the raw files. A test is skipped if this machine has no mirror."""

import functools
import os
from pathlib import Path

import numpy as np
import pytest

from clusterlets.benchmark import datasets

_CHECKOUT = Path(__file__).parents[2]
_MIRROR = Path(os.environ.get("CLUSTERLETS_MIRROR") or _CHECKOUT.parent / "shared" / "datasets")


def mirror() -> Path:
    """The folder of the raw files, which holds one folder for each dataset. Without a mirror, skip the test."""
    if not _MIRROR.is_dir():
        pytest.skip(f"no mirror of the raw files: neither CLUSTERLETS_MIRROR nor {_MIRROR} is a folder")
    return _MIRROR


@functools.cache
def standardised(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardised features (n, d) and groups (n,) of a dataset. Constant features become 0."""
    prepared = datasets.prepare(name, mirror())
    centred, std = prepared.X - prepared.X.mean(axis=0), prepared.X.std(axis=0)
    return centred / np.where(std > 0, std, 1), prepared.groups


def adult_of_vfc() -> tuple[np.ndarray, np.ndarray]:
    """Adult as the paper on VFC prepares it: features (32561, 5) and the sex of each row, 1 for men.

    The features are standardised, and then each row is scaled to length 1.
    """
    rows = [line.split(", ") for line in (mirror() / "adult" / "adult.data").read_text().splitlines() if line]
    # age, fnlwgt, education-num, capital-gain, hours-per-week
    X = np.array([[float(row[column]) for column in (0, 2, 4, 10, 12)] for row in rows])
    sex = np.array([row[9] == "Male" for row in rows]).astype(int)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X /= np.sqrt(np.square(X).sum(axis=1))[:, None]
    return X, sex
