"""The base of the estimators that run a method of :mod:`clusterlets.methods`, and an estimator for any such method."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from clusterlets import methods
from clusterlets.algorithms.checks import check_same_index
from clusterlets.algorithms.compiled import compile_together
from clusterlets.algorithms.kmeans import nearest_centres
from clusterlets.estimators.base import FairClusterer, RandomState
from clusterlets.estimators.inputs import InvalidInput, as_python, check_whole
from clusterlets.estimators.memberships import cluster_means, memberships_of_labels, nearest_own_cluster
from clusterlets.estimators.saved import SavedClustering
from clusterlets.methods.interface.check import check_parameters


def _can_assign(estimator: "MethodClusterer") -> bool:
    """Whether the method guarantees something for new rows. Otherwise, the estimator does not have the function."""
    return estimator._method().assignment_limits is not methods.Method.assignment_limits


class MethodClusterer(FairClusterer):
    """Base of the estimators that run a method of :mod:`clusterlets.methods`.

    A subclass names the class of the method in ``_method_class``, and takes its parameters in ``__init__``. The labels are
    those that the method's ``fit`` returns for the codes of the groups.
    """

    _method_class: ClassVar[type[methods.Method]]
    n_clusters: int
    output: str | None = None
    _saved: SavedClustering | None

    def _method(self) -> type[methods.Method]:
        return self._method_class

    def _parameters(self) -> dict[str, Any]:
        """The parameters of the method, with Python's types."""
        return {name: as_python(getattr(self, name)) for name in self._method().parameters}

    def _check_parameters(self) -> None:
        check_whole("n_clusters", self.n_clusters, 1)
        method, values = self._method(), self._parameters()
        check_parameters(method, values, method.name)
        faults = method().faults(int(self.n_clusters), **values)
        if faults:
            raise InvalidInput(f"{method.name} does not accept these parameters: {'; '.join(faults)}.")
        if self.output is not None and self.output not in method.outputs:
            outputs = (
                f"its outputs are {', '.join(method.outputs)}"
                if method.outputs
                else "it has only one clustering, so leave output out"
            )
            raise InvalidInput(f"{method.name} has no output {self.output!r}; {outputs}.")

    def _min_groups(self) -> int:
        return self._method().min_groups

    def _cluster(self, X, groups, random_state):
        method = self._method()
        self._check_table(method, X, groups)
        compile_together(method.kernels)
        classes = self.sensitive_classes_.reshape(len(self.sensitive_classes_), -1)
        columns = dict(zip(self.sensitive_names_, classes.T, strict=True))  # the value of each group in each column
        fitted, outputs = methods.fit(method, X, groups, self.n_clusters, random_state, self._parameters(), columns)
        clustering = outputs[f"{method.name} ({self.output})"] if self.output else next(iter(outputs.values()))
        self._set_attributes(X, clustering, vars(fitted))
        note = getattr(fitted, "note_", None)
        if note:
            warnings.warn(note, ConvergenceWarning, stacklevel=3)
        self._groups, self._saved = groups, None  # a new fit invalidates the saved clustering
        if self.n_clusters_ < self.n_clusters and not method.is_matcher:  # a matcher's n_clusters counts clusterlets
            warnings.warn(
                f"{type(self).__name__} found {self.n_clusters_} clusters instead of n_clusters={self.n_clusters}: the "
                "instances have too few distinct values, or the method makes fewer clusters.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _check_table(self, method: type[methods.Method], X: np.ndarray, groups: np.ndarray) -> None:
        """Raise InvalidInput if the method cannot handle the table."""
        if self.n_clusters > len(X):
            raise InvalidInput(f"n_clusters={self.n_clusters} is more than n_samples={len(X)}: ask for fewer clusters.")
        unsupported = method().unsupported(len(X), int(groups.max()) + 1)
        if unsupported:
            advice = "Merge groups, leave out rows, or use another method."
            raise InvalidInput(f"{method.name} cannot cluster this table: {unsupported}. {advice}")

    def _set_attributes(self, X: np.ndarray, clustering: np.ndarray, fit_attributes: Mapping[str, Any]) -> None:
        """Set the attributes that follow from labels (n,) or memberships (n, C), and copy those that the method set.

        A method may set ``cluster_centers_``: a dict of centres by output. Otherwise the centres are the clusters' means.
        """
        for name, value in fit_attributes.items():
            if name.endswith("_") and name != "cluster_centers_":
                setattr(self, name, value)
        are_labels = clustering.ndim == 1
        self.memberships_ = memberships_of_labels(clustering) if are_labels else csr_array(clustering)
        self.n_clusters_ = self.memberships_.shape[1]
        centres = fit_attributes.get("cluster_centers_", {}).get(self.output)
        self.cluster_centers_ = cluster_means(X, self.memberships_) if centres is None else centres
        self.labels_ = clustering if are_labels else nearest_own_cluster(X, self.memberships_, self.cluster_centers_)

    def predict(self, X):
        """Cluster of each instance: the one with the nearest centre. The result need not be fair.

        Parameters
        ----------
        X : array-like or DataFrame (n, d)

        Returns
        -------
        int array (n,)
        """
        return nearest_centres(self._check_new_rows(X), self.cluster_centers_)

    @available_if(_can_assign)
    def saved(self) -> SavedClustering:
        """The clustering with everything that :meth:`assign` needs.

        ``saved().save(path)`` writes it as JSON, which :meth:`SavedClustering.load` and ``clusterlets assign`` read.
        """
        check_is_fitted(self)
        if self._saved is None:
            self._saved = SavedClustering.of(self)
        return self._saved

    @available_if(_can_assign)
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


class MethodClustering(MethodClusterer):
    """Run any method of :mod:`clusterlets.methods`, or a method from a file of your own.

    Parameters
    ----------
    method : str, default="FRAC"
        A name of :func:`clusterlets.methods.names`, or the path of a Python file with a method in it.
    n_clusters : int, default=8
        Number of clusters, at most n. For a matcher, the number of clusterlets of each group.
    parameters : dict or None, default=None
        Parameters of the method by name; None for the method's own defaults.
    output : str or None, default=None
        Which clustering to keep if the method has several, such as ``"nearest"`` of FRAC; None for the first.
    random_state : int, Generator, RandomState or None, default=None
        Source of all randomness; an int gives the same result at each fit.

    Attributes
    ----------
    labels_, memberships_, n_clusters_, cluster_centers_, inertia_, sensitive_classes_, sensitive_names_
        See :class:`~clusterlets.estimators.base.FairClusterer`. Attributes that the method sets are there too, such as
        ``n_iter_`` of FRAC.

    Examples
    --------
    >>> from clusterlets.estimators import MethodClustering
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> MethodClustering("FRAC-OE", 2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(
        self,
        method: str = "FRAC",
        n_clusters: int = 8,
        *,
        parameters: Mapping[str, Any] | None = None,
        output: str | None = None,
        random_state: RandomState = None,
    ):
        self.method = method
        self.n_clusters = n_clusters
        self.parameters = parameters
        self.output = output
        self.random_state = random_state

    def _method(self):
        if not isinstance(self.method, str):
            raise InvalidInput(f"method: {self.method!r}; it must be the name of a method, or the path of a Python file.")
        return methods.from_file(self.method) if self.method.endswith(".py") else methods.get(self.method)

    def _parameters(self):
        if not isinstance(self.parameters, dict | None):
            raise InvalidInput(f"parameters: {self.parameters!r}; it must be a dict of the method's parameters, or None.")
        return {name: as_python(value) for name, value in (self.parameters or {}).items()}
