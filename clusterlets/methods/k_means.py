"""Plain k-means, blind to the groups: what fairness costs is measured against it."""

from clusterlets.methods import Method


class KMeans(Method):
    """Greedy k-means++ and Lloyd, one start; see :mod:`clusterlets.algorithms.kmeans`."""

    name = "k-means"
    role = "baseline"
    libraries = ("numpy", "numba", "llvmlite")
    stream = 4

    def fit(self, X, groups, k, random_state):
        from clusterlets.algorithms.kmeans import (
            kmeans_labels,  # numba takes long to load, and who asks for parameters alone does without
        )

        return kmeans_labels(X, k, random_state)

    def seconds(self, rows, features, k):
        return rows * (3e-7 + 4e-8 * k)
