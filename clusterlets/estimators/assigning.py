"""New rows in fitted clusters, so that old and new rows together keep what the method guarantees."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from clusterlets import methods
from clusterlets.algorithms.geometry import distances_to_centres
from clusterlets.algorithms.limit_assignment import assign_new
from clusterlets.estimators.groups import encode
from clusterlets.estimators.inputs import InvalidInput

Combinations = list[tuple[Any, ...]]


class AssigningMethod:
    """Base of the estimators whose method says what its guarantee means for new rows."""

    sensitive_classes_: np.ndarray
    sensitive_names_: list
    cluster_centers_: np.ndarray
    labels_: np.ndarray
    _groups: np.ndarray
    _remembered: tuple[Combinations, np.ndarray] | None

    def _method(self) -> type[methods.Method]:
        raise NotImplementedError

    def _plain_parameters(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def _validated(self, X) -> np.ndarray:
        raise NotImplementedError

    def assign(self, X, *, sensitive_features, remember=False):
        """Clusters of new rows: the cheapest such that old and new rows together keep what the method guarantees.

        Shares are compared with those of the table of the fit. Costs are squared distances to ``cluster_centers_``, which stay.

        Parameters
        ----------
        X : array-like or DataFrame (n, d)
        sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
            As in ``fit``, with the same columns; new values are allowed.
        remember : bool, default=False
            Whether later calls count these rows as old ones.

        Returns
        -------
        int array (n,)

        Warns
        -----
        UserWarning
            Where no labels within the limits were found, as the batch makes that impossible: by how much the worst share misses
            its limit with the labels returned.

        Notes
        -----
        O(n k d) time, and O(n k) for each step of the dual.
        """
        X = self._validated(X)
        groups, classes = encode(sensitive_features, len(X), least_groups=1)
        new = [tuple(np.atleast_1d(value)) for value in classes]
        if new and len(new[0]) != len(self.sensitive_names_):
            raise InvalidInput(f"sensitive_features has {len(new[0])} columns, and had {len(self.sensitive_names_)} in fit.")
        known, composition = self._remembered or self._fitted_groups()
        combinations = [*known, *(values for values in new if values not in known)]
        place = np.array([combinations.index(values) for values in new])
        composition = np.vstack([composition, np.zeros((len(combinations) - len(known), composition.shape[1]), dtype=np.int64)])
        codes = place[groups]
        totals = np.bincount(codes, minlength=len(combinations))
        method = self._method()()
        method.sensitive_columns = dict(zip(self.sensitive_names_, zip(*combinations, strict=True), strict=True))
        rows, slack = method.assignment_rows(composition, totals, **self._plain_parameters())
        costs = distances_to_centres(X, self.cluster_centers_, len(self.cluster_centers_))
        labels, missed = assign_new(costs, codes, composition, rows, slack)
        if missed:
            warnings.warn(
                f"{type(self).__name__}: no clusters of these rows within the limits were found; with those returned, the "
                f"worst share misses its limit by {missed:.2g}.",
                stacklevel=2,
            )
        if remember:
            np.add.at(composition, (codes, labels), 1)
            self._remembered = combinations, composition
        return labels

    def _fitted_groups(self) -> tuple[Combinations, np.ndarray]:
        """The groups of the fit, as combinations of values, and their counts (K, k) in the clusters."""
        known = [tuple(np.atleast_1d(value)) for value in self.sensitive_classes_]
        composition = np.zeros((len(known), len(self.cluster_centers_)), dtype=np.int64)
        np.add.at(composition, (self._groups, self.labels_), 1)
        return known, composition
