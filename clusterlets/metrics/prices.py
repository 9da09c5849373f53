"""What a clustering costs compared with others: its sum of squared errors over that of plain k-means, or of the best run."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from clusterlets.algorithms.elementary import exp, log


@dataclass(frozen=True)
class PlainCost:
    """A clustering's cost and number of clusters; the cost of plain k-means on the same seed, by number of clusters."""

    cost: float
    n_clusters: int
    reference: Mapping[int, float]


@dataclass(frozen=True)
class BestCost:
    """The same, with the best run of plain k-means over all seeds, and the lowest cost of any run with as many clusters."""

    cost: float
    n_clusters: int
    reference: Mapping[int, float]
    lowest: float


def price_of_fairness(cost: float, n_clusters: int, reference: Mapping[int, float]) -> float:
    """``cost`` over that of plain k-means with as many clusters.

    ``reference`` maps numbers of clusters, 2 or more, to the cost of plain k-means on the same seed; between two of them its
    log cost is interpolated over log size. NaN outside their range, for a NaN cost and where plain k-means costs nothing.
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


def price_over_best(cost: float, n_clusters: int, reference: Mapping[int, float], lowest: float) -> float:
    """``cost`` divided by the lowest cost of any run with as many clusters: from 1 up, lower is better.

    That is the cost of the best run of plain k-means, interpolated between the sizes of ``reference`` as in
    :func:`price_of_fairness`, or ``lowest``, the lowest cost of any run with this number of clusters, if it is lower. NaN where
    :func:`price_of_fairness` is NaN, and where ``lowest`` is 0.
    """
    price = price_of_fairness(cost, n_clusters, reference)
    return price if np.isnan(price) else max(price, cost / lowest) if lowest > 0 else float("nan")
