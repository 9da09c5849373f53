"""The matchers as the authors' published code runs them (clusterlets 0.0.3), where it departs from the text of the paper.

Written from a description of what that code does, and checked against it by input and output alone
(``benchmarks/authors``). It takes two groups. Here further groups count as the second one in G-D, and each pair of groups has
its own costs in B, so that any table can be clustered. For the text see :mod:`clusterlets.algorithms.matching.pinball`.

- D and B: clusters that start from another group than the first make one fewer sweep, but at least one.
- B: the costs of the pairs, clusterlet a of one group with clusterlet b of the other, are computed for a <= b and mirrored to
  a > b as if they were symmetric. But b of the first group and a of the other are a different pair.
- B and G-B: the cost is the Kullback-Leibler divergence of the dataset from the union, not the deviation.
- G-D: the nearest clusterlet is searched in one list, and its index is used in another, so nearly any clusterlet joins.
"""

import numpy as np

from clusterlets.algorithms.centroids import centroid_distances, distances_to
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.elementary import log
from clusterlets.algorithms.matching.objectives import first_lowest
from clusterlets.algorithms.matching.pinball import match_greedy, match_pinball, summed_cost


def match_distance(clusterlets: Clusterlets, hops: int) -> np.ndarray:
    """D as published: bool array (C, N); arguments, errors and costs as in :func:`pinball.match_distance`."""
    return match_pinball(clusterlets, hops, "last", centroid_distances(clusterlets.centroids), summed_cost, fewer_later_hops=1)


def match_balance(clusterlets: Clusterlets, hops: int) -> np.ndarray:
    """B as published: bool array (C, N); arguments, errors and costs as in :func:`pinball.match_balance`.

    Where a group has fewer clusterlets than an earlier one, that code fails; here costs that have no mirror image are kept.
    """
    return match_pinball(clusterlets, hops, "last", _mirrored_costs(clusterlets), summed_cost, fewer_later_hops=1)


def _mirrored_costs(clusterlets: Clusterlets) -> np.ndarray:
    """Costs (N, N) of the pairs of clusterlets; 0 within a group, which is never looked up."""
    costs = np.zeros((len(clusterlets), len(clusterlets)))
    members = [np.flatnonzero(clusterlets.group == group) for group in range(clusterlets.counts.shape[1])]
    for number, first in enumerate(members):
        for second in members[number + 1 :]:
            unions = clusterlets.counts[first][:, None] + clusterlets.counts[second]
            block = _divergences(unions, clusterlets.group_counts)
            size = min(len(first), len(second))
            upper = np.triu(block[:size, :size])
            block[:size, :size] = upper + np.triu(upper, 1).T
            costs[np.ix_(first, second)], costs[np.ix_(second, first)] = block, block.T
    return costs


def match_greedy_balance(clusterlets: Clusterlets, hops: int, random_state: np.random.Generator) -> np.ndarray:
    """G-B as published: bool array (C, N); arguments, errors and costs as in :func:`pinball.match_greedy_balance`."""
    counts, totals = clusterlets.counts, clusterlets.group_counts

    def join(cluster, unused):
        costs = _divergences(counts[cluster].sum(axis=0) + counts[unused], totals)
        fairest = first_lowest(costs)
        return unused[fairest], costs[fairest]

    return match_greedy(len(clusterlets), hops, random_state, join)


def match_greedy_distance(clusterlets: Clusterlets, hops: int, random_state: np.random.Generator) -> np.ndarray:
    """G-D as published: bool array (C, N); arguments, errors and costs as in :func:`pinball.match_greedy_distance`.

    The cluster so far and the unused clusterlets form a list of the first group and one of the others; the cluster, at its
    centre, comes first in the list of its largest group. The member of the second list that is nearest to the *first* member
    of the first list is found, and its index in the second list is used in the list of all unused clusterlets.
    """
    group, centroids = clusterlets.group, clusterlets.centroids

    def join(cluster, unused):
        centre = _merged_centre(centroids[np.sort(cluster)])[None]
        is_first = group[unused] == 0
        first, second = centroids[unused[is_first]], centroids[unused[~is_first]]
        if clusterlets.counts[cluster].sum(axis=0).argmax() == 0:
            first = np.concatenate([centre, first])
        else:
            second = np.concatenate([centre, second])
        if len(first) == 0 or len(second) == 0:
            return unused[0], np.inf
        costs = distances_to(first[0], second)
        nearest = first_lowest(costs)
        return unused[nearest], costs[nearest]

    return match_greedy(len(clusterlets), hops, random_state, join)


def _merged_centre(centroids: np.ndarray) -> np.ndarray:
    """The centre (d,) after merging centroids (m, d) one by one, each time halfway: without weights, the last counts most."""
    centre = centroids[0]
    for centroid in centroids[1:]:
        centre = (centre + centroid) / 2
    return centre


def _divergences(counts: np.ndarray, group_counts: np.ndarray) -> np.ndarray:
    """Kullback-Leibler divergence of the dataset from clusters (..., K), in nats: infinite where a cluster lacks a group."""
    expected = group_counts / group_counts.sum()
    with np.errstate(divide="ignore"):
        ratios = expected / (counts / counts.sum(axis=-1, keepdims=True))
    # Rounding may leave a zero just below 0, and negative costs would not tie.
    return np.maximum((expected * log(ratios)).sum(axis=-1), 0)
