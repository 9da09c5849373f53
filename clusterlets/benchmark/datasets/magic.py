"""MAGIC gamma telescope, UCI dataset 159: R. Bock, 2004. The group is the class: h (hadron) or g (gamma, positive)."""

from pathlib import Path

from clusterlets.tables.reading import codes, numbers, read_table
from clusterlets.tables.table import Table

_FEATURES = ("fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym", "fM3Long", "fM3Trans", "fAlpha", "fDist")
_CLASSES = ("h", "g")


def prepare(paths: dict[str, Path]) -> Table:
    """All columns except the class."""
    frame = read_table(paths["magic04.data"], (*_FEATURES, "class"), (*_FEATURES, "class"))
    return Table(numbers(frame, _FEATURES), codes(frame, "class", _CLASSES), _FEATURES, tuple(zip(_CLASSES)))
