"""A tree that learns the labels of plain k-means."""

from typing import Any

from clusterlets.errors import InvalidInput
from clusterlets.methods import COMPILED, Method, Real


class ScaffTree(Method):
    """A tree whose leaves are the clusters: it learns the labels of k-means by splits that do not separate the groups.

    See :func:`clusterlets.algorithms.scaff_tree.scaff_tree`. The splits are those of SCAFF, a classifier; its use for
    clustering is our own adaptation. The estimator's ``predict`` assigns each instance to the nearest of
    ``cluster_centers_`` and does not use the tree.
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
            ladder=[0.25, 0.5, 0.75, 0.9],
            trades_fairness=True,
            meaning="Weight of the groups in the choice of splits. At 0, only the labels of k-means count.",
        ),
    }
    libraries = COMPILED

    def fit(self, X, groups, n_clusters, random_state, theta=0.5):
        from clusterlets.algorithms.scaff_tree import scaff_tree

        labels, self.tree_ = scaff_tree(X, groups, n_clusters, random_state, theta)
        return labels

    class Estimator:
        """The attribute and the method that only the estimator of this method has.

        Attributes
        ----------
        tree_ : Nodes
            The tree as arrays over its m nodes, with scikit-learn's names: ``children_left``, ``children_right`` and
            ``feature`` (each -1 for a leaf), and ``threshold`` (NaN for a leaf; instances with at most this value of the
            feature go left). The array ``cluster`` has the label of each leaf's instances (-1 for the other nodes).
        """

        tree_: Any
        n_features_in_: int

        def export_text(self, feature_names=None, decimals=2) -> str:
            """The tree as indented lines of text, in the style of scikit-learn's ``export_text``.

            Parameters
            ----------
            feature_names : sequence of d str, optional
                One name per feature. The default is the columns of the fitted DataFrame, or ``feature_0``, ``feature_1``, ...
            decimals : int
                Number of decimals of the thresholds, at least 0.

            Raises
            ------
            InvalidInput
                If there are more or fewer names than features, or ``decimals`` is below 0.
            """
            from sklearn.utils.validation import check_is_fitted

            check_is_fitted(self)
            names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
            if names is not None and len(names) != self.n_features_in_:
                raise InvalidInput(f"{len(names)} feature_names for {self.n_features_in_} features: give one name per feature.")
            if decimals < 0:
                raise InvalidInput(f"decimals={decimals!r} must be a whole number of 0 or more.")
            return self.tree_.text(names, decimals)
