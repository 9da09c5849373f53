"""Small balanced sets of instances, which k-means joins: Fairlets and TreeFairlets."""

from clusterlets.estimators.base import RandomState
from clusterlets.estimators.method import MethodClusterer
from clusterlets.methods import fairlets, tree_fairlets


class Fairlets(MethodClusterer):
    """The cheapest small sets of instances with the balance of the table, and k-means of their means.

    Source: Chierichetti, Kumar, Lattanzi and Vassilvitskii, Fair clustering through fairlets, NeurIPS 2017. It takes two groups
    and at most 50,000 rows. There are at most as many clusters as instances of the rarer group. See
    :func:`clusterlets.algorithms.fairlets.fairlet_decomposition`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    n_init : int, default=1
        Number of runs of k-means; the best one counts.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`.
    """

    _method_class = fairlets.Fairlets

    def __init__(self, n_clusters: int = 8, *, n_init: int = 1, random_state: RandomState = None):
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state


class TreeFairlets(MethodClusterer):
    """Small sets of instances with at least a given balance, found by a random tree of boxes, and k-means of their means.

    Source: Backurs, Indyk, Onak, Schieber, Vakilian and Wagner, Scalable fair clustering, ICML 2019. It takes two groups. See
    :func:`clusterlets.algorithms.tree_fairlets.tree_fairlets`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    largest_q : int, default=20
        Largest denominator of the balance p/q. A small one gives small, compact sets and a lower balance.
    n_init : int, default=1
        Number of runs of k-means; the best one counts.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`.
    """

    _method_class = tree_fairlets.TreeFairlets

    def __init__(self, n_clusters: int = 8, *, largest_q: int = 20, n_init: int = 1, random_state: RandomState = None):
        self.n_clusters = n_clusters
        self.largest_q = largest_q
        self.n_init = n_init
        self.random_state = random_state
