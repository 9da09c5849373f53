"""Repair clusters that people already have, so that they keep limits on groups."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_array

from clusterlets.algorithms.checks import check_largest, check_same_index
from clusterlets.algorithms.geometry import moments_by_label, squared_distances_to_centres
from clusterlets.algorithms.limit_repair import repair_labels
from clusterlets.algorithms.limits import limit_rows, products
from clusterlets.estimators.fair_limit import NumberPerColumn
from clusterlets.estimators.groups import column_names, encode, names_of, values_of
from clusterlets.estimators.inputs import InvalidInput, as_invalid_input, check_numbers, check_whole, feature_names
from clusterlets.estimators.memberships import encode_labels
from clusterlets.estimators.saved import limits_above
from clusterlets.methods import fair_limit
from clusterlets.methods.interface.check import check_parameters


@dataclass(frozen=True)
class Repair:
    """Labels within the limits, and what changed.

    Attributes
    ----------
    labels : array (n,)
        The new cluster of each row, by the names of the given labels.
    moved : bool array (n,)
        Whether the row changed cluster.
    least_moves : int
        A lower bound: at least this many rows must change cluster for the limits to hold.
    moves : list of (cluster before, cluster after, group, number of rows)
        Without moves of no row.
    cost_before, cost_after : float
        Sum of squared distances to the means of the given clusters; NaN without features.
    """

    labels: np.ndarray = field(repr=False)
    moved: np.ndarray = field(repr=False)
    least_moves: int
    moves: list[tuple]
    cost_before: float
    cost_after: float


def repair(
    X,
    labels,
    *,
    sensitive_features,
    max_deviation: NumberPerColumn | None = None,
    min_ratio: NumberPerColumn | None = None,
    shares: Mapping[str, object] | None = None,
    min_cluster_size: int = 1,
    max_cluster_size: int | None = None,
    reference: Mapping | None = None,
    objective: Literal["moves", "cost"] = "moves",
) -> Repair:
    """Change as few labels as possible so that every cluster strictly keeps limits on the shares of groups.

    Parameters
    ----------
    X : array-like or DataFrame (n, d), or None
        The features. None if there are only labels and groups; then the order of the rows decides which of a group move.
    labels : array-like (n,)
        The present cluster of each row: numbers or text.
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        As in :meth:`clusterlets.FairLimit.fit`.
    max_deviation, min_ratio, shares, min_cluster_size, max_cluster_size
        The limits, as in :class:`clusterlets.FairLimit`. By default, max_deviation is 0.02.
    reference : mapping of group to int, optional
        Rows of each group, by its value or the tuple of its values, in the table whose shares the limits mean. By default, it
        is this one.
    objective : {"moves", "cost"}
        ``"moves"``: the fewest rows that change cluster, or nearly so few (``least_moves`` bounds them), and among such
        changes a cheap one. ``"cost"``: nearly the least sum of squared distances to the means of the given clusters.

    Returns
    -------
    Repair

    Raises
    ------
    InvalidInput
        If an input is invalid.
    NoClusteringError
        Status ``infeasible``: it is proved that no labels with this many clusters keep the limits. Status ``not_converged``:
        none were found.

    Notes
    -----
    O(n k d) time, a linear program whose size does not depend on n, and a transport of the rows that change.
    """
    if objective not in ("moves", "cost"):
        raise InvalidInput(f"objective={objective!r} must be moves or cost.")
    if X is None and objective == "cost":
        raise InvalidInput("objective='cost' needs the features X.")
    check_same_index(X=X, labels=labels, sensitive_features=sensitive_features)
    codes, clusters = encode_labels(labels)
    groups, classes = encode(sensitive_features, len(codes))
    check_whole("min_cluster_size", min_cluster_size, 1)
    with as_invalid_input():
        classes, counts = _with_reference(groups, classes, reference)
        bounds = {"max_deviation": max_deviation, "min_ratio": min_ratio, "shares": shares}
        sizes = {"min_cluster_size": min_cluster_size, "max_cluster_size": max_cluster_size}
        rows = _limit_rows(groups, classes, counts, column_names(sensitive_features), bounds, sizes)
        costs, is_cost = _costs(X, codes, len(clusters)), objective == "cost"
        repaired = repair_labels(codes, groups, len(clusters), rows, min_cluster_size, costs, is_cost, max_cluster_size)
    counts = np.zeros((len(clusters), len(clusters), len(classes)), dtype=np.int64)
    np.add.at(counts, (codes, repaired.labels, groups), 1)
    names, cluster_names = names_of(classes), clusters.tolist()
    moves = [
        (cluster_names[before], cluster_names[after], names[group], int(counts[before, after, group]))
        for before, after, group in product(*map(range, counts.shape))
        if before != after and counts[before, after, group]
    ]
    cost_before, cost_after = (
        np.nan if costs is None else float(costs[np.arange(len(codes)), assigned].sum())
        for assigned in (codes, repaired.labels)
    )
    moved = repaired.labels != codes
    return Repair(clusters[repaired.labels], moved, repaired.least_moves, moves, cost_before, cost_after)


def broken_limits(
    labels, *, sensitive_features, max_deviation=None, min_ratio=None, shares=None, reference=None
) -> list[tuple[Any, str, int, bool]]:
    """The limits that given clusters break, as :func:`clusterlets.estimators.saved.limits_above` lists them.

    The arguments are those of :func:`repair`.
    """
    codes, clusters = encode_labels(labels)
    groups, classes = encode(sensitive_features, len(codes))
    with as_invalid_input():
        classes, reference_counts = _with_reference(groups, classes, reference)
        bounds = {"max_deviation": max_deviation, "min_ratio": min_ratio, "shares": shares}
        rows = _limit_rows(groups, classes, reference_counts, column_names(sensitive_features), bounds)
    counts = np.zeros((len(classes), len(clusters)), dtype=np.int64)
    np.add.at(counts, (groups, codes), 1)
    broken = limits_above(products(rows, counts), rows, values_of(classes), column_names(sensitive_features))
    return [(clusters[cluster], *rest) for cluster, *rest in broken]


def _with_reference(groups: np.ndarray, classes: np.ndarray, reference: Mapping | None) -> tuple[np.ndarray, np.ndarray]:
    """The values of the groups, with those that only the reference has at the end, and the reference's counts of them."""
    if reference is None:
        return classes, np.bincount(groups, minlength=len(classes))
    counts = {value if isinstance(value, tuple) else (value,): int(count) for value, count in reference.items()}
    values = values_of(classes)
    absent = [value for value in counts if value not in values]
    if absent:
        more = np.array(absent, dtype=object).reshape(len(absent), *classes.shape[1:])
        classes = np.concatenate([classes.astype(object), more])
    return classes, np.array([counts.get(value, 0) for value in [*values, *absent]])


def _limit_rows(groups, classes, counts, names, bounds: Mapping, sizes: Mapping = {}) -> np.ndarray:
    """The limits (R, K) on the groups with these codes (n,), values (K,) or (K, S), and counts (K,) in the reference."""
    method = fair_limit.FairLimit()
    check_parameters(type(method), bounds, "repair")
    faults = method.faults(1, **bounds, **sizes)
    if faults:
        raise InvalidInput(f"These limits cannot be used: {'; '.join(faults)}.")
    method.sensitive_columns = dict(zip(names, classes.reshape(len(classes), -1).T, strict=True))
    limits, levels = method.limits(counts, range(len(counts)), **bounds)
    return limit_rows(limits, levels, np.bincount(groups, minlength=len(counts)))


def _costs(X, labels: np.ndarray, n_clusters: int) -> np.ndarray | None:
    """Squared distances (n, k) to the means of the clusters, or None without features."""
    if X is None:
        return None
    check_numbers(X)
    names, X = feature_names(X), check_array(X, dtype=np.float64, order="C")
    check_largest(X, names)
    if len(X) != len(labels):
        raise InvalidInput(f"There are {len(labels)} labels, but X has {len(X)} rows.")
    return squared_distances_to_centres(X, moments_by_label(X, labels, n_clusters)[0], n_clusters)
