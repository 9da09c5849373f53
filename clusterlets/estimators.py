"""The algorithms with scikit-learn's face: ``fit(X, sensitive_features=...)``, ``labels_``, ``memberships_``.

Only this module imports scikit-learn as a whole; who wants a method alone takes it from :mod:`clusterlets.methods`.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import chain, groupby
from numbers import Integral, Real

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClusterMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from clusterlets import methods, metrics
from clusterlets.algorithms import geometry
from clusterlets.algorithms.checks import check_largest
from clusterlets.algorithms.extraction import extract_clusterlets
from clusterlets.algorithms.frac import frac, frac_oe
from clusterlets.algorithms.kmeans import nearest_centres
from clusterlets.errors import ClusterletsError


class InvalidInput(ClusterletsError, ValueError):
    """Input that a person can mend; also the ``ValueError`` that users of scikit-learn expect."""


@contextmanager
def _as_invalid_input() -> Iterator[None]:
    """Errors of the algorithms, which know nothing of scikit-learn's ways, as those that its users expect."""
    try:
        yield
    except ClusterletsError as error:
        raise InvalidInput(str(error)) from None


class _FairClusterer(ClusterMixin, BaseEstimator):
    """Checked input, colours and random stream for the two estimators, which add ``_cluster``."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, *, sensitive_features):
        """Cluster the instances.

        Parameters
        ----------
        X : array-like or DataFrame (n, d)
            Instances: finite numbers, at least two rows. Distances are Euclidean, so scale the features first where
            their units differ.
        y : ignored
            For scikit-learn's conventions. The colours are never taken from ``y``.
        sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
            Strings, integers, booleans or categories. The colours are the values, in sorted order (categories in their
            own; values of types that have no common order, type by type); with several columns the combinations that
            occur. Sparse ones are taken too.

        Returns
        -------
        self

        Raises
        ------
        InvalidInput
            For sensitive features that are absent, incomplete, continuous, of another length, or of one colour; for more
            clusters than instances, and a ``tau`` that no clustering can have.
        sklearn.utils._param_validation.InvalidParameterError
            For a parameter out of range (a ``ValueError``).
        """
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        colours, self.sensitive_classes_ = _encode(sensitive_features, len(X))
        with _as_invalid_input():
            self._cluster(X, colours, _generator(self.random_state))
        return self

    def _validated(self, X) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        with _as_invalid_input():
            check_largest(X)
        return X


class ClusterletClustering(_FairClusterer):
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
        "n_clusterlets": [Interval(Integral, 2, None, closed="left")],
        "matcher": [StrOptions(set(methods.names("paper")))],
        "hops": [Interval(Integral, 1, None, closed="left")],
        "omega": [Interval(Real, 0, 1, closed="both")],
        "sample_size": [Interval(Integral, 1, None, closed="left")],
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
        weights = self.matching_ * self.clusterlets_.sizes
        sums = np.stack([(row[:, None] * self.clusterlets_.centroids).sum(axis=0) for row in weights])
        self.cluster_centers_ = sums / weights.sum(axis=1, keepdims=True)
        self.memberships_ = self._memberships(self.clusterlets_.labels)
        self.labels_ = _nearest_of_own(X, self.memberships_, self.cluster_centers_)

    def _match(self, random_state) -> np.ndarray:
        matcher = methods.get(self.matcher)()
        assert isinstance(matcher, methods.Matcher)  # as _parameter_constraints have it
        taken = {name: getattr(self, name, None) for name in methods.parameters_of(type(matcher)) or []}
        given = {name: value for name, value in taken.items() if value is not None}
        return matcher.match_or_raise(self.clusterlets_, random_state, **given)

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
        return _nearest_of_own(X, self._memberships(nearest_centres(X, self.clusterlets_.centroids)), self.cluster_centers_)


class FRAC(_FairClusterer):
    """FRAC: k-means whose clusters take turns in picking points, so that each gets its part of every colour.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted, at most n.
    variant : {"FRAC", "FRAC-OE"}, default="FRAC"
        A fair assignment in every round of k-means, or a single one at the end.
    tau : float, Fraction, sequence of K of them, or None, default=None
        Part of each colour that every cluster must hold at least, from 0 to 1/n_clusters. ``None`` is 1/n_clusters,
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
        Value, or combination of values, of each colour in the order of the colour codes.
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
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "variant": [StrOptions({"FRAC", "FRAC-OE"})],
        "tau": [Fraction, Interval(Real, 0, 1, closed="both"), "array-like", None],
        "assignment": [StrOptions({"fair", "nearest"})],
        "init": [StrOptions({"random", "k-means++"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
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

    def _cluster(self, X, colours, random_state):
        if self.n_clusters > len(X):
            raise InvalidInput(f"n_clusters={self.n_clusters} is more than n_samples={len(X)}: ask for fewer clusters.")
        if self.variant == "FRAC":
            settings = {"init": self.init, "max_iter": self.max_iter, "tol": self.tol}
            found = frac(X, colours, self.n_clusters, random_state, self.tau, **settings)
        else:
            found = frac_oe(X, colours, self.n_clusters, random_state, self.tau)
        if self.assignment == "fair":
            self.labels_ = found.labels_fair
            self.cluster_centers_ = geometry.group_moments(X, self.labels_, int(self.labels_.max()) + 1)[0]
        else:
            self.labels_ = found.labels_nearest
            self.cluster_centers_ = found.centres[np.unique(nearest_centres(X, found.centres))]  # the others are empty
        self.n_clusters_ = len(self.cluster_centers_)
        self.n_iter_ = found.n_iter
        self.memberships_ = _memberships_of_labels(self.labels_)

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


class MethodClustering(_FairClusterer):
    """Any method of :mod:`clusterlets.methods`, or of a file of your own.

    Parameters
    ----------
    method : str, default="FRAC"
        A name of :func:`clusterlets.methods.names`, or the path of a Python file with a method in it.
    n_clusters : int, default=8
        What the method takes as k: clusters, or clusterlets of each colour.
    parameters : dict or None, default=None
        Keyword parameters of the method's ``fit``; None for its own defaults.
    output : str or None, default=None
        Which of several outputs to keep, ``"nearest"`` of FRAC say; None for the first.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit, None another one.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; where it is in several, the one whose centre is nearest.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
    n_clusters_ : int
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster.
    sensitive_classes_ : array (K,) or (K, S)
        Value, or combination of values, of each colour in the order of the colour codes.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.

    Examples
    --------
    >>> from clusterlets.estimators import MethodClustering
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> MethodClustering("FRAC-OE", 2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    _parameter_constraints = {
        "method": [str],
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "parameters": [dict, None],
        "output": [str, None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(self, method="FRAC", n_clusters=8, *, parameters=None, output=None, random_state=None):
        self.method = method
        self.n_clusters = n_clusters
        self.parameters = parameters
        self.output = output
        self.random_state = random_state

    def _cluster(self, X, colours, random_state):
        if self.n_clusters > len(X):
            raise InvalidInput(f"n_clusters={self.n_clusters} is more than n_samples={len(X)}: ask for fewer clusters.")
        chosen = methods.from_file(self.method) if self.method.endswith(".py") else methods.get(self.method)
        given = self.parameters or {}
        methods.check_parameters(chosen, given, self.method)
        unsupported = chosen().unsupported(len(X), int(colours.max()) + 1)
        faults = [unsupported] if unsupported else chosen().faults(self.n_clusters, **given)
        if faults:
            raise InvalidInput(f"{chosen.name} cannot do this: {'; '.join(faults)}.")
        found = methods.clusterings(chosen, chosen().fit(X, colours, self.n_clusters, random_state, **given), len(X))
        name = f"{chosen.name} ({self.output})" if self.output else next(iter(found))
        if name not in found:
            known = f"its outputs are {', '.join(chosen.outputs)}" if chosen.outputs else "it has one"
            raise InvalidInput(f"{chosen.name} has no output {self.output!r}; {known}.")
        crisp = found[name].ndim == 1
        self.memberships_ = _memberships_of_labels(found[name]) if crisp else csr_array(found[name])
        self.n_clusters_ = self.memberships_.shape[1]
        by_cluster = self.memberships_.tocsc()
        rows = np.split(by_cluster.indices, by_cluster.indptr[1:-1])
        self.cluster_centers_ = np.stack([X[of_cluster].mean(axis=0) for of_cluster in rows])
        self.labels_ = found[name] if crisp else _nearest_of_own(X, self.memberships_, self.cluster_centers_)

    def predict(self, X):
        """Cluster of each instance, by the nearest of ``cluster_centers_``; this does not keep the clustering fair.

        Parameters
        ----------
        X : array-like or DataFrame (n, d)

        Returns
        -------
        int array (n,)
        """
        return nearest_centres(self._validated(X), self.cluster_centers_)


def fairness_report(
    X, clustering, sensitive_features, *, deviation="absolute", cohesion=True, random_state=0
) -> dict[str, float]:
    """Every score of :func:`clusterlets.metrics.score` for a clustering of any origin.

    Parameters
    ----------
    X : array-like or DataFrame (n, d)
        Instances, as they were clustered.
    clustering : int array-like (n,), or bool array or sparse matrix (n, C)
        Labels, or memberships (true and false, or 1 and 0) where an instance may be in several clusters. Every instance
        must be in one; clusters without instances do not count.
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        As in :meth:`ClusterletClustering.fit`.
    deviation : {"absolute", "relative", "kl"}
        Kind of deviation, see :func:`clusterlets.metrics.deviation_per_cluster`.
    cohesion : bool
        Whether to sum distances for the cohesion; without, it is NaN.
    random_state : int, Generator, RandomState or None
        Source of the samples that cohesion is estimated from where there are too many instances.

    Returns
    -------
    dict
        ``n_clusters``, ``deviation_mean``, ``deviation_std``, ``deviation_max``, ``balance``, ``balance_ratio``,
        ``cohesion``, ``overlap``, ``smallest``, ``largest``, ``kmeans_cost`` (NaN where clusters overlap): units and
        meaning as in ``docs/results-format.md``. ``cohesion_error``: standard error of the cohesion, 0 where it is
        exact, and a bound of it where clusters overlap.

    Raises
    ------
    InvalidInput
        For input that does not fit together.

    Notes
    -----
    Cohesion is exact up to 100,000 instances (``geometry.EXACT_LIMIT``): O(n^2 d) time (of a crisp clustering: of the
    pairs inside the clusters), O(n d + G^2) memory for G different combinations of clusters. Past that it comes from
    :func:`clusterlets.algorithms.geometry.sampled_sums`, in seconds. The largest distance is exact always.
    """
    X = check_array(X, dtype=np.float64, order="C")
    memberships, _ = _as_memberships(clustering)
    if deviation not in metrics.DEVIATIONS:
        raise InvalidInput(f"deviation={deviation!r} is none of {', '.join(metrics.DEVIATIONS)}.")
    if memberships.shape[0] != len(X):
        raise InvalidInput(f"The clustering is of {memberships.shape[0]} instances, and X has {len(X)}.")
    colours, classes = _encode(sensitive_features, len(X))
    labels, membership = _disjoint_groups(memberships)
    n_groups = membership.shape[1]
    centroids, inertia = geometry.group_moments(X, labels, n_groups)
    counts = _counts(labels, colours, n_groups, len(classes))
    sums = errors = np.zeros((n_groups, n_groups))
    diameter = np.nan
    if cohesion:
        with _as_invalid_input():
            sums, errors = _distance_sums(X, labels, membership, _generator(random_state))
            diameter = geometry.diameter(X)
    scores = metrics.score(membership, counts, centroids, inertia, sums, diameter, deviation)
    return {**scores, "cohesion_error": _cohesion_error(membership, counts.sum(axis=1), errors, diameter)}


def _distance_sums(X, labels, membership, random_state) -> tuple[np.ndarray, np.ndarray]:
    """Summed distances between groups (G, G) and their standard errors; the diagonal alone if that will do."""
    n_groups = membership.shape[1]
    if len(X) > geometry.EXACT_LIMIT:
        return geometry.sampled_sums(X, labels, n_groups, random_state)
    if _is_crisp(membership):
        sums = np.diag(geometry.within_sums(X, labels, n_groups))
    else:
        sums = geometry.distance_sums(X, labels, n_groups)
    return sums, np.zeros_like(sums)


def _cohesion_error(membership, sizes, errors, diameter) -> float:
    """Standard error of the cohesion, from those of the sums (G, G).

    Sums inside different groups come from different samples, so their errors add up in quadrature; those of groups that
    share samples are bounded by their sum.
    """
    if diameter == 0:
        return 0.0
    members = membership.astype(np.float64)
    within = np.einsum("cj,cj->c", members @ errors, members) / (members @ sizes) ** 2
    total = np.linalg.norm(within) if _is_crisp(membership) else within.sum()
    return float(total / len(membership) / diameter)


def _is_crisp(membership: np.ndarray) -> bool:
    return bool((membership.sum(axis=0) == 1).all())


def cluster_composition(clustering, sensitive_features) -> pd.DataFrame:
    """Instances of each colour in each cluster.

    Parameters
    ----------
    clustering : int array-like (n,), or bool array or sparse matrix (n, C)
        Labels or memberships, as in :func:`fairness_report`.
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        As in :meth:`ClusterletClustering.fit`.

    Returns
    -------
    pandas.DataFrame (C, K), int
        A row a cluster that has instances, by its label or place, a column a colour, by its name (values of several columns
        joined by " + ").

    Raises
    ------
    InvalidInput
        For input that does not fit together.
    """
    memberships, numbers = _as_memberships(clustering)
    colours, classes = _encode(sensitive_features, memberships.shape[0])
    indicator = csr_array((np.ones(len(colours), dtype=np.int64), (np.arange(len(colours)), colours)))
    counts = (memberships.T.astype(np.int64) @ indicator).toarray()
    names = [" + ".join(map(str, np.atleast_1d(value))) for value in classes]
    composition = pd.DataFrame(counts, index=pd.Index(numbers, name="cluster"), columns=names)
    return composition[counts.sum(axis=1) > 0]


def _generator(random_state) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):  # numpy itself takes one from 2.2 on only
        random_state = int(random_state.randint(2**32, dtype=np.uint64))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InvalidInput(f"random_state={random_state!r} is neither a number of 0 or more nor a generator.") from None


def _nearest_of_own(X: np.ndarray, memberships: csr_array, centres: np.ndarray) -> np.ndarray:
    """Of the clusters that hold an instance, the one whose centre is nearest (the first of equals), (n,)."""
    by_cluster = memberships.tocsc()
    labels, least = np.zeros(len(X), dtype=np.int64), np.full(len(X), np.inf)
    for cluster, centre in enumerate(centres):
        members = by_cluster.indices[by_cluster.indptr[cluster] : by_cluster.indptr[cluster + 1]]
        distances = np.square(X[members] - centre).sum(axis=1)
        nearer = distances < least[members]
        labels[members[nearer]], least[members[nearer]] = cluster, distances[nearer]
    return labels


def _memberships_of_labels(labels: np.ndarray) -> csr_array:
    n = len(labels)
    return csr_array((np.ones(n, dtype=bool), labels, np.arange(n + 1)), shape=(n, int(labels.max()) + 1))


def _as_memberships(clustering) -> tuple[csr_array, np.ndarray]:
    """Memberships (n, C) in canonical form, of labels or memberships, and the label or place of each cluster (C,)."""
    numbers = None
    if not issparse(clustering):
        clustering = _as_array(clustering, "The clustering")
        if clustering.ndim == 1:
            if not np.issubdtype(clustering.dtype, np.integer) or clustering.min(initial=0) < 0:
                raise InvalidInput("Labels must be whole numbers from 0 on: every instance must be in a cluster.")
            numbers, labels = np.unique(clustering, return_inverse=True)
            clustering = _memberships_of_labels(labels)
    if clustering.ndim != 2 or not np.isin(clustering.data if issparse(clustering) else clustering, (0, 1)).all():
        raise InvalidInput("A clustering is labels (n,), or memberships (n, C) that are true and false, or 1 and 0.")
    memberships = csr_array(clustering, dtype=bool, copy=True)  # what follows works in place
    memberships.sum_duplicates()
    memberships.eliminate_zeros()
    alone = np.flatnonzero(np.diff(memberships.indptr) == 0)
    if len(alone):
        raise InvalidInput(f"Every instance must be in a cluster: row {alone[0]} is in none.")
    return memberships, np.arange(memberships.shape[1]) if numbers is None else numbers


def _as_array(values, what: str) -> np.ndarray:
    if np.ma.is_masked(values):
        raise InvalidInput(f"{what} has masked values: drop these rows first.")
    try:
        return np.asarray(values)
    except ValueError:
        raise InvalidInput(f"{what} has rows of different lengths.") from None


def _disjoint_groups(memberships: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Group (n,) of each instance, those in the same clusters being one, and which groups a cluster holds (C, G)."""
    numbers = np.diff(memberships.indptr)
    clusters = np.full((len(numbers), numbers.max()), -1)
    clusters[np.arange(numbers.max()) < numbers[:, None]] = memberships.indices
    _, first, groups = np.unique(clusters, axis=0, return_index=True, return_inverse=True)
    membership = memberships[first].toarray().T
    return groups.reshape(-1), membership[membership.any(axis=1)]


def _counts(groups: np.ndarray, colours: np.ndarray, n_groups: int, n_colours: int) -> np.ndarray:
    counts = np.zeros((n_groups, n_colours), dtype=np.int64)
    np.add.at(counts, (groups, colours), 1)
    return counts


def _encode(sensitive_features, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Colour codes (n,), and the value (K,) or values (K, S) of each colour."""
    if sensitive_features is None:
        raise InvalidInput("sensitive_features is missing: give the group of each instance, one value a row.")
    columns = _as_columns(sensitive_features)
    if len(columns) != n:
        raise InvalidInput(f"sensitive_features has {len(columns)} rows, and there are {n} instances.")
    if not columns.shape[1]:
        raise InvalidInput("sensitive_features has no column.")
    encoded = [_encode_column(name, column) for name, column in columns.items()]
    combinations, colours = np.unique(np.column_stack([codes for codes, _ in encoded]), axis=0, return_inverse=True)
    if len(combinations) < 2:
        raise InvalidInput("sensitive_features has one colour only; it takes two groups to have something to balance.")
    values = [np.asarray(values)[codes] for (_, values), codes in zip(encoded, combinations.T, strict=True)]
    classes = values[0] if len(values) == 1 else np.column_stack([value.astype(object) for value in values])
    return colours.reshape(-1).astype(np.int64), classes


def _as_columns(sensitive_features) -> pd.DataFrame:
    if issparse(sensitive_features):
        sensitive_features = sensitive_features.toarray()
    if not isinstance(sensitive_features, pd.DataFrame | pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        dimensions = _as_array(sensitive_features, "sensitive_features").ndim
        if dimensions == 0:
            raise InvalidInput(
                f"sensitive_features is {repr(sensitive_features)[:60]}, a single value: give the column itself, one value a "
                "row."
            )
        if dimensions > 2:
            raise InvalidInput(f"sensitive_features has {dimensions} dimensions: give one column (n,), or several (n, S).")
    return pd.DataFrame(sensitive_features)


def _encode_column(name, column: pd.Series) -> tuple[np.ndarray, Iterable]:
    """Codes (n,) and sorted values of one sensitive column."""
    missing = np.flatnonzero(column.isna())
    where = f"sensitive_features, column {name}:"
    if len(missing):
        raise InvalidInput(
            f"{where} row {missing[0]} (counting from 0) has no value; such rows: {len(missing)}. Drop them, or give "
            "them a value of their own, such as 'unknown'."
        )
    if pd.api.types.is_float_dtype(column) and (fractions := column[column % 1 != 0]).any():
        raise InvalidInput(f"{where} it holds fractions such as {fractions.iloc[0]:g}; bin it into groups first.")
    if column.dtype != object:
        return pd.factorize(column, sort=True)
    try:
        values = _in_order(set(column))  # not by pandas, which takes "a" and "a\0" for the same text
    except TypeError:
        raise InvalidInput(f"{where} it holds values such as {column.iloc[0]!r}, which cannot be told apart.") from None
    code = {value: at for at, value in enumerate(values)}
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return np.fromiter(map(code.__getitem__, column), dtype=np.int64, count=len(column)), found


def _in_order(values: Iterable) -> list:
    """Values sorted; those without a common order type by type, and by what they are called where a type has none."""
    try:
        return sorted(values)
    except TypeError:
        groups = [list(group) for _, group in groupby(sorted(values, key=_kind), key=_kind)]
    if len(groups) == 1:
        return sorted(groups[0], key=repr)
    return list(chain.from_iterable(map(_in_order, groups)))


def _kind(value: object) -> str:
    return "" if isinstance(value, Real) else f"{type(value).__module__}.{type(value).__qualname__}"
