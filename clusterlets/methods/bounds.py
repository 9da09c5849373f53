"""Bounds on the groups of every cluster: what a parameter promises of them, and by how much a clustering misses it."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

# Rounding errors of counts that are computed from shares.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Bound:
    """What a parameter promises of every cluster, up to whole instances.

    Attributes
    ----------
    meaning : str
        The promise, in a few words.
    excess : callable
        By how many instances, not rounded, the worst cluster misses it, from the value, the composition (C, K) and the
        counts of the groups in the table (K,).
    value_of : callable
        The number that a value such as "balanced" stands for, from the value and the number of clusters asked for.
    """

    meaning: str
    excess: Callable[[Any, np.ndarray, np.ndarray], float]
    value_of: Callable[[Any, int], Any] = lambda value, n_clusters: value

    def rows_off(self, value: Any, composition: np.ndarray, group_counts: np.ndarray) -> int:
        """Whole instances by which the worst cluster misses the bound, 0 if it is kept. O(C K)."""
        return max(0, ceil(self.excess(value, composition, group_counts) - _ROUNDING))


def _excess_of_shares(delta: float, composition: np.ndarray, group_counts: np.ndarray) -> float:
    sizes = composition.sum(axis=1, keepdims=True)
    expected = sizes * group_counts / group_counts.sum()
    above = composition - np.minimum(sizes, expected / (1 - delta))
    return float(np.maximum(above, expected * (1 - delta) - composition).max())


def _excess_of_parts(tau: Any, composition: np.ndarray, group_counts: np.ndarray) -> float:
    return float((np.asarray(tau, dtype=float) * group_counts - composition).max())


def _excess_of_ratio(balance: float, composition: np.ndarray, group_counts: np.ndarray) -> float:
    return float((balance / (1 + balance) * composition.sum(axis=1) - composition.min(axis=1)).max())


#: A group with share r of the table has from r (1 - delta) to r / (1 - delta) of every cluster.
SHARES = Bound("shares from r (1 - delta) to r / (1 - delta) in every cluster", _excess_of_shares)
#: Every cluster has at least this part of each group; "balanced" is one part of as many as there are clusters.
PARTS = Bound(
    "at least tau of the rows of each group in every cluster",
    _excess_of_parts,
    lambda value, n_clusters: Fraction(1, n_clusters) if value in ("balanced", None) else value,
)
#: Of two groups, every cluster has at least so many instances of the rarer one for each of the other.
RATIO = Bound("in every cluster at least so many rows of its rarer group for each row of the other", _excess_of_ratio)
