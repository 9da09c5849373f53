"""k-means whose assignments keep bounds on the groups' shares: FairLP, FairFlow and Coreset."""

from typing import Literal

from clusterlets.estimators.base import RandomState
from clusterlets.estimators.method import MethodClusterer
from clusterlets.methods import coreset, fair_flow, fair_lp


class FairLP(MethodClusterer):
    """The cheapest assignment to the centres of plain k-means within bounds on the shares of the groups.

    Source: Bera, Chakrabarty, Flores and Negahbani, Fair algorithms for clustering, NeurIPS 2019. They solve a linear program
    and round its solution. Here the program is solved by its dual, and no rounded count misses its bound by a whole instance.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    delta : float, default=0.0
        Unfairness allowed: a group with share r of the table has from r (1 - delta) to r / (1 - delta) of every cluster, up to
        whole instances.
    min_cluster_size : int, default=1
        Smallest number of rows in a cluster.
    max_deviation : float or None, default=None
        In place of delta: largest difference between a group's share in a cluster and in the table, up to whole instances.
    n_init : int, default=1
        Number of fits, of which the best one counts.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`.
    """

    _method_class = fair_lp.FairLP

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        delta: float = 0.0,
        min_cluster_size: int = 1,
        max_deviation: float | None = None,
        n_init: int = 1,
        random_state: RandomState = None,
    ):
        self.n_clusters = n_clusters
        self.delta = delta
        self.min_cluster_size = min_cluster_size
        self.max_deviation = max_deviation
        self.n_init = n_init
        self.random_state = random_state


class FairFlow(MethodClusterer):
    """k-means whose rounds assign the instances as cheaply as bounds on the shares of the groups allow.

    Source: after Boehm, Fazzone, Leonardi and Schwiegelshohn, arXiv 2002.07892, and MS-FlowFC, arXiv 2605.13759. See
    :func:`clusterlets.algorithms.fair_flow.fair_flow`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    delta : float, default=0.0
        Unfairness allowed: a group with share r of the table has from r (1 - delta) to r / (1 - delta) of every cluster, up to
        whole instances.
    n_init : int, default=4
        Number of starts. After a few rounds, only the best one continues.
    max_iter : int, default=100
        Maximum number of rounds on all instances.
    tol : float, default=0.0001
        A round that lowers the sum of squared errors by less than this fraction counts as idle. The fit ends after three idle
        rounds.
    balance : float or None, default=None
        In place of delta, for two groups: in every cluster, the least ratio of the rarer group's instances to the other's, up
        to whole instances. At most the ratio in the table.
    min_cluster_size : int, default=1
        Smallest number of rows in a cluster.
    max_deviation : float or None, default=None
        In place of delta: largest difference between a group's share in a cluster and in the table, up to whole instances.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`.
    """

    _method_class = fair_flow.FairFlow

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        delta: float = 0.0,
        n_init: int = 4,
        max_iter: int = 100,
        tol: float = 1e-4,
        balance: float | None = None,
        min_cluster_size: int = 1,
        max_deviation: float | None = None,
        random_state: RandomState = None,
    ):
        self.n_clusters = n_clusters
        self.delta = delta
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.balance = balance
        self.min_cluster_size = min_cluster_size
        self.max_deviation = max_deviation
        self.random_state = random_state


class Coreset(MethodClusterer):
    """Fair k-means on a small weighted sample of each group, then a fair assignment of all instances to its centres.

    Source: after Schmidt, Schwiegelshohn and Sohler, 2018, and Huang, Jiang and Vishnoi, NeurIPS 2019. See
    :mod:`clusterlets.algorithms.coreset`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    delta : float, default=0.0
        Unfairness allowed: a group with share r of the table has from r (1 - delta) to r / (1 - delta) of every cluster, up to
        whole instances.
    size : int or "auto", default="auto"
        Rows that the sample should have; auto is 40 for each cluster, and at least 2,000.
    n_init : int, default=1
        Number of starts on the sample.
    min_cluster_size : int, default=1
        Smallest number of rows in a cluster.
    max_deviation : float or None, default=None
        In place of delta: largest difference between a group's share in a cluster and in the table, up to whole instances.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`.
    """

    _method_class = coreset.Coreset

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        delta: float = 0.0,
        size: int | Literal["auto"] = "auto",
        n_init: int = 1,
        min_cluster_size: int = 1,
        max_deviation: float | None = None,
        random_state: RandomState = None,
    ):
        self.n_clusters = n_clusters
        self.delta = delta
        self.size = size
        self.n_init = n_init
        self.min_cluster_size = min_cluster_size
        self.max_deviation = max_deviation
        self.random_state = random_state
