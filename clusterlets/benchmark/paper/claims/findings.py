"""The result of testing a claim: a verdict, and a text with the numbers on which it is based."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from clusterlets.text import decimal, significant

HOLDS, IN_PART, FAILS, INCONCLUSIVE = "holds", "holds in part", "does not hold", "inconclusive"
#: The verdict on a claim that is not about numbers.
NOT_TESTED = "not tested"
VERDICTS = (HOLDS, IN_PART, FAILS, INCONCLUSIVE, NOT_TESTED)

#: A number may miss a threshold by this much, because of rounding errors. Thresholds have far fewer digits.
ROUNDING_ERROR = 1e-9


class Inconclusive(Exception):
    """Raised if the numbers do not decide the claim; the message says why."""


@dataclass(frozen=True)
class Finding:
    """A verdict, and a text with the numbers on which it is based."""

    verdict: str
    statistic: str


@dataclass(frozen=True)
class Scale:
    """Thresholds for the share of cases, and their description in words.

    A claim holds if the share is at least ``holds``, and holds in part if it is above ``in_part``.
    """

    holds: float
    in_part: float
    description: str


def grade(is_true: pd.Series, scale: Scale, details: pd.Series | None = None, unit: str = "datasets") -> Finding:
    """A verdict from the share of cases in which a claim is true. The other cases are listed with their ``details``."""
    if is_true.empty:
        raise Inconclusive("No case is left to test.")
    share = is_true.mean()
    verdict = HOLDS if share >= scale.holds - ROUNDING_ERROR else IN_PART if share > scale.in_part else FAILS
    exceptions = [f"{case} ({details[case]})" if details is not None else str(case) for case in is_true.index[~is_true]]
    statistic = f"{int(is_true.sum())} of {len(is_true)} {unit}"
    return Finding(verdict, f"{statistic}; not {', '.join(exceptions)}" if exceptions else statistic)


def grade_in_two_steps(holds: bool, in_part: bool, statistic: str) -> Finding:
    """A verdict from two conditions, of which ``in_part`` is the weaker one."""
    return Finding(HOLDS if holds else IN_PART if in_part else FAILS, statistic)


def format_number(value: float) -> str:
    """Format with three decimals, but whole and half numbers with fewer, and numbers below .001 with one significant digit."""
    # A number is infinite if it was divided by a printed 0.
    if np.isinf(value) or float(2 * value).is_integer():
        return f"{value:g}".replace("-", "−")
    return significant(value, 1) if abs(value) < 0.001 else decimal(value)


def readable_name(quantity: str) -> str:
    """A column's name as a reader would say it."""
    return {"deviation_mean": "mean deviation", "deviation_max": "largest deviation"}.get(quantity, quantity)
