"""The groups of instances, from sensitive columns of any type.

NumPy encodes arrays and lists. pandas encodes columns of its own types, such as categories. A caller with such columns has
imported pandas already, so this module does not import it.
"""

import math
import sys
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse

from clusterlets.algorithms.checks import check_groups, look_alikes
from clusterlets.errors import InvalidInput, LookAlikeGroups, did_you_mean
from clusterlets.estimators.inputs import as_array, as_invalid_input, frame_columns, is_missing
from clusterlets.text import names_of_groups


def encode(sensitive_features, n: int, min_groups: int = 1, names: Sequence | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Encode the groups: return their codes (n,), and each group's value (K,) or values in several columns (K, S).

    Parameters
    ----------
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        As in :meth:`clusterlets.estimators.ClusterletClustering.fit`.
    n : int
        Required number of rows.
    min_groups : int
        Smallest number of groups allowed.
    names : sequence, optional
        The columns of an earlier table, from :func:`column_names`. Columns with names are put in this order, and others are
        left out. Columns without names stay in their order.

    Raises
    ------
    InvalidInput
        If the sensitive features are missing, incomplete or continuous, have another length, form too few groups, or lack a
        column of ``names``.

    Notes
    -----
    O(n S log n).
    """
    if sensitive_features is None:
        raise InvalidInput(
            "sensitive_features is missing: pass the group of each instance by name, sensitive_features=groups, one value "
            "per row."
        )
    n_rows, columns = _columns(sensitive_features)
    if n_rows != n:
        raise InvalidInput(f"sensitive_features has {n_rows} rows, and there are {n} instances.")
    if not columns:
        raise InvalidInput("sensitive_features has no column.")
    texts = [str(name) for name, _ in columns]
    if len(set(texts)) < len(texts):
        repeated = next(text for text in texts if texts.count(text) > 1)
        raise InvalidInput(
            f"sensitive_features has two columns of the name {repeated!r}, so that a limit cannot say which of them it means; "
            "rename one."
        )
    if names is not None:
        columns = _select_columns(columns, names)
    # Few new rows of many known groups may all differ.
    n_judged = n if names is None else math.inf
    encoded = [_encode_column(name, column, n_judged) for name, column in columns]
    combinations, groups = np.unique(np.column_stack([codes for codes, _ in encoded]), axis=0, return_inverse=True)
    if len(combinations) < min_groups:
        raise InvalidInput("sensitive_features has only one group; fairness needs two or more.")
    values = [values[codes] for (_, values), codes in zip(encoded, combinations.T, strict=True)]
    classes = values[0] if len(values) == 1 else np.column_stack([value.astype(object) for value in values])
    return groups.reshape(-1).astype(np.int64), classes


def column_names(sensitive_features) -> list:
    """Names of the sensitive columns: those of a DataFrame or Series, or else the numbers from 0."""
    return [name for name, _ in _columns(sensitive_features)[1]]


def values_of(classes: np.ndarray) -> list[tuple]:
    """Each group's values in the sensitive columns, from its value (K,) or its values in several columns (K, S)."""
    return [tuple(values) for values in classes.reshape(len(classes), -1).tolist()]


def names_of(classes: np.ndarray) -> list[str]:
    """The name of each group, from its value (K,) or its values in several columns (K, S)."""
    return names_of_groups(values_of(classes))


def has_columns(sensitive_features, names: Sequence) -> bool:
    """Whether a table has columns of these names. An array has none, so its columns are matched by position."""
    is_table = frame_columns(sensitive_features) is not None
    is_table = is_table or bool(as_array(sensitive_features, "sensitive_features").dtype.names)
    return is_table and set(map(str, names)) <= set(map(str, column_names(sensitive_features)))


def _select_columns(columns: list[tuple[Any, Any]], names: Sequence) -> list[tuple[Any, Any]]:
    given_names, numbers = [name for name, _ in columns], list(range(len(names)))
    one_has_no_names = numbers == list(names) or given_names == list(range(len(columns)))
    if one_has_no_names and len(columns) != len(names):
        raise InvalidInput(f"sensitive_features has {len(columns)} columns, and had {len(names)} in fit.")
    column_of_text = {str(name): (name, column) for name, column in columns}
    missing = [name for name in names if str(name) not in column_of_text]
    if not missing:
        return [column_of_text[str(name)] for name in names]
    if one_has_no_names:
        return columns
    name = str(missing[0])
    hint = did_you_mean(name, column_of_text)
    raise InvalidInput(f"sensitive_features has no column {name!r}{hint}; the clustering has {', '.join(map(str, names))}.")


def _columns(sensitive_features) -> tuple[int, list[tuple[Any, Any]]]:
    """Number of rows, and the name and values of each column: a NumPy array, or a categorical Series of pandas."""
    frame = frame_columns(sensitive_features)
    if frame is not None:
        columns = [
            (name, column if hasattr(column, "cat") and hasattr(column, "iloc") else _as_objects(column))
            for name, column in frame
        ]
        return len(sensitive_features), columns
    array = sensitive_features.toarray() if issparse(sensitive_features) else as_array(sensitive_features, "sensitive_features")
    if array.ndim == 0:
        raise InvalidInput(
            f"sensitive_features is {repr(sensitive_features)[:60]}, a single value: give the column itself, one value per row."
        )
    if array.ndim > 2:
        raise InvalidInput(f"sensitive_features has {array.ndim} dimensions: give one column (n,), or several (n, S).")
    if array.dtype.names:
        return len(array), [(name, array[name]) for name in array.dtype.names]
    values = list(array.T) if array.ndim == 2 else [array]
    if array.dtype.kind in "OUS" and isinstance(sensitive_features, list | tuple):
        rows = sensitive_features if array.ndim == 2 else [[value] for value in sensitive_features]
        values = [_column_of_list(list(column)) for column in zip(*rows, strict=True)]
    return len(array), list(enumerate(values))


def _as_objects(column) -> np.ndarray:
    """The values of a column of pandas, polars or Arrow. NumPy itself would turn whole numbers with a gap into fractions."""
    if isinstance(getattr(column, "dtype", None), np.dtype) and column.dtype != object:
        return column.to_numpy()
    return _column_of_list(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())


def _column_of_list(values: list) -> np.ndarray:
    """An array of numbers if all values are numbers, otherwise of objects: as NumPy strings, 1 and "1" would be equal."""
    with suppress(ValueError):  # of values that are sequences of different lengths
        numbers = np.asarray(values)
        if numbers.ndim == 1 and numbers.dtype.kind in "biuf":
            return numbers
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _encode_column(name: Any, column, n_rows: float) -> tuple[np.ndarray, np.ndarray]:
    """Codes (n,) and sorted values of one sensitive column, judged as a column of ``n_rows`` rows."""
    where = f"sensitive_features, column {name}:"
    is_categorical = not isinstance(column, np.ndarray)
    if is_categorical:
        codes, values = sys.modules["pandas"].factorize(column, sort=True)  # in the order of the categories
        values = np.asarray(values)
        missing = np.flatnonzero((codes < 0) | np.append(is_missing(values), True)[codes])
    else:
        column = column.astype(object) if column.dtype.kind in "US" else column
        missing = np.flatnonzero(is_missing(column))
    if len(missing):
        raise InvalidInput(
            f"{where} row {missing[0]} (counting from 0) has no value; such rows: {len(missing)}. Drop them, or give "
            "them a separate value, such as 'unknown'."
        )
    if not is_categorical and column.dtype == object:
        codes, values = _encode_objects(where, column)
    elif not is_categorical:
        values, codes = np.unique(column, return_inverse=True)
        if values.dtype in ("M8[ns]", "m8[ns]"):  # as Python objects, nanoseconds would be plain numbers
            values = values.astype(f"{values.dtype.kind}8[us]")
    with as_invalid_input(where):
        check_groups(values.tolist(), n_rows)
    alike = look_alikes(values.tolist())
    if alike:
        warnings.warn(f"{where} {alike}.", LookAlikeGroups, stacklevel=4)
    return codes, values


def _encode_objects(where: str, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    try:
        values = _sort(set(column))  # np.unique cannot order values of different types
    except TypeError:
        raise InvalidInput(f"{where} it holds values such as {column[0]!r}, which cannot be compared.") from None
    code_of_value = {value: index for index, value in enumerate(values)}
    classes = np.empty(len(values), dtype=object)
    classes[:] = values
    return np.fromiter(map(code_of_value.__getitem__, column), dtype=np.int64, count=len(column)), classes


def _sort(values: Iterable) -> list:
    """Sort values. If they have no common order, sort them by type and value, or else by type and repr."""
    with suppress(TypeError):
        return sorted(values)
    with suppress(TypeError):
        return sorted(values, key=lambda value: (_type_name(value), value))
    return sorted(values, key=lambda value: (_type_name(value), repr(value)))


def _type_name(value: object) -> str:
    """The full name of a value's type; "" for all numbers, which are sorted by value."""
    return "" if isinstance(value, Real) else f"{type(value).__module__}.{type(value).__qualname__}"
