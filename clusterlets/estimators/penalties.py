"""k-means with a penalty on unfair clusters: FairKM and VFC. They promise no bound."""

from typing import Literal

from clusterlets.estimators.base import RandomState
from clusterlets.estimators.method import MethodClusterer
from clusterlets.methods import fairkm, vfc


class FairKM(MethodClusterer):
    """k-means with a penalty on the distance between the groups' shares in a cluster and in the table.

    Source: Abraham, Deepak and Sundaram, Fairness in clustering with multiple sensitive attributes, EDBT 2020. A run that
    reaches ``max_iter`` passes returns its clusters without a warning, as the authors' code does. See
    :func:`clusterlets.algorithms.fairkm.fairkm`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    penalty : float or "authors", default=1
        Weight of the penalty, as a fraction of the sum of squared errors of plain k-means. The value authors means the
        published weight, (n / n_clusters)^2.
    max_iter : int, default=300
        Maximum number of passes over the instances.
    n_init : int, default=1
        Number of fits, of which the best one counts, by the objective.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`.
    objective_ : float
        Sum of squared errors and penalty.
    """

    _method_class = fairkm.FairKM

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        penalty: float | Literal["authors"] = 1,
        max_iter: int = 300,
        n_init: int = 1,
        random_state: RandomState = None,
    ):
        self.n_clusters = n_clusters
        self.penalty = penalty
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state


class VFC(MethodClusterer):
    """Soft k-means with a penalty on the divergence of the groups' shares of a cluster from those of the table.

    Source: Ziko, Yuan, Granger and Ben Ayed, Variational fair clustering, AAAI 2021. A run that does not converge returns its
    last labels, with a warning. See :func:`clusterlets.algorithms.vfc.vfc`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    fairness_weight : float, default=1
        Weight of the penalty, as a fraction of the sum of squared errors of plain k-means.
    lipschitz : float, default=7
        Bound on the curvature in the first step; it grows if a step fails.
    max_iter : int, default=100
        Maximum number of rounds.
    n_init : int, default=1
        Number of fits, of which the best one counts, by the objective.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`.
    objective_ : float
        Sum of squared errors and penalty.
    converged_ : bool
        Whether the run converged.
    note_ : str
        The warning of a run that did not converge.
    """

    _method_class = vfc.VFC

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        fairness_weight: float = 1,
        lipschitz: float = 7,
        max_iter: int = 100,
        n_init: int = 1,
        random_state: RandomState = None,
    ):
        self.n_clusters = n_clusters
        self.fairness_weight = fairness_weight
        self.lipschitz = lipschitz
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
