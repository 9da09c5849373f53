"""Breast cancer Wisconsin (Original), UCI 15: W. Wolberg, 1990. The group is the class, 2 benign, 4 malignant."""

from pathlib import Path

from clusterlets.datasets.reading import codes, numbers, read_table
from clusterlets.datasets.table import Table

_FEATURES = tuple(
    (
        "clump_thickness cell_size_uniformity cell_shape_uniformity marginal_adhesion epithelial_cell_size bare_nuclei "
        "bland_chromatin normal_nucleoli mitoses"
    ).split()
)
_CLASS = ("2", "4")


def prepare(paths: dict[str, Path]) -> Table:
    """All columns but the id, without the 16 rows whose bare_nuclei is ``?``: 683 rows.

    The 234 of them that equal an earlier one are dropped afterwards, as ``sources.yaml`` says.
    """
    frame = read_table(paths["breast-cancer-wisconsin.data"], (*_FEATURES, "class"), ("id", *_FEATURES, "class"))
    frame = frame[frame["bare_nuclei"] != "?"]
    return Table(numbers(frame, _FEATURES), codes(frame, "class", _CLASS), _FEATURES, _CLASS)
