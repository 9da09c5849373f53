"""New rows in fitted clusters, so that old and new rows together keep what the method guarantees."""

import warnings

import numpy as np

from clusterlets.algorithms.checks import check_same_index
from clusterlets.estimators.saved import SavedClustering


class AssigningMethod:
    """Base of the estimators whose method says what its guarantee means for new rows."""

    _saved: SavedClustering | None

    def _validated(self, X) -> np.ndarray:
        raise NotImplementedError

    def saved(self) -> SavedClustering:
        """The clustering with all rows that :meth:`assign` remembers: what new rows need, without the table.

        Its ``save(path)`` writes JSON, which :meth:`SavedClustering.load` and ``clusterlets assign`` read.
        """
        if self._saved is None:
            self._saved = SavedClustering.of(self)
        return self._saved

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
            For groups that the fit did not know. Where no labels within the limits were found, as the batch makes that
            impossible: by how much the worst share misses its limit with the labels returned.

        Notes
        -----
        O(n k d) time, and O(n k) for each step of the dual.
        """
        check_same_index(X=X, sensitive_features=sensitive_features)  # before X becomes an array
        labels, missed = self.saved().assign(self._validated(X), sensitive_features, remember)
        if missed:
            warnings.warn(
                f"{type(self).__name__}: no clusters of these rows within the limits were found; with those returned, the "
                f"worst share misses its limit by {missed:.2g}.",
                stacklevel=2,
            )
        return labels
