"""Fairlets: the cheapest small groups with the balance of the table, then k-means of their means."""

from clusterlets.methods import Method, range_faults


class Fairlets(Method):
    """See :func:`clusterlets.algorithms.fairlets.fairlet_decomposition`; only the k-means after it is random.

    There are at most as many clusters as instances of the rarer colour.
    """

    name = "fairlets"
    citation = "Chierichetti, Kumar, Lattanzi and Vassilvitskii, Fair clustering through fairlets, NeurIPS 2017"
    most_colours = 2
    most_rows = 50_000  # 30 to 40 s and .3 GB at 48,842 rows; more grow with their square
    libraries = ("numpy", "numba", "llvmlite")

    def fit(self, X, colours, k, random_state, n_init=1):
        # numba takes long to load, and who asks for parameters alone does without
        from clusterlets.algorithms.fairlets import fairlet_decomposition
        from clusterlets.algorithms.weighted_kmeans import cluster_groups

        return cluster_groups(X, fairlet_decomposition(X, colours), k, random_state, n_init)

    def faults(self, k, n_init=1):
        return range_faults("n_init", n_init, 1, 1_000, int)

    def seconds(self, rows, features, k):
        return 1.4e-8 * rows * rows + 1e-4 * rows
