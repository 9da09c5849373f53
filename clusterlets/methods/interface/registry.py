"""The methods of the package, by name and by parameter. Each file in ``clusterlets/methods/`` holds one."""

import importlib
import importlib.util
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from clusterlets.errors import ClusterletsError, did_you_mean
from clusterlets.methods.interface.base import Method
from clusterlets.methods.interface.check import NAME

_PACKAGE = "clusterlets.methods"


def get(name: str) -> type[Method]:
    """The method with this name. Only its file is imported. Raises ClusterletsError if there is no such method."""
    module = f"{_PACKAGE}.{name.lower().replace('-', '_')}"
    if NAME.fullmatch(name) and importlib.util.find_spec(module):
        methods_by_name = methods_in(importlib.import_module(module))
        if name in methods_by_name:
            return methods_by_name[name]
    available = names()
    hint = did_you_mean(name, available)
    raise ClusterletsError(f"There is no method {name!r}{hint}. The methods are {', '.join(available)}.")


def names(role: str = "") -> list[str]:
    """The sorted names of the package's methods, or only of those with a given role."""
    modules = [f"{_PACKAGE}.{file.stem}" for file in Path(__file__).parents[1].glob("*.py") if file.stem != "__init__"]
    methods = [method for module in modules for method in methods_in(importlib.import_module(module)).values()]
    return sorted(method.name for method in methods if role in ("", method.role))


def matchers() -> list[str]:
    """The sorted names of the package's methods that join clusterlets."""
    return [name for name in names() if get(name).is_matcher]


def methods_in(module: ModuleType) -> dict[str, type[Method]]:
    """The methods that a module defines itself and does not import, by name."""
    classes = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Method)]
    return {
        method.name: method
        for method in classes
        if method.__module__ == module.__name__ and isinstance(vars(method).get("name"), str)
    }


def by_parameter(methods: Iterable[type[Method]]) -> dict[str, list[type[Method]]]:
    """Map the name of each parameter to the methods that have it."""
    methods_by_parameter: dict[str, list[type[Method]]] = {}
    for method in methods:
        for name in method.parameters:
            methods_by_parameter.setdefault(name, []).append(method)
    return methods_by_parameter
