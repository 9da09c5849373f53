"""Pima Indians diabetes, NIDDK, 1990. The group is Outcome; 1 is diabetes.

Some published copies have a header line, and others do not. All have the same columns.
"""

from pathlib import Path

from clusterlets.tables.reading import age_groups, codes, numbers, read_table, texts
from clusterlets.tables.table import Table

_FEATURES = tuple("Pregnancies Glucose BloodPressure SkinThickness Insulin BMI DiabetesPedigreeFunction Age".split())
_CLASSES = ("0", "1")
SENSITIVE = {"age_group": ("Age",)}  # each attribute with the features that reveal it


def prepare(paths: dict[str, Path]) -> Table:
    """All columns except the class."""
    path = paths["diabetes.csv"]
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        has_header = file.readline()[:1].isalpha()
    frame = read_table(path, (*_FEATURES, "Outcome"), (*_FEATURES, "Outcome"), skip=int(has_header))
    frame["age_group"] = age_groups(frame, "Age")
    groups = codes(frame, "Outcome", _CLASSES)
    return Table(numbers(frame, _FEATURES), groups, _FEATURES, tuple(zip(_CLASSES)), texts(frame, SENSITIVE))
