"""Fairlets: small balanced sets of instances, which k-means then joins."""

from hashlib import sha256
from typing import ClassVar

import numpy as np

from clusterlets.methods import COMPILED, Integer, Method


class Fairlets(Method):
    """The cheapest small sets of instances with the balance of the table, and k-means of their means.

    See :func:`clusterlets.algorithms.fairlets.fairlet_decomposition`. Only the k-means that follows is random. So all seeds of
    a block share the fairlets, and the first fit takes nearly all the time. There are at most as many clusters as instances of
    the rarer group.
    """

    name = "fairlets"
    citation = "Chierichetti, Kumar, Lattanzi and Vassilvitskii, Fair clustering through fairlets, NeurIPS 2017"
    guarantee = (
        "with B instances of one group and R of the rarer one, every cluster has floor(B/R) to ceil(B/R) instances of the "
        "first for each of the second"
    )
    cost = (
        "35 s for the first fit of a table (`make field` allows 60 s) and 0.1 s for each other seed; time grows with the "
        "square of the rows; at most R clusters"
    )
    parameters = {"n_init": Integer(1, 1_000, meaning="Number of runs of k-means; the best one counts.")}
    most_groups = 2
    most_rows = 50_000  # 48,842 rows take 30 to 40 s and 0.3 GB; both grow with the square of the rows
    libraries = COMPILED
    _cached: ClassVar[tuple | None] = None  # the key of a table, and its fairlets

    def fit(self, X, groups, n_clusters, random_state, n_init=1):
        from clusterlets.algorithms.weighted_kmeans import cluster_fairlets

        return cluster_fairlets(X, self._fairlets(X, groups), n_clusters, random_state, n_init)

    def _fairlets(self, X, groups):
        """The fairlets of the table. Those of the last table are cached."""
        from clusterlets.algorithms.fairlets import fairlet_decomposition

        X, groups = np.ascontiguousarray(X, dtype=np.float64), np.ascontiguousarray(groups)
        table_key = sha256(X).digest(), X.shape, sha256(groups).digest(), groups.dtype
        if Fairlets._cached is None or Fairlets._cached[0] != table_key:
            Fairlets._cached = table_key, fairlet_decomposition(X, groups)
        return Fairlets._cached[1]
