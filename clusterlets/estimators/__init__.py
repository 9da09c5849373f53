"""The algorithms with scikit-learn's face: ``fit(X, sensitive_features=...)``, ``labels_``, ``memberships_``.

Only this package imports scikit-learn as a whole; who wants a method alone takes it from :mod:`clusterlets.methods`.
"""

from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, issparse
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array

from clusterlets import methods, metrics
from clusterlets.algorithms import geometry, instance_scores
from clusterlets.algorithms.extraction import extract_clusterlets
from clusterlets.algorithms.frac import frac, frac_oe
from clusterlets.algorithms.kmeans import kmeans_labels, nearest_centres
from clusterlets.estimators.base import (
    FairClusterer,
    InvalidInput,
    NumberIn,
    OfMethod,
    as_array,
    as_invalid_input,
    encode,
    generator,
    memberships_of_labels,
    nearest_of_own,
)
from clusterlets.estimators.rivals import (
    VFC,
    Antidote,
    Coreset,
    FairFlow,
    FairKM,
    Fairlets,
    FairLloyd,
    FairLP,
    ScaffTree,
    TreeFairlets,
)

__all__ = [
    "FRAC",
    "VFC",
    "Antidote",
    "ClusterletClustering",
    "Coreset",
    "FairFlow",
    "FairKM",
    "FairLP",
    "FairLloyd",
    "Fairlets",
    "InvalidInput",
    "MethodClustering",
    "ScaffTree",
    "TreeFairlets",
    "cluster_composition",
    "fairness_report",
]


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
        return nearest_of_own(X, self._memberships(nearest_centres(X, self.clusterlets_.centroids)), self.cluster_centers_)


class FRAC(FairClusterer):
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


class MethodClustering(OfMethod):
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
        **OfMethod._parameter_constraints,
        "method": [str],
        "parameters": [dict, None],
        "output": [str, None],
    }

    def __init__(self, method="FRAC", n_clusters=8, *, parameters=None, output=None, random_state=None):
        self.method = method
        self.n_clusters = n_clusters
        self.parameters = parameters
        self.output = output
        self.random_state = random_state

    def _cluster(self, X, colours, random_state):
        chosen = methods.from_file(self.method) if self.method.endswith(".py") else methods.get(self.method)
        given = self.parameters or {}
        methods.check_parameters(chosen, given, self.method)
        self._fit_method(chosen, given, self.output, X, colours, random_state)


def fairness_report(
    X,
    clustering,
    sensitive_features,
    *,
    deviation="absolute",
    cohesion=True,
    silhouette=True,
    reference_cost=None,
    random_state=0,
) -> dict[str, Any]:
    """Every score of :mod:`clusterlets.metrics` and :mod:`clusterlets.algorithms.instance_scores`, for any clustering.

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
    silhouette : bool
        Whether to sum distances for the silhouettes; without, they are NaN.
    reference_cost : float or None
        Sum of squared errors of plain k-means with as many clusters, which the price of fairness is a multiple of; None to
        run plain k-means here, with one start.
    random_state : int, Generator, RandomState or None
        Source of the samples that cohesion and silhouettes are estimated from where there are too many instances, and of the
        start of plain k-means; an int gives each of the two its own stream from there.

    Returns
    -------
    dict
        ``n_clusters``, ``deviation_mean``, ``deviation_std``, ``deviation_max``, ``balance``, ``balance_ratio``,
        ``cohesion``, ``overlap``, ``smallest``, ``largest``, ``kmeans_cost`` and ``price_of_fairness`` (NaN where clusters
        overlap; the price also where plain k-means costs nothing),
        ``bera_balance``, ``delta_min``, ``additive_violation``, ``weighted_deviation``, ``vfc_error``, ``social_cost``,
        ``kmedian_cost``, ``kcenter_cost``, ``silhouette``, ``silhouette_error``, ``silhouette_least_colour``: units and
        meaning as in ``docs/results-format.md``. ``cohesion_error``: standard error of the cohesion, 0 where it is
        exact, and a bound of it where clusters overlap. ``silhouette_of_colours``: a dict with the mean silhouette of each
        colour that was drawn, by its value, or by the tuple of its values.

    Raises
    ------
    InvalidInput
        For input that does not fit together.

    Notes
    -----
    Where clusters overlap, the last three costs and the silhouettes give each instance to the one of its clusters whose centre
    is nearest, as ``labels_`` of the estimators do; the centres are the means of all members.

    Cohesion is exact up to 100,000 instances (``geometry.EXACT_LIMIT``): O(n^2 d) time (of a crisp clustering: of the
    pairs inside the clusters), O(n d + G^2) memory for G different combinations of clusters. Past that it comes from
    :func:`clusterlets.algorithms.geometry.sampled_sums`, in seconds. The largest distance is exact always. Silhouettes are
    exact up to 10,000 instances (``instance_scores.EXACT_ROWS``); past that they are those of 2,000 rows, against all
    others: O(m n d) time for m rows. Plain k-means costs O(n d C) time a round for C clusters, a few tens of rounds mostly; it
    is not run where clusters overlap, nor with a ``reference_cost``.
    """
    X = check_array(X, dtype=np.float64, order="C")
    memberships, _ = _as_memberships(clustering)
    if deviation not in metrics.DEVIATIONS:
        raise InvalidInput(f"deviation={deviation!r} is none of {', '.join(metrics.DEVIATIONS)}.")
    if reference_cost is not None and not NumberIn(Real, 0, np.inf, closed="left").is_satisfied_by(reference_cost):
        raise InvalidInput(
            f"reference_cost={reference_cost!r} is no sum of squared errors: give a number of 0 or more, or None."
        )
    if memberships.shape[0] != len(X):
        raise InvalidInput(f"The clustering is of {memberships.shape[0]} instances, and X has {len(X)}.")
    colours, classes = encode(sensitive_features, len(X))
    labels, membership = _disjoint_groups(memberships)
    n_groups = membership.shape[1]
    centroids, inertia = geometry.group_moments(X, labels, n_groups)
    counts = _counts(labels, colours, n_groups, len(classes))
    sums = errors = np.zeros((n_groups, n_groups))
    diameter, source = np.nan, generator(random_state)
    if cohesion:
        with as_invalid_input():
            sums, errors = _distance_sums(X, labels, membership, source)
            diameter = geometry.diameter(X)
    scores = metrics.score(membership, counts, centroids, inertia, sums, diameter, deviation)
    centres = instance_scores.cluster_centres(membership, counts.sum(axis=1), centroids)
    own = instance_scores.labels_of_groups(X, labels, membership, centres)
    return {
        **scores,
        "cohesion_error": _cohesion_error(membership, counts.sum(axis=1), errors, diameter),
        **instance_scores.costs(X, colours, own, centres),
        **_silhouettes(X, own, colours, classes, source if silhouette else None),
        "price_of_fairness": _price(X, scores, reference_cost, random_state),
    }


def _price(X, scores, reference_cost: float | None, random_state) -> float:
    """The cost over that of plain k-means with as many clusters, which is run unless its cost is given."""
    cost, n_clusters = scores["kmeans_cost"], scores["n_clusters"]
    if reference_cost is None and not np.isnan(cost):
        with as_invalid_input():
            plain = kmeans_labels(X, n_clusters, generator(random_state))
        reference_cost = float(geometry.group_moments(X, plain, int(plain.max()) + 1)[1].sum())
    return metrics.price_of_fairness(cost, n_clusters, {n_clusters: reference_cost or 0.0})


def _silhouettes(X, labels, colours, classes, random_state: np.random.Generator | None) -> dict[str, Any]:
    """Silhouettes over all instances and over each colour; NaN without a random state."""
    rows = np.arange(len(X)) if random_state is None else instance_scores.sample_rows(len(X), random_state)
    values = np.full(len(X), np.nan)
    if random_state is not None:
        n_clusters = int(labels.max()) + 1
        sums = geometry.row_sums(X, rows, labels, n_clusters)
        values = instance_scores.silhouettes(sums, np.bincount(labels, minlength=n_clusters), labels[rows])
    names = [tuple(value) if np.ndim(value) else value for value in classes.tolist()]
    of_colours = instance_scores.silhouette_of_colours(values, colours[rows])
    return {
        **instance_scores.silhouette_scores(values, colours[rows], len(X)),
        "silhouette_of_colours": {names[code]: mean for code, mean in of_colours.items()},
    }


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
    colours, classes = encode(sensitive_features, memberships.shape[0])
    indicator = csr_array((np.ones(len(colours), dtype=np.int64), (np.arange(len(colours)), colours)))
    counts = (memberships.T.astype(np.int64) @ indicator).toarray()
    names = [" + ".join(map(str, np.atleast_1d(value))) for value in classes]
    composition = pd.DataFrame(counts, index=pd.Index(numbers, name="cluster"), columns=names)
    return composition[counts.sum(axis=1) > 0]


def _as_memberships(clustering) -> tuple[csr_array, np.ndarray]:
    """Memberships (n, C) in canonical form, of labels or memberships, and the label or place of each cluster (C,)."""
    numbers = None
    if not issparse(clustering):
        clustering = as_array(clustering, "The clustering")
        if clustering.ndim == 1:
            if not np.issubdtype(clustering.dtype, np.integer) or clustering.min(initial=0) < 0:
                raise InvalidInput("Labels must be whole numbers from 0 on: every instance must be in a cluster.")
            numbers, labels = np.unique(clustering, return_inverse=True)
            clustering = memberships_of_labels(labels)
    if clustering.ndim != 2 or not np.isin(clustering.data if issparse(clustering) else clustering, (0, 1)).all():
        raise InvalidInput("A clustering is labels (n,), or memberships (n, C) that are true and false, or 1 and 0.")
    memberships = csr_array(clustering, dtype=bool, copy=True)  # what follows works in place
    memberships.sum_duplicates()
    memberships.eliminate_zeros()
    alone = np.flatnonzero(np.diff(memberships.indptr) == 0)
    if len(alone):
        raise InvalidInput(f"Every instance must be in a cluster: row {alone[0]} is in none.")
    return memberships, np.arange(memberships.shape[1]) if numbers is None else numbers


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
