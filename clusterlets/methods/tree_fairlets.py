"""Fairlets from a tree, then k-means of their means."""

from clusterlets.methods import Method, range_faults


class TreeFairlets(Method):
    """See :func:`clusterlets.algorithms.tree_fairlets.tree_fairlets`."""

    name = "tree-fairlets"
    citation = "Backurs, Indyk, Onak, Schieber, Vakilian and Wagner, Scalable fair clustering, ICML 2019"
    parameters = {"largest_q": [4, 10, 20]}
    most_groups = 2
    libraries = ("numpy", "numba", "llvmlite")

    def fit(self, X, groups, k, random_state, largest_q=20, n_init=1):
        # numba takes long to load, and who asks for parameters alone does without
        from clusterlets.algorithms.tree_fairlets import tree_fairlets
        from clusterlets.algorithms.weighted_kmeans import cluster_fairlets

        return cluster_fairlets(X, tree_fairlets(X, groups, random_state, largest_q), k, random_state, n_init)

    def faults(self, k, largest_q=20, n_init=1):
        return [*range_faults("largest_q", largest_q, 1, 10_000, int), *range_faults("n_init", n_init, 1, 1_000, int)]

    def seconds(self, rows, features, k):
        return 5.2e-7 * rows
