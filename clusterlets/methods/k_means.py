"""Plain k-means, the reference for the price of fairness."""

from clusterlets.methods import COMPILED, Integer, Method


class KMeans(Method):
    """Greedy k-means++ and Lloyd's rounds.

    It ignores the groups. See :mod:`clusterlets.algorithms.kmeans`.
    """

    name = "k-means"
    role = "baseline"
    guarantee = "nothing: it is the reference for the price of fairness"
    cost = "0.05 s"
    min_groups = 1
    parameters = {"n_init": Integer(1, 10_000, meaning="Number of starts, of which the best one counts.")}
    libraries = COMPILED
    stream = 4

    def fit(self, X, groups, n_clusters, random_state, n_init=1):
        from clusterlets.algorithms.geometry import moments_by_label
        from clusterlets.algorithms.instances import checked_instances
        from clusterlets.algorithms.kmeans import kmeans_labels

        X, _ = checked_instances(X, groups, self.name, n_clusters)
        starts = (kmeans_labels(X, n_clusters, random_state) for _ in range(n_init))
        return min(starts, key=lambda labels: moments_by_label(X, labels, n_clusters)[1].sum() if n_init > 1 else 0.0)
