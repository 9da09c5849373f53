"""Read strings as numbers. Unlike ``float``, reject underscores and digits other than 0 to 9."""

import math
import re
from collections.abc import Sequence

import numpy as np

_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)", re.IGNORECASE)


def parse_number(text: str) -> float:
    """A string as a number, ignoring whitespace around it; NaN if it is not a number, as for ``2021_1`` or ``１２``."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else math.nan


def parse_numbers(strings: Sequence[str]) -> np.ndarray:
    """:func:`parse_number` of each string (n,)."""
    joined = "".join(strings)
    if joined.isascii() and "_" not in joined:  # for such strings, NumPy's conversion and ours agree
        try:
            return np.array(strings, dtype=object).astype(np.float64)
        except ValueError:
            pass
    return np.array([parse_number(text) for text in strings], dtype=np.float64)
