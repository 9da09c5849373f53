"""How matchers compare candidates: the deviation from the dataset, and the rule for ties between costs.

Costs that are equal in exact arithmetic may differ in the last bit. So costs that differ by no more than rounding tie, and the
lower index wins.
"""

import numpy as np

#: A cost ties with the lowest one if it is at most this fraction above it. The fraction is far above the rounding of double
#: precision, and far below any meaningful difference.
TIE = 1e-12


def deviations(counts: np.ndarray, group_counts: np.ndarray) -> np.ndarray:
    """The largest difference (...) between a group's share in a cluster and its share in the dataset.

    ``counts`` (..., K) are the counts of the groups in each cluster, and ``group_counts`` (K,) their counts in the dataset. No
    cluster may be empty.

    Deviations that are equal in exact arithmetic are equal floats. If a group has a of the m instances of a cluster, and A of
    the n instances of the dataset, its deviation is ``|a n - A m| / m / n``. For n up to 9 * 10^7, the numerator is exact in
    double precision.
    """
    totals, counts_by_group = np.asarray(group_counts, dtype=np.float64), np.moveaxis(counts, -1, 0)
    n = totals.sum()
    sizes = counts_by_group.sum(axis=0, dtype=np.float64)
    # The groups are the first axis, so that NumPy's inner loops run along the clusters, of which there are many.
    return np.abs(counts_by_group * n - np.multiply.outer(totals, sizes)).max(axis=0) / sizes / n


def first_lowest(costs: np.ndarray) -> np.ndarray:
    """Index, along the last axis, of the first cost that ties with the lowest (see ``TIE``). No cost may be negative."""
    return (costs <= costs.min(axis=-1, keepdims=True) * (1 + TIE)).argmax(axis=-1)
