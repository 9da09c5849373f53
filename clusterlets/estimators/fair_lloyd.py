"""FairLloyd: k-means for the group that is worst off."""

from clusterlets.estimators.base import RandomState
from clusterlets.estimators.method import MethodClusterer
from clusterlets.methods import fair_lloyd


class FairLloyd(MethodClusterer):
    """k-means that lowers the largest mean squared error of a group.

    Source: Ghadiri, Samadi and Vempala, Socially fair k-means clustering, FAccT 2021. It does not constrain the groups' shares.
    Every instance is in the cluster of the nearest centre, which need not be the mean of that cluster. See
    :func:`clusterlets.algorithms.fair_lloyd.fair_lloyd`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    max_iter : int, default=100
        Maximum number of rounds.
    tol : float, default=1e-06
        A round that lowers the largest error by less than this fraction of it is the last.
    n_init : int, default=1
        Number of fits, of which the best one counts, by the objective.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`.
    objective_ : float
        Largest mean squared error of a group.
    """

    _method_class = fair_lloyd.FairLloyd

    def __init__(
        self, n_clusters: int = 8, *, max_iter: int = 100, tol: float = 1e-6, n_init: int = 1, random_state: RandomState = None
    ):
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
