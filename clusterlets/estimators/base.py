"""What all estimators share: the checks of ``fit`` and of new rows, ``transform`` and ``score``."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from clusterlets.algorithms.checks import check_largest, check_same_index
from clusterlets.algorithms.geometry import squared_distances_to_centres
from clusterlets.estimators.groups import column_names, encode
from clusterlets.estimators.inputs import (
    InvalidInput,
    as_invalid_input,
    check_equal_weights,
    check_numbers,
    feature_names,
    generator,
    weights_of_rows,
)

#: What an estimator accepts as ``random_state``.
RandomState = int | np.random.Generator | np.random.RandomState | None


class FairClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Base class of the estimators: checks the input, encodes the groups and seeds the random stream.

    Subclasses implement ``_check_parameters`` and ``_cluster``.

    Attributes
    ----------
    labels_ : int array (n,)
        Cluster of each instance; for an instance in several clusters, the one with the nearest centre, or the first of
        equally near ones. So a cluster may be missing from the labels.
    memberships_ : scipy.sparse.csr_array (n, n_clusters_), bool
        Whether each instance is in each cluster; one entry per row if clusters are disjoint.
    n_clusters_ : int
        Number of clusters; none is empty.
    cluster_centers_ : float array (n_clusters_, d)
        Mean of each cluster; for FRAC with output ``"nearest"``, the centres to which the instances were assigned.
    inertia_ : float
        Sum of squared distances of the instances to the centre of the cluster that ``labels_`` names.
    sensitive_classes_ : array (K,) or (K, S)
        Value of each group, or its combination of values, in the order of the group codes.
    sensitive_names_ : list
        Names of the sensitive columns: those of a DataFrame, or else their numbers from 0.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only after a fit on a DataFrame.
    """

    n_clusters: int | None
    n_clusters_: int
    cluster_centers_: np.ndarray
    labels_: np.ndarray
    inertia_: float
    random_state: Any

    def fit(self, X, y=None, *, sensitive_features=None, sample_weight=None):
        """Cluster the instances.

        Parameters
        ----------
        X : array-like or DataFrame (n, d)
            Instances: finite numbers, at least two rows. Distances are Euclidean, so scale the features first where
            their units differ.
        y : ignored
            Accepted because scikit-learn passes it. It does not give the groups: ``y`` without ``sensitive_features`` is an
            error.
        sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
            Required. Strings, integers, booleans or categories; sparse columns are accepted too. Each value is a group. With
            several columns, each combination that occurs is a group. Groups are sorted by value. Categories keep their own
            order, and values that cannot be compared are sorted by type first.
        sample_weight : None or array-like (n,)
            Accepted because scikit-learn passes it. Weights that differ are an error, because no method weights instances.

        Returns
        -------
        self

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If there are fewer clusters than ``n_clusters``.
        UserWarning
            If a :class:`ClusterletClustering` ignores a parameter that was set. This happens if its matcher does not have the
            parameter, or if the search for ``n_clusters`` chooses it.

        Raises
        ------
        clusterlets.InvalidInput
            If a parameter is out of range, if there are more clusters than instances, or if the method cannot handle the table
            for another reason. Also if the sensitive features are missing, incomplete or continuous, if their length or index
            is not that of X, or if there is a single group (only :class:`FairLimit` accepts one).
        """
        if sensitive_features is None and y is not None:
            raise InvalidInput(
                "sensitive_features is missing, and y, the second argument of fit, is ignored: give the group of each instance "
                "by name, fit(X, sensitive_features=groups)."
            )
        with as_invalid_input():
            self._check_parameters()
            check_same_index(X=X, sensitive_features=sensitive_features)
        X = self._numbers(X, ensure_min_samples=2)
        if sample_weight is not None:
            check_equal_weights(sample_weight, len(X), type(self).__name__)
        groups, self.sensitive_classes_ = encode(sensitive_features, len(X), self._min_groups())
        self.sensitive_names_ = column_names(sensitive_features)
        with as_invalid_input():
            self._cluster(X, groups, generator(self.random_state))
        offsets = X - self.cluster_centers_[self.labels_]
        self.inertia_ = float(np.einsum("ij,ij->", offsets, offsets))
        return self

    def transform(self, X):
        """Distances ``(n, n_clusters_)`` of instances to ``cluster_centers_``."""
        return np.sqrt(self._squared_distances(X))

    def score(self, X, y=None, sample_weight=None):
        """Minus the sum of squared distances to the nearest of ``cluster_centers_``, like scikit-learn's KMeans.

        ``sample_weight`` (n,) multiplies the rows' squared distances.
        """
        costs = self._squared_distances(X).min(axis=1)
        return -float((costs if sample_weight is None else costs * weights_of_rows(sample_weight, len(costs))).sum())

    def _squared_distances(self, X) -> np.ndarray:
        X = self._check_new_rows(X)
        return squared_distances_to_centres(X, self.cluster_centers_, len(self.cluster_centers_))

    @property
    def _n_features_out(self) -> int:  # for get_feature_names_out
        return self.n_clusters_

    def _check_parameters(self) -> None:
        """Raise InvalidInput for parameters that are wrong whatever the table."""
        raise NotImplementedError

    def _min_groups(self) -> int:
        return 2

    def _cluster(self, X: np.ndarray, groups: np.ndarray, random_state: np.random.Generator) -> None:
        """Set the attributes of a fit."""
        raise NotImplementedError

    def _check_new_rows(self, X) -> np.ndarray:
        check_is_fitted(self)
        return self._numbers(X, reset=False)

    def _numbers(self, X, **settings) -> np.ndarray:
        """X as an array of numbers; InvalidInput names a column that holds something else."""
        check_numbers(X)
        names, X = feature_names(X), validate_data(self, X, dtype=np.float64, order="C", **settings)
        with as_invalid_input():
            check_largest(X, names)
        return X
