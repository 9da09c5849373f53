"""Fairlets that a random tree finds, and k-means of their means."""

from clusterlets.methods import COMPILED, Integer, Method


class TreeFairlets(Method):
    """Small sets of instances with at least a given balance, found by a random tree of boxes, and k-means of their means.

    See :func:`clusterlets.algorithms.tree_fairlets.tree_fairlets`.
    """

    name = "tree-fairlets"
    citation = "Backurs, Indyk, Onak, Schieber, Vakilian and Wagner, Scalable fair clustering, ICML 2019"
    guarantee = (
        "a balance of at least p/q, where p/q is the largest fraction with q up to `largest_q` that the whole table reaches; "
        "`infeasible` if there is none"
    )
    cost = "0.03 s, nearly linear in the rows; less cohesive than `fairlets`; at most as many clusters as fairlets"
    parameters = {
        "largest_q": Integer(
            1,
            10_000,
            grid=[4, 10, 20],
            ladder=[4, 20, 50, 100],
            trades_fairness=True,
            meaning="Largest denominator of the balance p/q. A small one gives small, compact sets and a lower balance.",
        ),
        "n_init": Integer(1, 1_000, meaning="Number of runs of k-means; the best one counts."),
    }
    most_groups = 2
    libraries = COMPILED

    def fit(self, X, groups, n_clusters, random_state, largest_q=20, n_init=1):
        from clusterlets.algorithms.tree_fairlets import tree_fairlets
        from clusterlets.algorithms.weighted_kmeans import cluster_fairlets

        return cluster_fairlets(X, tree_fairlets(X, groups, random_state, largest_q), n_clusters, random_state, n_init)
