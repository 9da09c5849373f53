"""k-means whose clusters take turns picking instances: FRAC and FRACOE."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from clusterlets.estimators.base import RandomState
from clusterlets.estimators.method import MethodClusterer
from clusterlets.methods import frac, frac_oe


class FRAC(MethodClusterer):
    """k-means whose clusters take turns picking instances, so that each gets its part of every group.

    Source: Gupta, Ghalme, Krishnan and Jain, Efficient algorithms for fair clustering, DMKD 2023. With the output ``nearest``,
    ``cluster_centers_`` are the centres to which the instances were assigned. See :func:`clusterlets.algorithms.frac.frac`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    tau : float, Fraction, str or sequence of one number for each group, default="balanced"
        Least fraction of each group that every cluster must hold, at most 1 / n_clusters. The value balanced means
        1 / n_clusters, and 0.95x means 0.95 / n_clusters.
    init : {"random", "k-means++"}, default="random"
        First centres.
    max_iter : int, default=100
        Maximum number of rounds.
    tol : float, default=0.0001
        Relative change of the cost at which the rounds end.
    n_init : int, default=1
        Number of fits. The one whose output ``fair`` has the least sum of squared errors counts.
    output : {"fair", "nearest"}, default="fair"
        Which of its clusterings to keep: the fair assignment, or each instance in the cluster of the nearest centre, which is
        not fair. The Clusterlets paper scored ``nearest``.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`.
    n_iter_ : int
        Number of rounds that were run.

    Examples
    --------
    >>> from clusterlets import FRAC
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> FRAC(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    _method_class = frac.FRAC

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        tau: float | Fraction | str | Sequence[float | Fraction] = "balanced",
        init: Literal["random", "k-means++"] = "random",
        max_iter: int = 100,
        tol: float = 1e-4,
        n_init: int = 1,
        output: Literal["fair", "nearest"] = "fair",
        random_state: RandomState = None,
    ):
        self.n_clusters = n_clusters
        self.tau = tau
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.output = output
        self.random_state = random_state


class FRACOE(MethodClusterer):
    """Plain k-means, and one fair assignment of FRAC at the end.

    Source: as :class:`FRAC`. See :func:`clusterlets.algorithms.frac.frac_oe`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    tau : float, Fraction, str or sequence of one number for each group, default="balanced"
        Least fraction of each group that every cluster must hold, at most 1 / n_clusters. The value balanced means
        1 / n_clusters, and 0.95x means 0.95 / n_clusters.
    n_init : int, default=1
        Number of fits. The one whose output ``fair`` has the least sum of squared errors counts.
    output : {"fair", "nearest"}, default="fair"
        Which of its clusterings to keep: the fair assignment, or each instance in the cluster of the nearest centre, which is
        not fair. The Clusterlets paper scored ``nearest``.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`.
    n_iter_ : int
        Number of rounds that were run.
    """

    _method_class = frac_oe.FRACOE

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        tau: float | Fraction | str | Sequence[float | Fraction] = "balanced",
        n_init: int = 1,
        output: Literal["fair", "nearest"] = "fair",
        random_state: RandomState = None,
    ):
        self.n_clusters = n_clusters
        self.tau = tau
        self.n_init = n_init
        self.output = output
        self.random_state = random_state
