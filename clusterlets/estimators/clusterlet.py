"""Clusterlets and their matchers as an estimator."""

import warnings
from collections.abc import Collection
from numbers import Integral, Real

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils._param_validation import StrOptions

from clusterlets import methods
from clusterlets.algorithms import instance_scores
from clusterlets.algorithms.extraction import extract_clusterlets
from clusterlets.algorithms.kmeans import nearest_centres
from clusterlets.estimators.base import FairClusterer
from clusterlets.estimators.inputs import NumberIn
from clusterlets.estimators.memberships import nearest_of_own

# Parameters that only some matchers use.
_OF_MATCHERS = ("hops", "omega", "sample_size", "scope")


class ClusterletClustering(FairClusterer):
    """Fair clustering with clusterlets: k-means on each colour, whose clusters a matcher then joins.

    Parameters
    ----------
    n_clusterlets : int, default=10
        Clusterlets wanted of each colour, k in the paper, at least 2; fewer where a colour has fewer distinct rows. How
        many clusters come out is the matcher's choice: ``n_clusters_``.
    matcher : {"G-B", "G-D", "D", "B", "C"}, default="G-B"
        Greedy balance and greedy distance (crisp), distance and balance pinball (an instance may be in several
        clusters), or the sampled centroid matcher (crisp).
    hops : int, default=4
        D, B: sweeps through the colours. G-D, G-B: most clusterlets that join a start. Ignored by C.
    omega : float, default=0.5
        C: weight, from 0 to 1, of the silhouette against the largest deviation. Ignored by the others.
    sample_size : int, default=250000
        C: random partitions drawn. Ignored by the others.
    scope : {None, "last", "cluster"}, default=None
        What a candidate is measured against: the clusterlet added last, or the whole cluster so far. ``None`` is
        ``"last"`` for D and B, ``"cluster"`` for G-D and G-B. Ignored by C.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None another one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; of an instance in several clusters the one whose centre is nearest (of equals the
        first), so that with D and B a cluster may have no label.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether an instance is in a cluster; one entry a row for crisp matchers.
    n_clusters_ : int
        Clusters found.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of all members.
    clusterlets_ : Clusterlets
        The N clusterlets, with the clusterlet of each instance.
    matching_ : bool array (n_clusters_, N)
        Which clusterlets each cluster holds: the value that :mod:`clusterlets.metrics` scores.
    sensitive_classes_ : array (K,) or (K, S)
        Value, or combination of values, of each colour in the order of the colour codes.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.

    Notes
    -----
    Setzu and Guidotti, "Fair Clustering with Clusterlets". O(n k d) a k-means iteration, then the matcher's cost, which
    does not depend on n.

    Examples
    --------
    >>> from clusterlets.estimators import ClusterletClustering
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> fitted = ClusterletClustering(2, matcher="D", hops=1, random_state=0).fit(X, sensitive_features=sex)
    >>> fitted.n_clusters_, fitted.memberships_.sum(axis=0).tolist()
    (2, [2, 2])
    """

    _parameter_constraints = {
        "n_clusterlets": [NumberIn(Integral, 2, None, closed="left")],
        "matcher": [StrOptions(set(methods.names("paper")))],
        "hops": [NumberIn(Integral, 1, None, closed="left")],
        "omega": [NumberIn(Real, 0, 1, closed="both")],
        "sample_size": [NumberIn(Integral, 1, None, closed="left")],
        "scope": [StrOptions({"last", "cluster"}), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self, n_clusterlets=10, *, matcher="G-B", hops=4, omega=0.5, sample_size=250_000, scope=None, random_state=None
    ):
        self.n_clusterlets = n_clusterlets
        self.matcher = matcher
        self.hops = hops
        self.omega = omega
        self.sample_size = sample_size
        self.scope = scope
        self.random_state = random_state

    def _cluster(self, X, colours, random_state):
        self.clusterlets_ = extract_clusterlets(X, colours, self.n_clusterlets, random_state)
        self.matching_ = self._match(random_state)
        self.n_clusters_ = len(self.matching_)
        self.cluster_centers_ = instance_scores.cluster_centres(
            self.matching_, self.clusterlets_.sizes, self.clusterlets_.centroids
        )
        self.memberships_ = self._memberships(self.clusterlets_.labels)
        self.labels_ = nearest_of_own(X, self.memberships_, self.cluster_centers_)

    def _match(self, random_state) -> np.ndarray:
        matcher = methods.get(self.matcher)()
        assert isinstance(matcher, methods.Matcher)  # as _parameter_constraints have it
        used = methods.parameters_of(type(matcher)) or []
        self._warn_of_ignored(used)
        taken = {name: getattr(self, name, None) for name in used}
        given = {name: value for name, value in taken.items() if value is not None}
        return matcher.match_or_raise(self.clusterlets_, random_state, **given)

    def _warn_of_ignored(self, used: Collection[str]) -> None:
        """Say which parameters were set that the matcher does not use."""
        defaults = type(self)().get_params()
        ignored = [name for name in _OF_MATCHERS if name not in used and getattr(self, name) != defaults[name]]
        if ignored:
            settings = " and ".join(f"{name}={getattr(self, name)!r}" for name in ignored)
            takes = " and ".join(name for name in _OF_MATCHERS if name in used)
            warnings.warn(
                f"The matcher {self.matcher} ignores {settings}: leave that out, or take another matcher. "
                f"{self.matcher} uses {takes}.",
                UserWarning,
                stacklevel=6,
            )

    def _memberships(self, clusterlet: np.ndarray) -> csr_array:
        """Clusters of instances (n,) that belong to the given clusterlets."""
        return csr_array(self.matching_.T)[clusterlet]

    def predict(self, X):
        """Cluster of each instance, by the nearest clusterlet of whatever colour.

        This does not keep the clustering fair: the colours of new instances are not asked for, so nothing holds their
        shares in place. Nor need it give back ``labels_``: the nearest clusterlet may be of another colour.

        Parameters
        ----------
        X : array-like or DataFrame (n, d)

        Returns
        -------
        int array (n,)
            As ``labels_``: where the clusterlet is in several clusters, the one whose centre is nearest.
        """
        X = self._validated(X)
        return nearest_of_own(X, self._memberships(nearest_centres(X, self.clusterlets_.centroids)), self.cluster_centers_)
