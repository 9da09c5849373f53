"""Matchers that grow clusters clusterlet by clusterlet: D and B (fuzzy), G-D and G-B (crisp).

They follow the paper's section "Pinball Matchers" with Algorithm 2, interpreted as ``docs/reproduction.md`` explains, whereas
:mod:`clusterlets.algorithms.matching.published` follows the authors' code. Every matcher returns its clusters as a membership
matrix: ``membership[c, j]`` says whether cluster c contains clusterlet j.
"""

import numpy as np

from clusterlets.algorithms.centroids import centroid_distances, distances_to
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.elementary import kullback_leibler
from clusterlets.algorithms.matching.objectives import TIE, deviations, first_lowest


def match_distance(clusterlets: Clusterlets, hops: int, scope: str = "last") -> np.ndarray:
    """Distance pinball matcher (D): visit the groups in turn, and add the nearest clusterlet of each (Algorithm 2).

    Parameters
    ----------
    clusterlets : Clusterlets
        N clusterlets of K groups, every group present.
    hops : int
        Number of hops, at least 1. A hop visits K - 1 groups: all but the one that it starts from.
    scope : {"last", "cluster"}
        "last" adds the clusterlet that is nearest to the clusterlet added last, as the paper's numbers suggest. "cluster" adds
        the clusterlet with the smallest sum of distances to all clusterlets of the cluster, as the paper's text says.

    Returns
    -------
    bool array (C, N)
        Every clusterlet is in at least one cluster. A cluster has at most ``1 + hops * (K - 1)`` clusterlets, and no two
        clusters are equal. The clusters that started from group 0 come first, in the order of the indices of their starts.

    Notes
    -----
    O(N^2 d + hops * K * N^2) time and O(N^2 + N d) memory. At most 2 N hops are made, because more would change
    nothing. Distances tie if they differ by at most a fraction of 10^-12; ties go to the lower index.
    """
    distances = centroid_distances(clusterlets.centroids)
    return match_pinball(clusterlets, hops, scope, distances, summed_cost)


def match_balance(clusterlets: Clusterlets, hops: int, scope: str = "last") -> np.ndarray:
    """Balance pinball matcher (B): visit the groups in turn, and add the clusterlet with the lowest deviation (Algorithm 2).

    Works like :func:`match_distance`, but the cost of a candidate is the deviation of its union with the clusterlet added last
    (``scope="last"``), or with the whole cluster (``scope="cluster"``), from the dataset. O(hops * K^2 * N^2) time and
    O(N^2 K) memory. Equal deviations tie, and ties go to the lower index.
    """
    counts = clusterlets.counts

    def union_deviation(sums, is_inside, candidates):
        added_counts = np.where(is_inside[:, :, None], 0, counts[candidates])  # a candidate inside the reference adds nothing
        return deviations(sums[:, None] + added_counts, clusterlets.group_counts)

    return match_pinball(clusterlets, hops, scope, counts, union_deviation)


def summed_cost(sums: np.ndarray, is_inside: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """A ``cost`` for :func:`match_pinball`: the sum of each candidate's costs with the clusterlets of the reference.

    Here the ``features`` of a clusterlet are its costs with every clusterlet. Its cost with itself is 0.
    """
    return sums[:, candidates]


def match_pinball(clusterlets, hops, scope, features, cost, fewer_later_hops=0):
    """Grow a cluster from every clusterlet of group 0, then from each clusterlet of the other groups that is in no cluster yet.

    Candidates are compared with the cluster's reference: the clusterlet added last, or the whole cluster. ``cost(sums,
    is_inside, candidates)`` returns the costs (m, c) of c candidates for m clusters. There, ``sums`` (m, F) are the
    ``features`` (N, F) summed over each reference, and ``is_inside`` (m, c) says whether the reference contains the candidate.

    Clusters that start from a group other than 0 make ``fewer_later_hops`` fewer hops, but at least one. The other parameters,
    and the result (C, N), are those of :func:`match_distance`.
    """
    # Every pair of hops reaches a new clusterlet or closes a cycle, so no cluster grows after N pairs of hops.
    hops = min(hops, 2 * len(clusterlets))
    n_groups = clusterlets.counts.shape[1]
    covered = np.zeros(len(clusterlets), dtype=bool)
    clusters = {}
    for group in range(n_groups):
        starts = np.flatnonzero((clusterlets.group == group) & ~covered)
        n_hops = max(1, hops - fewer_later_hops) if group else hops
        grown_clusters = _grow(clusterlets.group, starts, _route(group, n_groups, n_hops), scope, features, cost)
        for start, cluster in zip(starts, grown_clusters, strict=True):
            if group == 0 or not covered[start]:
                clusters.setdefault(cluster.tobytes(), cluster)  # equal clusters are kept once
                covered |= cluster
    return np.stack(list(clusters.values()))


def _route(start: int, n_groups: int, hops: int) -> list[int]:
    """The groups in the order in which a cluster that starts from group ``start`` visits them."""
    lower, higher = list(range(start)), list(range(start + 1, n_groups))
    forward = lower[::-1] + higher[::-1] if start else higher
    backward = [*forward[-2::-1], start] if forward else []
    return [group for hop in range(hops) for group in (backward if hop % 2 else forward)]


def _grow(group, starts, route, scope, features, cost):
    """Clusters (m, N) grown from the clusterlets ``starts`` (m,) along a route of groups, each independently of the others."""
    rows = np.arange(len(starts))
    members = np.zeros((len(starts), len(group)), dtype=bool)
    members[rows, starts] = True
    reference, sums = members.copy(), features[starts]
    for next_group in route:
        candidates = np.flatnonzero(group == next_group)
        last = candidates[first_lowest(cost(sums, reference[:, candidates], candidates))]
        if scope == "last":
            reference[:] = False
            sums = features[last]
        else:
            sums = sums + np.where(members[rows, last, None], 0, features[last])
        reference[rows, last] = members[rows, last] = True
    return members


def match_greedy_distance(
    clusterlets: Clusterlets, hops: int, random_state: np.random.Generator, scope: str = "cluster"
) -> np.ndarray:
    """Greedy distance matcher (G-D, crisp): add the nearest unused clusterlet whose group differs from that of the last one.

    Parameters
    ----------
    clusterlets : Clusterlets
        N clusterlets of K groups.
    hops : int
        Maximum number of clusterlets that are added to the first one of a cluster, at least 1.
    random_state : numpy.random.Generator
        Draws one permutation of the N clusterlets. Each cluster starts with the next unused clusterlet of this permutation.
    scope : {"cluster", "last"}
        What distances are measured to: "cluster" is the mean of the cluster's instances, and "last" is the clusterlet added
        last, as the paper's text says.

    Returns
    -------
    bool array (C, N)
        Every clusterlet is in exactly one cluster. The clusters are in the order in which they were started.

    Notes
    -----
    The nearest candidate always joins a cluster of one clusterlet. Later, it joins only if its distance is not above the
    distance at which the previous one joined. Otherwise the cluster is finished. Ties go to the lower index. O(N^2 d) time,
    O(N d) memory. Paper, section "Pinball Matchers".
    """
    group, sizes, centroids = clusterlets.group, clusterlets.sizes, clusterlets.centroids

    def choose(cluster, unused):
        candidates = unused[group[unused] != group[cluster[-1]]]
        if len(candidates) == 0:
            return None
        reference = _reference(cluster, scope)
        weights = sizes[reference]
        centre = (weights[:, None] * centroids[reference]).sum(axis=0) / weights.sum()
        costs = distances_to(centre, centroids[candidates])
        nearest = first_lowest(costs)
        return candidates[nearest], costs[nearest]

    return match_greedy(len(clusterlets), hops, random_state, choose)


def match_greedy_balance(
    clusterlets: Clusterlets, hops: int, random_state: np.random.Generator, scope: str = "cluster"
) -> np.ndarray:
    """Greedy balance matcher (G-B, crisp): add the unused clusterlet, of any group, that gives the lowest deviation.

    Works like :func:`match_greedy_distance`, but the cost of a candidate is the deviation of its union with the cluster
    (``scope="cluster"``), or with the clusterlet added last (``scope="last"``), from the dataset. If deviations are equal, the
    union with the lower Kullback-Leibler divergence from the dataset wins, then the lower index. A clusterlet joins only if the
    deviation of the whole cluster does not rise. Otherwise the cluster is finished. O(N^2 K) time.
    """
    counts, totals = clusterlets.counts, clusterlets.group_counts

    def deviation(cluster):
        return deviations(counts[cluster].sum(axis=0), totals)

    def choose(cluster, unused):
        unions = counts[_reference(cluster, scope)].sum(axis=0) + counts[unused]
        costs = deviations(unions, totals)
        tied = np.flatnonzero(costs == costs.min())
        joining = unused[tied[_first_lowest_divergence(unions[tied], totals)]]
        return joining, deviation([*cluster, joining])

    return match_greedy(len(clusterlets), hops, random_state, choose, deviation)


def match_greedy(n_clusterlets, hops, random_state, choose, first_level=lambda start: np.inf):
    """Crisp clusters (C, N), grown one after the other until every clusterlet is used.

    The level of a cluster is a cost that must not rise when a clusterlet joins. ``choose(cluster, unused)`` returns a
    clusterlet from ``unused`` and the level of the cluster with it, or None if no clusterlet can join.
    ``first_level([start])`` is the level of a cluster that has only the clusterlet ``start``. At most ``hops`` join it.
    """
    unused = np.ones(n_clusterlets, dtype=bool)
    clusters = []
    # The next unused clusterlet in a random order is a uniform choice among all unused ones, whichever have been used so far.
    for start in random_state.permutation(n_clusterlets):
        if unused[start]:
            unused[start] = False
            clusters.append(_grow_greedily([start], unused, hops, choose, first_level([start])))
    membership = np.zeros((len(clusters), n_clusterlets), dtype=bool)
    for row, cluster in zip(membership, clusters, strict=True):
        row[cluster] = True
    return membership


def _grow_greedily(cluster, unused, hops, choose, level):
    """The cluster, a list of indices, with all clusterlets that join it. These are removed from ``unused``, a mask (N,)."""
    for _ in range(hops):
        choice = choose(cluster, np.flatnonzero(unused)) if unused.any() else None
        if choice is None or choice[1] > level * (1 + TIE):
            break
        joining, level = choice
        cluster = [*cluster, joining]
        unused[joining] = False
    return cluster


def _reference(cluster: list, scope: str) -> list:
    """The clusterlets that candidates are compared with: the whole cluster, or only the clusterlet added last."""
    return cluster if scope == "cluster" else cluster[-1:]


def _first_lowest_divergence(counts: np.ndarray, group_counts: np.ndarray) -> int:
    """Index of the first of m clusters whose Kullback-Leibler divergence from the dataset is at most 10^-12 above the lowest.

    ``counts`` (m, K) and ``group_counts`` (K,) are the numbers of instances by group in the clusters and in the dataset.
    """
    if len(counts) == 1:
        return 0
    shares = counts / counts.sum(axis=1, keepdims=True)
    divergences = kullback_leibler(shares, group_counts / group_counts.sum())
    return int((divergences <= divergences.min() + TIE).argmax())
