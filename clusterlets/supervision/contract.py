"""The contract of a method, tried on small made tables; ``clusterlets check`` prints what is wrong.

Each trial is a function that fits the method and returns what is wrong, in words for the author, or "" if nothing is.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from clusterlets import methods
from clusterlets.errors import ClusterletsError, NoClusteringError
from clusterlets.methods import Choice, Integer, Method, Parameter, Real

_N_SEEDS = 5
_MAX_COUNT = 1000  # larger bounds of whole numbers, such as most rounds, are not tried: such fits may take long
_FIT, _CLASS, _PARAMETERS = "a-method-of-your-own", "what-a-class-may-say", "parameters-declared"
_BUDGET, _OUTPUTS = "budget-and-statuses", "several-outputs"


@dataclass(frozen=True)
class Trial:
    """Something to try: ``what``, in words, the ``section`` of docs/extending.md with the rule, and the function that tries."""

    what: str
    section: str
    run: Callable[[], str]


def trials(method: type[Method]) -> Iterator[Trial]:
    """All trials of a method. Tables that it does not support are left out, or have two groups where it can handle these."""
    n_groups = min(3, method.most_groups or 3)
    table = made_table(60, n_groups)
    yield Trial("attributes, faults() and unsupported()", _CLASS, partial(check_declarations, method))
    for number in [*([1] if method.min_groups == 1 else []), 2, 5]:
        if not method().unsupported(60, number):
            yield Trial(f"60 rows, {number} groups, k = 3", _FIT, partial(check_fit, method, *made_table(60, number), 3))
    few = np.arange(60) % 6
    yield Trial("a single cluster", _FIT, partial(check_fit, method, *table, 1))
    yield Trial("60 rows of which 6 differ, k = 4", _FIT, partial(check_fit, method, table[0][few], table[1], 4))
    yield Trial("60 equal rows, k = 4", _FIT, partial(check_fit, method, table[0][few * 0], table[1], 4))
    yield Trial("the same seed twice", _CLASS, partial(check_same_seed, method, *table))
    if not method.is_matcher:  # is_random of a matcher is about the matching, and fit also extracts clusterlets
        yield Trial(f"{_N_SEEDS} seeds", _CLASS, partial(check_seeds, method, *table))
    yield Trial("X and groups stay as they are", _FIT, partial(check_untouched, method, *table))
    if method.outputs:
        what = f"the outputs {', '.join(method.outputs)}: each is there"
        yield Trial(what, _OUTPUTS, partial(check_fit, method, *table, 3))
    for name, parameter in method.parameters.items():
        values = values_to_try(name, parameter)
        if values:
            what = f"{name} = {', '.join(map(repr, values))}"
            yield Trial(what, _PARAMETERS, partial(check_values, method, table[0], np.arange(60) % 2, name, values))
    for n_rows in (500, 2000):
        if not method().unsupported(n_rows, n_groups):
            run = partial(check_fit, method, *made_table(n_rows, n_groups), 5)
            yield Trial(f"{n_rows:,} rows, {n_groups} groups, k = 5", _BUDGET, run)


def made_table(n_rows: int, n_groups: int) -> tuple[np.ndarray, np.ndarray]:
    """A table of three features (n, 3) without clusters, and group codes (n,) of unequal frequency, each of which occurs."""
    rng = np.random.default_rng(0)
    groups = np.minimum(rng.integers(n_groups, size=n_rows), rng.integers(n_groups, size=n_rows))
    groups[:n_groups] = np.arange(n_groups)
    return rng.random((n_rows, 3)) + groups[:, None] / 5, groups


def values_to_try(name: str, parameter: Parameter) -> list[Any]:
    """The bounds, the choices and the listed values of a parameter, each once."""
    values = [*parameter.also, *parameter.grid, *parameter.ladder]
    if isinstance(parameter, Choice):
        values = [*parameter.choices, *values]
    if isinstance(parameter, Real):
        has_usable_end = not isinstance(parameter, Integer) or parameter.most <= _MAX_COUNT
        values = [*([] if parameter.above else [parameter.least]), *([parameter.most] if has_usable_end else []), *values]
    return list({(type(value), value): value for value in values if not parameter.fault(name, value)}.values())


def check_declarations(method: type[Method]) -> str:
    """Whether the functions that say what the method handles return what their callers expect."""
    unsupported, faults = method().unsupported(60, 2), method().faults(3)
    if not isinstance(unsupported, str):
        return f"unsupported(60, 2) must return a string, empty if the table is supported, not {unsupported!r}"
    if not isinstance(faults, list) or not all(isinstance(fault, str) for fault in faults):
        return f"faults(3) must return a list of strings, not {faults!r}"
    return f"faults(3) refuses the defaults: {'; '.join(faults)}" if faults else ""


def check_fit(method: type[Method], X: np.ndarray, groups: np.ndarray, k: int) -> str:
    """Whether a fit returns clusterings of at most k clusters, and attributes that can be read."""
    fitted, results = _fit(method, X, groups, k)
    for name, clustering in results.items():
        n_clusters = clustering.shape[1] if clustering.ndim == 2 else int(clustering.max()) + 1
        if n_clusters > k and not method.is_matcher:
            return f"{name} has {n_clusters} clusters, more than k = {k}; the leaderboard counts only runs with exactly k"
    objective, note = getattr(fitted, "objective_", None), getattr(fitted, "note_", "")
    if objective is not None and not isfinite(float(objective)):
        return f"self.objective_ is {objective!r}, and must be a finite number"
    return "" if isinstance(note, str) else f"self.note_ is {note!r}, and must be a string"


def check_same_seed(method: type[Method], X: np.ndarray, groups: np.ndarray) -> str:
    """Whether a second fit with the same seed gives the same clusters."""
    if _are_equal(*(_fit(method, X, groups, 5)[1] for _ in range(2))):
        return ""
    return "the clusters differ: take all randomness from random_state, and keep nothing from fit to fit"


def check_seeds(method: type[Method], X: np.ndarray, groups: np.ndarray) -> str:
    """Whether seeds differ exactly if the method says that it is random."""
    first, *others = (_fit(method, X, groups, 5, seed)[1] for seed in range(_N_SEEDS))
    is_random = not all(_are_equal(first, other) for other in others)
    if is_random and not method.is_random:
        return "the clusters differ, but is_random = False lets one fit stand for all seeds"
    if method.is_random and not is_random:
        return "all give the same clusters; if random_state never matters, declare is_random = False, which saves fits"
    return ""


def check_untouched(method: type[Method], X: np.ndarray, groups: np.ndarray) -> str:
    """Whether the method leaves its arrays as they are, even if it could write to them."""
    own_X, own_groups = X.copy(), groups.copy()
    method().fit(own_X, own_groups, 3, np.random.default_rng(0))
    changed = [name for name, own, given in (("X", own_X, X), ("groups", own_groups, groups)) if not np.array_equal(own, given)]
    return f"fit changes {' and '.join(changed)}: work on a copy" if changed else ""


def check_values(method: type[Method], X: np.ndarray, groups: np.ndarray, name: str, values: list[Any]) -> str:
    """Whether each of these values works, unless ``faults`` refuses it for three clusters."""
    for value in values:
        if method().faults(3, **{name: value}):
            continue
        try:
            _fit(method, X, groups, 3, **{name: value})
        except NoClusteringError:  # a status, which the results show
            continue
        except ClusterletsError as error:
            return f"{name} = {value!r}: {error}"
    return ""


def _fit(
    method: type[Method], X: np.ndarray, groups: np.ndarray, k: int, seed: int = 0, **parameters: Any
) -> tuple[Method, Mapping[str, np.ndarray]]:
    columns = {"group": [f"group {code}" for code in range(int(groups.max()) + 1)]}
    return methods.fit(method, X, groups, k, np.random.default_rng(seed), parameters, columns)


def _are_equal(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> bool:
    return all(np.array_equal(clustering, second[name]) for name, clustering in first.items())
