"""Australian credit approval (Statlog), UCI dataset 143: R. Quinlan, 1987. The group is the class; 1 is approved.

The paper only says "credit". The numbers that it reports show that it means this dataset.
"""

from pathlib import Path

from clusterlets.tables.reading import codes, numbers, read_table, texts
from clusterlets.tables.table import Table

_HEADER = (*(f"A{i}" for i in range(1, 15)), "class")
_FEATURES = ("A1", "A2", "A3", "A7", "A8", "A9", "A10", "A11", "A13", "A14")
_CLASSES = ("0", "1")
SENSITIVE = {"A1": ("A1",)}  # each attribute with the features that reveal it


def prepare(paths: dict[str, Path]) -> Table:
    """The real-valued and the binary columns. A4, A5, A6 and A12 are left out, because they are codes of categories."""
    frame = read_table(paths["australian.dat"], (*_FEATURES, "class"), _HEADER, separator=" ")
    groups = codes(frame, "class", _CLASSES)
    return Table(numbers(frame, _FEATURES), groups, _FEATURES, tuple(zip(_CLASSES)), texts(frame, SENSITIVE))
