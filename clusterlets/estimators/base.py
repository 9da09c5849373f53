"""What all estimators share: checked input, colours, random stream; and what those of registered methods share."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, groupby
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClusterMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from clusterlets import methods
from clusterlets.algorithms.checks import check_groups, check_largest
from clusterlets.algorithms.instance_scores import nearest_own_centre
from clusterlets.algorithms.kmeans import nearest_centres
from clusterlets.errors import ClusterletsError


class InvalidInput(ClusterletsError, ValueError):
    """Input that a person can mend; also the ``ValueError`` that users of scikit-learn expect."""


@contextmanager
def as_invalid_input(where: str = "") -> Iterator[None]:
    """Errors of the algorithms, which know nothing of scikit-learn's ways, as those that its users expect."""
    try:
        yield
    except ClusterletsError as error:
        raise InvalidInput(f"{where} {error}".lstrip()) from None


class NumberIn(Interval):
    """scikit-learn's interval, but for True and False, which Python takes for 1 and 0."""

    def is_satisfied_by(self, val):
        return not isinstance(val, bool) and super().is_satisfied_by(val)


class FairClusterer(ClusterMixin, BaseEstimator):
    """Checked input, colours and random stream for the estimators, which add ``_cluster``."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, *, sensitive_features=None):
        """Cluster the instances.

        Parameters
        ----------
        X : array-like or DataFrame (n, d)
            Instances: finite numbers, at least two rows. Distances are Euclidean, so scale the features first where
            their units differ.
        y : ignored
            For scikit-learn's conventions. The colours are never taken from ``y``; without ``sensitive_features``, what was
            given as ``y`` is refused.
        sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
            Must be given. Strings, integers, booleans or categories. The colours are the values, in sorted order (categories
            in their own; values of types that have no common order, type by type); with several columns the combinations
            that occur. Sparse ones are taken too.

        Returns
        -------
        self

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            Where there are fewer clusters than ``n_clusters``.

        Raises
        ------
        InvalidInput
            For sensitive features that are absent, incomplete, continuous, of another length, or of one colour; for more
            clusters than instances, a ``tau`` that no clustering can have, and what else the method cannot handle.
        sklearn.utils._param_validation.InvalidParameterError
            For a parameter out of range (a ``ValueError``).
        """
        if sensitive_features is None and y is not None:
            raise InvalidInput(
                "sensitive_features is missing, and y, the second argument of fit, is ignored: give the group of each instance "
                "by name, fit(X, sensitive_features=groups)."
            )
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        colours, self.sensitive_classes_ = encode(sensitive_features, len(X))
        with as_invalid_input():
            self._cluster(X, colours, generator(self.random_state))
        return self

    def _warn_of_fewer(self) -> None:
        """Say that there are fewer clusters than were asked for."""
        if self.n_clusters_ < self.n_clusters:
            warnings.warn(
                f"{type(self).__name__} found {self.n_clusters_} clusters in place of n_clusters={self.n_clusters}: the "
                "instances have too few distinct values, or the method makes no more of them.",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _validated(self, X) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        with as_invalid_input():
            check_largest(X)
        return X


class OfMethod(FairClusterer):
    """Base of the estimators that run a method of :mod:`clusterlets.methods`; they add ``_cluster``."""

    _parameter_constraints: dict[str, list[Any]] = {
        "n_clusters": [NumberIn(Integral, 1, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    def _fit_method(
        self, chosen: type[methods.Method], given: Mapping[str, Any], output: str | None, X, colours, random_state
    ) -> None:
        """Fit a method with the parameters given, and set the attributes by one of its outputs (None: the first)."""
        self._check(chosen, given, X, colours)
        found = methods.clusterings(chosen, chosen().fit(X, colours, self.n_clusters, random_state, **given), len(X))
        name = f"{chosen.name} ({output})" if output else next(iter(found))
        if name not in found:
            known = f"its outputs are {', '.join(chosen.outputs)}" if chosen.outputs else "it has one"
            raise InvalidInput(f"{chosen.name} has no output {output!r}; {known}.")
        self._set(X, found[name])
        if not issubclass(chosen, methods.Matcher):  # these are asked for clusterlets
            self._warn_of_fewer()

    def _check(self, chosen: type[methods.Method], given: Mapping[str, Any], X, colours) -> None:
        """Refuse what the method cannot do."""
        if self.n_clusters > len(X):
            raise InvalidInput(f"n_clusters={self.n_clusters} is more than n_samples={len(X)}: ask for fewer clusters.")
        _check_colours(chosen, int(colours.max()) + 1)
        unsupported = chosen().unsupported(len(X), int(colours.max()) + 1)
        faults = [unsupported] if unsupported else chosen().faults(self.n_clusters, **given)
        if faults:
            raise InvalidInput(f"{chosen.name} cannot do this: {'; '.join(faults)}.")

    def _set(self, X: np.ndarray, found: np.ndarray) -> None:
        """The attributes, of labels (n,) or memberships (n, C)."""
        crisp = found.ndim == 1
        self.memberships_ = memberships_of_labels(found) if crisp else csr_array(found)
        self.n_clusters_ = self.memberships_.shape[1]
        by_cluster = self.memberships_.tocsc()
        rows = np.split(by_cluster.indices, by_cluster.indptr[1:-1])
        self.cluster_centers_ = np.stack([X[of_cluster].mean(axis=0) for of_cluster in rows])
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

    def _cluster(self, X, colours, random_state):
        chosen = methods.get(self._method)
        self._fit_method(chosen, self._given(chosen), None, X, colours, random_state)

    def _given(self, chosen: type[methods.Method]) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in methods.parameters_of(chosen) or []}
        # A search over parameters draws numpy's numbers, which are no int.
        return {name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()}


def _check_colours(chosen: type[methods.Method], n_colours: int) -> None:
    if chosen.most_colours is not None and n_colours > chosen.most_colours:
        raise InvalidInput(
            f"sensitive_features has {n_colours} groups, and {chosen.name} handles {chosen.most_colours}: join some of them, "
            "or take a method for any number of groups."
        )


def nearest_of_own(X: np.ndarray, memberships: csr_array, centres: np.ndarray) -> np.ndarray:
    """Of the clusters that hold an instance, the one whose centre is nearest (the first of equals), (n,)."""
    by_cluster = memberships.tocsc()
    return nearest_own_centre(X, np.split(by_cluster.indices, by_cluster.indptr[1:-1]), centres)


def memberships_of_labels(labels: np.ndarray) -> csr_array:
    n = len(labels)
    return csr_array((np.ones(n, dtype=bool), labels, np.arange(n + 1)), shape=(n, int(labels.max()) + 1))


def generator(random_state) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):  # numpy itself takes one from 2.2 on only
        random_state = int(random_state.randint(2**32, dtype=np.uint64))
    try:
        if isinstance(random_state, bool):
            raise TypeError
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InvalidInput(f"random_state={random_state!r} is neither a number of 0 or more nor a generator.") from None


def as_array(values, what: str) -> np.ndarray:
    if np.ma.is_masked(values):
        raise InvalidInput(f"{what} has masked values: drop these rows first.")
    try:
        return np.asarray(values)
    except ValueError:
        raise InvalidInput(f"{what} has rows of different lengths.") from None


def encode(sensitive_features, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Colour codes (n,), and the value (K,) or values (K, S) of each colour."""
    if sensitive_features is None:
        raise InvalidInput(
            "sensitive_features is missing: give the group of each instance by name, sensitive_features=groups, a value a row."
        )
    columns = _as_columns(sensitive_features)
    if len(columns) != n:
        raise InvalidInput(f"sensitive_features has {len(columns)} rows, and there are {n} instances.")
    if not columns.shape[1]:
        raise InvalidInput("sensitive_features has no column.")
    encoded = [_encode_column(name, column) for name, column in columns.items()]
    combinations, colours = np.unique(np.column_stack([codes for codes, _ in encoded]), axis=0, return_inverse=True)
    if len(combinations) < 2:
        raise InvalidInput("sensitive_features has one colour only; it takes two groups to have something to balance.")
    values = [np.asarray(values)[codes] for (_, values), codes in zip(encoded, combinations.T, strict=True)]
    classes = values[0] if len(values) == 1 else np.column_stack([value.astype(object) for value in values])
    return colours.reshape(-1).astype(np.int64), classes


def _as_columns(sensitive_features) -> pd.DataFrame:
    if issparse(sensitive_features):
        sensitive_features = sensitive_features.toarray()
    if not isinstance(sensitive_features, pd.DataFrame | pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        dimensions = as_array(sensitive_features, "sensitive_features").ndim
        if dimensions == 0:
            raise InvalidInput(
                f"sensitive_features is {repr(sensitive_features)[:60]}, a single value: give the column itself, one value a "
                "row."
            )
        if dimensions > 2:
            raise InvalidInput(f"sensitive_features has {dimensions} dimensions: give one column (n,), or several (n, S).")
    return pd.DataFrame(sensitive_features)


def _encode_column(name, column: pd.Series) -> tuple[np.ndarray, Iterable]:
    """Codes (n,) and sorted values of one sensitive column."""
    missing = np.flatnonzero(column.isna())
    where = f"sensitive_features, column {name}:"
    if len(missing):
        raise InvalidInput(
            f"{where} row {missing[0]} (counting from 0) has no value; such rows: {len(missing)}. Drop them, or give "
            "them a value of their own, such as 'unknown'."
        )
    if pd.api.types.is_float_dtype(column):
        with as_invalid_input(where):
            check_groups(column.to_numpy(dtype=np.float64))
    if column.dtype != object:
        return pd.factorize(column, sort=True)
    try:
        values = _in_order(set(column))  # not by pandas, which takes "a" and "a\0" for the same text
    except TypeError:
        raise InvalidInput(f"{where} it holds values such as {column.iloc[0]!r}, which cannot be told apart.") from None
    code = {value: at for at, value in enumerate(values)}
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return np.fromiter(map(code.__getitem__, column), dtype=np.int64, count=len(column)), found


def _in_order(values: Iterable) -> list:
    """Values sorted; those without a common order type by type, and by what they are called where a type has none."""
    try:
        return sorted(values)
    except TypeError:
        groups = [list(group) for _, group in groupby(sorted(values, key=_kind), key=_kind)]
    if len(groups) == 1:
        return sorted(groups[0], key=repr)
    return list(chain.from_iterable(map(_in_order, groups)))


def _kind(value: object) -> str:
    return "" if isinstance(value, Real) else f"{type(value).__module__}.{type(value).__qualname__}"
