"""fair-lp: the centres of plain k-means, and the cheapest assignment to them within bounds on the shares of the groups."""

from clusterlets.algorithms.limits import rows_within_shares
from clusterlets.methods import COMPILED, DELTA, MAX_DEVIATION, MIN_CLUSTER_SIZE, Method


class FairLP(Method):
    """The centres of plain k-means, and the cheapest assignment to them within bounds on the shares of the groups.

    The method of Bera and others: the linear program of fair assignment, whose counts are then rounded. It is solved by
    its dual, and no bound is missed by a whole instance: see :func:`clusterlets.algorithms.fair_lp.fair_lp`.
    """

    name = "fair-lp"
    citation = "Bera, Chakrabarty, Flores and Negahbani, Fair algorithms for clustering, NeurIPS 2019"
    guarantee = (
        "r (1 - delta) <= p <= r / (1 - delta) in every cluster, up to whole instances; for its centres, the cost is near the "
        "optimum of the linear program"
    )
    cost = "1.4 s; the centres ignore fairness"
    parameters = {
        "delta": DELTA,
        "min_cluster_size": MIN_CLUSTER_SIZE,
        "max_deviation": MAX_DEVIATION,
    }
    libraries = COMPILED
    assignment_rows = staticmethod(rows_within_shares)

    def fit(self, X, groups, n_clusters, random_state, delta=0.0, min_cluster_size=1, max_deviation=None):
        # Imported late: listing parameters must not load Numba.
        from clusterlets.algorithms.fair_lp import fair_lp

        return fair_lp(X, groups, n_clusters, random_state, delta, min_cluster_size, max_deviation).labels

    def seconds(self, rows, features, n_clusters):
        return rows * (1.1e-5 + 6e-7 * n_clusters)
