"""A tree that learns the labels of plain k-means by splits that shun the groups; its leaves are the clusters."""

from clusterlets.methods import Method, range_faults


class ScaffTree(Method):
    """See :func:`clusterlets.algorithms.scaff_tree.scaff_tree`."""

    name = "scaff-tree"
    label = "SCAFF tree"
    citation = (
        "Pereira Barata, Takes, van den Herik and Veenman, Fair tree classifier using strong demographic parity, "
        "Machine Learning 2023"
    )
    parameters = {"theta": [0, 0.25, 0.5, 0.75, 0.9]}
    libraries = ("numpy", "numba", "llvmlite")

    def fit(self, X, groups, k, random_state, theta=0.5):
        from clusterlets.algorithms.scaff_tree import (
            scaff_tree,  # numba takes long to load, and who asks for parameters alone does without
        )

        return scaff_tree(X, groups, k, random_state, theta).labels

    def faults(self, k, theta=0.5):
        return range_faults("theta", theta, 0, 1)

    def seconds(self, rows, features, k):
        return rows * features * (1.8e-7 + 1.2e-8 * k)
