"""Plain k-means, the reference for the price of fairness."""

from clusterlets.methods import COMPILED, N_INIT, Method


class KMeans(Method):
    """Greedy k-means++ and Lloyd's rounds.

    It ignores the groups. See :mod:`clusterlets.algorithms.kmeans`.
    """

    name = "k-means"
    role = "baseline"
    guarantee = "nothing: it is the reference for the price of fairness"
    cost = "0.05 s"
    min_groups = 1
    parameters = {"n_init": N_INIT}
    libraries = COMPILED
    stream = 4

    def fit(self, X, groups, n_clusters, random_state):
        from clusterlets.algorithms.instances import checked_instances
        from clusterlets.algorithms.kmeans import kmeans_labels

        X, _ = checked_instances(X, groups, self.name, n_clusters)
        return kmeans_labels(X, n_clusters, random_state)
