"""Heart failure clinical records, UCI dataset 519: D. Chicco, G. Jurman, 2020. The group is DEATH_EVENT; 1 is death."""

from pathlib import Path

from clusterlets.tables.reading import age_groups, codes, numbers, read_table, texts
from clusterlets.tables.table import Table

_FEATURES = tuple(
    (
        "age anaemia creatinine_phosphokinase diabetes ejection_fraction high_blood_pressure platelets serum_creatinine "
        "serum_sodium sex smoking time"
    ).split()
)
_CLASSES = ("0", "1")
_SEX = {"0": "woman", "1": "man"}
SENSITIVE = {"sex": ("sex",), "age_group": ("age",)}  # each attribute with the features that reveal it


def prepare(paths: dict[str, Path]) -> Table:
    """All columns except the class."""
    frame = read_table(paths["heart_failure_clinical_records_dataset.csv"], (*_FEATURES, "DEATH_EVENT"))
    X = numbers(frame, _FEATURES)  # before sex becomes text
    groups = codes(frame, "DEATH_EVENT", _CLASSES)
    frame["age_group"] = age_groups(frame, "age")
    frame["sex"] = frame["sex"].replace(_SEX)
    return Table(X, groups, _FEATURES, tuple(zip(_CLASSES)), texts(frame, SENSITIVE))
