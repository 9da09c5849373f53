"""Run a method on a table, and check the clusterings that it returns."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from math import inf
from types import MappingProxyType
from typing import Any

import numpy as np

from clusterlets.errors import ClusterletsError, NoClusteringError
from clusterlets.methods.interface.base import Method
from clusterlets.methods.interface.users_file import is_from_file, seeded


def fit(
    method: type[Method],
    X: np.ndarray,
    groups: np.ndarray,
    n_clusters: int,
    random_state: np.random.Generator | Sequence[np.random.Generator],
    parameters: Mapping[str, Any],
    sensitive_columns: Mapping[Any, Sequence[Any]] = MappingProxyType({}),
    shared: dict[str, Any] | None = None,
) -> tuple[Method, dict[str, np.ndarray]]:
    """Fit a method to read-only copies of a table, so that it cannot change the data by which its clusters are scored.

    ``random_state`` may be several generators, one for each start. If ``parameters`` has ``n_init`` and the method's ``fit``
    does not take it, each generator serves so many starts. Of all starts, the first with the least :func:`objective_of` counts.
    A start that finds no clustering does not count, unless none finds one.
    ``sensitive_columns`` and ``shared`` are passed to the method as its attributes.

    Returns
    -------
    fitted : Method
        The method, with the attributes that ``fit`` set.
    clusterings : mapping
        The result of :func:`clusterings`.
    """
    own_parameters, n_init = dict(parameters), 1
    if not method.makes_its_own_starts() and "n_init" in method.parameters:
        n_init = own_parameters.pop("n_init", 1)
    generators = [random_state] if isinstance(random_state, np.random.Generator) else random_state
    starts = [generator for generator in generators for _ in range(n_init)]
    best, least, failure = None, inf, None
    for generator in starts:
        fitted = method()
        fitted.sensitive_columns, fitted.shared = sensitive_columns, shared
        try:
            with seeded_generators(method, generator):
                result = fitted.fit(_read_only(X), _read_only(groups), n_clusters, generator, **own_parameters)
        except NoClusteringError as error:  # another start may find one
            failure = error
            continue
        outcome = fitted, clusterings(method, result, len(X))
        objective = objective_of(*outcome, X) if len(starts) > 1 else inf
        if best is None or objective < least:
            best, least = outcome, objective
    if best is None:
        assert failure
        raise failure
    return best


@contextmanager
def seeded_generators(method: type[Method], random_state: np.random.Generator) -> Iterator[None]:
    """Seed ``random``, NumPy's global generator and the hashes of Python programs, and restore the former states at the end.

    So fits of methods that draw from these, and not only from ``random_state``, also repeat and differ by seed. The seed is
    made from a copy of ``random_state``. Nothing is done for the package's own methods, which never draw from these.
    """
    if method.__module__.startswith(f"{__package__}.") and not is_from_file(method):
        yield
        return
    with seeded(int(deepcopy(random_state).integers(2**32))):
        yield


def objective_of(fitted: Method, clusterings: Mapping[str, np.ndarray], X: np.ndarray) -> float:
    """What a fit minimised: its ``objective_`` if it set one, otherwise the sum of squared errors of its first output.

    If clusters overlap, the sum is infinite. O(n d).
    """
    value = getattr(fitted, "objective_", None)
    if value is not None:
        return float(value)
    labels = next(iter(clusterings.values()))
    if labels.ndim == 2:
        return inf
    # Imported late, because it loads Numba.
    moments_by_label = importlib.import_module("clusterlets.algorithms.geometry").moments_by_label
    return float(moments_by_label(X, labels, int(labels.max()) + 1)[1].sum())


def _read_only(array: np.ndarray) -> np.ndarray:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def clusterings(method: type[Method], result: Any, n_rows: int) -> dict[str, np.ndarray]:
    """Check the ``result`` of ``fit``. Return each output's clustering, by the output's name in the results.

    Labels (n,) become codes 0..C-1 without gaps. Memberships (n, C), bool, lose their empty clusters.

    Raises
    ------
    ClusterletsError
        If ``result`` is not as :meth:`Method.fit` requires.
    """
    outputs = method.outputs
    if not outputs:
        return {method.name: _clustering(result, n_rows)}
    if not isinstance(result, Mapping) or set(result) != set(outputs):
        raise ClusterletsError(f"fit must return a mapping with {' and '.join(outputs)}")
    return {name: _clustering(result[output], n_rows) for name, output in zip(method.names_in_results(), outputs, strict=True)}


def _clustering(result: Any, n_rows: int) -> np.ndarray:
    try:
        clustering = np.asarray(result)
    except ValueError as error:  # rows of different lengths
        raise ClusterletsError(f"fit must return labels or memberships: {error}") from None
    if clustering.ndim not in (1, 2) or len(clustering) != n_rows:
        raise ClusterletsError(f"fit must return labels ({n_rows},) or memberships ({n_rows}, C), not {clustering.shape}")
    if clustering.ndim == 2:
        if clustering.dtype != bool:
            raise ClusterletsError(f"memberships must be of type bool, not {clustering.dtype}")
        clustering = clustering[:, clustering.any(axis=0)]
        if not clustering.any(axis=1).all():
            raise ClusterletsError(f"row {np.flatnonzero(~clustering.any(axis=1))[0]} is in no cluster")
        return clustering
    if not np.issubdtype(clustering.dtype, np.number) or np.issubdtype(clustering.dtype, np.complexfloating):
        raise ClusterletsError(f"labels must be whole numbers of at least 0, not of type {clustering.dtype}")
    wrong_rows = np.flatnonzero(~((clustering >= 0) & (clustering == np.floor(clustering)) & (clustering < 2**53)))
    if len(wrong_rows):
        raise ClusterletsError(
            f"labels must be whole numbers of at least 0, and that of row {wrong_rows[0]} is {clustering[wrong_rows[0]]}"
        )
    return np.unique(clustering, return_inverse=True)[1].astype(np.int64)
