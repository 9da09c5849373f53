"""Pima Indians diabetes, NIDDK, 1990. The group is Outcome.

Copies are published with and without a header line; the columns are the same, so their names are given here.
"""

from pathlib import Path

from clusterlets.datasets.reading import age_groups, codes, numbers, read_table, texts
from clusterlets.datasets.table import Table

_FEATURES = tuple("Pregnancies Glucose BloodPressure SkinThickness Insulin BMI DiabetesPedigreeFunction Age".split())
_CLASS = ("0", "1")
SENSITIVE = {"age_group": ("Age",)}


def prepare(paths: dict[str, Path]) -> Table:
    """All columns but the class."""
    path = paths["diabetes.csv"]
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        has_header = file.readline()[:1].isalpha()
    frame = read_table(path, (*_FEATURES, "Outcome"), (*_FEATURES, "Outcome"), skip=int(has_header))
    frame["age_group"] = age_groups(frame, "Age")
    group = codes(frame, "Outcome", _CLASS)
    return Table(numbers(frame, _FEATURES), group, _FEATURES, _CLASS, texts(frame, SENSITIVE))
