"""What runs cost beside plain k-means, of which all runs of a dataset must be known."""

from collections import defaultdict
from collections.abc import Mapping

from clusterlets.metrics import price_of_fairness, price_over_best


def add_prices(rows: list[dict]) -> None:
    """Add ``price_of_fairness`` and ``price_over_best`` to runs that have a cost: over plain k-means on the same seed, and over
    the best that is known.

    Parameters
    ----------
    rows : list of dict
        With dataset, method, seed, n_clusters and kmeans_cost; runs of the method ``k-means`` are the reference. O(n).
    """
    same_seed: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    best_plain: dict[str, dict[int, float]] = defaultdict(dict)
    least: dict[str, dict[int, float]] = defaultdict(dict)
    for row in rows:
        dataset, n_clusters, cost = _cost(row)
        least[dataset][n_clusters] = min(cost, least[dataset].get(n_clusters, cost))
        if row["method"] == "k-means":
            same_seed[dataset, row["seed"]][n_clusters] = cost
            best_plain[dataset][n_clusters] = min(cost, best_plain[dataset].get(n_clusters, cost))
    for row in rows:
        dataset, n_clusters, cost = _cost(row)
        row["price_of_fairness"] = price_of_fairness(cost, n_clusters, same_seed[dataset, row["seed"]])
        row["price_over_best"] = price_over_best(cost, n_clusters, best_plain[dataset], least[dataset][n_clusters])


def _cost(row: Mapping) -> tuple[str, int, float]:
    return row["dataset"], int(row["n_clusters"]), float(row["kmeans_cost"])
