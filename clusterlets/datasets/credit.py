"""Australian credit approval (Statlog), UCI 143: R. Quinlan, 1987. The group is the class, 1 = approved.

The paper calls it "credit"; its reported numbers show that it is this one.
"""

from pathlib import Path

from clusterlets.datasets.reading import codes, numbers, read_table, texts
from clusterlets.datasets.table import Table

_HEADER = (*(f"A{i}" for i in range(1, 15)), "class")
_FEATURES = ("A1", "A2", "A3", "A7", "A8", "A9", "A10", "A11", "A13", "A14")
_CLASS = ("0", "1")
SENSITIVE = {"A1": ("A1",)}


def prepare(paths: dict[str, Path]) -> Table:
    """The real-valued and the binary columns; A4, A5, A6, A12 are codes of categories and are left out."""
    frame = read_table(paths["australian.dat"], (*_FEATURES, "class"), _HEADER, separator=" ")
    group = codes(frame, "class", _CLASS)
    return Table(numbers(frame, _FEATURES), group, _FEATURES, _CLASS, texts(frame, SENSITIVE))
