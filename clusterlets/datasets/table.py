"""A prepared dataset, what must be true of it, and the number by which two machines tell that they hold the same."""

import hashlib
from dataclasses import dataclass

import numpy as np


class BadData(ValueError):
    """A raw file does not hold what it should: says where and what; the caller adds the dataset and the remedy."""


@dataclass(frozen=True)
class Table:
    """n instances with d features and K colours.

    Attributes
    ----------
    X : float array (n, d)
        Features, in the units of the raw file.
    colour : int array (n,)
        Colour codes 0..K-1; of two colours 0 is the negative class.
    feature_names : tuple of d str
    colour_names : tuple of K str
        Class labels as the raw file spells them.
    """

    X: np.ndarray
    colour: np.ndarray
    feature_names: tuple[str, ...]
    colour_names: tuple[str, ...]

    @property
    def colour_counts(self) -> np.ndarray:
        """Instances of each colour, (K,)."""
        return np.bincount(self.colour, minlength=len(self.colour_names))

    @property
    def positives(self) -> int | None:
        """Instances of colour 1 where there are two colours, else None."""
        return int(self.colour_counts[1]) if len(self.colour_names) == 2 else None


def check(table: Table) -> None:
    """Raise :class:`BadData` unless the table has rows, finite features, and an instance of every colour."""
    if table.X.shape != (len(table.colour), len(table.feature_names)):
        raise BadData(
            f"{table.X.shape} features do not fit {len(table.colour)} colours and {len(table.feature_names)} names."
        )
    if len(table.X) == 0:
        raise BadData("no row is left.")
    finite = np.isfinite(table.X)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise BadData(f"row {row + 1}: column {table.feature_names[column]} is not a finite number.")
    absent = [name for name, count in zip(table.colour_names, table.colour_counts, strict=True) if count == 0]
    if absent:
        raise BadData(f"no row has the colour {', '.join(absent)}; every colour must occur.")


def unexpected(table: Table, expected: dict) -> list[str]:
    """How the table differs from its description: rows, features, positives, and if these agree the fingerprint.

    None in the description means that nothing is known, and nothing is compared.
    """
    found = {"rows": len(table.X), "features": table.X.shape[1], "positives": table.positives}
    wrong = [
        f"expected {expected[what]} {what}, found {count}"
        for what, count in found.items()
        if expected[what] not in (None, count)
    ]
    if not wrong and expected["fingerprint"] not in (None, fingerprint(table)):
        wrong.append(f"its values differ: expected fingerprint {expected['fingerprint']}, found {fingerprint(table)}")
    return wrong


def fingerprint(table: Table) -> str:
    """SHA-256 of what the table holds, equal on every platform: see docs/datasets.md for the exact text that is hashed.

    Shape, colour counts, then a line a row: its features to 12 significant digits and its colour. The names are left
    out (copies of a file differ in them), the order of rows and features counts (k-means depends on it).
    """
    n, d = table.X.shape
    digest = hashlib.sha256(f"{n} {d}\n{' '.join(map(str, table.colour_counts))}\n".encode())
    line = "%.12g " * d + "%d\n"
    positive_zero = table.X + 0.0  # -0.0 would print as "-0"
    for row, colour in zip(positive_zero.tolist(), table.colour.tolist(), strict=True):
        digest.update((line % (*row, colour)).encode())
    return digest.hexdigest()


def standardise(X: np.ndarray) -> np.ndarray:
    """Features (n, d) with zero mean and unit population variance; constant columns become 0."""
    varies = X.max(axis=0) > X.min(axis=0)
    deviation = np.where(varies, X.std(axis=0), 1.0)
    return np.where(varies, (X - X.mean(axis=0)) / deviation, 0.0)
