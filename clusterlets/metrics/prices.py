"""What a clustering costs compared with plain k-means: the price of fairness, which has this one definition everywhere."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from clusterlets.algorithms.elementary import exp, log

#: What readers must know of a price that looks impossible.
BELOW_ONE = "below 1: a better optimum than plain k-means found in all its starts"


@dataclass(frozen=True)
class PlainCost:
    """A clustering's cost and number of clusters; the least cost of plain k-means, by number of clusters."""

    cost: float
    n_clusters: int
    reference: Mapping[int, float]


def price_of_fairness(cost: float, n_clusters: int, reference: Mapping[int, float]) -> float:
    """``cost`` over the least cost of plain k-means with as many clusters; below 1 if the clustering is a better optimum.

    ``reference`` maps numbers of clusters, 2 or more, to :func:`clusterlets.algorithms.plain_costs.least_plain_cost` of the
    table; between two of them its log cost is interpolated over log size. NaN outside their range, for a NaN cost and where
    plain k-means costs nothing.
    """
    sizes = sorted(size for size, value in reference.items() if value > 0)
    if not sizes or np.isnan(cost) or not sizes[0] <= n_clusters <= sizes[-1]:
        return float("nan")
    below = max(size for size in sizes if size <= n_clusters)
    expected = reference[below]
    if below < n_clusters:
        above = min(size for size in sizes if size > n_clusters)
        step, interval, rise = log([n_clusters / below, above / below, reference[above] / expected])
        expected *= float(exp(rise * (step / interval)))
    return float(cost / expected)
