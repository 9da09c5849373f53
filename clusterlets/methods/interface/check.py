"""Check what the class of a method declares, and the names of parameters that a user gives."""

import re
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any

from clusterlets.errors import ClusterletsError
from clusterlets.methods.interface.base import FIXED_ARGUMENTS, Method
from clusterlets.parameters import VALUE_TYPES, Parameter

#: The pattern of a method's name, which becomes part of file names.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9.+-]{0,39}")
#: The functions of a method that the package calls, and that a user's file may define.
ENTRY_POINTS = ("__init__", "fit", "match", "faults", "unsupported")


def check(method: type[Method], where: str) -> None:
    """Raise ClusterletsError if the attributes of a method are not as :class:`Method` says. ``where`` begins the message."""
    faults = list(_faults(method))
    if faults:
        raise ClusterletsError(f"{where}: {'; '.join(faults)}.")


def check_parameters(method: type[Method], parameters: Iterable[str], where: str) -> None:
    """Raise ClusterletsError if the method does not take one of the parameters. ``where`` begins the message."""
    accepted = parameters_of(method)
    for name in parameters:
        if name in FIXED_ARGUMENTS:
            raise ClusterletsError(f"{where}: {name!r} cannot be a parameter: every method gets an argument with this name.")
        if accepted is not None and name not in accepted:
            hint = f"its parameters: {', '.join(accepted)}" if accepted else "it has none"
            raise ClusterletsError(f"{where}: {method.name} has no parameter {name!r}; {hint}.")


def parameters_of(method: type[Method]) -> list[str] | None:
    """The names of the parameters of a method; None if it takes parameters of any name."""
    return None if method.takes_any_parameter() else list(method.parameters)


def _are_distinct_strings(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(isinstance(item, str) for item in value) and len(set(value)) == len(value)


def _is_whole_or_none(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)


def _is_finite_value(value: Any) -> bool:
    return isfinite(value) if isinstance(value, float) else isinstance(value, VALUE_TYPES)


# For each kind of value: its check, and the attributes of a method that must pass it.
_ATTRIBUTES: dict[str, tuple[Callable[[Any], bool], tuple[str, ...]]] = {
    "string": (lambda value: isinstance(value, str), ("label", "citation", "guarantee", "cost")),
    "tuple of different strings": (_are_distinct_strings, ("outputs", "libraries", "kernels")),
    "whole number of at least 1": (lambda value: bool(value) and _is_whole_or_none(value), ("min_groups",)),
    "whole number of at least 0, or None": (_is_whole_or_none, ("most_groups", "most_rows", "stream")),
    "True or False": (lambda value: isinstance(value, bool), ("is_random",)),
    "mapping of strings to strings": (
        lambda value: isinstance(value, Mapping) and all(isinstance(item, str) for item in [*value, *value.values()]),
        ("settings",),
    ),
}


def _faults(method: type[Method]) -> Iterable[str]:
    if not NAME.fullmatch(method.name):
        yield f"name: {method.name!r} must begin with a letter and have at most 40 letters, digits, '.', '+' and '-'"
    if method.role not in ("rival", "paper", "baseline"):
        yield f"role: {method.role!r} must be rival, paper or baseline"
    for kind, (is_valid, attributes) in _ATTRIBUTES.items():
        values = {attribute: getattr(method, attribute) for attribute in attributes}
        yield from (f"{attribute}: {value!r} is not a {kind}" for attribute, value in values.items() if not is_valid(value))
    for name in ENTRY_POINTS:
        if hasattr(method, name) and not callable(getattr(method, name)):
            yield f"{name}: it must be a function"
    for name, parameter in method.parameters.items():
        if not isinstance(parameter, Parameter):
            yield f"parameters: {name} needs a Parameter or a non-empty list of values, not {parameter!r}"
            continue
        if not method.takes_any_parameter() and name not in (*method.arguments(), "n_init"):
            yield f"parameters: fit has no argument {name} with a default"
        if not all(map(_is_finite_value, parameter.grid)):
            yield f"parameters: values of {name} must be finite numbers, strings, true, false or null"
        elif len({(type(value), value) for value in parameter.grid}) < len(parameter.grid):
            yield f"parameters: {name} lists a value twice"
        else:
            yield from (f"parameters: {fault}" for value in parameter.grid if (fault := parameter.fault(name, value)))
        if fault := parameter.fault(name, parameter.default):
            yield f"parameters: the default of {fault}"
    outputs = method.outputs if _are_distinct_strings(method.outputs) else ()
    for output in outputs:
        if not re.fullmatch(r"[A-Za-z0-9 .+-]{1,40}", output):
            yield f"outputs: {output!r} must be at most 40 letters, digits, spaces, '.', '+' and '-'"
