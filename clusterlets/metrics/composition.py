"""Scores computed from the composition of clusters: how many instances of each of any number of groups a cluster contains."""

from collections.abc import Iterator, Sequence

import numpy as np

from clusterlets.algorithms.elementary import kullback_leibler, log
from clusterlets.parameters import SHARES

DEVIATIONS = ("absolute", "relative", "kl", "first_group", "least_share")


def deviation_per_cluster(composition: np.ndarray, group_counts: np.ndarray, kind: str = "absolute") -> np.ndarray:
    """Deviation of each cluster from the dataset, (C,).

    Parameters
    ----------
    composition : int array (C, K)
        Instances of each group in each cluster.
    group_counts : int array (K,)
        Instances of each group in the dataset.
    kind : {"absolute", "relative", "kl", "first_group", "least_share"}
        ``absolute``: largest over the groups of \\|share in the cluster - share in the dataset\\|, as in the paper's tables.
        ``relative``: the same, with each difference divided by the larger of the two shares (paper, Definition 2).
        ``kl``: Kullback-Leibler divergence of the cluster from the dataset, in nats.
        ``first_group``: as ``absolute``, except that a cluster of a single group deviates by 1 - the first group's share in the
        dataset. ``least_share``: likewise, but such a cluster deviates by the smallest share of any group in the dataset.
    """
    shares = composition / composition.sum(axis=1, keepdims=True)
    expected = group_counts / group_counts.sum()
    largest = np.abs(shares - expected).max(axis=1)
    if kind == "absolute":
        return largest
    if kind in ("first_group", "least_share"):
        single_group_deviation = 1 - expected[0] if kind == "first_group" else expected.min()
        return np.where(np.count_nonzero(composition, axis=1) == 1, single_group_deviation, largest)
    if kind == "relative":
        return (np.abs(shares - expected) / np.maximum(shares, expected)).max(axis=1)
    if kind == "kl":
        return kullback_leibler(shares, expected)
    raise ValueError(f"unknown kind of deviation: {kind!r}; one of {', '.join(DEVIATIONS)}")


def deviation_of_columns(
    composition: np.ndarray, group_counts: np.ndarray, columns: Sequence[Sequence], kind: str = "absolute"
) -> float:
    """Largest deviation of a cluster in any of the sensitive columns, as :func:`deviation_per_cluster` measures it.

    Parameters
    ----------
    composition : int array (C, K)
    group_counts : int array (K,)
    columns : sequence of S sequences (K,)
        The value of each group in each column. If empty, there is a single column, whose values are the groups.
    kind : {"absolute", "relative", "kl"}
    """
    compositions = _by_column(composition, group_counts, columns)
    return max(float(deviation_per_cluster(*of_column, kind).max()) for of_column in compositions)


def deviation_beyond_row(composition: np.ndarray, group_counts: np.ndarray, columns: Sequence[Sequence]) -> float:
    """Largest \\|p - r\\| - 1 / m in any sensitive column, at least 0: the deviation if a count may be one row off. O(C K S).

    p is the share of a value in a cluster of m instances, and r its share in the dataset. The arguments are those of
    :func:`deviation_of_columns`.
    """
    rows = 1 / composition.sum(axis=1)
    compositions = _by_column(composition, group_counts, columns)
    return max(0.0, *(float((deviation_per_cluster(*of_column) - rows).max()) for of_column in compositions))


def _by_column(
    composition: np.ndarray, group_counts: np.ndarray, columns: Sequence[Sequence]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The composition and the counts of each sensitive column, whose values take the place of the groups."""
    for values in columns or [range(len(group_counts))]:
        masks = [[value == distinct for value in values] for distinct in dict.fromkeys(values)]
        counts = np.array([group_counts[mask].sum() for mask in masks])
        yield np.stack([composition[:, mask].sum(axis=1) for mask in masks], axis=1), counts


def balance(composition: np.ndarray) -> float:
    """Smallest ratio of two groups' counts in any cluster; 0 if a cluster lacks a group (paper, Definition 1)."""
    return float((composition.min(axis=1) / composition.max(axis=1)).min())


def delta_min(composition: np.ndarray, group_counts: np.ndarray) -> float:
    """Smallest delta for which every cluster meets bounded representation: 0..1, lower is better. O(C K).

    Bounded representation requires r (1 - delta) <= p <= r / (1 - delta) for every cluster and group, where p is the group's
    share in the cluster and r its share in the dataset. The result is 0 if every cluster has the dataset's shares, and 1 if a
    cluster lacks a group. The balance of Bera, Chakrabarty, Flores and Negahbani (2019) is 1 - delta_min.

    Parameters
    ----------
    composition : int array (C, K)
        Instances of each group in each cluster; no cluster may be empty.
    group_counts : int array (K,)
        Instances of each group in the dataset; empty groups are ignored.
    """
    composition, group_counts = _only_present_groups(composition, group_counts)
    # Products of whole numbers are exact, so equal shares give exactly 0.
    counts = composition * group_counts.sum()
    expected = composition.sum(axis=1, keepdims=True) * group_counts
    return 1 - float((np.minimum(counts, expected) / np.maximum(counts, expected)).min())


def additive_violation(composition: np.ndarray, group_counts: np.ndarray) -> int:
    """Instances by which the worst count of a group in a cluster misses the dataset's share: 0.., lower is better. O(C K).

    With the dataset's share, the count would be this share times the size of the cluster. The difference is rounded up to whole
    instances (Bera and others 2019), so it is at most 1 if every count is such a product rounded up or down. The arguments are
    those of :func:`delta_min`.
    """
    return SHARES.missed_rows(0.0, composition, group_counts)


def weighted_deviation(composition: np.ndarray, group_counts: np.ndarray) -> float:
    """Mean \\|p - r\\| over groups and clusters, weighted by cluster size: 0..1, lower is better. O(C K).

    An instance counts in each of its clusters if clusters overlap. With two groups, this times the square root of 2 is FairKM's
    average error (Abraham and others 2020). The arguments are those of :func:`delta_min`.
    """
    composition, group_counts = _only_present_groups(composition, group_counts)
    sizes = composition.sum(axis=1)
    deviations = np.abs(composition / sizes[:, None] - group_counts / group_counts.sum()).mean(axis=1)
    return float((sizes * deviations).sum() / sizes.sum())


def vfc_error(composition: np.ndarray, group_counts: np.ndarray) -> float:
    """Sum over clusters of the Kullback-Leibler divergence of the dataset from the cluster, in nats. O(C K).

    The divergence is the sum of r log(r / p) over the groups, with r and p as in :func:`delta_min` (Ziko and others 2021). The
    deviation ``kl`` has the opposite direction. The error is 0 or more, lower is better, and infinite if a cluster lacks a
    group. It grows with the number of clusters. The arguments are those of :func:`delta_min`.
    """
    composition, group_counts = _only_present_groups(composition, group_counts)
    expected = group_counts / group_counts.sum()
    with np.errstate(divide="ignore"):
        ratios = expected / (composition / composition.sum(axis=1, keepdims=True))
    return float((expected * log(ratios)).sum())


def _only_present_groups(composition: np.ndarray, group_counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    composition, group_counts = np.asarray(composition), np.asarray(group_counts)
    is_present = group_counts > 0
    return composition[:, is_present], group_counts[is_present]
