"""Read texts as numbers: decimals in the digits 0 to 9, or infinity. Python's ``float`` also accepts other spellings."""

import math
import re
from collections.abc import Sequence

import numpy as np

_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)", re.IGNORECASE)


def number(text: str) -> float:
    """The number that a text spells, ignoring spaces around it; NaN if it spells none, such as ``2021_1`` or ``１２``."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else math.nan


def numbers(texts: Sequence[str]) -> np.ndarray:
    """:func:`number` of each text (n,)."""
    joined = "".join(texts)
    if joined.isascii() and "_" not in joined:  # for such texts, NumPy's conversion and ours agree
        try:
            return np.array(texts, dtype=object).astype(np.float64)
        except ValueError:
            pass
    return np.array([number(text) for text in texts], dtype=np.float64)
