"""coreset: fair k-means on a small weighted sample."""

from clusterlets.algorithms.limits import representation_limits
from clusterlets.methods import COMPILED, DELTA, MAX_DEVIATION, MIN_CLUSTER_SIZE, Integer, Method


class Coreset(Method):
    """Fair k-means on a small weighted sample of each group, then a fair assignment of all instances to the sample's centres.

    See :mod:`clusterlets.algorithms.coreset`.
    """

    name = "coreset"
    citation = "After Schmidt, Schwiegelshohn and Sohler, 2018, and Huang, Jiang and Vishnoi, NeurIPS 2019"
    guarantee = (
        "r (1 - delta) <= p <= r / (1 - delta) in every cluster, up to whole instances, or |p - r| <= max_deviation, strictly"
    )
    cost = "0.2 s"
    parameters = {
        "delta": DELTA,
        "size": Integer(
            1,
            10**9,
            also=["auto"],
            meaning="Rows that the sample should have; auto is 40 for each cluster, and at least 2,000.",
        ),
        "n_init": Integer(1, 10_000, meaning="Number of starts on the sample."),
        "min_cluster_size": MIN_CLUSTER_SIZE,
        "max_deviation": MAX_DEVIATION,
    }
    libraries = COMPILED

    def assignment_limits(self, composition, new_totals, reference, **parameters):
        return representation_limits(composition, new_totals, reference, **parameters, columns=self.sensitive_columns)

    def fit(
        self, X, groups, n_clusters, random_state, delta=0.0, size="auto", n_init=1, min_cluster_size=1, max_deviation=None
    ):
        from clusterlets.algorithms.coreset import coreset_clustering

        size = None if size == "auto" else size
        bounds = min_cluster_size, max_deviation, self.sensitive_columns
        return coreset_clustering(X, groups, n_clusters, random_state, delta, size, n_init, *bounds)
