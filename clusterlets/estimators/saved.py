"""Fitted clusterings to which new rows can be assigned. They are saved as JSON, so loading a file runs no code."""

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from clusterlets import methods
from clusterlets.algorithms.checks import check_groups, check_largest, check_same_index
from clusterlets.algorithms.geometry import squared_distances_to_centres
from clusterlets.algorithms.limit_assignment import NewLabels, assign_new
from clusterlets.estimators.groups import encode, values_of
from clusterlets.estimators.inputs import InvalidInput, as_invalid_input, check_numbers
from clusterlets.storage import write_json
from clusterlets.text import counted, first_of, names_of_groups

_FORMAT, _FORMER_FORMAT = "clusterlets clustering 2", "clusterlets clustering 1"


@dataclass(frozen=True)
class Miss:
    """The largest miss of a limit by old and new rows together. ``str`` gives a sentence about all of it.

    Attributes
    ----------
    amount : float
        By how much a share misses its limit.
    cluster : int
    group : str
        The group, or the value in a sensitive column, whose share this is.
    is_too_many : bool
        Whether the share is above its limit, and not below.
    is_proved : bool
        Whether no labels of the new rows keep all limits. False if none were found.
    n_missing : int
        How many rows of ``missing_group`` would mend the limit, if they joined the clusters that miss it; 0 if unknown.
    missing_group : str
    """

    amount: float
    cluster: int
    group: str
    is_too_many: bool
    is_proved: bool
    n_missing: int
    missing_group: str

    @classmethod
    def of(cls, new: NewLabels, rows: np.ndarray, groups: Sequence[tuple]) -> "Miss | None":
        """The largest miss of new labels, or None if all limits are kept. ``rows`` (R, K) are the limits."""
        if (new.excess <= 0).all():
            return None
        limit, cluster = np.unravel_index(new.misses.argmax(), new.misses.shape)
        group, is_too_many = limited_group(rows[limit], groups)
        n_missing = 0
        if (rows[limit] > 0).any() and (rows[limit] < 0).any():
            n_missing = int((-(np.maximum(0, new.excess[limit]) // rows[limit].min())).sum())
        missing_group = _common_name(rows[limit] < 0, groups) or f"other groups than {group}"
        return cls(float(new.misses.max()), int(cluster), group, is_too_many, new.is_proved, n_missing, missing_group)

    def __str__(self) -> str:
        side = "above" if self.is_too_many else "below"
        proof = (
            "no labels of these rows keep the limits (proved)" if self.is_proved else "no labels within the limits were found"
        )
        sentence = f"{proof}; the largest miss is in cluster {self.cluster}: the share of {self.group} is "
        sentence += f"{self.amount:.2g} {side} its limit"
        if self.n_missing:
            sentence += f"; {counted(self.n_missing, 'more row')} of {self.missing_group} would mend it with these labels"
        return sentence


def limited_group(row: np.ndarray, groups: Sequence[tuple]) -> tuple[str, bool]:
    """The name of the group, or value in a column, that a limit (K,) bounds, and whether it bounds its share from above."""
    above, below = (_common_name(row * sign > 0, groups) for sign in (1, -1))
    return (str(below), False) if above is None else (above, True)


def _common_name(is_included: np.ndarray, groups: Sequence[tuple]) -> str | None:
    """The name of the single group that is included, or the value that just these groups have in a column; else None."""
    columns = [names_of_groups(groups), *zip(*groups, strict=True)]
    for column in columns:
        values = {value for value, included in zip(column, is_included, strict=True) if included}
        if len(values) == 1 and [value in values for value in column] == is_included.tolist():
            return str(values.pop())
    return None


@dataclass
class SavedClustering:
    """A fitted clustering that can assign new rows so that the method's guarantee holds for old and new rows together.

    Limits on shares are always around the shares of the fitted table, however many rows are added.

    Attributes
    ----------
    method : str
        A name of :func:`clusterlets.methods.names`.
    parameters : mapping
        Parameters of the fit, including the limits.
    centres : float array (k, d)
        Centres of the clusters, in scaled features.
    sensitive_names : list of S
        Names of the sensitive columns, or their positions if they have no names.
    groups : list of K tuples
        Each group's values in the sensitive columns.
    counts : int array (K, k)
        Rows of each group in each cluster, with the rows that were remembered.
    fitted_counts : int array (K,)
        Rows of each group in the fitted table; 0 for a group that came later.
    feature_names : list of d str, or None
        Names of the features; None if they have no names.
    mean, scale : float arrays (d,), or None
        Each feature x is scaled to ``(x - mean) / scale``, or to 0 if its scale is 0. None if features are not scaled.
    """

    method: str
    parameters: Mapping[str, Any]
    centres: np.ndarray
    sensitive_names: list
    groups: list[tuple]
    counts: np.ndarray
    fitted_counts: np.ndarray
    feature_names: list[str] | None = None
    mean: np.ndarray | None = None
    scale: np.ndarray | None = None

    @classmethod
    def of(cls, estimator, *, feature_names: Sequence[str] | None = None, mean=None, scale=None) -> "SavedClustering":
        """Take the clustering from a fitted estimator. The other arguments become the attributes of the same names.

        Raises InvalidInput if the method guarantees nothing for new rows.
        """
        method = estimator._method()
        all_methods = map(methods.get, methods.names())
        savable = [other for other in all_methods if other.assignment_limits is not methods.Method.assignment_limits]
        if method not in savable:
            raise InvalidInput(
                f"A clustering of {method.name} cannot be saved, because this method guarantees nothing for new rows; "
                f"use {', '.join(other.name for other in savable)}."
            )
        groups = values_of(estimator.sensitive_classes_)
        counts = np.zeros((len(groups), len(estimator.cluster_centers_)), dtype=np.int64)
        np.add.at(counts, (estimator._groups, estimator.labels_), 1)
        names = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
        return cls(
            method.name,
            estimator._parameters(),
            estimator.cluster_centers_,
            list(estimator.sensitive_names_),
            groups,
            counts,
            counts.sum(axis=1),
            None if names is None else list(names),
            mean,
            scale,
        )

    def assign(self, X, sensitive_features, remember: bool = False) -> tuple[np.ndarray, Miss | None]:
        """Assign new rows as :meth:`clusterlets.FairLimit.assign` does. X is in the units of the fitted table.

        Returns
        -------
        labels : int array (n,)
        miss : Miss or None
            The largest miss of a limit; None if old and new rows together keep all limits.
        """
        check_same_index(X=X, sensitive_features=sensitive_features)
        X = self._scale_features(X)
        codes, groups = self._encode_groups(sensitive_features, len(X))
        n_unknown = len(groups) - len(self.groups)
        counts, fitted_counts = np.pad(self.counts, ((0, n_unknown), (0, 0))), np.pad(self.fitted_counts, (0, n_unknown))
        method = methods.get(self.method)()
        method.sensitive_columns = dict(zip(self.sensitive_names, zip(*groups, strict=True), strict=True))
        totals = np.bincount(codes, minlength=len(groups))
        limits = method.assignment_limits(counts, totals, fitted_counts, **self.parameters)
        assert limits is not None  # `of` refuses methods without limits
        costs = squared_distances_to_centres(X, self.centres, len(self.centres))
        new = assign_new(costs, codes, counts.sum(axis=0), *limits)
        if remember:
            np.add.at(counts, (codes, new.labels), 1)
            self.groups, self.counts, self.fitted_counts = groups, counts, fitted_counts
        return new.labels, Miss.of(new, limits[0], groups)

    def _encode_groups(self, sensitive_features, n: int) -> tuple[np.ndarray, list[tuple]]:
        """The group codes (n,) of new rows, and all groups: those of the fit, and after them unknown ones."""
        codes, classes = encode(sensitive_features, n, names=self.sensitive_names)
        groups_of_new_rows = [self._match_values_of_fit(values) for values in values_of(classes)]
        unknown_groups = list(dict.fromkeys(values for values in groups_of_new_rows if values not in self.groups))
        if unknown_groups:
            self._check_order_of_columns(unknown_groups)
            with as_invalid_input("sensitive_features, groups that did not occur in the fit:"):
                check_groups(unknown_groups, n)
            names = ", ".join(first_of(names_of_groups(unknown_groups), 5))
            warnings.warn(
                f"groups that did not occur in the fit: {names}; check the spelling, and the order of the columns", stacklevel=3
            )
        groups = [*self.groups, *unknown_groups]
        return np.array([groups.index(values) for values in groups_of_new_rows])[codes], groups

    def _check_order_of_columns(self, unknown_groups: list[tuple]) -> None:
        """Raise InvalidInput if a column of unknown groups holds only values of another column of the fit."""
        fitted_values = [set(column) for column in zip(*self.groups, strict=True)]
        for index, values in enumerate(map(set, zip(*unknown_groups, strict=True))):
            for other, name in enumerate(self.sensitive_names):
                if other != index and values <= fitted_values[other] and not values & fitted_values[index]:
                    raise InvalidInput(
                        f"sensitive_features, column {index}: it holds values of {name}; give the columns in the order of the "
                        f"fit, {', '.join(map(str, self.sensitive_names))}."
                    )

    def _match_values_of_fit(self, values: tuple) -> tuple:
        """Replace each value by the fit's value that has the same text: a file may give numbers and booleans as text."""
        values_by_text = [{str(value): value for value in column} for column in zip(*self.groups, strict=True)]
        pairs = zip(values, values_by_text, strict=True)
        return tuple(value if value in by_text.values() else by_text.get(str(value), value) for value, by_text in pairs)

    def _scale_features(self, X) -> np.ndarray:
        columns = getattr(X, "column_names", getattr(X, "columns", None))  # of an Arrow table, or of a data frame
        if self.feature_names is not None and columns is not None:
            missing = [name for name in self.feature_names if name not in columns]
            if missing:
                raise InvalidInput(f"X has no column {missing[0]!r}; the clustering has {', '.join(self.feature_names)}.")
            X = X.select(self.feature_names) if hasattr(X, "select") else X[self.feature_names]
        check_numbers(X)
        X = np.ascontiguousarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != self.centres.shape[1]:
            raise InvalidInput(f"X must have {self.centres.shape[1]} columns, as in fit.")
        if not np.isfinite(X).all():
            raise InvalidInput("X must hold finite numbers.")
        with as_invalid_input():
            check_largest(X, self.feature_names)
        if self.mean is None or self.scale is None:
            return X
        return np.divide(X - self.mean, self.scale, out=np.zeros_like(X), where=self.scale > 0)

    def save(self, path: str) -> None:
        """Write the clustering to a JSON file. Raises InvalidInput if JSON cannot hold a value of a group or a parameter."""
        content = {"format": _FORMAT, **{name: _to_json_types(value) for name, value in vars(self).items()}}
        write_json(path, {**content, "sha256": _digest(content)})

    @classmethod
    def load(cls, path: str) -> "SavedClustering":
        """Read a file that :meth:`save` wrote. Raises InvalidInput for any other file, OSError for an unreadable one."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            digest = content.pop("sha256", None) if isinstance(content, dict) else None
            if isinstance(content, dict) and content.get("format") == _FORMER_FORMAT:
                raise ValueError("an earlier version saved it, without the shares of the fitted table: cluster the table again")
            if digest is None or content.get("format") != _FORMAT:
                raise ValueError("it has a different format")
            if digest != _digest(content):
                raise ValueError("it was changed after it was saved")
            del content["format"]
            saved = cls(**content)
            saved.groups = [tuple(values) for values in saved.groups]
            saved.centres, saved.counts = np.array(saved.centres, dtype=np.float64), np.array(saved.counts, dtype=np.int64)
            saved.fitted_counts = np.array(saved.fitted_counts, dtype=np.int64)
            for name in ("mean", "scale"):
                value = getattr(saved, name)
                setattr(saved, name, None if value is None else np.array(value, dtype=np.float64))
        except (TypeError, ValueError, KeyError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InvalidInput(f"{path} is not an intact clustering from `clusterlets cluster --save` ({reason}).") from None
        return saved


def _digest(content: Mapping) -> str:
    """SHA-256 of the content, after a round trip through JSON so that saved and loaded content agree."""
    as_loaded = json.loads(json.dumps(content))
    return hashlib.sha256(json.dumps(as_loaded, sort_keys=True).encode()).hexdigest()


def _to_json_types(value: Any) -> Any:
    """Convert a value to types of JSON. A fraction becomes text such as 1/50, which parameters accept."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): _to_json_types(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json_types(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise InvalidInput(f"{value!r} cannot be saved: groups and parameters must be text, numbers or booleans.")
