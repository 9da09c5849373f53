"""The price of fairness: the cost of a clustering relative to plain k-means. The whole project uses this one definition."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from clusterlets.algorithms.elementary import exp, log

#: Explains to readers a price that looks impossible.
BELOW_ONE = "below 1: a better optimum than plain k-means found in all its starts"


@dataclass(frozen=True)
class PriceInputs:
    """A clustering's cost and number of clusters, and the reference: the least cost of plain k-means by number of clusters."""

    cost: float
    n_clusters: int
    reference: Mapping[int, float]


def price_of_fairness(cost: float, n_clusters: int, reference: Mapping[int, float]) -> float:
    """``cost`` divided by the least cost of plain k-means with ``n_clusters``; below 1 if the clustering is a better optimum.

    ``reference`` maps numbers of clusters, 2 or more, to :func:`clusterlets.algorithms.plain_costs.least_plain_cost` of the
    table. Between two of these numbers, the log of the reference cost is interpolated linearly over the log of the number.
    NaN outside the range of ``reference``, for a NaN cost, and if plain k-means costs nothing.
    """
    numbers = sorted(number for number, plain_cost in reference.items() if plain_cost > 0)
    if not numbers or np.isnan(cost) or not numbers[0] <= n_clusters <= numbers[-1]:
        return float("nan")
    below = max(number for number in numbers if number <= n_clusters)
    plain = reference[below]
    if below < n_clusters:
        above = min(number for number in numbers if number > n_clusters)
        log_step, log_interval, log_rise = log([n_clusters / below, above / below, reference[above] / plain])
        plain *= float(exp(log_rise * (log_step / log_interval)))
    return float(cost / plain)
