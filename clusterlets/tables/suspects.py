"""Probable mistakes in a table, such as identifiers as features or unlike scales."""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from clusterlets.tables.table import Table

# "id", "person_id" and "personID", but neither "paid" nor "humid".
_IDENTIFIER = re.compile(r"(?:^|[^A-Za-z])[Ii][Dd](?:$|[^A-Za-z])|[a-z](?:Id|ID)$|^(?:index|uuid|row|rowid|row_number)$")
_POSTCODE = re.compile(r"(?:^|[^A-Za-z])(?:zip|zip_?code|post_?code|postal_?code|plz)(?:$|[^A-Za-z])", re.IGNORECASE)
# "cluster", as `clusterlets cluster -o` calls it, "Cluster 2" and "labels", but neither "cluster_size" nor "label_fee".
_LABEL = re.compile(r"(?:.*[^a-z])?clusters?[ _-]?\d*|labels?[ _-]?\d*", re.IGNORECASE)
# Names of numbers that are identifiers if all differ: "customer", "Account no", but not "population".
_NUMBERED = re.compile(r"(?:.*[^a-z])?(?:no|nr|number|code|key|phone|member|customer|account|case|person)", re.IGNORECASE)
_MIN_DISTINCT = 0.98  # smallest fraction of distinct values in a column of identifiers
_MAX_GAP = 3  # in ranges of more numbers for each row, amounts may all differ; in narrower ones, hardly
_MIN_ROWS = 50  # in fewer rows, whole numbers may all differ by chance
_MIN_REPEATS = 10  # a value in fewer rows may occur in one group alone by chance
#: Largest acceptable ratio between the standard deviations of two features.
LARGEST_RATIO = 100.0


def reason_not_a_feature(name: str, values: np.ndarray) -> str | None:
    """Why a numeric column (n,) is probably not a feature; None if it may be one. NaN does not count. O(n log n).

    Postcodes and labels of an earlier clustering are found by their name; identifiers too, or as whole numbers that hardly
    repeat, and lie close together or are called ``customer``, for example. Incomes may all differ, but are spread wider.
    """
    if _POSTCODE.search(name):
        return "a postcode, by its name"
    if _IDENTIFIER.search(name):
        return "an identifier, by its name"
    if _LABEL.fullmatch(name):
        return "labels of another clustering, by its name"
    values = values[~np.isnan(values)]
    if _are_nearly_all_different(values) and (np.ptp(values) < _MAX_GAP * len(values) or _NUMBERED.fullmatch(name)):
        return "whole numbers that hardly repeat"
    return None


def amounts_or_identifiers(table: Table) -> list[str]:
    """The features of whole numbers that nearly all differ, as amounts of money may, but identifiers do. O(d n log n)."""
    return [name for name, values in zip(table.feature_names, table.X.T, strict=True) if _are_nearly_all_different(values)]


def _are_nearly_all_different(values: np.ndarray) -> bool:
    """Whether these are enough whole numbers (n,) to judge, of which hardly any repeats. O(n log n)."""
    is_judged = len(values) >= _MIN_ROWS and (values == np.floor(values)).all()
    return bool(is_judged and len(np.unique(values)) >= _MIN_DISTINCT * len(values))


def giveaways(table: Table, sensitive: Sequence[Any]) -> list[str]:
    """The features that follow from the values (n,) of a sensitive column, such as a copy, or that imply them. O(d n log n)."""
    _, codes = np.unique(np.asarray(sensitive, dtype=str), return_inverse=True)
    first_rows = np.unique(codes, return_index=True)[1]
    follows = (table.X[first_rows[codes]] == table.X).all(axis=0) & (np.ptp(table.X, axis=0) > 0)
    reveals = [does or _implies(feature, codes) for does, feature in zip(follows, table.X.T, strict=True)]
    return [name for name, does in zip(table.feature_names, reveals, strict=True) if does]


def _implies(feature: np.ndarray, codes: np.ndarray) -> bool:
    """Whether each value of a feature (n,) occurs in one of several groups alone, and not just by chance."""
    same = feature == feature[0]
    if same.all() or same.sum() < _MIN_REPEATS or (codes[same] != codes[0]).any() or not np.ptp(codes):
        return False  # without sorting, which is slow
    _, first_rows, inverse, counts = np.unique(feature, return_index=True, return_inverse=True, return_counts=True)
    return bool(counts.min() >= _MIN_REPEATS and (codes[first_rows][inverse] == codes).all())


def twins(table: Table) -> list[str]:
    """The pairs of features of which one rises wherever the other rises, or falls: a wage and its logarithm, for example.

    Features that encode text do not count. O(d n log n).
    """
    encoded = {column for columns in table.one_hot for column in range(columns.start, columns.stop)}
    feature_of_order: dict[bytes, str] = {}
    pairs = []
    for column in sorted(set(range(len(table.feature_names))) - encoded):
        values, ranks = np.unique(table.X[:, column], return_inverse=True)
        orders = (hashlib.sha256(order.tobytes()).digest() for order in (ranks, len(values) - 1 - ranks))
        name = table.feature_names[column]
        first = feature_of_order.setdefault(min(orders), name) if len(values) > 1 else name
        pairs += [f"{first} and {name}"] if first != name else []
    return pairs


def unlike_scales(table: Table) -> tuple[str, str, float] | None:
    """The features with the largest and the smallest standard deviation, and the ratio of these. O(n d).

    None if the ratio is at most :data:`LARGEST_RATIO`. Features that never vary do not count.
    """
    spreads = table.X.std(axis=0)
    varying = np.flatnonzero(np.ptp(table.X, axis=0) > 0)
    widest, narrowest = varying[spreads[varying].argmax()], varying[spreads[varying].argmin()]
    ratio = float(spreads[widest] / spreads[narrowest])
    return (table.feature_names[widest], table.feature_names[narrowest], ratio) if ratio > LARGEST_RATIO else None
