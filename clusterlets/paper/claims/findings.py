"""What a test of a claim gives: a verdict from a share of cases or from two conditions, and the numbers in words."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from clusterlets.text import decimal, significant

HOLDS, IN_PART, FAILS, INCONCLUSIVE = "holds", "holds in part", "does not hold", "inconclusive"
VERDICTS = (HOLDS, IN_PART, FAILS, INCONCLUSIVE)

# A quotient of decimals misses a threshold by a last bit; no threshold is that fine.
LAST_BIT = 1e-9


class CannotTell(Exception):
    """The numbers at hand do not decide the claim; the message says why."""


@dataclass(frozen=True)
class Finding:
    """A verdict, and the numbers it rests on in words."""

    verdict: str
    statistic: str


@dataclass(frozen=True)
class Scale:
    """The share of cases from which on a claim holds, and above which it holds in part."""

    holds: float
    in_part: float
    in_words: str


def graded(fulfilled: pd.Series, scale: Scale, shown: pd.Series | None = None, of: str = "datasets") -> Finding:
    """A verdict from the share of cases in which a claim comes true; the exceptions are named, with their values."""
    if fulfilled.empty:
        raise CannotTell("No case is left to look at.")
    share = fulfilled.mean()
    verdict = HOLDS if share >= scale.holds - LAST_BIT else IN_PART if share > scale.in_part else FAILS
    exceptions = [f"{case} ({shown[case]})" if shown is not None else str(case) for case in fulfilled.index[~fulfilled]]
    words = f"{int(fulfilled.sum())} of {len(fulfilled)} {of}"
    return Finding(verdict, f"{words}; not {', '.join(exceptions)}" if exceptions else words)


def two_steps(holds: bool, in_part: bool, statistic: str) -> Finding:
    """A verdict from two conditions, of which the second is the weaker."""
    return Finding(HOLDS if holds else IN_PART if in_part else FAILS, statistic)


def number(value: float) -> str:
    """Three decimals; fewer for whole and half numbers (infinity: a printed zero was divided by), one digit for tiny ones."""
    if np.isinf(value) or float(2 * value).is_integer():
        return f"{value:g}".replace("-", "−")
    return significant(value, 1) if abs(value) < 0.001 else decimal(value)


def plain(quantity: str) -> str:
    """A column's name as a reader would say it."""
    return {"deviation_mean": "mean deviation", "deviation_max": "largest deviation"}.get(quantity, quantity)
