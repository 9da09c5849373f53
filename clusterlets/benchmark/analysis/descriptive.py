"""Spreads and correlations for the tables, the same to the last bit on every processor and in any order of the rows.

Sums are correctly rounded (``math.fsum``), and every product is rounded before it is added. The compiled code of pandas and
BLAS is unsuitable: it may fuse a product and a sum, as compilers do for aarch64, and it chooses its own order of summation.
The means of pandas and numpy are the same on every processor: they only add, in an order that depends on the shape alone.
"""

from math import fsum, nan, sqrt

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

COEFFICIENTS = ("pearson", "spearman", "kendall")


def variance(values: ArrayLike) -> float:
    """Population variance of values (n,), without the missing ones; NaN if all are missing. O(n)."""
    present = np.asarray(values, dtype=np.float64)
    present = present[~np.isnan(present)]
    return _sum_of_products(present, present) / len(present) if len(present) else nan


def std(values: ArrayLike) -> float:
    """Population standard deviation: the square root of :func:`variance`."""
    return sqrt(variance(values))


def correlation(x: ArrayLike, y: ArrayLike, coefficient: str) -> float:
    """Correlation of x (n,) and y (n,), from -1 to 1; no value may be missing. O(n log n).

    ``coefficient`` is one of :data:`COEFFICIENTS`: Pearson's, Spearman's (ties share a rank) or Kendall's (tau-b). The result
    is NaN for fewer than three pairs, or if all values of x or all values of y are equal.
    """
    x_values, y_values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(x_values) < 3 or (x_values == x_values[0]).all() or (y_values == y_values[0]).all():
        return nan
    if coefficient == "kendall":
        # Imported late, because the import takes a second. Kendall's tau is safe: scipy counts pairs in integers.
        from scipy.stats import kendalltau

        return float(kendalltau(x_values, y_values).statistic)
    if coefficient == "spearman":
        x_values, y_values = (pd.Series(values).rank().to_numpy() for values in (x_values, y_values))
    scale = sqrt(_sum_of_products(x_values, x_values) * _sum_of_products(y_values, y_values))
    return max(-1.0, min(1.0, _sum_of_products(x_values, y_values) / scale))


def _sum_of_products(x: np.ndarray, y: np.ndarray) -> float:
    """Sum of the products of x's and y's deviations from their means."""
    return fsum((x - fsum(x) / len(x)) * (y - fsum(y) / len(y)))
