"""Where the methods of a configuration come from: the package, a file of the user's, or a command line."""

from collections.abc import Mapping

from clusterlets import methods
from clusterlets.methods import Method


def load(entry: Mapping) -> type[Method]:
    """The method of an entry of the configuration: from its ``path``, its ``command``, or else by its ``name``."""
    if "path" in entry:
        return methods.from_file(entry["path"])
    if "command" in entry:
        from clusterlets.grid.program import program  # imported late: few cells start programs

        return program(entry["name"], entry["command"], entry.get("conda", ""))
    return methods.get(entry["name"])


def entries(config: Mapping) -> dict[str, dict]:
    """The entry of each method of a resolved configuration, as :func:`load` reads it."""
    return {name: {"name": name, **grid} for name, grid in config["grids"].items()}
