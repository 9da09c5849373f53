"""What matchers compare candidates by: deviation from the dataset, and the rule on ties.

Costs are compared up to rounding: two costs that are equal on paper must tie, so that the tie goes to the lower index
and not to the last bit of a sum.
"""

import numpy as np

#: Costs that differ by less than this fraction of themselves are equal: far above the rounding of double precision,
#: far below any difference of meaning.
TIE = 1e-12


def deviations(counts: np.ndarray, group_counts: np.ndarray) -> np.ndarray:
    """Largest difference (...), over groups, of the share in a cluster and the share in the dataset.

    ``counts`` (..., K) are the instances of each group in each cluster, none of which is empty, and ``group_counts`` (K,)
    those of the dataset. Equal deviations come out as equal floats: ``|a n - A m|`` is a whole number, exact in double
    precision for n up to 9 * 10^7, and its quotient by the cluster's size m is rounded correctly.
    """
    totals, by_group = np.asarray(group_counts, dtype=np.float64), np.moveaxis(counts, -1, 0)
    n = totals.sum()
    sizes = by_group.sum(axis=0, dtype=np.float64)
    # Groups first: the loops run along the clusters, which are many.
    return np.abs(by_group * n - np.multiply.outer(totals, sizes)).max(axis=0) / sizes / n


def first_lowest(costs: np.ndarray) -> np.ndarray:
    """Index, along the last axis, of the first of the lowest costs, up to rounding (``TIE``). Costs are not negative."""
    return (costs <= costs.min(axis=-1, keepdims=True) * (1 + TIE)).argmax(axis=-1)
