"""FRAC and FRAC-OE as an estimator."""

from fractions import Fraction
from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from clusterlets.algorithms import geometry
from clusterlets.algorithms.frac import frac, frac_oe
from clusterlets.algorithms.kmeans import nearest_centres
from clusterlets.estimators.base import FairClusterer
from clusterlets.estimators.inputs import InvalidInput, NumberIn
from clusterlets.estimators.memberships import memberships_of_labels


class FRAC(FairClusterer):
    """FRAC: k-means whose clusters take turns in picking points, so that each gets its part of every group.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted, at most n.
    variant : {"FRAC", "FRAC-OE"}, default="FRAC"
        A fair assignment in every round of k-means, or a single one at the end.
    tau : float, Fraction, sequence of K of them, or None, default=None
        Part of each group that every cluster must hold at least, from 0 to 1/n_clusters. ``None`` is 1/n_clusters,
        perfect balance.
    assignment : {"fair", "nearest"}, default="fair"
        The fair assignment, or the nearest centres, which throws the fairness away; the Clusterlets paper scored that.
    init : {"random", "k-means++"}, default="random"
        First centres of FRAC.
    max_iter : int, default=100
        Most rounds of FRAC.
    tol : float, default=1e-4
        Relative change of the cost at which FRAC stops.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None another one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        The same with one entry a row.
    n_clusters_ : int
        Clusters that hold a point: ``n_clusters``, or less where ``tau`` or ``assignment="nearest"`` leave some empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of the fair clusters.
    n_iter_ : int
        Rounds that were run.
    sensitive_classes_ : array (K,) or (K, S)
        Value, or combination of values, of each group in the order of the group codes.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.

    Notes
    -----
    Gupta, Ghalme, Krishnan and Jain, DMKD 2023; see :mod:`clusterlets.algorithms.frac`. O(n k d) at least a round.

    Examples
    --------
    >>> from clusterlets.estimators import FRAC
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> FRAC(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    _parameter_constraints = {
        "n_clusters": [NumberIn(Integral, 1, None, closed="left")],
        "variant": [StrOptions({"FRAC", "FRAC-OE"})],
        "tau": [Fraction, Interval(Real, 0, 1, closed="both"), "array-like", None],
        "assignment": [StrOptions({"fair", "nearest"})],
        "init": [StrOptions({"random", "k-means++"})],
        "max_iter": [NumberIn(Integral, 1, None, closed="left")],
        "tol": [NumberIn(Real, 0, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        variant="FRAC",
        tau=None,
        assignment="fair",
        init="random",
        max_iter=100,
        tol=1e-4,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.variant = variant
        self.tau = tau
        self.assignment = assignment
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _cluster(self, X, groups, random_state):
        if self.n_clusters > len(X):
            raise InvalidInput(f"n_clusters={self.n_clusters} is more than n_samples={len(X)}: ask for fewer clusters.")
        if self.variant == "FRAC":
            settings = {"init": self.init, "max_iter": self.max_iter, "tol": self.tol}
            found = frac(X, groups, self.n_clusters, random_state, self.tau, **settings)
        else:
            found = frac_oe(X, groups, self.n_clusters, random_state, self.tau)
        if self.assignment == "fair":
            self.labels_ = found.labels_fair
            self.cluster_centers_ = geometry.moments_by_label(X, self.labels_, int(self.labels_.max()) + 1)[0]
        else:
            self.labels_ = found.labels_nearest
            self.cluster_centers_ = found.centres[np.unique(nearest_centres(X, found.centres))]  # the others are empty
        self.n_clusters_ = len(self.cluster_centers_)
        self.n_iter_ = found.n_iter
        self.memberships_ = memberships_of_labels(self.labels_)
        self._warn_of_fewer()

    def predict(self, X):
        """Cluster of each instance, by the nearest of ``cluster_centers_``.

        This does not keep the clustering fair, and gives back ``labels_`` only for ``assignment="nearest"``.

        Parameters
        ----------
        X : array-like or DataFrame (n, d)

        Returns
        -------
        int array (n,)
        """
        return nearest_centres(self._validated(X), self.cluster_centers_)
