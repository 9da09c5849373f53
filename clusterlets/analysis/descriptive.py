"""Spreads and correlations of the tables: the same bits on every processor and for any order of the rows.

Sums are exactly rounded (``math.fsum``) and every product is rounded before it is added. Compiled code (pandas, BLAS) may
fuse the two, as compilers do for aarch64, and chooses its own order of summation. The means of pandas and numpy are safe:
they only add, in an order that depends on the shape alone.
"""

from math import fsum, nan, sqrt

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

COEFFICIENTS = ("pearson", "spearman", "kendall")


def variance(values: ArrayLike) -> float:
    """Population variance of the values (n,) that are not missing; NaN if none is left. O(n)."""
    present = np.asarray(values, dtype=np.float64)
    present = present[~np.isnan(present)]
    return _sum_of_products(present, present) / len(present) if len(present) else nan


def std(values: ArrayLike) -> float:
    """Population standard deviation, as :func:`variance`."""
    return sqrt(variance(values))


def correlation(x: ArrayLike, y: ArrayLike, coefficient: str) -> float:
    """One of :data:`COEFFICIENTS` of pairs (n,) without missing values, from -1 to 1; O(n log n).

    Pearson's, Spearman's (ties share a rank) or Kendall's (tau-b); NaN for fewer than three pairs, and if all values of x or of
    y are equal.
    """
    sides = pd.DataFrame({"x": np.asarray(x), "y": np.asarray(y)}, dtype=np.float64)
    if len(sides) < 3 or (sides.nunique() == 1).any():
        return nan
    if coefficient == "kendall":
        from scipy.stats import kendalltau  # imported late, as it takes a second; exact: it counts in integers

        return float(kendalltau(sides["x"], sides["y"]).statistic)
    x_values, y_values = (sides.rank() if coefficient == "spearman" else sides).to_numpy().T
    scale = sqrt(_sum_of_products(x_values, x_values) * _sum_of_products(y_values, y_values))
    return max(-1.0, min(1.0, _sum_of_products(x_values, y_values) / scale))


def _sum_of_products(x: np.ndarray, y: np.ndarray) -> float:
    """Sum of the products of x's and y's deviations from their means."""
    return fsum((x - fsum(x) / len(x)) * (y - fsum(y) / len(y)))
