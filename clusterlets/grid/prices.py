"""What runs cost compared with plain k-means and with each other; this needs all runs of a dataset."""

from collections import defaultdict
from collections.abc import Mapping

from clusterlets.metrics.prices import BestCost, PlainCost
from clusterlets.metrics.score import evaluate
from clusterlets.metrics.table import SCORES


def add_prices(rows: list[dict]) -> None:
    """Add prices to runs that have a cost: relative to plain k-means on the same seed, and to the best run of all. O(n).

    Parameters
    ----------
    rows : list of dict
        With dataset, method, seed, n_clusters and kmeans_cost; runs of the method ``k-means`` are the reference.
    """
    same_seed: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    best_plain: dict[str, dict[int, float]] = defaultdict(dict)
    lowest: dict[str, dict[int, float]] = defaultdict(dict)
    for row in rows:
        dataset, n_clusters, cost = _cost(row)
        lowest[dataset][n_clusters] = min(cost, lowest[dataset].get(n_clusters, cost))
        if row["method"] == "k-means":
            same_seed[dataset, row["seed"]][n_clusters] = cost
            best_plain[dataset][n_clusters] = min(cost, best_plain[dataset].get(n_clusters, cost))
    for row in rows:
        dataset, n_clusters, cost = _cost(row)
        row |= evaluate(SCORES, PlainCost(cost, n_clusters, same_seed[dataset, row["seed"]]))
        row |= evaluate(SCORES, BestCost(cost, n_clusters, best_plain[dataset], lowest[dataset][n_clusters]))


def _cost(row: Mapping) -> tuple[str, int, float]:
    return row["dataset"], int(row["n_clusters"]), float(row["kmeans_cost"])
