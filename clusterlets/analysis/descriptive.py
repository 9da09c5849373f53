"""Spreads and correlations of the tables: the same bits on every processor, in whatever order the rows come.

Sums are exactly rounded (``math.fsum``) and every product is rounded before it is added. Compiled code (pandas, BLAS) may
fuse the two, as compilers do for aarch64, and takes its sums in an order of its own. The means of pandas and numpy need
no care: they only add, in an order that follows from the shape alone.
"""

from math import fsum, nan, sqrt

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

COEFFICIENTS = ("pearson", "spearman", "kendall")


def variance(values: ArrayLike) -> float:
    """Population variance of the values (n,) that are not missing; NaN where none is left. O(n)."""
    present = np.asarray(values, dtype=np.float64)
    present = present[~np.isnan(present)]
    return _sum_of_products(present, present) / len(present) if len(present) else nan


def std(values: ArrayLike) -> float:
    """Population standard deviation, as :func:`variance`."""
    return sqrt(variance(values))


def correlation(x: ArrayLike, y: ArrayLike, coefficient: str) -> float:
    """Pearson's, Spearman's (ties share a rank) or Kendall's coefficient (tau-b) of pairs; O(n log n).

    Parameters
    ----------
    x, y : float arrays (n,)
        No value is missing.
    coefficient : {"pearson", "spearman", "kendall"}

    Returns
    -------
    float
        From -1 to 1; NaN below three pairs, and where all values of a side are equal.
    """
    if coefficient not in COEFFICIENTS:
        raise ValueError(f"unknown coefficient: {coefficient!r}; one of {', '.join(COEFFICIENTS)}")
    sides = pd.DataFrame({"x": np.asarray(x), "y": np.asarray(y)}, dtype=np.float64)
    if len(sides) < 3 or (sides.nunique() == 1).any():
        return nan
    if coefficient == "kendall":
        from scipy.stats import kendalltau  # a second to import; it counts pairs in integers

        return float(kendalltau(sides["x"], sides["y"]).statistic)
    x_values, y_values = (sides.rank() if coefficient == "spearman" else sides).to_numpy().T
    scale = sqrt(_sum_of_products(x_values, x_values) * _sum_of_products(y_values, y_values))
    return max(-1.0, min(1.0, _sum_of_products(x_values, y_values) / scale))


def _sum_of_products(x: np.ndarray, y: np.ndarray) -> float:
    """Sum of the products of both sides' distances to their means."""
    return fsum((x - fsum(x) / len(x)) * (y - fsum(y) / len(y)))
