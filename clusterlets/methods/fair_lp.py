"""fair-lp: the centres of plain k-means, and the cheapest assignment to them within bounds on the shares of the groups."""

from clusterlets.methods import DELTA, MAX_DEVIATION, MIN_CLUSTER_SIZE, Method


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
    libraries = ("numpy", "numba", "llvmlite")

    def fit(self, X, groups, n_clusters, random_state, delta=0.0, min_cluster_size=1, max_deviation=None):
        # Imported late: listing parameters must not load Numba.
        from clusterlets.algorithms.fair_lp import fair_lp

        return fair_lp(X, groups, n_clusters, random_state, delta, min_cluster_size, max_deviation).labels

    def assignment_rows(self, composition, new_totals, delta=0.0, max_deviation=None, **_):
        from clusterlets.algorithms.fair_assignment import rows_for_new

        return rows_for_new(composition, new_totals, delta, max_deviation=max_deviation)

    def seconds(self, rows, features, n_clusters):
        return rows * (1.1e-5 + 6e-7 * n_clusters)
