"""FairLimit: k-means under strict limits on the groups in every cluster."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from sklearn.utils.validation import _num_samples

from clusterlets.estimators.base import RandomState
from clusterlets.estimators.method import MethodClusterer
from clusterlets.methods import fair_limit

# A number, which is taken exactly, or one for each sensitive column.
NumberPerColumn = float | str | Fraction | Mapping[str, float | str | Fraction]


class FairLimit(MethodClusterer):
    """k-means in which every group's share in a cluster differs from its share in the table by at most a limit.

    Limits hold exactly: they are checked with whole numbers, and a float means its shortest decimal, so 0.03 is 3/100. With
    several sensitive columns, the shares of each column are limited. The fit raises an error if it finds no such clusters. Its
    status is ``infeasible`` if there provably are none, otherwise ``not_converged``. See
    :func:`clusterlets.algorithms.fair_limit.fair_limit`.

    Source: this project; fair assignments in Lloyd's rounds: Boehm, Fazzone, Leonardi and Schwiegelshohn, arXiv 2002.07892.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most n.
    max_deviation : float, str, Fraction, mapping or None, default=None
        Largest difference between a group's share in a cluster and in the table, or a mapping with one for each sensitive
        column. Without any bound, it is 0.02.
    min_cluster_size : int, default=1
        Smallest number of rows in a cluster.
    max_cluster_size : int or None, default=None
        Largest number of rows in a cluster, by default any.
    n_init : int, default=4
        Number of starts, rounded up to a multiple of four. More starts never give a higher cost.
    shares : mapping or None, default=None
        In place of max_deviation: least and largest share of groups in every cluster, such as ``{"f": [0.3, 0.6]}``; with
        several sensitive columns, a mapping of columns to such mappings.
    min_ratio : float, str, Fraction, mapping or None, default=None
        In place of max_deviation: in every cluster, the ratio of any two groups' counts is at least this fraction of their
        ratio in the table; 0.8 is the four-fifths rule.
    start_deviation : float, str, Fraction, mapping or None, default=None
        The search starts also from the clusters that this max_deviation gives; :func:`clusterlets.tune` sets it where they
        cost less.
    max_seconds : float or None, default=None
        Time after which the search ends with the best labels so far. Results then depend on the machine.
    n_jobs : int, default=1
        Threads; -1 uses all processors. Results do not depend on it.
    verbose : int, default=0
        1 prints the progress.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`.
    deviation_ : float
        Largest difference between a group's share in a cluster and in the table, over all sensitive columns.
    sizes_ : int array (n_clusters_,)
        Rows of each cluster.
    assignment_gap_ : float
        Bound on how much more the last assignment costs than the cheapest one to the same centres within the limits, as a
        fraction of the cheapest cost.
    n_iter_ : int
        Rounds on the whole table.
    note_ : str
        A warning if a single row rules the sum of squared errors, otherwise empty. The fit issues it, too.

    Examples
    --------
    >>> from clusterlets import FairLimit
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> fitted = FairLimit(2, max_deviation=0, random_state=0).fit(X, sensitive_features=sex)
    >>> fitted.memberships_.sum(axis=0).tolist(), fitted.deviation_
    ([2, 2], 0.0)

    Only sizes are limited here:

    >>> FairLimit(2, max_deviation=1, max_cluster_size=2, random_state=0).fit([[0.0], [0.1], [0.2], [5.0]]).sizes_.tolist()
    [2, 2]
    """

    _method_class = fair_limit.FairLimit

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        max_deviation: NumberPerColumn | None = None,
        min_cluster_size: int = 1,
        max_cluster_size: int | None = None,
        n_init: int = 4,
        shares: Mapping[str, object] | None = None,
        min_ratio: NumberPerColumn | None = None,
        start_deviation: NumberPerColumn | None = None,
        max_seconds: float | None = None,
        n_jobs: int = 1,
        verbose: int = 0,
        random_state: RandomState = None,
    ):
        self.n_clusters = n_clusters
        self.max_deviation = max_deviation
        self.min_cluster_size = min_cluster_size
        self.max_cluster_size = max_cluster_size
        self.n_init = n_init
        self.shares = shares
        self.min_ratio = min_ratio
        self.start_deviation = start_deviation
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X, y=None, *, sensitive_features=None, sample_weight=None):
        """Cluster the instances, as :meth:`~clusterlets.estimators.base.FairClusterer.fit` describes.

        Without ``sensitive_features``, all instances form one group, and only the sizes of clusters are limited. This must be
        asked for by ``max_deviation=1``.
        """
        if sensitive_features is None and y is None and self._limits_only_sizes():
            sensitive_features = np.zeros(_num_samples(X), dtype=np.int64)
        return super().fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)

    def _limits_only_sizes(self) -> bool:
        return self.max_deviation in (1, "1") and self.shares is None and self.min_ratio is None
