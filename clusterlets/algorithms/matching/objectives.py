"""How matchers compare candidates: by their deviation from the dataset, and by index if several tie.

Costs are compared up to rounding. If two costs are equal on paper, the lower index must decide, and not the last bit of a sum.
"""

import numpy as np

#: A cost ties with the lowest one if it is at most this fraction above it. The fraction is far above the rounding of double
#: precision, and far below any meaningful difference.
TIE = 1e-12


def deviations(counts: np.ndarray, group_counts: np.ndarray) -> np.ndarray:
    """Deviation (...) of each cluster: the largest difference over groups between the shares in the cluster and the dataset.

    ``counts`` (..., K) are the numbers of instances of each group in each cluster, none of which is empty. ``group_counts``
    (K,) are the numbers in the dataset. Equal deviations are equal floats. If a group has ``a`` of the ``m`` instances of a
    cluster, and ``A`` of the ``n`` of the dataset, its difference is ``|a n - A m| / m / n``. The numerator is a whole number,
    which is exact in double precision for n up to 9 * 10^7, and its quotient by m is rounded correctly.
    """
    totals, by_group = np.asarray(group_counts, dtype=np.float64), np.moveaxis(counts, -1, 0)
    n = totals.sum()
    sizes = by_group.sum(axis=0, dtype=np.float64)
    # The groups are the first axis, so that the inner loops run along the clusters, which are many.
    return np.abs(by_group * n - np.multiply.outer(totals, sizes)).max(axis=0) / sizes / n


def first_lowest(costs: np.ndarray) -> np.ndarray:
    """Index, along the last axis, of the first cost that ties with the lowest (see ``TIE``). Costs are not negative."""
    return (costs <= costs.min(axis=-1, keepdims=True) * (1 + TIE)).argmax(axis=-1)
