"""Scores of a clustering: pure functions on arrays, exact, for any number of colours.

A clustering is a boolean membership matrix (C, N): cluster c holds group j. The groups are disjoint sets of instances:
clusterlets, or for FRAC and k-means their clusters themselves. An instance may be in several clusters (fuzzy results).
"""

import numpy as np

from clusterlets.algorithms.elementary import exp, kullback_leibler, log

DEVIATIONS = ("absolute", "relative", "kl")


def score(
    membership: np.ndarray,
    counts: np.ndarray,
    centroids: np.ndarray,
    inertia: np.ndarray,
    sums: np.ndarray,
    diameter: float,
    deviation: str = "absolute",
) -> dict[str, float]:
    """Every score of a clustering that the benchmark tabulates.

    Parameters
    ----------
    membership : bool array (C, N)
    counts : int array (N, K)
        Instances of each colour in each group.
    centroids : float array (N, d)
    inertia : float array (N,)
        Sum of squared distances of each group's members to its centroid.
    sums : float array (N, N)
        Summed distances between groups, :func:`clusterlets.algorithms.geometry.distance_sums`. Where every cluster is a
        single group, the diagonal is enough.
    diameter : float
        Largest distance in the dataset.
    deviation : {"absolute", "relative", "kl"}

    Returns
    -------
    dict
        By column name, as in ``docs/results-format.md``; NaN where a score has no meaning.
    """
    sizes = counts.sum(axis=1)
    composition = membership.astype(np.int64) @ counts
    cluster_sizes = composition.sum(axis=1)
    deviations = deviation_per_cluster(composition, counts.sum(axis=0), deviation)
    crisp = not (membership.sum(axis=0) > 1).any()
    return {
        "n_clusters": len(membership),
        "deviation_mean": float(deviations.mean()),
        "deviation_std": float(deviations.std()),
        "deviation_max": float(deviations.max()),
        "balance": balance(composition),
        "balance_ratio": balance(composition) / balance(counts.sum(axis=0)[None, :]),
        "cohesion": cohesion(membership, sizes, sums, diameter),
        "overlap": overlap(membership, sizes),
        "smallest": int(cluster_sizes.min()),
        "largest": int(cluster_sizes.max()),
        "kmeans_cost": kmeans_cost(membership, sizes, centroids, inertia) if crisp else float("nan"),
    }


def deviation_per_cluster(composition: np.ndarray, colour_counts: np.ndarray, kind: str = "absolute") -> np.ndarray:
    """Deviation of each cluster from the dataset, (C,).

    Parameters
    ----------
    composition : int array (C, K)
        Instances of each colour in each cluster.
    colour_counts : int array (K,)
        Instances of each colour in the dataset.
    kind : {"absolute", "relative", "kl"}
        ``absolute``: largest over the colours of \\|share in the cluster - share in the dataset\\|, what the paper's tables
        hold. ``relative``: the same, each difference divided by the larger of the two shares (paper, Definition 2, on
        shares). ``kl``: Kullback-Leiber divergence of the cluster from the dataset, in nats.
    """
    shares = composition / composition.sum(axis=1, keepdims=True)
    expected = colour_counts / colour_counts.sum()
    if kind == "absolute":
        return np.abs(shares - expected).max(axis=1)
    if kind == "relative":
        return (np.abs(shares - expected) / np.maximum(shares, expected)).max(axis=1)
    if kind == "kl":
        return kullback_leibler(shares, expected)
    raise ValueError(f"unknown kind of deviation: {kind!r}; one of {', '.join(DEVIATIONS)}")


def balance(composition: np.ndarray) -> float:
    """Least ratio of two colours' counts in any cluster; 0 where a cluster lacks a colour (paper, Definition 1)."""
    return float((composition.min(axis=1) / composition.max(axis=1)).min())


def cohesion(membership: np.ndarray, sizes: np.ndarray, sums: np.ndarray, diameter: float) -> float:
    """1 - (mean over clusters of the mean of the full pairwise distance matrix) / (largest distance in the dataset).

    The zero diagonal of each cluster's matrix counts, as in the paper's numbers. 1 where all instances coincide.
    """
    if diameter == 0:
        return 1.0
    # NumPy's sum of an array takes its terms in an order that hangs on the shape alone; a product's order is BLAS's.
    within = np.array([sums[np.ix_(members, members)].sum() for members in membership])
    return float(1.0 - (within / np.square(membership.astype(np.int64) @ sizes)).mean() / diameter)


def overlap(membership: np.ndarray, sizes: np.ndarray) -> float:
    """Share of the instances that are in two or more clusters."""
    return float(sizes[membership.sum(axis=0) > 1].sum() / sizes.sum())


def kmeans_cost(membership: np.ndarray, sizes: np.ndarray, centroids: np.ndarray, inertia: np.ndarray) -> float:
    """Sum over clusters of squared distances to the cluster's mean: within the groups, plus between them."""
    cost = 0.0
    for members in membership:
        weights, points = sizes[members], centroids[members]
        mean = (weights[:, None] * points).sum(axis=0) / weights.sum()
        cost += inertia[members].sum() + (weights * np.square(points - mean).sum(axis=1)).sum()
    return float(cost)


def silhouette(X: np.ndarray, labels: np.ndarray) -> float:
    """Silhouette over instances (scikit-learn's), O(n^2 d); not a column of the grid."""
    from sklearn.metrics import silhouette_score  # seconds to import, and the grid never needs it

    return float(silhouette_score(X, labels))


def price_of_fairness(cost: float, n_clusters: int, reference: dict[int, float]) -> float:
    """``cost`` over that of plain k-means with as many clusters.

    ``reference`` maps numbers of clusters, 2 or more, to the cost of plain k-means on the same seed; between two of them its
    log cost is interpolated over log size. NaN outside their range, for a NaN cost and where plain k-means costs nothing.
    """
    known = sorted(size for size, value in reference.items() if value > 0)
    if not known or np.isnan(cost) or not known[0] <= n_clusters <= known[-1]:
        return float("nan")
    below = max(size for size in known if size <= n_clusters)
    expected = reference[below]
    if below < n_clusters:
        above = min(size for size in known if size > n_clusters)
        step, whole, rise = log([n_clusters / below, above / below, reference[above] / expected])
        expected *= float(exp(rise * (step / whole)))
    return float(cost / expected)
