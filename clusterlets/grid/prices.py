"""The prices of fairness of runs, from the costs of plain k-means on their tables."""

from collections.abc import Mapping

from clusterlets.metrics.prices import PlainCost
from clusterlets.metrics.score import evaluate
from clusterlets.metrics.table import SCORES


def add_prices(rows: list[dict], plain_costs: Mapping[str, Mapping[int, float]]) -> None:
    """Add prices to runs that have a cost. O(n).

    Parameters
    ----------
    rows : list of dict
        With dataset, n_clusters and kmeans_cost.
    plain_costs : mapping
        The least cost of plain k-means, by dataset and number of clusters.
    """
    for row in rows:
        plain_cost = PlainCost(float(row["kmeans_cost"]), int(row["n_clusters"]), plain_costs[row["dataset"]])
        row |= evaluate(SCORES, plain_cost)
