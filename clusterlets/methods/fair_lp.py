"""fair-lp: plain k-means, then one fair assignment to its centres."""

from clusterlets.algorithms.limits import representation_limits
from clusterlets.methods import COMPILED, DELTA, MAX_DEVIATION, MIN_CLUSTER_SIZE, N_INIT, Method


class FairLP(Method):
    """The cheapest assignment to the centres of plain k-means within bounds on the shares of the groups.

    See :mod:`clusterlets.algorithms.limit_assignment`.
    """

    name = "fair-lp"
    citation = "Bera, Chakrabarty, Flores and Negahbani, Fair algorithms for clustering, NeurIPS 2019"
    guarantee = (
        "r (1 - delta) <= p <= r / (1 - delta) in every cluster, up to whole instances, or |p - r| <= max_deviation, "
        "strictly; for its centres, the cost is near the "
        "optimum of the linear program"
    )
    cost = "0.4 s; the centres ignore fairness"
    parameters = {
        "delta": DELTA,
        "min_cluster_size": MIN_CLUSTER_SIZE,
        "max_deviation": MAX_DEVIATION,
        "n_init": N_INIT,
    }
    libraries = COMPILED

    def assignment_limits(self, composition, new_totals, reference, **parameters):
        return representation_limits(composition, new_totals, reference, **parameters, columns=self.sensitive_columns)

    def fit(self, X, groups, n_clusters, random_state, delta=0.0, min_cluster_size=1, max_deviation=None):
        from clusterlets.algorithms.geometry import squared_distances_to_centres
        from clusterlets.algorithms.instances import checked_instances, codes_that_occur, columns_of_present
        from clusterlets.algorithms.kmeans import kmeans
        from clusterlets.algorithms.limit_assignment import assign_within_limits
        from clusterlets.algorithms.limits import limits_of_fit

        X, groups = checked_instances(X, groups, self.name, n_clusters)
        costs = squared_distances_to_centres(X, kmeans(X, n_clusters, random_state).centres, n_clusters)
        columns, groups = columns_of_present(self.sensitive_columns, groups), codes_that_occur(groups)
        limits = limits_of_fit(groups, n_clusters, delta, max_deviation=max_deviation, columns=columns)
        return assign_within_limits(costs, groups, *limits, min_cluster_size).labels
