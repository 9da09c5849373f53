"""Fitted clusterings to which new rows can be assigned."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clusterlets.algorithms.checks import check_groups, check_largest, check_same_index, look_alikes, notation
from clusterlets.algorithms.geometry import squared_distances_to_centres
from clusterlets.algorithms.limit_assignment import NewLabels, assign_new
from clusterlets.algorithms.limits import products, violation_units
from clusterlets.errors import LimitsMissed, LookAlikeGroups, did_you_mean, tell_apart
from clusterlets.estimators import saved_file
from clusterlets.estimators.groups import encode, has_columns, values_of
from clusterlets.estimators.inputs import (
    InvalidInput,
    as_array,
    as_invalid_input,
    check_columns,
    check_numbers,
    frame_columns,
    is_missing,
)
from clusterlets.text import counted, first_of, names_of_groups

#: Whose shares the limits of new rows are about: those of the fitted table, or of old and new rows together.
REFERENCES = ("fit", "union")
_FAR = 10  # standard deviations from the fitted table: no feature of rows in the same units lies there in most of them


@dataclass(frozen=True)
class Miss:
    """The largest miss of a limit by old and new rows together. ``str`` gives a sentence about all of it.

    Attributes
    ----------
    amount : float
        By how much a share misses its limit.
    cluster : int or str
        By its name, if the clusters have names.
    group : str
        The group whose share this is: ``sex = f``, or the value alone if the sensitive column has no name.
    is_too_many : bool
        Whether the share is above its limit, and not below.
    is_proved : bool
        Whether no labels of the new rows keep all limits. False if none were found.
    n_missing : int
        How many rows of ``missing_group`` would mend the limit, if they joined the clusters that miss it; 0 if unknown.
    missing_group : str
    drift : str
        Which share of old and new rows together is outside the limits, so that no labels can keep them; or "".
    broken : list of (cluster, group, number of rows, whether these are too many)
        All limits that are missed, as :func:`limits_above` lists them.
    """

    amount: float
    cluster: int | str
    group: str
    is_too_many: bool
    is_proved: bool
    n_missing: int
    missing_group: str
    drift: str = ""
    broken: Sequence[tuple[int | str, str, int, bool]] = ()

    @classmethod
    def of(
        cls, new: NewLabels, rows: np.ndarray, groups: Sequence[tuple], names: Sequence, drift: str, clusters: Sequence
    ) -> "Miss | None":
        """The largest miss of new labels, or None if all limits are kept. ``rows`` (R, K) are the limits.

        ``names`` (S,) are the sensitive columns, and ``clusters`` (k,) the names of the clusters. ``drift`` is the attribute.
        """
        if (new.excess <= 0).all():
            return None
        limit, cluster = map(int, np.unravel_index(new.misses.argmax(), new.misses.shape))
        group, is_too_many = limited_group(rows[limit], groups, names)
        n_missing = 0
        if (rows[limit] > 0).any() and (rows[limit] < 0).any():
            n_missing = int((-(np.maximum(0, new.excess[limit]) // rows[limit].min())).sum())
        missing_group = _common_name(rows[limit] < 0, groups, names) or f"other groups than {group}"
        broken = [(clusters[index], *rest) for index, *rest in limits_above(new.excess, rows, groups, names)]
        amount, is_proved = float(new.misses.max()), new.is_proved
        return cls(amount, clusters[cluster], group, is_too_many, is_proved, n_missing, missing_group, drift, broken)

    def __str__(self) -> str:
        side = "above" if self.is_too_many else "below"
        proof = (
            "no labels of these rows keep the limits (proved)" if self.is_proved else "no labels within the limits were found"
        )
        sentence = f"{proof}; the largest miss is in cluster {self.cluster}: the share of {self.group} is "
        sentence += f"{self.amount:.2g} {side} its limit"
        if self.drift:
            return f"{self.drift}. A new fit is due. By the old shares, {sentence}"
        if self.n_missing:
            sentence += f"; {counted(self.n_missing, 'more row')} of {self.missing_group} would mend it with these labels"
        return sentence


def limits_above(excess: np.ndarray, rows: np.ndarray, groups: Sequence[tuple], names: Sequence) -> list[tuple]:
    """The limits that clusters exceed, by ``excess`` (R, k): cluster, group, number of rows, and whether these are too many.

    So many rows of the group would have to be exchanged for others, at least. ``rows`` (R, K) are the limits. The other
    arguments are those of :func:`limited_group`.
    """
    units = violation_units(rows)
    return [
        (int(cluster), name, int(-(-excess[limit, cluster] // units[limit])), is_too_many)
        for cluster, limit in zip(*np.nonzero(excess.T > 0), strict=True)
        for name, is_too_many in [limited_group(rows[limit], groups, names)]
    ]


def limited_group(row: np.ndarray, groups: Sequence[tuple], names: Sequence) -> tuple[str, bool]:
    """The name of the group that a limit (K,) bounds, and whether it bounds its share from above.

    ``groups`` are K tuples of values in the sensitive columns ``names``. The group is a value of one column, such as
    ``sex = f``, or a combination of values.
    """
    above, below = (_common_name(row * sign > 0, groups, names) for sign in (1, -1))
    return (str(below), False) if above is None else (above, True)


def _common_name(is_included: np.ndarray, groups: Sequence[tuple], names: Sequence) -> str | None:
    """The name of the value that just the included groups have in a column, or of the single included group; else None."""
    for name, column in zip(names, zip(*groups, strict=True), strict=True):
        values = {value for value, included in zip(column, is_included, strict=True) if included}
        if len(values) == 1 and [value in values for value in column] == is_included.tolist():
            where = f"{name} = " if isinstance(name, str) else f"column {name} = " if len(names) > 1 else ""
            return f"{where}{values.pop()}"
    included = np.flatnonzero(is_included)
    return names_of_groups(groups)[included[0]] if len(included) == 1 else None


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
    fill : float array, or None
        For each feature that encodes no text, what stands for a missing value. None if a missing value is an error.
    text_columns : mapping of str to list
        Columns of text, whose values in the list have a feature ``column = value`` each; None is any other value. These are
        the last features.
    cluster_names : list of k str, or None
        Names of the clusters, as of those that were repaired; None if they are numbered from 0.
    n_batches : int
        How often rows were remembered.
    drifted_since : int or None
        The first of these batches, from 1, with which the share of a group in old and new rows together is outside the limits.
    miss : Miss or None
        The largest miss of a limit in the last call of :meth:`assign`; None if old and new rows together keep all limits.
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
    fill: np.ndarray | None = None
    text_columns: Mapping[str, list] = field(default_factory=dict)
    cluster_names: list[str] | None = None
    n_batches: int = 0
    drifted_since: int | None = None
    miss: Miss | None = field(default=None, init=False)

    @classmethod
    def of(cls, estimator, *, feature_names: Sequence[str] | None = None, **preparation) -> "SavedClustering":
        """Take the clustering from a fitted estimator.

        The other arguments become the attributes of the same names: ``mean``, ``scale``, ``fill`` and ``text_columns`` say how
        the features were prepared.

        Raises InvalidInput if the method guarantees nothing for new rows.
        """
        method = estimator._method()
        savable = saved_file.savable_methods()
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
            None if names is None else list(map(str, names)),
            **preparation,
        )

    def assign(self, X, sensitive_features, remember: bool = False, reference: str = "fit") -> np.ndarray:
        """Assign new rows as :meth:`clusterlets.FairLimit.assign` does. X is in the units of the fitted table.

        The limits are about the shares of the fitted table, or those of old and new rows together if ``reference`` is "union".
        Returns the cluster (n,) of each row, by its name if the clusters have names. If a limit is missed, it warns, and
        ``miss`` says where and by how much.
        """
        if reference not in REFERENCES:
            raise InvalidInput(f"reference={reference!r} must be {' or '.join(REFERENCES)}.")
        check_same_index(X=X, sensitive_features=sensitive_features)
        X = self._features(X)
        self._warn_of_other_units(X)
        codes, groups = self._encode_groups(sensitive_features, len(X))
        n_unknown = len(groups) - len(self.groups)
        counts, fitted_counts = np.pad(self.counts, ((0, n_unknown), (0, 0))), np.pad(self.fitted_counts, (0, n_unknown))
        method = next(method for method in saved_file.savable_methods() if method.name == self.method)
        totals = np.bincount(codes, minlength=len(groups))
        reference_counts = fitted_counts if reference == "fit" else counts.sum(axis=1) + totals
        parts = {**vars(self), "groups": groups, "counts": counts, "fitted_counts": reference_counts}
        limits = saved_file.limits_of_new_rows(method, parts, totals)
        costs = squared_distances_to_centres(X, self.centres, len(self.centres))
        new = assign_new(costs, codes, counts.sum(axis=0), *limits)
        # If all clusters kept a limit, so would their union.
        drifted = np.flatnonzero(products(limits[0], totals) > limits[1].sum(axis=1))
        since = None if not len(drifted) else self.drifted_since or self.n_batches + 1
        drift = since and self._describe_drift(limits[0][drifted[0]], groups, counts.sum(axis=1) + totals, fitted_counts, since)
        if remember:
            self.n_batches, self.drifted_since = self.n_batches + 1, since
            np.add.at(counts, (codes, new.labels), 1)
            self.groups, self.counts, self.fitted_counts = groups, counts, fitted_counts
        self.miss = Miss.of(new, limits[0], groups, self.sensitive_names, drift or "", self.clusters)
        if self.miss:
            warnings.warn(f"{self.miss}.", LimitsMissed, stacklevel=2)
        return np.array(self.clusters)[new.labels]

    @property
    def clusters(self) -> Sequence[int | str]:
        """The name of each cluster, (k,), or its number."""
        return self.cluster_names or range(len(self.centres))

    def _warn_of_other_units(self, X: np.ndarray) -> None:
        """Warn if most new rows (n, d) are far from the fitted table in a feature, as where their units differ.

        Not all are, because gaps are filled.
        """
        if self.mean is not None and len(X):
            far = np.flatnonzero(np.median(np.abs(X), axis=0) > _FAR)
            names = [str(column) if self.feature_names is None else self.feature_names[column] for column in far]
            if names:
                warnings.warn(
                    f"most new rows lie more than {_FAR} standard deviations from the fitted table in "
                    f"{', '.join(first_of(names, 5))}; check the units",
                    stacklevel=3,
                )

    def _describe_drift(self, limit: np.ndarray, groups: list[tuple], union: np.ndarray, fitted: np.ndarray, since: int) -> str:
        """How the share that a limit (K,) bounds has changed, by counts (K,) of old and new rows, and of fitted ones."""
        name, is_too_many = limited_group(limit, groups, self.sensitive_names)
        members = limit > 0 if is_too_many else limit < 0
        now, before = (counts[members].sum() / counts.sum() for counts in (union, fitted))
        return (
            f"the population has changed since batch {since}: {name} makes up {now:.1%} of old and new rows, and "
            f"{before:.1%} of the fitted table, so no clusters can keep the limits"
        )

    def _encode_groups(self, sensitive_features, n: int) -> tuple[np.ndarray, list[tuple]]:
        """The group codes (n,) of new rows, and all groups: those of the fit, and after them unknown ones."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LookAlikeGroups)  # look-alikes of the fit's values are matched, others refused
            codes, classes = encode(sensitive_features, n, names=self.sensitive_names)
        columns = [
            self._match_values_of_fit(name, values, fitted)
            for name, values, fitted in zip(
                self.sensitive_names, zip(*values_of(classes), strict=True), zip(*self.groups, strict=True), strict=True
            )
        ]
        groups_of_new_rows = list(zip(*columns, strict=True))
        unknown_groups = list(dict.fromkeys(values for values in groups_of_new_rows if values not in self.groups))
        if unknown_groups:
            if not has_columns(sensitive_features, self.sensitive_names):
                self._check_order_of_columns(unknown_groups)
            with as_invalid_input("sensitive_features, groups that did not occur in the fit:"):
                check_groups(unknown_groups, n)
            names = ", ".join(first_of(names_of_groups(unknown_groups), 5))
            warnings.warn(
                f"groups that did not occur in the fit: {names}; check the spelling, and the order of the columns", stacklevel=3
            )
        groups = [*self.groups, *unknown_groups]
        return np.array([groups.index(values) for values in groups_of_new_rows])[codes], groups

    def _match_values_of_fit(self, name, values: tuple, fitted: tuple) -> list:
        """Replace each value (K,) of a column by the fit's value that it looks like. A warning names other spellings.

        A file may give numbers and booleans as text, and two tables may spell a group differently.
        """
        known, where = list(dict.fromkeys(fitted)), f"sensitive_features, column {name}:"
        matched, respelt = {}, []
        for value in dict.fromkeys(values):
            alike = [other for other in known if other == value and isinstance(other, bool) == isinstance(value, bool)]
            alike = alike or [other for other in known if notation(other) == notation(value)]
            if len(alike) > 1:
                code, *codes = tell_apart([value, *alike])
                raise InvalidInput(f"{where} {code} may be {' or '.join(codes)} of the fit; spell it as one of them.")
            matched[value] = alike[0] if alike else value
            if alike and value != alike[0] and str(value) != str(alike[0]):
                respelt.append(" as ".join(tell_apart([value, alike[0]])))
        unknown = look_alikes(value for value in matched.values() if value not in known)
        if unknown:
            raise InvalidInput(f"{where} {unknown}.")
        if respelt:
            warnings.warn(
                f"{where} spelt differently than in the fit, and counted {', '.join(first_of(respelt, 5))}",
                LookAlikeGroups,
                stacklevel=4,
            )
        return [matched[value] for value in values]

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

    def _features(self, X) -> np.ndarray:
        """The features (n, d) of new rows, filled, encoded and scaled as in the fit."""
        frame = frame_columns(X)
        if frame is not None and self.feature_names is not None:
            X = self._features_of_columns(frame, self.feature_names)
        else:
            check_numbers(X, may_have_gaps=self.fill is not None)
            try:
                X = np.array(as_array(X, "X"), dtype=np.float64, order="C")
            except (TypeError, ValueError):
                raise InvalidInput("X must hold finite numbers.") from None
            if X.ndim == 2 and self.fill is not None and X.shape[1] >= len(self.fill):
                filled = X[:, : len(self.fill)]
                filled[...] = np.where(np.isnan(filled), self.fill, filled)
        if X.size == 0:
            raise InvalidInput("X has no rows, so there is nothing to assign.")
        if X.ndim != 2 or X.shape[1] != self.centres.shape[1]:
            raise InvalidInput(f"X must have {self.centres.shape[1]} columns, as in fit.")
        if not np.isfinite(X).all():
            raise InvalidInput("X must hold finite numbers.")
        with as_invalid_input():
            check_largest(X, self.feature_names)
        if self.mean is None or self.scale is None:
            return X
        return np.divide(X - self.mean, self.scale, out=np.zeros_like(X), where=self.scale > 0)

    def _features_of_columns(self, frame: list[tuple[Any, Any]], feature_names: list[str]) -> np.ndarray:
        """The features (n, d) from the columns of a table, which may hold text that the fit encoded."""
        columns = dict(frame)
        numeric = feature_names[: len(feature_names) - sum(map(len, self.text_columns.values()))]
        is_encoded = all(name in columns for name in feature_names)
        needed = feature_names if is_encoded else [*numeric, *self.text_columns]
        for name in needed:
            n_columns = sum(name == other for other, _ in frame)
            if n_columns != 1:
                has = "has no column" if not n_columns else "has more than one column"
                hint = "" if n_columns else did_you_mean(name, map(str, columns))
                raise InvalidInput(f"X {has} {name!r}{hint}; the clustering has {', '.join(needed)}.")
        numbers = [(name, columns[name]) for name in (needed if is_encoded else numeric)]
        if self.fill is not None:
            fills = dict(zip(numeric, self.fill, strict=True))
            numbers = [(name, _filled(column, fills.get(name))) for name, column in numbers]
        check_columns(numbers, have_names=True)
        blocks = [np.asarray(column, dtype=np.float64)[:, None] for _, column in numbers]
        if not is_encoded:
            blocks += [_encode_text(name, columns[name], levels) for name, levels in self.text_columns.items()]
        return np.ascontiguousarray(np.hstack(blocks))

    def save(self, path: str) -> None:
        """Write the clustering to a JSON file. Raises InvalidInput if it cannot hold a group or a parameter."""
        saved_file.write(path, {name: value for name, value in vars(self).items() if name != "miss"})

    @classmethod
    def load(cls, path: str) -> "SavedClustering":
        """Read a file that :meth:`save` wrote. Raises InvalidInput for any other file, OSError for an unreadable one."""
        return cls(**saved_file.read(path))


def _filled(column, fill: float | None) -> np.ndarray:
    values = np.asarray(column)
    return values if fill is None else np.where(is_missing(values), fill, values)


def _encode_text(name: str, column, levels: list) -> np.ndarray:
    """A feature (n, L) for each of the levels of a column of text. Without the level None, a warning names other values."""
    values = np.asarray(column, dtype=object)
    texts = ["missing" if gap else str(value).strip() for value, gap in zip(values, is_missing(values), strict=True)]
    index = {level: position for position, level in enumerate(levels)}
    others = index.get(None, len(levels))
    unknown = [text for text in dict.fromkeys(texts) if text not in index] if others == len(levels) else []
    if unknown:
        names = ", ".join(map(repr, first_of(unknown, 5)))
        warnings.warn(f"X, column {name!r}: the fit had no rows with {names}, so these rows are no value of it", stacklevel=5)
    return np.eye(len(levels) + 1)[[index.get(text, others) for text in texts], : len(levels)]
