"""Breast cancer Wisconsin (Original), UCI dataset 15: W. Wolberg, 1990. The group is the class: 2 is benign, 4 malignant."""

from pathlib import Path

from clusterlets.tables.reading import codes, numbers, read_table
from clusterlets.tables.table import Table

_FEATURES = tuple(
    (
        "clump_thickness cell_size_uniformity cell_shape_uniformity marginal_adhesion epithelial_cell_size bare_nuclei "
        "bland_chromatin normal_nucleoli mitoses"
    ).split()
)
_CLASSES = ("2", "4")


def prepare(paths: dict[str, Path]) -> Table:
    """All columns except id and class. The 16 rows without bare_nuclei (``?``) are dropped, which leaves 683.

    Of these, :func:`clusterlets.benchmark.datasets.prepare` drops 234 duplicates, because ``sources.yaml`` says so.
    """
    frame = read_table(paths["breast-cancer-wisconsin.data"], (*_FEATURES, "class"), ("id", *_FEATURES, "class"))
    frame = frame[frame["bare_nuclei"] != "?"]
    return Table(numbers(frame, _FEATURES), codes(frame, "class", _CLASSES), _FEATURES, tuple(zip(_CLASSES)))
