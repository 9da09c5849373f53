"""Antidote: k-means with a few added points."""

from clusterlets.estimators.base import RandomState
from clusterlets.estimators.method import MethodClusterer
from clusterlets.methods import antidote


class Antidote(MethodClusterer):
    """Plain k-means with a few added points, which a random search places to make the clusters fair.

    Source: Chhabra, Singla and Mohapatra, Fair clustering using antidote data, AFCR 2021. It clusters at most 2,000 rows and
    promises no fairness: if the groups are far apart, a few points change little. See
    :func:`clusterlets.algorithms.antidote.antidote`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    rho : float, default=0.05
        Added points, as a fraction of the rows, above 0 and at most 1.
    n_evaluations : int, default=300
        Number of positions to try for the added points; each costs a run of k-means.
    n_init : int, default=1
        Number of fits, of which the best one counts, by the objective.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`.
    objective_ : float
        Minus the sum of the clusters' smallest balance and 0.1 times their mean balance.
    """

    _method_class = antidote.Antidote

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        rho: float = 0.05,
        n_evaluations: int = 300,
        n_init: int = 1,
        random_state: RandomState = None,
    ):
        self.n_clusters = n_clusters
        self.rho = rho
        self.n_evaluations = n_evaluations
        self.n_init = n_init
        self.random_state = random_state
