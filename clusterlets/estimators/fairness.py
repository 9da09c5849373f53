"""The fairness report: every score of a clustering, and the composition of its clusters."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_array

from clusterlets.algorithms import geometry, row_samples
from clusterlets.algorithms.checks import check_same_index
from clusterlets.algorithms.instance_labels import cluster_centres, labels_of_pieces
from clusterlets.algorithms.plain_costs import least_plain_cost
from clusterlets.estimators.groups import encode, values_of
from clusterlets.estimators.inputs import InvalidInput, as_invalid_input, check_numbers, feature_names, generator
from clusterlets.estimators.memberships import as_memberships
from clusterlets.estimators.profiles import Profiles
from clusterlets.extras import optional
from clusterlets.metrics import instances
from clusterlets.metrics.all_scores import SCORES
from clusterlets.metrics.composition import DEVIATIONS
from clusterlets.metrics.instances import Instances
from clusterlets.metrics.pieces import Pieces
from clusterlets.metrics.prices import PriceInputs
from clusterlets.metrics.score import evaluate
from clusterlets.text import counted, first_of, names_of_groups

if TYPE_CHECKING:
    import pandas as pd

_MAX_NAMED_GROUPS, _MAX_NAMED_CLUSTERS = 6, 5  # in a sentence on clusters that lack groups


@dataclass(frozen=True)
class Composition:
    """How many instances of each group are in each cluster and in the whole table.

    Attributes
    ----------
    counts : int array (C, K)
        Number of instances of each group in each cluster, without empty clusters.
    clusters : int array (C,)
        Label or index of each of these clusters.
    group_counts : int array (K,)
        Number of instances of each group in the table. If clusters overlap, the sums of ``counts`` are larger.
    groups : list of K
        Value of each group in the sensitive column, or the tuple of its values in several columns.
    """

    counts: np.ndarray
    clusters: np.ndarray
    group_counts: np.ndarray
    groups: list

    @property
    def names(self) -> list[str]:
        """The names of the groups. Values of several columns are joined by " + "."""
        return names_of_groups(value if isinstance(value, tuple) else (value,) for value in self.groups)

    def lacking_groups(self) -> str:
        """How many clusters lack a group, and which ones; "" if none does."""
        incomplete = [
            f"cluster {cluster} has no {', '.join(first_of(names, _MAX_NAMED_GROUPS))}"
            for cluster, counts in zip(self.clusters, self.counts, strict=True)
            if (names := [name for name, count in zip(self.names, counts, strict=True) if not count])
        ]
        if not incomplete:
            return ""
        clusters = "; ".join(first_of(incomplete, _MAX_NAMED_CLUSTERS))
        return f"{counted(len(incomplete), 'cluster lacks a group', 'clusters lack a group')}: {clusters}"


class FairnessReport(dict[str, Any]):
    """Scores of a clustering by name, with tables of its clusters and their features.

    Attributes
    ----------
    composition : Composition
        Number of instances of each group in each cluster.
    deviations : float array (C,)
        Deviation of each cluster, of the requested kind.
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
        """Share of each group in the table. The key is the group's value, or the tuple of its values."""
        counts = self.composition.group_counts
        return dict(zip(self.composition.groups, (counts / counts.sum()).tolist(), strict=True))

    @property
    def features(self) -> "pd.DataFrame":
        """One row per cluster and feature; within a cluster, features that stand out most come first.

        ``mean`` and ``spread`` (the standard deviation) are those of the cluster. ``table_mean`` and ``table_spread`` are those
        of the whole table. All are in the units of X. ``difference`` is ``mean - table_mean`` in standard deviations of the
        table. Raises MissingExtra if pandas is not installed.
        """
        assert self.profiles is not None
        return self.profiles.frame(self.composition.clusters.tolist())

    @property
    def clusters(self) -> "pd.DataFrame":
        """One row per cluster, by its label or index.

        ``size`` is the number of instances; ``deviation`` is of the report's kind. ``furthest_off`` is the group whose share
        differs most from its share in the table, and ``excess`` is that difference. A column ``share of <name>`` for each group
        follows. Raises MissingExtra if pandas is not installed.
        """
        with optional():
            import pandas as pd
        composition = self.composition
        sizes = composition.counts.sum(axis=1)
        shares = composition.counts / sizes[:, None]
        excess = shares - composition.group_counts / composition.group_counts.sum()
        furthest_groups = np.abs(excess).round(12).argmax(axis=1)  # rounded: equal differences may differ in the last bit
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
    """Compute every score of ``clusterlets.metrics.all_scores.SCORES`` that is defined for a single clustering.

    Parameters
    ----------
    X : array-like or DataFrame (n, d)
        The features that were clustered.
    clustering : array-like (n,) of int or str, or bool array or sparse matrix (n, C)
        Labels, or memberships (true and false, or 1 and 0) if an instance may be in several clusters. Every instance must be
        in a cluster. Empty clusters are ignored.
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        The sensitive features, as in :meth:`ClusterletClustering.fit`.
    deviation : {"absolute", "relative", "kl", "first_group", "least_share"}
        Kind of deviation; see :func:`clusterlets.metrics.composition.deviation_per_cluster`.
    cohesion : bool
        Whether to compute the cohesion, which takes long on large tables. Otherwise it is NaN.
    silhouette : bool
        Whether to compute the silhouettes, which take long on large tables. Otherwise they are NaN.
    reference_cost : float or None
        The price of fairness is the cost divided by this sum of squared errors. By default, it is the least cost of 50 starts
        of plain k-means with as many clusters (:func:`clusterlets.algorithms.plain_costs.least_plain_cost`).
    random_state : int, Generator, RandomState or None
        Source of randomness for the samples from which cohesion and silhouettes of large tables are estimated.

    Returns
    -------
    FairnessReport
        A dict of scores. ``docs/results-format.md`` lists their names, units and meanings. ``centroid_silhouette`` is left
        out, because it needs more than the clustering. A ``price_of_fairness`` below 1 means that the clustering costs less
        than the best start of plain k-means. ``cohesion_error`` is 0 if the cohesion is exact. ``silhouette_of_groups`` maps
        each group that occurs in the sample to its mean silhouette. The attributes ``clusters`` and ``features`` are tables,
        which need pandas.

    Raises
    ------
    InvalidInput
        If an input is invalid, or if the inputs have different rows.

    Notes
    -----
    If clusters overlap, the social, k-median and k-center costs and the silhouettes count each instance only in the cluster
    that ``labels_`` of the estimators would name: the one with the nearest centre. The centres are the means of all members.

    Cohesion is exact up to 100,000 instances. This takes O(n^2 d) time, or less if clusters are disjoint, because only pairs
    inside clusters count. It takes O(n d + G^2) memory for G different combinations of clusters. For more instances,
    :func:`clusterlets.algorithms.geometry.sampled_sums` estimates the cohesion in seconds.

    Silhouettes are exact up to 10,000 instances. For more, they are computed for a sample of m = 2,000 rows against all others,
    in O(m n d) time.

    A round of plain k-means with C clusters takes O(n d C) time, and a start usually a few tens of rounds. Above 100,000 rows,
    there are 10 starts. Plain k-means runs once per process, table and number of clusters. It does not run if clusters overlap
    or if ``reference_cost`` is given.
    """
    check_same_index(X=X, clustering=clustering, sensitive_features=sensitive_features)
    names = feature_names(X)
    check_numbers(X)
    X = check_array(X, dtype=np.float64, order="C")
    memberships, cluster_names = as_memberships(clustering)
    _check_options(deviation, reference_cost)
    if memberships.shape[0] != len(X):
        raise InvalidInput(f"The clustering has {memberships.shape[0]} instances, but X has {len(X)}.")
    groups, classes = encode(sensitive_features, len(X))
    group_values, rng = _values(classes), generator(random_state)
    pieces_of_rows, pieces = _pieces(X, memberships, groups, classes, deviation, rng if cohesion else None)
    scores: dict[str, Any] = evaluate(SCORES, pieces)
    if cohesion and pieces.sums.ndim == 2:
        scores["cohesion_error"] = 0.0
    centres = cluster_centres(pieces.membership, pieces.counts.sum(axis=1), pieces.centroids)
    labels = labels_of_pieces(X, pieces_of_rows, pieces.membership, centres)
    clustered_rows = Instances(X, groups, labels, centres, *_silhouettes(X, labels, rng if silhouette else None))
    silhouettes = {group_values[code]: mean for code, mean in instances.silhouette_of_groups(clustered_rows).items()}
    scores |= evaluate(SCORES, clustered_rows) | {"silhouette_of_groups": silhouettes}
    scores |= evaluate(SCORES, _price_inputs(X, scores, reference_cost))
    composition = Composition(pieces.composition, cluster_names, pieces.group_counts, group_values)
    return FairnessReport(scores, composition, pieces.deviations, Profiles.of(X, memberships, names))


def _check_options(deviation: str, reference_cost: float | None) -> None:
    if deviation not in DEVIATIONS:
        raise InvalidInput(f"deviation={deviation!r} must be one of {', '.join(DEVIATIONS)}.")
    is_number = isinstance(reference_cost, Real) and not isinstance(reference_cost, bool)
    if reference_cost is not None and not (is_number and 0 <= reference_cost < np.inf):
        raise InvalidInput(
            f"reference_cost={reference_cost!r} is not a sum of squared errors: give a number of 0 or more, or None."
        )


def _pieces(
    X, memberships: csr_array, groups: np.ndarray, classes: np.ndarray, deviation: str, rng: np.random.Generator | None
) -> tuple[np.ndarray, Pieces]:
    """The piece of each instance (n,), and the pieces. Without a generator, the pieces have no distances."""
    pieces_of_rows, membership = _disjoint_pieces(memberships)
    n_pieces, n_groups = membership.shape[1], len(classes)
    centroids, inertia = geometry.moments_by_label(X, pieces_of_rows, n_pieces)
    counts = np.bincount(pieces_of_rows * n_groups + groups, minlength=n_pieces * n_groups).reshape(n_pieces, -1)
    distance_sums, diameter = np.zeros((n_pieces, n_pieces)), np.nan
    if rng is not None:
        with as_invalid_input():
            distance_sums = _distance_sums(X, pieces_of_rows, membership, rng)
            diameter = geometry.diameter(X)
    values_by_column = list(classes.T) if classes.ndim == 2 else []
    return pieces_of_rows, Pieces(membership, counts, centroids, inertia, distance_sums, diameter, deviation, values_by_column)


def _price_inputs(X, scores, reference_cost: float | None) -> PriceInputs:
    """The cost of the clustering, and the reference cost or that of plain k-means with as many clusters."""
    cost, n_clusters = scores["kmeans_cost"], scores["n_clusters"]
    clusters_overlap = np.isnan(cost)
    if reference_cost is None and not clusters_overlap:
        with as_invalid_input():
            reference_cost = least_plain_cost(X, n_clusters)
    return PriceInputs(cost, n_clusters, {n_clusters: reference_cost or 0.0})


def _silhouettes(X, labels, rng: np.random.Generator | None) -> tuple[np.ndarray, np.ndarray]:
    """Silhouettes of a sample of rows, and the indices of these rows. Without a generator, NaN for all rows."""
    if rng is None:
        return np.full(len(X), np.nan), np.arange(len(X))
    rows, n_clusters = row_samples.sample_rows(len(X), rng), int(labels.max()) + 1
    sums = geometry.row_sums(X, rows, labels, n_clusters)
    return instances.silhouettes(sums, np.bincount(labels, minlength=n_clusters), labels[rows]), rows


def _distance_sums(X, pieces_of_rows, membership, rng) -> np.ndarray:
    """Sums of distances between pieces (G, G). Only the diagonal if clusters are disjoint; estimates for many rows."""
    n_pieces = membership.shape[1]
    if len(X) > row_samples.ALL_PAIRS_ROWS:
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
        One row per cluster, named by its label or index, without empty clusters. One column per group, named by its value;
        values of several columns are joined by " + ".

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
    """Like :func:`cluster_composition`, but without pandas. O(n K)."""
    check_same_index(clustering=clustering, sensitive_features=sensitive_features)
    memberships, cluster_names = as_memberships(clustering)
    groups, classes = encode(sensitive_features, memberships.shape[0])
    is_in_group = csr_array((np.ones(len(groups), dtype=np.int64), (np.arange(len(groups)), groups)))
    counts = (memberships.T.astype(np.int64) @ is_in_group).toarray()
    return Composition(counts, cluster_names, np.bincount(groups), _values(classes))


def _values(classes: np.ndarray) -> list:
    """The value of each group as a Python object, or the tuple of its values."""
    return values_of(classes) if classes.ndim == 2 else classes.tolist()


def _disjoint_pieces(memberships: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Piece of each instance (n,), and whether each cluster holds each piece (C, G).

    Instances form a piece if they are in the same clusters.
    """
    n_clusters_of_row = np.diff(memberships.indptr)
    max_clusters = n_clusters_of_row.max()
    clusters = np.full((len(n_clusters_of_row), max_clusters), -1)
    clusters[np.arange(max_clusters) < n_clusters_of_row[:, None]] = memberships.indices
    _, first_rows, pieces = np.unique(clusters, axis=0, return_index=True, return_inverse=True)
    return pieces.reshape(-1), memberships[first_rows].toarray().T
