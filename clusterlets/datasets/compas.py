"""COMPAS, ProPublica's violent two-years file, 2016. The group is two_year_recid, 1 = a new violent offence.

The header repeats decile_score, priors_count and two_year_recid: the first of each counts.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets.datasets.reading import codes, numbers, read_table, texts
from clusterlets.datasets.table import BadData, Table

_FEATURES = tuple(
    (
        "is_male age juv_fel_count decile_score juv_misd_count juv_other_count priors_count days_b_screening_arrest is_recid "
        "days_in_custody is_violent_recid v_decile_score"
    ).split()
)
_DERIVED = {"is_male": "sex", "days_in_custody": "in_custody"}
_CLASS = ("0", "1")
SENSITIVE = {"sex": ("is_male",), "race": (), "age_cat": ("age",)}


def prepare(paths: dict[str, Path]) -> Table:
    """Twelve features; days_in_custody are whole days, and rows without both of its dates are dropped."""
    columns = [_DERIVED.get(feature, feature) for feature in _FEATURES]
    columns += ["out_custody", "race", "age_cat", "two_year_recid"]
    frame = read_table(paths["compas-scores-two-years-violent.csv"], columns)
    frame = frame[(frame["in_custody"] != "") & (frame["out_custody"] != "")].copy()
    frame["days_b_screening_arrest"] = frame["days_b_screening_arrest"].replace("", "-1")
    frame["days_in_custody"] = (_days(frame, "out_custody") - _days(frame, "in_custody")).astype(np.int64)
    frame["is_male"] = codes(frame, "sex", ("Female", "Male"))
    group = codes(frame, "two_year_recid", _CLASS)
    return Table(numbers(frame, _FEATURES), group, _FEATURES, _CLASS, texts(frame, SENSITIVE))


def _days(frame: pd.DataFrame, column: str) -> np.ndarray:
    """Dates (n,) as ``datetime64[D]``."""
    dates = pd.to_datetime(frame[column], format="%Y-%m-%d", errors="coerce")
    if dates.isna().any():
        first = int(dates.isna().to_numpy().argmax())
        cell = frame[column].iloc[first]
        raise BadData(f"{frame.index[first]}: column {column} holds {cell!r}, which is not a date.")
    return dates.to_numpy().astype("datetime64[D]")
