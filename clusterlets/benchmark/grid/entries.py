"""Load a method that the configuration names: from the package, from a user's file, or from a command line."""

import importlib
from collections.abc import Mapping

from clusterlets import methods
from clusterlets.methods import Method

#: The module, below ``clusterlets``, that turns a command line into a method.
PROGRAM_MODULE = "supervision.program"


def load_method(entry: Mapping) -> type[Method]:
    """Load the method of a configuration's entry, by its ``path``, ``command`` or ``name``."""
    if "path" in entry:
        return methods.from_file(entry["path"])
    if "command" in entry:
        # Imported by name: an import statement would add the module to the fingerprints of all cells.
        return importlib.import_module(f"clusterlets.{PROGRAM_MODULE}").program(entry["name"], entry["command"])
    return methods.get(entry["name"])
