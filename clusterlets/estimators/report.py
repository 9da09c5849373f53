"""Every score of a clustering, and what its clusters are made of."""

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
from clusterlets.metrics.prices import PlainCost
from clusterlets.metrics.score import evaluate
from clusterlets.metrics.table import SCORES

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Composition:
    """What clusters are made of.

    Attributes
    ----------
    counts : int array (C, K)
        Instances of each group in each cluster that has instances.
    clusters : int array (C,)
        Label or index of each.
    group_counts : int array (K,)
        Instances of each group in the table; where clusters overlap, ``counts`` add up to more.
    groups : list of K
        Value of each group, or the tuple of its values.
    """

    counts: np.ndarray
    clusters: np.ndarray
    group_counts: np.ndarray
    groups: list

    @property
    def names(self) -> list[str]:
        """The groups as text; the values of several columns joined by " + "."""
        return [" + ".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in self.groups]


class FairnessReport(dict[str, Any]):
    """Scores of a clustering by their names, and a table of its clusters.

    Attributes
    ----------
    composition : Composition
        Instances of each group in each cluster.
    deviations : float array (C,)
        Deviation of each cluster.
    profiles : Profiles or None
        Features of each cluster next to those of the table.
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
        """Share of each group in the table, by its value or the tuple of its values."""
        counts = self.composition.group_counts
        return dict(zip(self.composition.groups, (counts / counts.sum()).tolist(), strict=True))

    @property
    def features(self) -> "pd.DataFrame":
        """Who is in each cluster: one row per cluster and feature, those that stand out most first.

        ``mean`` and ``spread`` (standard deviation) in the cluster, ``table_mean`` and ``table_spread`` in the table, all in
        the units of X; ``difference``: of the means, in standard deviations of the table. Without pandas, MissingExtra says
        how to install it.
        """
        assert self.profiles is not None
        return self.profiles.frame(self.composition.clusters.tolist())

    @property
    def clusters(self) -> "pd.DataFrame":
        """One row per cluster, by its label or index.

        ``size``: instances; ``deviation``: of the requested kind; ``furthest_off``: the group whose share differs most from
        the table's, and ``excess``: by how much; then, for each group, ``share of <name>``. Without pandas, MissingExtra says
        how to install it.
        """
        with optional():
            import pandas as pd
        composition = self.composition
        sizes = composition.counts.sum(axis=1)
        shares = composition.counts / sizes[:, None]
        excess = shares - composition.group_counts / composition.group_counts.sum()
        furthest = np.abs(excess).round(12).argmax(axis=1)  # ties go to the first
        index = pd.Index(composition.clusters, name="cluster")
        columns = {
            "size": sizes,
            "deviation": self.deviations,
            "furthest_off": [composition.names[group] for group in furthest],
            "excess": excess[np.arange(len(excess)), furthest],
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
    """Every score of ``clusterlets.metrics.table.SCORES`` that a single clustering has.

    Parameters
    ----------
    X : array-like or DataFrame (n, d)
        Instances, as they were clustered.
    clustering : int array-like (n,), or bool array or sparse matrix (n, C)
        Labels, or memberships (true and false, or 1 and 0) where an instance may be in several clusters. Every instance
        must be in one; clusters without instances do not count.
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        As in :meth:`ClusterletClustering.fit`.
    deviation : {"absolute", "relative", "kl", "first_group", "least_share"}
        Kind of deviation, see :func:`clusterlets.metrics.composition.deviation_per_cluster`.
    cohesion : bool
        Whether to add up distances for the cohesion, which is NaN otherwise.
    silhouette : bool
        Whether to add up distances for the silhouettes, which are NaN otherwise.
    reference_cost : float or None
        Sum of squared errors by which the price of fairness divides; None for the least cost of plain k-means with as many
        clusters over 50 starts (:func:`clusterlets.algorithms.plain_costs.least_plain_cost`), which a process computes once.
    random_state : int, Generator, RandomState or None
        Source of the samples that cohesion and silhouettes are estimated from where there are too many instances.

    Returns
    -------
    FairnessReport
        A dict of scores, with the tables ``clusters`` and ``features`` (of the features in each cluster), which need pandas,
        and with the ``shares`` of the groups in the table. ``docs/results-format.md`` has names, units and meanings of the
        scores; ``centroid_silhouette``, which needs more than the clustering, is left out. A ``price_of_fairness`` below 1: the
        clustering is a better optimum than plain k-means found in all its starts. ``cohesion_error`` is 0 where the cohesion is
        exact. ``silhouette_of_groups``: mean silhouette of each group that was drawn, by its value or the tuple of its values.

    Raises
    ------
    InvalidInput
        For input that does not fit together.

    Notes
    -----
    Where clusters overlap, the social, k-median and k-center costs and the silhouettes give each instance to the one of its
    clusters whose centre is nearest, as ``labels_`` of the estimators do; the centres are the means of all members.

    Cohesion is exact up to 100,000 instances (``geometry.EXACT_LIMIT``): O(n^2 d) time (of a crisp clustering: of the
    pairs inside the clusters), O(n d + G^2) memory for G different combinations of clusters. Past that it comes from
    :func:`clusterlets.algorithms.geometry.sampled_sums`, in seconds. The largest distance is that of
    :func:`clusterlets.algorithms.geometry.diameter`. Silhouettes are exact up to 10,000 instances
    (``row_samples.EXACT_ROWS``); past that they are those of 2,000 rows, against all others: O(m n d) time for m rows.
    Plain k-means costs O(n d C) time per round for C clusters, a few tens of rounds mostly for each of its 50 starts (10 above
    100,000 rows); it is not run where clusters overlap, nor with a ``reference_cost``.
    """
    check_same_index(X=X, clustering=clustering, sensitive_features=sensitive_features)
    names = list(X.columns) if hasattr(X, "columns") else None
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
    labels, membership = _disjoint_pieces(memberships)
    n_pieces = membership.shape[1]
    centroids, inertia = geometry.moments_by_label(X, labels, n_pieces)
    counts = np.bincount(labels * len(classes) + groups, minlength=n_pieces * len(classes)).reshape(n_pieces, -1)
    sums = np.zeros((n_pieces, n_pieces))
    diameter, source = np.nan, generator(random_state)
    if cohesion:
        with as_invalid_input():
            sums = _distance_sums(X, labels, membership, source)
            diameter = geometry.diameter(X)
    groups_of_codes = _values(classes)
    columns = list(zip(*groups_of_codes, strict=True)) if isinstance(groups_of_codes[0], tuple) else []
    pieces = Pieces(membership, counts, centroids, inertia, sums, diameter, deviation, columns)
    scores: dict[str, Any] = evaluate(SCORES, pieces)
    if cohesion and sums.ndim == 2:
        scores["cohesion_error"] = 0.0
    centres = cluster_centres(membership, counts.sum(axis=1), centroids)
    nearest = labels_of_pieces(X, labels, membership, centres)
    labelled = Instances(X, groups, nearest, centres, *_silhouettes(X, nearest, source if silhouette else None))
    silhouettes = {groups_of_codes[code]: mean for code, mean in instances.silhouette_of_groups(labelled).items()}
    scores |= evaluate(SCORES, labelled) | {"silhouette_of_groups": silhouettes}
    scores |= evaluate(SCORES, _plain_cost(X, scores, reference_cost))
    composition = Composition(pieces.composition, cluster_names, pieces.group_counts, groups_of_codes)
    return FairnessReport(scores, composition, pieces.deviations, Profiles.of(X, memberships, names))


def _plain_cost(X, scores, reference_cost: float | None) -> PlainCost:
    """The cost, and the least one of plain k-means with as many clusters, which is run unless its cost is given."""
    cost, n_clusters = scores["kmeans_cost"], scores["n_clusters"]
    if reference_cost is None and not np.isnan(cost):
        with as_invalid_input():
            reference_cost = least_plain_cost(X, n_clusters)
    return PlainCost(cost, n_clusters, {n_clusters: reference_cost or 0.0})


def _silhouettes(X, labels, random_state: np.random.Generator | None) -> tuple[np.ndarray, np.ndarray]:
    """Silhouettes of a sample of rows, and these rows; NaN for all rows without a random state."""
    if random_state is None:
        return np.full(len(X), np.nan), np.arange(len(X))
    rows, n_clusters = sample_rows(len(X), random_state), int(labels.max()) + 1
    sums = geometry.row_sums(X, rows, labels, n_clusters)
    return instances.silhouettes(sums, np.bincount(labels, minlength=n_clusters), labels[rows]), rows


def _distance_sums(X, labels, membership, random_state) -> np.ndarray:
    """Summed distances between pieces (G, G), only the diagonal if that suffices; for many rows, estimates (R, G, G)."""
    n_pieces = membership.shape[1]
    if len(X) > geometry.EXACT_LIMIT:
        return geometry.sampled_sums(X, labels, n_pieces, random_state.permutation(len(X)))
    if (membership.sum(axis=0) == 1).all():
        return np.diag(geometry.within_sums(X, labels, n_pieces))
    return geometry.distance_sums(X, labels, n_pieces)


def cluster_composition(clustering, sensitive_features) -> "pd.DataFrame":
    """Instances of each group in each cluster.

    Parameters
    ----------
    clustering : int array-like (n,), or bool array or sparse matrix (n, C)
        Labels or memberships, as in :func:`fairness_report`.
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        As in :meth:`ClusterletClustering.fit`.

    Returns
    -------
    pandas.DataFrame (C, K), int
        One row per cluster that has instances, by its label or index, one column per group, by its name (values of several
        columns joined by " + ").

    Raises
    ------
    InvalidInput
        For input that does not fit together.
    """
    with optional():
        import pandas as pd
    composition = composition_of(clustering, sensitive_features)
    return pd.DataFrame(composition.counts, pd.Index(composition.clusters, name="cluster"), composition.names)


def composition_of(clustering, sensitive_features) -> Composition:
    """As :func:`cluster_composition`, without pandas. O(n K)."""
    check_same_index(clustering=clustering, sensitive_features=sensitive_features)
    memberships, cluster_names = as_memberships(clustering)
    groups, classes = encode(sensitive_features, memberships.shape[0])
    indicator = csr_array((np.ones(len(groups), dtype=np.int64), (np.arange(len(groups)), groups)))
    counts = (memberships.T.astype(np.int64) @ indicator).toarray()
    return Composition(counts, cluster_names, np.bincount(groups), _values(classes))


def _values(classes: np.ndarray) -> list:
    """Value of each group, or the tuple of its values."""
    return [tuple(value) if np.ndim(value) else value for value in classes.tolist()]


def _disjoint_pieces(memberships: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Piece (n,) of each instance (instances in the same clusters form one), and which pieces a cluster holds (C, G)."""
    sizes = np.diff(memberships.indptr)
    clusters = np.full((len(sizes), sizes.max()), -1)
    clusters[np.arange(sizes.max()) < sizes[:, None]] = memberships.indices
    _, first, pieces = np.unique(clusters, axis=0, return_index=True, return_inverse=True)
    return pieces.reshape(-1), memberships[first].toarray().T
