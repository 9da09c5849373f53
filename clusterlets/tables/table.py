"""A prepared dataset, its checks, and its fingerprint."""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from clusterlets.algorithms.checks import check_magnitudes
from clusterlets.tables import numerals

CLASS = "class"  # the sensitive attribute that every dataset of the benchmark has
_JOIN = " + "  # between the values in a group's name: man + 60 or more
# Control characters, line breaks and unencodable characters, which would break tables, pages and pictures.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


class BadData(ValueError):
    """A raw file is not as expected. The message says what is wrong and where. The caller adds the dataset and the remedy."""


@dataclass(frozen=True)
class Table:
    """n instances with d features and K groups.

    Attributes
    ----------
    X : float array (n, d)
        Features, in the units of the raw file.
    groups : int array (n,)
        Group codes 0..K-1. If there are two classes, 0 is the negative one.
    feature_names : tuple of d str
    group_names : tuple of K str
        Class labels as the raw file spells them, or values of the sensitive attribute.
    sensitive : mapping of str to object array (n,)
        Other sensitive attributes, whose values (strings) may be the groups. An empty string is a missing value.
    dropped_duplicates : int
        Rows that :func:`without_duplicates` left out.
    one_hot : tuple of slices
        Features that encode one column of text each. :func:`scaled` gives them together the weight of one feature.
    text_columns : mapping of str to list
        These columns of text, with the value of each such feature; None is any other value.
    fill : float array, or None
        What filled the gaps of each feature that encodes no text; None if gaps were not filled.
    """

    X: np.ndarray
    groups: np.ndarray
    feature_names: tuple[str, ...]
    group_names: tuple[str, ...]
    sensitive: Mapping[str, np.ndarray] = field(default_factory=dict)
    dropped_duplicates: int = 0
    one_hot: tuple[slice, ...] = ()
    text_columns: Mapping[str, list] = field(default_factory=dict)
    fill: np.ndarray | None = None

    @property
    def group_counts(self) -> np.ndarray:
        """Instances of each group, (K,)."""
        return np.bincount(self.groups, minlength=len(self.group_names))

    @property
    def positives(self) -> int | None:
        """Instances of group 1 if there are two groups, else None."""
        return int(self.group_counts[1]) if len(self.group_names) == 2 else None


def check_name(name: str, where: str) -> None:
    """Raise :class:`BadData` if a name holds a control character. ``where`` begins the message."""
    character = _UNPRINTABLE.search(name)
    if character:
        raise BadData(f"{where} {name[:60]!r} has the control character U+{ord(character[0]):04X}, not allowed in names.")


def without_duplicates(table: Table) -> Table:
    """The table without the rows that equal an earlier one in all features and the group. O(n d log n)."""
    first_rows = np.unique(np.column_stack([table.X, table.groups]), axis=0, return_index=True)[1]
    rows = np.sort(first_rows)
    return replace(
        table,
        X=table.X[rows],
        groups=table.groups[rows],
        sensitive={name: values[rows] for name, values in table.sensitive.items()},
        dropped_duplicates=len(table.X) - len(rows),
    )


def table_of_groups(X: np.ndarray, feature_names: tuple[str, ...], columns: Sequence[np.ndarray], min_groups: int = 2) -> Table:
    """A table whose groups are the combinations of values that occur, in order of these values.

    Each of the ``columns`` (n,) has one string per row. Rows with an empty string are left out. Raises :class:`BadData` if
    there are fewer groups than ``min_groups``, or as many groups as rows.
    """
    is_complete = np.all([column != "" for column in columns], axis=0)
    combined = list(zip(*(column[is_complete] for column in columns), strict=True))
    present = sorted(set(combined), key=lambda values: [sort_key(value) for value in values])
    names = tuple(_JOIN.join(values) for values in present)
    if len(names) < max(1, min_groups):
        raise BadData(f"every row has the same group{f', {names[0]!r}' if names else ''}; fairness needs two or more.")
    if len(names) == len(combined):
        raise BadData("every row has a different group: the sensitive column looks like an identifier.")
    if len(set(names)) < len(names):
        raise BadData(f"two combinations of groups have the same name; values must not contain {_JOIN!r}.")
    code_by_values = {values: index for index, values in enumerate(present)}
    groups = np.fromiter((code_by_values[values] for values in combined), dtype=np.int64, count=len(combined))
    return Table(X[is_complete], groups, feature_names, names)


def columns_of_names(group_names: Sequence[str]) -> list[tuple[str, ...]]:
    """The values (K,) of the groups in each sensitive column, from the names that :func:`table_of_groups` makes.

    Names with different numbers of values count as values of a single column.
    """
    values = [name.split(_JOIN) for name in group_names]
    return list(zip(*values, strict=True)) if len(set(map(len, values))) == 1 else [tuple(group_names)]


def sort_key(value: str) -> tuple[bool, float, str]:
    """Sort key that puts numbers, by size, before other strings."""
    number = numerals.parse_number(value)
    return (True, 0.0, value) if math.isnan(number) else (False, number, value)


def check(table: Table) -> None:
    """Raise :class:`BadData` unless the table has rows, finite features, and an instance of every group."""
    if table.X.shape != (len(table.groups), len(table.feature_names)):
        raise BadData(f"{table.X.shape} features do not fit {len(table.groups)} groups and {len(table.feature_names)} names.")
    if len(table.X) == 0:
        raise BadData("no row is left.")
    is_finite = np.isfinite(table.X)
    if not is_finite.all():
        row, column = np.argwhere(~is_finite)[0]
        raise BadData(f"row {row + 1}: column {table.feature_names[column]} is not a finite number.")
    absent = [name for name, count in zip(table.group_names, table.group_counts, strict=True) if count == 0]
    if absent:
        raise BadData(f"no row has the group {', '.join(absent)}; every group must occur.")


def describe_differences(table: Table, expected: dict) -> list[str]:
    """How the table differs from its description, which may hold None for unknown quantities.

    Rows, features and positives are compared. The fingerprint is compared only if these agree.
    """
    counts = {"rows": len(table.X), "features": table.X.shape[1], "positives": table.positives}
    differences = [
        f"expected {expected[quantity]} {quantity}, found {count}"
        for quantity, count in counts.items()
        if expected[quantity] not in (None, count)
    ]
    if not differences and expected["fingerprint"] not in (None, fingerprint(table)):
        differences.append(f"its values differ: expected fingerprint {expected['fingerprint']}, found {fingerprint(table)}")
    return differences


def fingerprint(table: Table) -> str:
    """SHA-256 of a text that is equal on every platform: the shape, the group counts, and a line for each row.

    A line holds the row's features, to 12 significant digits, and its group. Names are left out, because copies of a file
    differ in them. The order of rows and features matters, because k-means depends on it. See docs/datasets.md.
    """
    n, d = table.X.shape
    digest = hashlib.sha256(f"{n} {d}\n{' '.join(map(str, table.group_counts))}\n".encode())
    line = "%.12g " * d + "%d\n"
    positive_zero = table.X + 0.0  # -0.0 would print as "-0"
    for row, group in zip(positive_zero.tolist(), table.groups.tolist(), strict=True):
        digest.update((line % (*row, group)).encode())
    return digest.hexdigest()


def scaled(table: Table, scaling: str) -> np.ndarray:
    """Features (n, d) for scaling ``none`` or ``standard``. Raises ClusterletsError if their squares overflow.

    ``standard`` gives each feature a variance of 1, and the features of an encoded text column a total variance of 1.
    """
    check_magnitudes(table.X, table.feature_names, each=scaling == "standard")
    if scaling == "none":
        return table.X
    return _standardised(table.X, *moments(table.X, table.one_hot))


def standardise(X: np.ndarray) -> np.ndarray:
    """Features (n, d) with zero mean and unit population variance. Constant ones become 0."""
    return _standardised(X, *moments(X))


def _standardised(X: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return np.where(scale > 0, (X - mean) / np.where(scale > 0, scale, 1.0), 0.0)


def moments(X: np.ndarray, one_hot: Sequence[slice] = ()) -> tuple[np.ndarray, np.ndarray]:
    """Mean (d,) and population standard deviation (d,) of the features. The latter is exactly 0 for constant ones.

    Features of one slice of ``one_hot`` have their total variance's root in place of their own.
    """
    scale = np.where(X.max(axis=0) > X.min(axis=0), X.std(axis=0), 0.0)
    for columns in one_hot:
        scale[columns] = np.sqrt(X[:, columns].var(axis=0).sum())
    return X.mean(axis=0), scale
