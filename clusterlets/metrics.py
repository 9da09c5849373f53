"""Scores of a clustering: pure functions on arrays, exact, for any number of groups.

A clustering is a boolean membership matrix (C, N): cluster c holds piece j. The pieces are disjoint sets of instances:
clusterlets, or for FRAC and k-means their clusters themselves. An instance may be in several clusters (fuzzy results).
"""

import numpy as np

from clusterlets.algorithms.elementary import exp, kullback_leibler, log

DEVIATIONS = ("absolute", "relative", "kl")

# What a bound on a count may be off by rounding.
_ROUNDING = 1e-9


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
        Instances of each group in each piece.
    centroids : float array (N, d)
    inertia : float array (N,)
        Sum of squared distances of each piece's members to its centroid.
    sums : float array (N, N) or (R, N, N)
        Summed distances between pieces, :func:`clusterlets.algorithms.geometry.distance_sums`, or R independent estimates of
        them, :func:`clusterlets.algorithms.geometry.sampled_sums`. Where every cluster is a single piece, the diagonal is
        enough.
    diameter : float
        Largest distance in the dataset.
    deviation : {"absolute", "relative", "kl"}

    Returns
    -------
    dict
        By column name, as in ``docs/results-format.md``; NaN where a score has no meaning.
    """
    sizes, group_counts = counts.sum(axis=1), counts.sum(axis=0)
    composition = membership.astype(np.int64) @ counts
    cluster_sizes = composition.sum(axis=1)
    deviations = deviation_per_cluster(composition, group_counts, deviation)
    crisp = not (membership.sum(axis=0) > 1).any()
    found, error = cohesion_with_error(membership, sizes, sums, diameter)
    return {
        "n_clusters": len(membership),
        "deviation_mean": float(deviations.mean()),
        "deviation_std": float(deviations.std()),
        "deviation_max": float(deviations.max()),
        "balance": balance(composition),
        "balance_ratio": balance(composition) / balance(group_counts[None, :]),
        "cohesion": found,
        "overlap": overlap(membership, sizes),
        "smallest": int(cluster_sizes.min()),
        "largest": int(cluster_sizes.max()),
        "kmeans_cost": kmeans_cost(membership, sizes, centroids, inertia) if crisp else float("nan"),
        "bera_balance": bera_balance(composition, group_counts),
        "delta_min": delta_min(composition, group_counts),
        "additive_violation": additive_violation(composition, group_counts),
        "weighted_deviation": weighted_deviation(composition, group_counts),
        "vfc_error": vfc_error(composition, group_counts),
        "cohesion_error": error,
    }


def deviation_per_cluster(composition: np.ndarray, group_counts: np.ndarray, kind: str = "absolute") -> np.ndarray:
    """Deviation of each cluster from the dataset, (C,).

    Parameters
    ----------
    composition : int array (C, K)
        Instances of each group in each cluster.
    group_counts : int array (K,)
        Instances of each group in the dataset.
    kind : {"absolute", "relative", "kl"}
        ``absolute``: largest over the groups of \\|share in the cluster - share in the dataset\\|, what the paper's tables
        hold. ``relative``: the same, each difference divided by the larger of the two shares (paper, Definition 2, on
        shares). ``kl``: Kullback-Leiber divergence of the cluster from the dataset, in nats.
    """
    shares = composition / composition.sum(axis=1, keepdims=True)
    expected = group_counts / group_counts.sum()
    if kind == "absolute":
        return np.abs(shares - expected).max(axis=1)
    if kind == "relative":
        return (np.abs(shares - expected) / np.maximum(shares, expected)).max(axis=1)
    if kind == "kl":
        return kullback_leibler(shares, expected)
    raise ValueError(f"unknown kind of deviation: {kind!r}; one of {', '.join(DEVIATIONS)}")


def balance(composition: np.ndarray) -> float:
    """Least ratio of two groups' counts in any cluster; 0 where a cluster lacks a group (paper, Definition 1)."""
    return float((composition.min(axis=1) / composition.max(axis=1)).min())


def bera_balance(composition: np.ndarray, group_counts: np.ndarray) -> float:
    """Least, over clusters and groups, of the smaller one of p / r and r / p: 0..1, higher is better. O(C K).

    p is the group's share in the cluster, r its share in the dataset. 0 where a cluster lacks a group, 1 where every
    cluster has the dataset's shares (Bera, Chakrabarty, Flores and Negahbani 2019).

    Parameters
    ----------
    composition : int array (C, K)
        Instances of each group in each cluster; every cluster has one.
    group_counts : int array (K,)
        Instances of each group in the dataset; a group without any does not count.
    """
    composition, group_counts = _present(composition, group_counts)
    # Products of whole numbers, exact, so that equal shares give exactly 1.
    counts = composition * group_counts.sum()
    expected = composition.sum(axis=1, keepdims=True) * group_counts
    return float((np.minimum(counts, expected) / np.maximum(counts, expected)).min())


def delta_min(composition: np.ndarray, group_counts: np.ndarray) -> float:
    """Least delta for which every cluster meets bounded representation: 0..1, lower is better. O(C K).

    Bounded representation (Bera and others 2019) wants r (1 - delta) <= p <= r / (1 - delta) of every cluster and group, so
    this is 1 - :func:`bera_balance`, whose arguments it takes.
    """
    return 1 - bera_balance(composition, group_counts)


def additive_violation(composition: np.ndarray, group_counts: np.ndarray, delta: float = 0.0) -> int:
    """Instances by which the worst count of a group in a cluster lies outside its bounds: 0.., lower is better. O(C K).

    In whole instances, rounded up (Bera and others 2019). With ``delta`` 0, clusters that have the dataset's shares up to
    whole instances, floor or ceiling, give at most 1.

    Parameters
    ----------
    composition, group_counts
        As in :func:`bera_balance`.
    delta : float
        Allowed unfairness, from 0 to below 1: a cluster of m instances may have from m r (1 - delta) to m r / (1 - delta)
        of a group whose share of the dataset is r.

    Raises
    ------
    ValueError
        For another ``delta``.
    """
    if not 0 <= delta < 1:
        raise ValueError(f"delta={delta!r} must be at least 0 and below 1")
    composition, group_counts = _present(composition, group_counts)
    sizes = composition.sum(axis=1, keepdims=True)
    expected = sizes * group_counts / group_counts.sum()
    above = composition - np.minimum(sizes, expected / (1 - delta))
    below = expected * (1 - delta) - composition
    return max(0, int(np.ceil(np.maximum(above, below) - _ROUNDING).max()))


def weighted_deviation(composition: np.ndarray, group_counts: np.ndarray) -> float:
    """Mean \\|p - r\\| over groups and clusters, where a cluster counts by its size: 0..1, lower is better. O(C K).

    The arguments are those of :func:`bera_balance`. Where clusters overlap, an instance counts in each of its clusters. With
    two groups FairKM's average error (Abraham and others 2020) is this times the square root of 2.
    """
    composition, group_counts = _present(composition, group_counts)
    sizes = composition.sum(axis=1)
    deviations = np.abs(composition / sizes[:, None] - group_counts / group_counts.sum()).mean(axis=1)
    return float((sizes * deviations).sum() / sizes.sum())


def vfc_error(composition: np.ndarray, group_counts: np.ndarray) -> float:
    """Sum over clusters of the Kullback-Leibler divergence of the dataset from the cluster, in nats. O(C K).

    From 0 up, lower is better: sum of r log(r / p), the reverse of the deviation ``kl`` (Ziko and others 2021).
    Infinite where a cluster lacks a group. The arguments are those of :func:`bera_balance`. It grows with the number of
    clusters.
    """
    composition, group_counts = _present(composition, group_counts)
    expected = group_counts / group_counts.sum()
    with np.errstate(divide="ignore"):
        ratios = expected / (composition / composition.sum(axis=1, keepdims=True))
    return float((expected * log(ratios)).sum())


def _present(composition: np.ndarray, group_counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both without the groups that no instance has."""
    present = np.asarray(group_counts) > 0
    return np.asarray(composition)[:, present], np.asarray(group_counts)[present]


def cohesion(membership: np.ndarray, sizes: np.ndarray, sums: np.ndarray, diameter: float) -> float:
    """1 - (mean over clusters of the mean of the full pairwise distance matrix) / (largest distance in the dataset).

    The zero diagonal of each cluster's matrix counts, as in the paper's numbers. 1 where all instances coincide.
    """
    if diameter == 0:
        return 1.0
    # NumPy's sum of an array takes its terms in an order that hangs on the shape alone; a product's order is BLAS's.
    within = np.array([sums[np.ix_(members, members)].sum() for members in membership])
    return float(1.0 - (within / np.square(membership.astype(np.int64) @ sizes)).mean() / diameter)


def cohesion_with_error(membership: np.ndarray, sizes: np.ndarray, sums: np.ndarray, diameter: float) -> tuple[float, float]:
    """The cohesion and, where ``sums`` are R independent estimates (R, N, N), its standard error; NaN where they are exact.

    Of estimates the cohesion is the mean of the R cohesions, and its standard error their standard deviation / sqrt(R).
    """
    if sums.ndim == 2:
        return cohesion(membership, sizes, sums, diameter), float("nan")
    each = np.array([cohesion(membership, sizes, one, diameter) for one in sums])
    return float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each)))


def overlap(membership: np.ndarray, sizes: np.ndarray) -> float:
    """Share of the instances that are in two or more clusters."""
    return float(sizes[membership.sum(axis=0) > 1].sum() / sizes.sum())


def kmeans_cost(membership: np.ndarray, sizes: np.ndarray, centroids: np.ndarray, inertia: np.ndarray) -> float:
    """Sum over clusters of squared distances to the cluster's mean: within the pieces, plus between them."""
    cost = 0.0
    for members in membership:
        weights, points = sizes[members], centroids[members]
        mean = (weights[:, None] * points).sum(axis=0) / weights.sum()
        cost += inertia[members].sum() + (weights * np.square(points - mean).sum(axis=1)).sum()
    return float(cost)


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


def price_over_best(cost: float, n_clusters: int, reference: dict[int, float], least: float) -> float:
    """``cost`` over the least that is known for as many clusters: from 1 up, lower is better.

    Known are the best runs of plain k-means at the sizes of ``reference``, interpolated as in :func:`price_of_fairness`, and
    ``least``, the least cost of any run with this number of clusters. NaN where :func:`price_of_fairness` is NaN, and where
    ``least`` is 0.
    """
    price = price_of_fairness(cost, n_clusters, reference)
    return price if np.isnan(price) else max(price, cost / least) if least > 0 else float("nan")
