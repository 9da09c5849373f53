"""Read strings as numbers. Unlike Python's ``float``, accept only infinity and decimal numbers in ASCII digits."""

import math
import re
from collections.abc import Sequence

import numpy as np

_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)", re.IGNORECASE)


def number(text: str) -> float:
    """The number that a string spells, apart from spaces around it. NaN for other strings, such as ``2021_1`` or ``１２``."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else math.nan


def numbers(strings: Sequence[str]) -> np.ndarray:
    """:func:`number` of each string (n,)."""
    joined = "".join(strings)
    if joined.isascii() and "_" not in joined:  # for such strings, NumPy's conversion and ours agree
        try:
            return np.array(strings, dtype=object).astype(np.float64)
        except ValueError:
            pass
    return np.array([number(text) for text in strings], dtype=np.float64)
