"""The matchers as the authors' published code runs them (clusterlets 0.0.3), where that code departs from the paper's text.

This module was written from a description of what the published code does, and compared with it only by input and output
(``benchmarks/authors``). The published code supports exactly two groups. To cluster any table, this module treats all groups
after the first as the second one in G-D, and computes costs for each pair of groups in B.

The published code differs from the paper's text, which :mod:`clusterlets.algorithms.matching.pinball` follows:

- D and B: clusters that start from a group other than the first make one hop fewer, but at least one.
- B: let (a, b) be the pair of clusterlet number a of the first group and number b of the second. Its cost is computed only if
  a <= b. If a > b, the cost of (b, a) is used instead, although this is a different pair.
- B and G-B: the cost is the Kullback-Leibler divergence of the dataset from the union, not the deviation.
- G-D: the nearest clusterlet is found in one list, but its index is used in another list, so almost any clusterlet may join.
"""

import numpy as np

from clusterlets.algorithms.centroids import centroid_distances, distances_to
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.elementary import log
from clusterlets.algorithms.matching.objectives import first_lowest
from clusterlets.algorithms.matching.pinball import match_greedy, match_pinball, summed_cost


def match_distance(clusterlets: Clusterlets, hops: int) -> np.ndarray:
    """D as published: bool array (C, N); arguments and complexity as in :func:`pinball.match_distance`."""
    return match_pinball(clusterlets, hops, "last", centroid_distances(clusterlets.centroids), summed_cost, fewer_later_hops=1)


def match_balance(clusterlets: Clusterlets, hops: int) -> np.ndarray:
    """B as published: bool array (C, N); arguments and complexity as in :func:`pinball.match_balance`.

    If a group has fewer clusterlets than an earlier one, the published code fails. Here, a pair (a, b) keeps its own cost if
    there is no pair (b, a).
    """
    return match_pinball(clusterlets, hops, "last", _mirrored_costs(clusterlets), summed_cost, fewer_later_hops=1)


def _mirrored_costs(clusterlets: Clusterlets) -> np.ndarray:
    """The costs (N, N) of B for all pairs of clusterlets. Within a group they are 0, and nothing reads them."""
    costs = np.zeros((len(clusterlets), len(clusterlets)))
    members = [np.flatnonzero(clusterlets.group == group) for group in range(clusterlets.counts.shape[1])]
    for group, first in enumerate(members):
        for second in members[group + 1 :]:
            unions = clusterlets.counts[first][:, None] + clusterlets.counts[second]
            pair_costs = _divergences(unions, clusterlets.group_counts)
            size = min(len(first), len(second))
            upper = np.triu(pair_costs[:size, :size])
            pair_costs[:size, :size] = upper + np.triu(upper, 1).T
            costs[np.ix_(first, second)], costs[np.ix_(second, first)] = pair_costs, pair_costs.T
    return costs


def match_greedy_balance(clusterlets: Clusterlets, hops: int, random_state: np.random.Generator) -> np.ndarray:
    """G-B as published: bool array (C, N); arguments and complexity as in :func:`pinball.match_greedy_balance`."""
    counts, totals = clusterlets.counts, clusterlets.group_counts

    def choose(cluster, unused):
        costs = _divergences(counts[cluster].sum(axis=0) + counts[unused], totals)
        fairest = first_lowest(costs)
        return unused[fairest], costs[fairest]

    return match_greedy(len(clusterlets), hops, random_state, choose)


def match_greedy_distance(clusterlets: Clusterlets, hops: int, random_state: np.random.Generator) -> np.ndarray:
    """G-D as published: bool array (C, N); arguments and complexity as in :func:`pinball.match_greedy_distance`.

    The unused clusterlets form two lists, one of the first group and one of all other groups. The centre of the cluster is put
    at the head of the list of the cluster's largest group. The published code finds the member of the second list that is
    nearest to the first member of the first list. But it takes the clusterlet at that index of the list of all unused ones.
    Here, if one of the two lists is empty, the first unused clusterlet is chosen, at an infinite distance.
    """
    group, centroids = clusterlets.group, clusterlets.centroids

    def choose(cluster, unused):
        centre = _merged_centre(centroids[np.sort(cluster)])[None]
        is_first_group = group[unused] == 0
        first_list, second_list = centroids[unused[is_first_group]], centroids[unused[~is_first_group]]
        if clusterlets.counts[cluster].sum(axis=0).argmax() == 0:
            first_list = np.concatenate([centre, first_list])
        else:
            second_list = np.concatenate([centre, second_list])
        if len(first_list) == 0 or len(second_list) == 0:
            return unused[0], np.inf
        costs = distances_to(first_list[0], second_list)
        nearest = first_lowest(costs)
        return unused[nearest], costs[nearest]

    return match_greedy(len(clusterlets), hops, random_state, choose)


def _merged_centre(centroids: np.ndarray) -> np.ndarray:
    """The centre (d,) after merging centroids (m, d) one by one, each time at the midpoint. So the last ones weigh most."""
    centre = centroids[0]
    for centroid in centroids[1:]:
        centre = (centre + centroid) / 2
    return centre


def _divergences(counts: np.ndarray, group_counts: np.ndarray) -> np.ndarray:
    """Kullback-Leibler divergence of the dataset from clusters (..., K), in nats. It is infinite if a cluster lacks a group."""
    expected = group_counts / group_counts.sum()
    with np.errstate(divide="ignore"):
        ratios = expected / (counts / counts.sum(axis=-1, keepdims=True))
    # Rounding may turn a divergence of 0 into a negative number, and ``first_lowest`` does not accept negative costs.
    return np.maximum((expected * log(ratios)).sum(axis=-1), 0)
