"""Checks of a user's input: magnitudes of features, values that name groups, and tables whose rows belong together."""

import math
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from clusterlets.errors import ClusterletsError, InvalidInput, tell_apart

#: Largest magnitude of a feature. Its inverse is the smallest range of a feature that is not constant. Sums of squares of both
#: lie well within the range of double precision, for any table that fits into memory.
LARGEST = 1e100
#: A sensitive column with more distinct values than this is probably a measurement.
MAX_GROUPS = 20


def check_magnitudes(X: np.ndarray, names: Sequence[str] | None = None, each: bool = False) -> None:
    """Raise ClusterletsError if squared differences of the features (n, d) would overflow or vanish.

    They overflow if a value is above 1e100, and vanish if a feature varies, but by less than 1e-100. If ``each`` is true, none
    may vary so little, as standardising requires. Otherwise only the feature that varies most is checked, because features that
    vary far less do not change a distance. Messages use ``names``, or numbers, for the features. O(n d).
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
    """Raise ClusterletsError for values above 1e100. This is enough for rows that are only compared with given centres."""
    largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    if (largest > LARGEST).any():
        feature = int(largest.argmax())
        raise ClusterletsError(
            f"{_describe_feature(feature, names)} holds {largest[feature]:.3g}, and the squares of numbers above {LARGEST:g} "
            "overflow. Write it in a larger unit, or correct the value."
        )


def check_groups(values: Iterable[Any], n_rows: float) -> None:
    """Raise ClusterletsError if the distinct values (K,) of a column of ``n_rows`` cannot be groups, whatever their type. O(K).

    Fractions are measurements, also in a column of numbers that are spelled as text. More than 20 values, each of which
    describes fewer than two rows on average, are a measurement, a date or an identifier.
    """
    values = list(values)
    texts = [value for value in values if isinstance(value, str)]
    numbers = [float(value) for value in values if isinstance(value, Real | Decimal)]
    numbers_in_text = list(map(_parse_number, texts))
    if not any(map(math.isnan, numbers_in_text)):
        numbers += numbers_in_text
    if any(isinstance(value, complex) for value in values):
        raise ClusterletsError("it holds complex numbers, which cannot be groups.")
    fractions = [number for number in numbers if not number.is_integer()]
    if fractions:
        raise ClusterletsError(f"it holds fractions such as {fractions[0]:g}; bin it into groups first.")
    if len(values) > MAX_GROUPS and 2 * len(values) > n_rows:
        raise ClusterletsError(
            f"{n_rows} rows have {len(values)} different values, too many to be groups; bin a measure or a date first."
        )


def _parse_number(text: str) -> float:
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def notation(value: Any) -> str | float:
    """What a value has in common with those that look alike: a number, also for true (1) and false (0), or else a text."""
    visible = "".join(character for character in str(value) if unicodedata.category(character) != "Cf")
    text = " ".join(unicodedata.normalize("NFKC", visible).casefold().split())
    number = _parse_number(text)
    return {"true": 1.0, "false": 0.0}.get(text, text) if math.isnan(number) else number


def look_alikes(values: Iterable[Any]) -> str:
    """Describe values that differ only in case, blanks, type, invisible characters, or the notation of a number or character.

    "" if there are none. O(K) for K values.
    """
    spellings: dict[Any, list] = {}
    for value in values:
        spellings.setdefault(notation(value), []).append(value)
    alike = [" and ".join(tell_apart(group)) for group in spellings.values() if len(group) > 1]
    return f"these groups look alike: {'; '.join(alike)}. If they are the same group, spell them alike" if alike else ""


def _describe_feature(feature: int, names: Sequence[str] | None) -> str:
    return f"feature {feature}" if names is None else f"feature {names[feature]!r}"


def check_same_index(**tables: Any) -> None:
    """Raise InvalidInput if pandas objects of the same length differ in their index, because we match rows by position.

    ``tables`` are the objects, under the names that the message uses. Objects without an index are ignored.
    """
    pandas = sys.modules.get("pandas")
    indexed_types = (pandas.DataFrame, pandas.Series) if pandas else ()
    indexes = {name: table.index for name, table in tables.items() if isinstance(table, indexed_types)}
    if not indexes:
        return
    first, index = next(iter(indexes.items()))
    for name, other in indexes.items():
        if len(other) == len(index) and not other.equals(index):
            row = next((row for row, pair in enumerate(zip(index, other, strict=True)) if pair[0] != pair[1]), 0)
            raise InvalidInput(
                f"{first} and {name} have different indexes: row {row} (counting from 0) is {index.tolist()[row]!r} in {first} "
                f"and {other.tolist()[row]!r} in {name}. Put them in one order, as with {name}.loc[{first}.index]; or, if they "
                f"belong together by position, give {name}.to_numpy()."
            )
