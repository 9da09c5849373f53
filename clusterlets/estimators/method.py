"""Estimators that run methods: one class per rival method of the package, and a class for any method, by name or file."""

import inspect
import textwrap
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from clusterlets import methods
from clusterlets.algorithms.checks import check_same_index
from clusterlets.algorithms.compiled import compile_together
from clusterlets.algorithms.kmeans import nearest_centres
from clusterlets.estimators.base import FairClusterer
from clusterlets.estimators.inputs import InvalidInput, as_python, check_whole
from clusterlets.estimators.memberships import cluster_means, memberships_of_labels, nearest_own_cluster
from clusterlets.estimators.saved import SavedClustering
from clusterlets.estimators.signatures import (
    RANDOM_STATE,
    Description,
    describe,
    section,
    set_parameters,
    with_common_attributes,
)
from clusterlets.methods.check import check_parameters


class MethodEstimator(FairClusterer):
    """Base of the estimators that run a method of :mod:`clusterlets.methods`. Subclasses give the method and its parameters."""

    n_clusters: int
    output: str | None = None

    def _method(self) -> type[methods.Method]:
        raise NotImplementedError

    def _parameters(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def _python_parameters(self) -> dict[str, Any]:
        return {name: as_python(value) for name, value in self._parameters().items()}

    def _check_parameters(self) -> None:
        check_whole("n_clusters", self.n_clusters, 1)
        method, values = self._method(), self._python_parameters()
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
        classes = self.sensitive_classes_
        columns = dict(zip(self.sensitive_names_, [classes] if classes.ndim == 1 else classes.T, strict=True))
        fitted, outputs = methods.fit(method, X, groups, self.n_clusters, random_state, self._python_parameters(), columns)
        clustering = outputs[f"{method.name} ({self.output})"] if self.output else next(iter(outputs.values()))
        self._set_attributes(X, clustering, vars(fitted))
        note = getattr(fitted, "note_", None)
        if note:
            warnings.warn(note, ConvergenceWarning, stacklevel=3)
        self._groups, self._saved = groups, None  # None: a new fit invalidates AssigningMethod's saved clustering
        if self.n_clusters_ < self.n_clusters and not method.is_matcher:  # a matcher's n_clusters counts clusterlets
            warnings.warn(
                f"{type(self).__name__} found {self.n_clusters_} clusters instead of n_clusters={self.n_clusters}: the "
                "instances have too few distinct values, or the method makes fewer clusters.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _check_table(self, method: type[methods.Method], X: np.ndarray, groups: np.ndarray) -> None:
        """Raise InvalidInput if the method cannot handle the table."""
        n_groups = int(groups.max()) + 1
        if self.n_clusters > len(X):
            raise InvalidInput(f"n_clusters={self.n_clusters} is more than n_samples={len(X)}: ask for fewer clusters.")
        if method.most_groups is not None and n_groups > method.most_groups:
            raise InvalidInput(
                f"sensitive_features has {n_groups} groups, but {method.name} handles at most {method.most_groups}: merge "
                "some, or use a method for any number of groups."
            )
        unsupported = method().unsupported(len(X), n_groups)
        if unsupported:
            raise InvalidInput(f"{method.name} cannot cluster this table: {unsupported}.")

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


@with_common_attributes
class MethodClustering(MethodEstimator):
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
        Source of all randomness; an int gives the same result at each fit, None a different one.

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from clusterlets.estimators import MethodClustering
    >>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
    >>> MethodClustering("FRAC-OE", 2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
    [2, 2]
    """

    def __init__(self, method="FRAC", n_clusters=8, *, parameters=None, output=None, random_state=None):
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
        return self.parameters or {}


class NamedMethod(MethodEstimator):
    """Base of the estimators that :func:`estimator_of` makes. Each runs one method and has its parameters."""

    _name: str

    def _method(self):
        return methods.get(self._name)

    def _parameters(self):
        return {name: getattr(self, name) for name in self._method().parameters}


class AssigningMethod(NamedMethod):
    """Base of the estimators whose method can assign new rows so that its guarantee still holds."""

    _saved: SavedClustering | None

    def saved(self) -> SavedClustering:
        """The clustering with everything that :meth:`assign` needs.

        ``saved().save(path)`` writes it as JSON, which :meth:`SavedClustering.load` and ``clusterlets assign`` read.
        """
        if self._saved is None:
            self._saved = SavedClustering.of(self)
        return self._saved

    def assign(self, X, *, sensitive_features, remember=False):
        """Assign new rows to clusters, as cheaply as possible, so that the guarantee holds for old and new rows together.

        Shares are compared with those of the fitted table. Costs are squared distances to ``cluster_centers_``, which do not
        change.

        Parameters
        ----------
        X : array-like or DataFrame (n, d)
        sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
            As in ``fit``, with the same columns; new values are allowed.
        remember : bool, default=False
            Whether these rows count as old rows in later calls.

        Returns
        -------
        int array (n,)
            Cluster of each row.

        Warns
        -----
        UserWarning
            If a group did not occur in the fit. Also if no labels within the limits were found; then the warning says by how
            much the worst share misses its limit.

        Notes
        -----
        O(n k d) time, and O(n k) for each step that solves the dual problem.
        """
        check_same_index(X=X, sensitive_features=sensitive_features)  # before X becomes an array, which has no index
        labels, missed = self.saved().assign(self._check_new_rows(X), sensitive_features, remember)
        if missed:
            warnings.warn(
                f"{type(self).__name__}: no labels within the limits were found; with the returned labels, the "
                f"worst share misses its limit by {missed:.2g}.",
                stacklevel=2,
            )
        return labels


# Double braces: set_parameters fills these in.
_DOCSTRING_TEMPLATE = """{summary}

Parameters
----------
{{parameters}}

Attributes
----------
{{attributes}}{extra_attributes}

Notes
-----
{notes}

Examples
--------
>>> from {module} import {name}
>>> X, sex = [[0.0], [0.1], [5.0], [5.1]], ["f", "m", "f", "m"]
>>> {name}(2, random_state=0).fit(X, sensitive_features=sex).memberships_.sum(axis=0).tolist()
[2, 2]
"""


def estimator_of(method: type[methods.Method], module: str) -> type[NamedMethod]:
    """Make the estimator of a method, with the name of the method's class.

    ``module`` is the module from which users import it. A class ``Estimator`` inside the method's class becomes a base of the
    estimator and adds attributes and functions. Raises TypeError if the estimator already has an attribute with the name of a
    parameter, or if ``fit`` takes ``**parameters``.
    """
    _, _, details = (inspect.getdoc(method) or "").partition("\n\n")
    base = getattr(method, "Estimator", None)
    docstring = _DOCSTRING_TEMPLATE.format(
        summary=method.summary(),
        extra_attributes=f"\n{section(base, 'Attributes')}" if base else "",
        notes=f"{textwrap.fill(method.citation, 110)}.\n{details}".strip(),
        module=module,
        name=method.__name__,
    )
    can_assign = method.assignment_limits is not methods.Method.assignment_limits
    bases = (*((base,) if base else ()), AssigningMethod if can_assign else NamedMethod)
    name_conflicts = [name for name in method.parameters if any(hasattr(parent, name) for parent in bases)]
    if name_conflicts:
        raise TypeError(f"{method.name}: its estimator already has an attribute {name_conflicts[0]!r}; rename the parameter.")
    if method.takes_any_parameter():
        raise TypeError(f"{method.name}: fit must not take **parameters, because the estimator lists every parameter.")
    estimator = type(method.__name__, bases, {"__doc__": docstring, "__module__": module, "_name": method.name})
    parameters: dict[str, Description] = {"n_clusters": (8, "int", "Number of clusters, at most n.")}
    parameters |= {name: describe(parameter) for name, parameter in method.parameters.items()}
    if method.outputs:
        annotation = methods.Choice(method.outputs).annotation
        parameters["output"] = method.outputs[0], annotation, "Which of its clusterings to keep."
    set_parameters(estimator, parameters | {"random_state": RANDOM_STATE})
    return estimator
