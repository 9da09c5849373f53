"""MAGIC gamma telescope, UCI 159: R. Bock, 2004. The group is the class; positive is g (gamma), not h (hadron)."""

from pathlib import Path

from clusterlets.datasets.reading import codes, numbers, read_table
from clusterlets.datasets.table import Table

_FEATURES = ("fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym", "fM3Long", "fM3Trans", "fAlpha", "fDist")
_CLASS = ("h", "g")


def prepare(paths: dict[str, Path]) -> Table:
    """All columns but the class."""
    frame = read_table(paths["magic04.data"], (*_FEATURES, "class"), (*_FEATURES, "class"))
    return Table(numbers(frame, _FEATURES), codes(frame, "class", _CLASS), _FEATURES, _CLASS)
