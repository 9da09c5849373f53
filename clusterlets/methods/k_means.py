"""Plain k-means, blind to the colours: what fairness costs is measured against it."""

from clusterlets.algorithms.kmeans import kmeans_labels
from clusterlets.methods import Method


class KMeans(Method):
    """Greedy k-means++ and Lloyd, one start; see :mod:`clusterlets.algorithms.kmeans`."""

    name = "k-means"
    role = "baseline"
    libraries = ("numpy", "numba", "llvmlite")
    stream = 4

    def fit(self, X, colours, k, random_state):
        return kmeans_labels(X, k, random_state)
