"""Which texts are numbers: decimals in the digits 0 to 9, and nothing else that Python would read as a number."""

import math
import re
from collections.abc import Sequence

import numpy as np

_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)", re.IGNORECASE)


def number(text: str) -> float:
    """The number that a text spells, spaces around it ignored; NaN if it is not one, such as ``2021_1`` or ``１２``."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else math.nan


def numbers(texts: Sequence[str]) -> np.ndarray:
    """:func:`number` of each text (n,)."""
    joined = "".join(texts)
    if joined.isascii() and "_" not in joined:  # then Python reads the same texts as numbers
        try:
            return np.array(texts, dtype=object).astype(np.float64)
        except ValueError:
            pass
    return np.array([number(text) for text in texts], dtype=np.float64)
