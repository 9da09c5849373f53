"""The result of testing a claim: a verdict from a share of cases or from two conditions, and the numbers in words."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from clusterlets.text import decimal, significant

HOLDS, IN_PART, FAILS, INCONCLUSIVE = "holds", "holds in part", "does not hold", "inconclusive"
VERDICTS = (HOLDS, IN_PART, FAILS, INCONCLUSIVE)

# Tolerance for quotients of decimals that miss a threshold by the last bit; no threshold is that fine.
LAST_BIT = 1e-9


class Undecided(Exception):
    """The numbers at hand do not decide the claim; the message says why."""


@dataclass(frozen=True)
class Finding:
    """A verdict, and the numbers it rests on in words."""

    verdict: str
    statistic: str


@dataclass(frozen=True)
class Scale:
    """The smallest share of cases for a claim to hold, and the share above which it holds in part."""

    holds: float
    in_part: float
    description: str


def grade(fulfilled: pd.Series, scale: Scale, shown: pd.Series | None = None, unit: str = "datasets") -> Finding:
    """A verdict from the share of cases in which a claim is true; exceptions are named, each with its text in ``shown``."""
    if fulfilled.empty:
        raise Undecided("No case is left to look at.")
    share = fulfilled.mean()
    verdict = HOLDS if share >= scale.holds - LAST_BIT else IN_PART if share > scale.in_part else FAILS
    exceptions = [f"{case} ({shown[case]})" if shown is not None else str(case) for case in fulfilled.index[~fulfilled]]
    statistic = f"{int(fulfilled.sum())} of {len(fulfilled)} {unit}"
    return Finding(verdict, f"{statistic}; not {', '.join(exceptions)}" if exceptions else statistic)


def grade_in_two_steps(holds: bool, in_part: bool, statistic: str) -> Finding:
    """A verdict from two conditions; the second is the weaker one."""
    return Finding(HOLDS if holds else IN_PART if in_part else FAILS, statistic)


def format_number(value: float) -> str:
    """Three decimals; fewer for whole and half numbers and infinity (a division by a printed zero), one digit for tiny ones."""
    if np.isinf(value) or float(2 * value).is_integer():
        return f"{value:g}".replace("-", "−")
    return significant(value, 1) if abs(value) < 0.001 else decimal(value)


def readable_name(quantity: str) -> str:
    """A column's name as a reader would say it."""
    return {"deviation_mean": "mean deviation", "deviation_max": "largest deviation"}.get(quantity, quantity)
