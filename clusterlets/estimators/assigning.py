"""Assign new rows to the clusters of a fitted estimator so that its guarantee still holds."""

from sklearn.utils.validation import _num_samples

from clusterlets.algorithms.checks import check_same_index
from clusterlets.estimators.inputs import InvalidInput
from clusterlets.estimators.method import MethodClusterer
from clusterlets.estimators.saved import SavedClustering


class AssigningClusterer(MethodClusterer):
    """Base of the estimators whose method can assign new rows so that its guarantee still holds."""

    def saved(self) -> SavedClustering:
        """The clustering with everything that :meth:`assign` needs.

        ``saved().save(path)`` writes it as JSON, which :meth:`SavedClustering.load` and ``clusterlets assign`` read.
        """
        if self._saved is None:
            self._saved = SavedClustering.of(self)
        return self._saved

    def assign(self, X, *, sensitive_features, remember=False):
        """Assign new rows to clusters, as cheaply as possible, so that the guarantee holds for old and new rows together.

        Shares are compared with those of the fitted table, however many rows are remembered. Costs are squared distances to
        ``cluster_centers_``, which do not change.

        Parameters
        ----------
        X : array-like or DataFrame (n, d)
        sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
            As in ``fit``, with the same columns; new values are allowed. A value that differs from one of the fit only in its
            spelling or type, such as TRUE or 1 for True, counts as that one, if there is only one.
        remember : bool, default=False
            Whether these rows count as old rows in later calls.

        Returns
        -------
        int array (n,)
            Cluster of each row.

        Warns
        -----
        UserWarning
            If a group did not occur in the fit. Its subclass :class:`~clusterlets.errors.LookAlikeGroups` says which values
            were spelt differently than in the fit. Its subclass :class:`~clusterlets.errors.LimitsMissed` says that no labels
            within the limits were found. The labels then have the least largest miss, and the warning says in which cluster
            and group it is, by how much, and what would mend it. ``saved().miss`` has these as numbers.

        Notes
        -----
        O(n k d) time, and O(n k) for each step that solves the dual problem.
        """
        check_same_index(X=X, sensitive_features=sensitive_features)  # before X becomes an array, which has no index
        if not _num_samples(X):
            raise InvalidInput("X has no rows, so there is nothing to assign.")
        return self.saved().assign(self._check_new_rows(X), sensitive_features, remember)
