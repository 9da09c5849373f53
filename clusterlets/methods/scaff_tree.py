"""A tree that learns the labels of plain k-means."""

from clusterlets.methods import COMPILED, N_INIT, Method, Real


class ScaffTree(Method):
    """A tree whose leaves are the clusters: it learns the labels of k-means by splits that do not separate the groups.

    See :func:`clusterlets.algorithms.scaff_tree.scaff_tree`.
    """

    name = "scaff-tree"
    label = "SCAFF tree"
    citation = (
        "Pereira Barata, Takes, van den Herik and Veenman, Fair tree classifier using strong demographic parity, "
        "Machine Learning 2023"
    )
    guarantee = "no bound; a few thresholds describe each cluster"
    cost = "0.2 s"
    parameters = {
        "theta": Real(
            0,
            1,
            grid=[0, 0.25, 0.5, 0.75, 0.9],
            ladder=[0.25, 0.5, 0.75, 0.9, 0.95],
            trades_fairness=True,
            meaning="Weight of the groups in the choice of splits. At 0, only the labels of k-means count.",
        ),
        "n_init": N_INIT,
    }
    libraries = COMPILED

    def fit(self, X, groups, n_clusters, random_state, theta=0.5):
        from clusterlets.algorithms.scaff_tree import scaff_tree

        labels, self.tree_ = scaff_tree(X, groups, n_clusters, random_state, theta)
        return labels
