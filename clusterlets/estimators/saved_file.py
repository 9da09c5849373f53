"""The file of a saved clustering: JSON of one schema, which is checked whole, so that reading it runs no code.

A mapping among the parameters is a pair of lists, because keys of JSON would turn numbers and booleans into text.
"""

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from clusterlets import methods
from clusterlets.algorithms.checks import LARGEST
from clusterlets.errors import ClusterletsError
from clusterlets.estimators.inputs import InvalidInput
from clusterlets.json_text import parse_json
from clusterlets.methods.interface.check import check_parameters
from clusterlets.storage import write_json

_FORMAT = "clusterlets clustering 3"
_MOST_ROWS = 10**8  # so that products of two counts stay far below 2^63
_PARTS = (
    *("method", "parameters", "centres", "sensitive_names", "groups", "counts", "fitted_counts", "feature_names", "mean"),
    *("scale", "fill", "text_columns", "cluster_names", "n_batches", "drifted_since"),
)


def savable_methods() -> list[type[methods.Method]]:
    """The methods that guarantee something for new rows."""
    all_methods = map(methods.get, methods.names())
    return [other for other in all_methods if other.assignment_limits is not methods.Method.assignment_limits]


def write(path: str, parts: Mapping[str, Any]) -> None:
    """Write the parts of a clustering. Raises InvalidInput if the file could not be read again."""
    try:
        content = {"format": _FORMAT, **{name: _to_json(value) for name, value in parts.items()}}
        if content["cluster_names"] is None:  # version 3.0.0 reads no file with this part
            del content["cluster_names"]
        _checked(content)
    except ValueError as problem:
        raise InvalidInput(f"This clustering cannot be saved: {problem}.") from None
    write_json(path, {**content, "sha256": _digest(content)})


def read(path: str) -> dict[str, Any]:
    """The parts of the clustering that :func:`write` wrote to a file.

    Raises InvalidInput for any other content, OSError for an unreadable file. Linear in the size of the file.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        content = parse_json(text)
        if not isinstance(content, dict):
            raise ValueError("it has a different format")
        version = content.get("format")
        if version != _FORMAT and isinstance(version, str) and version[:-1] == _FORMAT[:-1]:
            raise ValueError("another version of clusterlets saved it: cluster the table again")
        digest = content.pop("sha256", None)
        if digest is None or version != _FORMAT:
            raise ValueError("it has a different format")
        if digest != _digest(content):
            raise ValueError("it was changed after it was saved")
        return _checked(content)
    except (ValueError, RecursionError, ClusterletsError) as error:
        reason = str(error).splitlines()[0][:300].rstrip(".") if str(error) else type(error).__name__
        raise InvalidInput(
            f"{path} is not an intact clustering from `clusterlets cluster --save` ({reason}); save it again, or use a copy."
        ) from None


def _digest(content: Mapping) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _to_json(value: Any) -> Any:
    """Convert a value to types of JSON. A fraction becomes text such as 1/50, which parameters accept."""
    if isinstance(value, np.ndarray | np.generic):
        return _to_json(value.tolist())
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return {"keys": [_to_json(key) for key in value], "values": [_to_json(item) for item in value.values()]}
    if isinstance(value, list | tuple):
        return [_to_json(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise ValueError(f"{value!r} is neither text nor a number nor a boolean")


# ---- the schema ------------------------------------------------------------------------------------------------------


def _checked(content: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a clustering from the content of a file. Raises ValueError unless all fit together."""
    content = {"cluster_names": None, **content}  # files of version 3.0.0 lack it
    if set(content) != {"format", *_PARTS}:
        raise ValueError(f"it must have just the parts {', '.join(_PARTS)}")
    parts = {name: content[name] for name in _PARTS}
    centres = _array(parts, "centres", (None, None))
    k, d = centres.shape
    names = _list(parts["sensitive_names"], "sensitive_names", _is_value)
    groups = [tuple(_list(values, "groups", _is_value, len(names))) for values in _list(parts["groups"], "groups", _is_list)]
    clusters = parts["cluster_names"]
    clusters = [] if clusters is None else _list(clusters, "cluster_names", _is_text, k)
    for name, values in (("sensitive_names", list(map(str, names))), ("groups", groups), ("cluster_names", clusters)):
        if len(set(values)) < len(values):
            raise ValueError(f"{name} has an entry twice")
    counts, fitted_counts = _array(parts, "counts", (len(groups), k), int), _array(parts, "fitted_counts", (len(groups),), int)
    if counts.sum() > _MOST_ROWS:
        raise ValueError(f"counts: more than {_MOST_ROWS:,} rows")
    if not counts.sum(axis=0).all() or not fitted_counts.any() or (fitted_counts > counts.sum(axis=1)).any():
        raise ValueError("counts: a cluster is empty, or the fitted table has no rows or more rows than all clusters")
    since, n_batches = parts["drifted_since"], parts["n_batches"]
    if not _is_count(n_batches) or not (since is None or (_is_count(since) and 0 < since <= n_batches)):
        raise ValueError("n_batches and drifted_since are no numbers of batches")
    parts |= {"centres": centres, "sensitive_names": names, "groups": groups, "counts": counts, "fitted_counts": fitted_counts}
    parts |= {name: _array(parts, name, (d,)) for name in ("mean", "scale") if parts[name] is not None}
    if (parts["mean"] is None) != (parts["scale"] is None) or (parts["scale"] is not None and (parts["scale"] < 0).any()):
        raise ValueError("mean and scale do not fit together")
    if parts["feature_names"] is not None:
        features = _list(parts["feature_names"], "feature_names", _is_text, d)
        if len(set(features)) < d:
            raise ValueError("feature_names has an entry twice")
    parts["text_columns"] = _checked_text_columns(parts["text_columns"], parts["feature_names"])
    n_encoded = sum(map(len, parts["text_columns"].values()))
    if parts["fill"] is not None:
        parts["fill"] = _array(parts, "fill", (d - n_encoded,))
    parts["parameters"] = _from_json(parts["parameters"])
    _check_limits(parts)
    return parts


def _checked_text_columns(value: Any, feature_names: list[str] | None) -> dict[str, list]:
    columns = _from_json(value)
    if not isinstance(columns, dict) or not all(map(_is_text, columns)):
        raise ValueError("text_columns is no mapping of names")
    expected = []
    for name, levels in columns.items():
        if not _is_list(levels) or not levels or not all(map(_is_text, levels[:-1])) or not _is_text(levels[-1] or ""):
            raise ValueError(f"text_columns: the values of {name[:60]!r} are no texts")
        expected += [f"{name} = {'other' if level is None else level}" for level in levels]
    if expected and (feature_names is None or feature_names[len(feature_names) - len(expected) :] != expected):
        raise ValueError("text_columns and feature_names do not fit together")
    return columns


def _check_limits(parts: Mapping[str, Any]) -> None:
    """Raise ValueError unless the method can say within which limits new rows may join these clusters."""
    method = next((method for method in savable_methods() if method.name == parts["method"]), None)
    parameters = parts["parameters"]
    if method is None or not isinstance(parameters, dict) or not all(map(_is_text, parameters)):
        raise ValueError("it names no method that can be saved, or no parameters")
    try:
        check_parameters(method, parameters, method.name)
        faults = method().faults(len(parts["centres"]), **parameters)
        if faults:
            raise ValueError(f"parameters: {'; '.join(faults)}")
        limits_of_new_rows(method, parts, np.zeros(len(parts["groups"]), dtype=np.int64))
    except (ClusterletsError, TypeError) as problem:
        raise ValueError(f"parameters: {problem}") from None


def limits_of_new_rows(method: type[methods.Method], parts: Mapping[str, Any], totals: np.ndarray):
    """The rows (R, K) and the slack (R, k) of a clustering's limits on new rows, ``totals`` (K,) of each group."""
    fitted = method()
    fitted.sensitive_columns = dict(zip(parts["sensitive_names"], zip(*parts["groups"], strict=True), strict=True))
    limits = fitted.assignment_limits(parts["counts"], totals, parts["fitted_counts"], **parts["parameters"])
    assert limits is not None  # a savable method has limits
    return limits


def _array(parts: Mapping[str, Any], name: str, shape: tuple, kind: type = float) -> np.ndarray:
    """The numbers of a part, of this shape; None stands for any length of at least 1. Counts are whole and not negative."""
    lists = [parts[name]]
    lengths = []
    for length in shape:
        length = len(lists[0]) if length is None and _is_list(lists[0]) else length
        if not length or not all(_is_list(values) and len(values) == length for values in lists):
            raise ValueError(f"{name} is no table of numbers that fits to the other parts")
        lengths.append(length)
        lists = [item for values in lists for item in values]
    is_valid = _is_count if kind is int else _is_number
    if not all(map(is_valid, lists)):
        raise ValueError(f"{name} holds something else than {'counts' if kind is int else 'finite numbers'}")
    return np.array(lists, dtype=np.int64 if kind is int else np.float64).reshape(lengths)


def _list(value: Any, name: str, is_valid, length: int | None = None) -> list:
    if not _is_list(value) or not value or length not in (None, len(value)) or not all(map(is_valid, value)):
        raise ValueError(f"{name} is no list of text, numbers or booleans that fits to the other parts")
    return value


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_ROWS


def _is_number(value: Any) -> bool:
    # Comparison of an int with a float is exact in Python, so that no number is too large for it.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def _is_value(value: Any) -> bool:
    return _is_text(value) or isinstance(value, bool) or _is_number(value)


def _from_json(value: Any) -> Any:
    """The parameter that :func:`_to_json` wrote."""
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if isinstance(value, dict):
        if set(value) != {"keys", "values"} or not all(map(_is_list, value.values())):
            raise ValueError("a mapping must have the lists keys and values")
        keys, values = value["keys"], value["values"]
        if len(keys) != len(values) or not all(map(_is_value, keys)) or len(set(keys)) < len(keys):
            raise ValueError("a mapping must have as many values as different keys")
        return dict(zip(keys, map(_from_json, values), strict=True))
    if value is None or _is_value(value):
        return value
    raise ValueError("a parameter is no finite number or text")
