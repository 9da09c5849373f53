"""Checks of input: numbers as features and as names of groups, and rows that belong together."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from clusterlets.errors import ClusterletsError, InvalidInput

#: Largest magnitude of a feature, and (its inverse) smallest range of one that counts. Squares of both, summed over any table
#: that fits a machine, lie well inside what double precision can hold.
LARGEST = 1e100


def check_magnitudes(X: np.ndarray, names: Sequence[str] | None = None, each: bool = False) -> None:
    """ClusterletsError for features (n, d) whose squared differences would be infinite or vanish: above 1e100, or below 1e-100.

    ``names`` are what to call the features, by default their numbers. With ``each``, as before standardising, every feature
    must be wide enough; else only the widest, because features that vary far less change no distance. O(n d).
    """
    check_largest(X, names)
    width = X.max(axis=0) - X.min(axis=0)
    narrow = (width > 0) & (width < 1 / LARGEST)
    if narrow.any() and (each or width.max() < 1 / LARGEST):
        feature = int(np.flatnonzero(narrow)[0])
        raise ClusterletsError(
            f"{_describe_feature(feature, names)} varies by {width[feature]:.3g} only, and the squares of differences below "
            f"{1 / LARGEST:g} underflow. Write it in a smaller unit, or leave it out."
        )


def check_largest(X: np.ndarray, names: Sequence[str] | None = None) -> None:
    """The first part of :func:`check_magnitudes`, for rows that are only compared with others: values above 1e100."""
    largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    if (largest > LARGEST).any():
        feature = int(largest.argmax())
        raise ClusterletsError(
            f"{_describe_feature(feature, names)} holds {largest[feature]:.3g}, and the squares of numbers above {LARGEST:g} "
            "overflow. Write it in a larger unit, or correct the value."
        )


def check_groups(numbers: np.ndarray) -> None:
    """Refuse fractions among numbers (n,): they are measurements, and a sensitive column must name groups. O(n)."""
    fractions = numbers[numbers % 1 != 0]
    if len(fractions):
        raise ClusterletsError(f"it holds fractions such as {fractions[0]:g}; bin it into groups first.")


def _describe_feature(feature: int, names: Sequence[str] | None) -> str:
    return f"feature {feature}" if names is None else f"feature {names[feature]!r}"


def check_same_index(**tables: Any) -> None:
    """Raise InvalidInput if pandas objects differ in their index: rows belong together by position.

    ``tables`` are the objects by their names; those that have no index are left out.
    """
    pandas = sys.modules.get("pandas")
    kinds = (pandas.DataFrame, pandas.Series) if pandas else ()
    indexes = {name: table.index for name, table in tables.items() if isinstance(table, kinds)}
    if not indexes:
        return
    first, index = next(iter(indexes.items()))
    for name, other in indexes.items():
        if len(other) == len(index) and not other.equals(index):
            row = next((row for row, labels in enumerate(zip(index, other, strict=True)) if labels[0] != labels[1]), 0)
            raise InvalidInput(
                f"{first} and {name} have different indexes: row {row} (counting from 0) is {index.tolist()[row]!r} in {first} "
                f"and {other.tolist()[row]!r} in {name}. Put them in one order, as with {name}.loc[{first}.index]; or, if they "
                f"belong together by position, give {name}.to_numpy()."
            )
