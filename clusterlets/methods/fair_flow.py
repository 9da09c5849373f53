"""fair-flow: k-means with a fair assignment in every round."""

from clusterlets.algorithms.limits import representation_limits
from clusterlets.methods import COMPILED, DELTA, MAX_DEVIATION, MIN_CLUSTER_SIZE, RATIO, Integer, Method, Real


class FairFlow(Method):
    """k-means whose rounds assign the instances as cheaply as bounds on the shares of the groups allow.

    See :func:`clusterlets.algorithms.fair_flow.fair_flow`.
    """

    name = "fair-flow"
    citation = "After Boehm, Fazzone, Leonardi and Schwiegelshohn, arXiv 2002.07892, and MS-FlowFC, arXiv 2605.13759"
    guarantee = (
        "r (1 - delta) <= p <= r / (1 - delta) in every cluster, up to whole instances, or |p - r| <= max_deviation, "
        "strictly; no cluster is empty. With two groups, "
        "`balance` can bound the ratio of their counts instead, as in MS-FlowFC"
    )
    cost = "1 s, more with more groups; a local optimum"
    parameters = {
        "delta": DELTA,
        "n_init": Integer(1, 10_000, meaning="Number of starts. After a few rounds, only the best one continues."),
        "max_iter": Integer(1, 1_000_000, meaning="Maximum number of rounds on all instances."),
        "tol": Real(
            0,
            1,
            meaning="A round that lowers the sum of squared errors by less than this fraction counts as idle. The fit ends "
            "after three idle rounds.",
        ),
        "balance": Real(
            0,
            1,
            also=[None],
            bound=RATIO,
            meaning="In place of delta, for two groups: in every cluster, the least ratio of the rarer group's instances to "
            "the other's, up to whole instances. At most the ratio in the table.",
        ),
        "min_cluster_size": MIN_CLUSTER_SIZE,
        "max_deviation": MAX_DEVIATION,
    }
    libraries = COMPILED
    kernels = (
        *("fair_dual._ascend", "limit_counts._search", "fair_dual._write_distances", "fair_dual._move_borders"),
        *("kernels.assign", "transport._assign", "transport._write_first_labels", "kernels.candidate_distances"),
    )

    def assignment_limits(self, composition, new_totals, reference, **parameters):
        return representation_limits(composition, new_totals, reference, **parameters, columns=self.sensitive_columns)

    def fit(
        self,
        X,
        groups,
        n_clusters,
        random_state,
        delta=0.0,
        n_init=4,
        max_iter=100,
        tol=1e-4,
        balance=None,
        min_cluster_size=1,
        max_deviation=None,
    ):
        from clusterlets.algorithms.fair_flow import fair_flow

        bounds = balance, min_cluster_size, max_deviation, self.sensitive_columns
        return fair_flow(X, groups, n_clusters, random_state, delta, n_init, max_iter, tol, *bounds).labels
