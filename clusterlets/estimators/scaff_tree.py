"""ScaffTree: a tree whose leaves are the clusters."""

from sklearn.utils.validation import check_is_fitted

from clusterlets.estimators.base import RandomState
from clusterlets.estimators.inputs import InvalidInput
from clusterlets.estimators.method import MethodClusterer
from clusterlets.methods import scaff_tree


class ScaffTree(MethodClusterer):
    """A tree whose leaves are the clusters: it learns the labels of k-means by splits that do not separate the groups.

    The splits are those of SCAFF, a classifier: Pereira Barata, Takes, van den Herik and Veenman, Fair tree classifier using
    strong demographic parity, Machine Learning 2023. Its use for clustering is our own adaptation. ``predict`` assigns each
    instance to the nearest of ``cluster_centers_`` and does not use the tree. See
    :func:`clusterlets.algorithms.scaff_tree.scaff_tree`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    theta : float, default=0.5
        Weight of the groups in the choice of splits. At 0, only the labels of k-means count.
    n_init : int, default=1
        Number of fits, of which the best one counts, by the objective.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`.
    tree_ : Nodes
        The tree as arrays over its m nodes, with scikit-learn's names: ``children_left``, ``children_right`` and ``feature``
        (each -1 for a leaf), and ``threshold`` (NaN for a leaf; instances with at most this value of the feature go left). The
        array ``cluster`` has the label of each leaf's instances (-1 for the other nodes).
    """

    _method_class = scaff_tree.ScaffTree

    def __init__(self, n_clusters: int = 8, *, theta: float = 0.5, n_init: int = 1, random_state: RandomState = None):
        self.n_clusters = n_clusters
        self.theta = theta
        self.n_init = n_init
        self.random_state = random_state

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
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        if names is not None and len(names) != self.n_features_in_:
            raise InvalidInput(f"{len(names)} feature_names for {self.n_features_in_} features: give one name per feature.")
        if decimals < 0:
            raise InvalidInput(f"decimals={decimals!r} must be a whole number of 0 or more.")
        return self.tree_.text(names, decimals)
