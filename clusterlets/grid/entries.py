"""Where the methods of a configuration come from: the package, a user's file, or a command line."""

import importlib
from collections.abc import Mapping

from clusterlets import methods
from clusterlets.methods import Method

#: The module that makes a method of a command line.
PROGRAM = "grid.program"


def load(entry: Mapping) -> type[Method]:
    """The method of an entry of the configuration: from its ``path``, its ``command``, or else by its ``name``."""
    if "path" in entry:
        return methods.from_file(entry["path"])
    if "command" in entry:
        # Imported late and by name: few cells start programs, and only these depend on the module.
        return importlib.import_module(f"clusterlets.{PROGRAM}").program(
            entry["name"], entry["command"], entry.get("conda", "")
        )
    return methods.get(entry["name"])
