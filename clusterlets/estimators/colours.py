"""The colours of instances, from sensitive columns of whatever type."""

from collections.abc import Iterable
from itertools import chain, groupby
from numbers import Real

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from clusterlets.algorithms.checks import check_groups
from clusterlets.estimators.inputs import InvalidInput, as_array, as_invalid_input


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
