"""The fairness report: every score of a clustering, and the composition of its clusters."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_array

from clusterlets.algorithms import geometry
from clusterlets.algorithms.checks import check_same_index
from clusterlets.algorithms.instance_labels import cluster_centres, labels_of_pieces
from clusterlets.algorithms.plain_costs import least_plain_cost
from clusterlets.algorithms.row_samples import sample_rows
from clusterlets.estimators.groups import encode
from clusterlets.estimators.inputs import InvalidInput, as_invalid_input, generator, naming_text
from clusterlets.estimators.memberships import as_memberships
from clusterlets.estimators.profiles import Profiles
from clusterlets.extras import optional
from clusterlets.metrics import instances
from clusterlets.metrics.composition import DEVIATIONS
from clusterlets.metrics.instances import Instances
from clusterlets.metrics.pieces import Pieces
from clusterlets.metrics.prices import PriceInputs
from clusterlets.metrics.score import evaluate
from clusterlets.metrics.table import SCORES

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Composition:
    """How many instances of each group are in each cluster and in the whole table.

    Attributes
    ----------
    counts : int array (C, K)
        Number of instances of each group (column) in each cluster (row) that is not empty.
    clusters : int array (C,)
        Label or index of each of these clusters.
    group_counts : int array (K,)
        Number of instances of each group in the table. Where clusters overlap, the sum of ``counts`` is larger.
    groups : list of K
        Value of each group in the sensitive column, or the tuple of its values in several columns.
    """

    counts: np.ndarray
    clusters: np.ndarray
    group_counts: np.ndarray
    groups: list

    @property
    def names(self) -> list[str]:
        """The names of the groups, with the values of several columns joined by " + "."""
        return [" + ".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in self.groups]


class FairnessReport(dict[str, Any]):
    """Scores of a clustering by name, with tables of its clusters and their features.

    Attributes
    ----------
    composition : Composition
        Number of instances of each group in each cluster.
    deviations : float array (C,)
        Deviation of each cluster.
    profiles : Profiles or None
        Features of each cluster, compared with the whole table.
    """

    def __init__(
        self, scores: Mapping[str, Any], composition: Composition, deviations: np.ndarray, profiles: Profiles | None = None
    ):
        super().__init__(scores)
        self.composition = composition
        self.deviations = deviations
        self.profiles = profiles

    @property
    def shares(self) -> dict[Any, float]:
        """Share of each group in the table, by the group's value or the tuple of its values."""
        counts = self.composition.group_counts
        return dict(zip(self.composition.groups, (counts / counts.sum()).tolist(), strict=True))

    @property
    def features(self) -> "pd.DataFrame":
        """Profile of each cluster: one row per cluster and feature, with the features that stand out most first.

        ``mean`` and ``spread`` (the standard deviation) are those of the cluster, ``table_mean`` and ``table_spread`` those of
        the whole table, all in the units of X. ``difference`` is ``mean - table_mean`` in standard deviations of the table.
        Raises MissingExtra if pandas is not installed.
        """
        assert self.profiles is not None
        return self.profiles.frame(self.composition.clusters.tolist())

    @property
    def clusters(self) -> "pd.DataFrame":
        """One row per cluster, by its label or index.

        ``size`` is the number of instances, and ``deviation`` is of the requested kind. ``furthest_off`` is the group whose
        share differs most from its share in the table, and ``excess`` is that difference. One column ``share of <name>``
        per group follows. Raises MissingExtra if pandas is not installed.
        """
        with optional():
            import pandas as pd
        composition = self.composition
        sizes = composition.counts.sum(axis=1)
        shares = composition.counts / sizes[:, None]
        excess = shares - composition.group_counts / composition.group_counts.sum()
        furthest_groups = np.abs(excess).round(12).argmax(axis=1)  # rounded, so that ties go to the first group
        index = pd.Index(composition.clusters, name="cluster")
        columns = {
            "size": sizes,
            "deviation": self.deviations,
            "furthest_off": [composition.names[group] for group in furthest_groups],
            "excess": excess[np.arange(len(excess)), furthest_groups],
        }
        group_shares = pd.DataFrame(shares, index, [f"share of {name}" for name in composition.names])
        return pd.concat([pd.DataFrame(columns, index), group_shares], axis=1)


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
) -> FairnessReport:
    """Compute every score of ``clusterlets.metrics.table.SCORES`` that is defined for a single clustering.

    Parameters
    ----------
    X : array-like or DataFrame (n, d)
        The features that were clustered.
    clustering : int array-like (n,), or bool array or sparse matrix (n, C)
        Labels; or memberships (true and false, or 1 and 0), if an instance may be in several clusters. Every instance must
        be in at least one cluster. Empty clusters are ignored.
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        The sensitive features, as in :meth:`ClusterletClustering.fit`.
    deviation : {"absolute", "relative", "kl", "first_group", "least_share"}
        Kind of deviation; see :func:`clusterlets.metrics.composition.deviation_per_cluster`.
    cohesion : bool
        Whether to compute the cohesion, which takes sums of distances; otherwise it is NaN.
    silhouette : bool
        Whether to compute the silhouettes, which take sums of distances; otherwise they are NaN.
    reference_cost : float or None
        Sum of squared errors by which the price of fairness divides. None takes the least cost of plain k-means with as many
        clusters over 50 starts (:func:`clusterlets.algorithms.plain_costs.least_plain_cost`), computed once per process.
    random_state : int, Generator, RandomState or None
        Source of randomness for the samples from which cohesion and silhouettes are estimated if there are many instances.

    Returns
    -------
    FairnessReport
        A dict of scores. Its attributes ``clusters`` and ``features`` (the features in each cluster) are tables, which need
        pandas; ``shares`` has the share of each group in the table. ``docs/results-format.md`` lists names, units and meanings
        of the scores. ``centroid_silhouette`` is left out, because it needs more than the clustering. A ``price_of_fairness``
        below 1 means that the clustering costs less than plain k-means did in any of its starts. ``cohesion_error`` is 0 if
        the cohesion is exact. ``silhouette_of_groups`` holds the mean silhouette of each group that occurs in the sample, by
        the group's value or the tuple of its values.

    Raises
    ------
    InvalidInput
        If an input is invalid, or if the inputs have different rows.

    Notes
    -----
    Where clusters overlap, the social, k-median and k-center costs and the silhouettes count each instance in one cluster
    only: of its clusters, the one whose centre is nearest. The estimators choose ``labels_`` in the same way. The centres are
    still the means of all members.

    Cohesion is exact up to 100,000 instances (``geometry.EXACT_LIMIT``). This takes O(n^2 d) time, or only the time for the
    pairs inside clusters if these are disjoint, and O(n d + G^2) memory for G different combinations of clusters. For more
    instances, :func:`clusterlets.algorithms.geometry.sampled_sums` estimates the cohesion in seconds. The largest distance is
    computed by :func:`clusterlets.algorithms.geometry.diameter`. Silhouettes are exact up to 10,000 instances
    (``row_samples.EXACT_ROWS``). For more, they are computed for m = 2,000 rows against all others, in O(m n d) time.
    Plain k-means takes O(n d C) time per round for C clusters, and usually a few tens of rounds for each of its 50 starts (10
    above 100,000 rows). It does not run if clusters overlap or if ``reference_cost`` is given.
    """
    check_same_index(X=X, clustering=clustering, sensitive_features=sensitive_features)
    feature_names = list(X.columns) if hasattr(X, "columns") else None
    with naming_text(X):
        X = check_array(X, dtype=np.float64, order="C")
    memberships, cluster_names = as_memberships(clustering)
    if deviation not in DEVIATIONS:
        raise InvalidInput(f"deviation={deviation!r} must be one of {', '.join(DEVIATIONS)}.")
    is_number = isinstance(reference_cost, Real) and not isinstance(reference_cost, bool)
    if reference_cost is not None and not (is_number and 0 <= reference_cost < np.inf):
        raise InvalidInput(
            f"reference_cost={reference_cost!r} is not a sum of squared errors: give a number of 0 or more, or None."
        )
    if memberships.shape[0] != len(X):
        raise InvalidInput(f"The clustering is of {memberships.shape[0]} instances, and X has {len(X)}.")
    groups, classes = encode(sensitive_features, len(X))
    pieces_of_rows, membership = _disjoint_pieces(memberships)
    n_pieces = membership.shape[1]
    centroids, inertia = geometry.moments_by_label(X, pieces_of_rows, n_pieces)
    counts = np.bincount(pieces_of_rows * len(classes) + groups, minlength=n_pieces * len(classes)).reshape(n_pieces, -1)
    distance_sums = np.zeros((n_pieces, n_pieces))
    diameter, rng = np.nan, generator(random_state)
    if cohesion:
        with as_invalid_input():
            distance_sums = _distance_sums(X, pieces_of_rows, membership, rng)
            diameter = geometry.diameter(X)
    group_values = _values(classes)
    values_by_column = list(zip(*group_values, strict=True)) if isinstance(group_values[0], tuple) else []
    pieces = Pieces(membership, counts, centroids, inertia, distance_sums, diameter, deviation, values_by_column)
    scores: dict[str, Any] = evaluate(SCORES, pieces)
    if cohesion and distance_sums.ndim == 2:
        scores["cohesion_error"] = 0.0
    centres = cluster_centres(membership, counts.sum(axis=1), centroids)
    own_clusters = labels_of_pieces(X, pieces_of_rows, membership, centres)
    clustered_rows = Instances(X, groups, own_clusters, centres, *_silhouettes(X, own_clusters, rng if silhouette else None))
    silhouettes = {group_values[code]: mean for code, mean in instances.silhouette_of_groups(clustered_rows).items()}
    scores |= evaluate(SCORES, clustered_rows) | {"silhouette_of_groups": silhouettes}
    scores |= evaluate(SCORES, _plain_cost(X, scores, reference_cost))
    composition = Composition(pieces.composition, cluster_names, pieces.group_counts, group_values)
    return FairnessReport(scores, composition, pieces.deviations, Profiles.of(X, memberships, feature_names))


def _plain_cost(X, scores, reference_cost: float | None) -> PriceInputs:
    """The cost of the clustering and that of plain k-means with as many clusters, which may have to run.

    It does not run if ``reference_cost`` is given. Nor does it if clusters overlap, because the clustering's cost is then NaN.
    """
    cost, n_clusters = scores["kmeans_cost"], scores["n_clusters"]
    if reference_cost is None and not np.isnan(cost):
        with as_invalid_input():
            reference_cost = least_plain_cost(X, n_clusters)
    return PriceInputs(cost, n_clusters, {n_clusters: reference_cost or 0.0})


def _silhouettes(X, labels, rng: np.random.Generator | None) -> tuple[np.ndarray, np.ndarray]:
    """Silhouettes of a sample of rows, and the indices of these rows; without a generator, NaN for all rows."""
    if rng is None:
        return np.full(len(X), np.nan), np.arange(len(X))
    rows, n_clusters = sample_rows(len(X), rng), int(labels.max()) + 1
    sums = geometry.row_sums(X, rows, labels, n_clusters)
    return instances.silhouettes(sums, np.bincount(labels, minlength=n_clusters), labels[rows]), rows


def _distance_sums(X, pieces_of_rows, membership, rng) -> np.ndarray:
    """Sums of distances between pieces (G, G), only the diagonal for disjoint clusters; for many rows, estimates (16, G, G)."""
    n_pieces = membership.shape[1]
    if len(X) > geometry.EXACT_LIMIT:
        return geometry.sampled_sums(X, pieces_of_rows, n_pieces, rng.permutation(len(X)))
    if (membership.sum(axis=0) == 1).all():
        return np.diag(geometry.within_sums(X, pieces_of_rows, n_pieces))
    return geometry.distance_sums(X, pieces_of_rows, n_pieces)


def cluster_composition(clustering, sensitive_features) -> "pd.DataFrame":
    """Count the instances of each group in each cluster.

    Parameters
    ----------
    clustering : int array-like (n,), or bool array or sparse matrix (n, C)
        Labels or memberships, as in :func:`fairness_report`.
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        The sensitive features, as in :meth:`ClusterletClustering.fit`.

    Returns
    -------
    pandas.DataFrame (C, K), int
        One row per cluster that is not empty, named by its label or index, and one column per group, named by its value (the
        values of several columns are joined by " + ").

    Raises
    ------
    InvalidInput
        If an input is invalid, or if the inputs have different rows.
    """
    with optional():
        import pandas as pd
    composition = composition_of(clustering, sensitive_features)
    return pd.DataFrame(composition.counts, pd.Index(composition.clusters, name="cluster"), composition.names)


def composition_of(clustering, sensitive_features) -> Composition:
    """Count as :func:`cluster_composition` does, but without pandas. O(n K)."""
    check_same_index(clustering=clustering, sensitive_features=sensitive_features)
    memberships, cluster_names = as_memberships(clustering)
    groups, classes = encode(sensitive_features, memberships.shape[0])
    is_in_group = csr_array((np.ones(len(groups), dtype=np.int64), (np.arange(len(groups)), groups)))
    counts = (memberships.T.astype(np.int64) @ is_in_group).toarray()
    return Composition(counts, cluster_names, np.bincount(groups), _values(classes))


def _values(classes: np.ndarray) -> list:
    """The value of each group as a Python object; a tuple if several columns are sensitive."""
    return [tuple(value) if np.ndim(value) else value for value in classes.tolist()]


def _disjoint_pieces(memberships: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Piece of each instance (n,), and which pieces each cluster holds (C, G). Instances in the same clusters form a piece."""
    row_sizes = np.diff(memberships.indptr)  # in how many clusters each instance is
    clusters = np.full((len(row_sizes), row_sizes.max()), -1)
    clusters[np.arange(row_sizes.max()) < row_sizes[:, None]] = memberships.indices
    _, first_rows, pieces = np.unique(clusters, axis=0, return_index=True, return_inverse=True)
    return pieces.reshape(-1), memberships[first_rows].toarray().T
