"""Any registered method as an estimator, and what the estimators of registered methods share."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from clusterlets import methods
from clusterlets.algorithms.kmeans import nearest_centres
from clusterlets.estimators.base import FairClusterer
from clusterlets.estimators.inputs import InvalidInput, NumberIn
from clusterlets.estimators.memberships import centres_of, memberships_of_labels, nearest_of_own


class OfMethod(FairClusterer):
    """Base of the estimators that run a method of :mod:`clusterlets.methods`; they add ``_cluster``."""

    _parameter_constraints: dict[str, list[Any]] = {
        "n_clusters": [NumberIn(Integral, 1, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    def _fit_method(
        self, chosen: type[methods.Method], given: Mapping[str, Any], output: str | None, X, groups, random_state
    ) -> None:
        """Fit a method with the parameters given, and set the attributes by one of its outputs (None: the first)."""
        self._check(chosen, given, X, groups)
        found = methods.clusterings(chosen, chosen().fit(X, groups, self.n_clusters, random_state, **given), len(X))
        name = f"{chosen.name} ({output})" if output else next(iter(found))
        if name not in found:
            known = f"its outputs are {', '.join(chosen.outputs)}" if chosen.outputs else "it has one"
            raise InvalidInput(f"{chosen.name} has no output {output!r}; {known}.")
        self._set(X, found[name])
        if not issubclass(chosen, methods.Matcher):  # these are asked for clusterlets
            self._warn_of_fewer()

    def _check(self, chosen: type[methods.Method], given: Mapping[str, Any], X, groups) -> None:
        """Refuse what the method cannot do."""
        if self.n_clusters > len(X):
            raise InvalidInput(f"n_clusters={self.n_clusters} is more than n_samples={len(X)}: ask for fewer clusters.")
        _check_groups(chosen, int(groups.max()) + 1)
        unsupported = chosen().unsupported(len(X), int(groups.max()) + 1)
        faults = [unsupported] if unsupported else chosen().faults(self.n_clusters, **given)
        if faults:
            raise InvalidInput(f"{chosen.name} cannot do this: {'; '.join(faults)}.")

    def _set(self, X: np.ndarray, found: np.ndarray) -> None:
        """The attributes, of labels (n,) or memberships (n, C)."""
        crisp = found.ndim == 1
        self.memberships_ = memberships_of_labels(found) if crisp else csr_array(found)
        self.n_clusters_ = self.memberships_.shape[1]
        self.cluster_centers_ = centres_of(X, self.memberships_)
        self.labels_ = found if crisp else nearest_of_own(X, self.memberships_, self.cluster_centers_)

    def predict(self, X):
        """Cluster of each instance, by the nearest of ``cluster_centers_``; this does not keep the clustering fair.

        Parameters
        ----------
        X : array-like or DataFrame (n, d)

        Returns
        -------
        int array (n,)
        """
        return nearest_centres(self._validated(X), self.cluster_centers_)


class Rival(OfMethod):
    """Base of the estimators that stand for one method: their parameters are those of the method's ``fit``.

    A subclass names the method and writes ``__init__``, whose defaults are those of ``fit``. The method itself checks the
    values, so that the commands and the estimators refuse the same ones in the same words.
    """

    _method: str

    def _cluster(self, X, groups, random_state):
        chosen = methods.get(self._method)
        self._fit_method(chosen, self._given(chosen), None, X, groups, random_state)

    def _given(self, chosen: type[methods.Method]) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in methods.parameters_of(chosen) or []}
        # A search over parameters draws numpy's numbers, which are no int.
        return {name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()}


def _check_groups(chosen: type[methods.Method], n_groups: int) -> None:
    if chosen.most_groups is not None and n_groups > chosen.most_groups:
        raise InvalidInput(
            f"sensitive_features has {n_groups} groups, and {chosen.name} handles {chosen.most_groups}: join some of them, "
            "or take a method for any number of groups."
        )


class MethodClustering(OfMethod):
    """Any method of :mod:`clusterlets.methods`, or of a file of your own.

    Parameters
    ----------
    method : str, default="FRAC"
        A name of :func:`clusterlets.methods.names`, or the path of a Python file with a method in it.
    n_clusters : int, default=8
        What the method takes as k: clusters, or clusterlets of each group.
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
        Value, or combination of values, of each group in the order of the group codes.
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

    def _cluster(self, X, groups, random_state):
        chosen = methods.from_file(self.method) if self.method.endswith(".py") else methods.get(self.method)
        given = self.parameters or {}
        methods.check_parameters(chosen, given, self.method)
        self._fit_method(chosen, given, self.output, X, groups, random_state)
