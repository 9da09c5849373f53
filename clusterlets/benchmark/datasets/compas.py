"""COMPAS: ProPublica's file on violent offences within two years, 2016. The group is two_year_recid; 1 is a new offence.

The file has decile_score, priors_count and two_year_recid twice. The first column of each name is used.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets.tables.reading import codes, numbers, read_table, texts
from clusterlets.tables.table import BadData, Table

_FEATURES = tuple(
    (
        "is_male age juv_fel_count decile_score juv_misd_count juv_other_count priors_count days_b_screening_arrest is_recid "
        "days_in_custody is_violent_recid v_decile_score"
    ).split()
)
_RAW_COLUMNS = {"is_male": "sex", "days_in_custody": "in_custody"}  # the columns from which these features are computed
_CLASSES = ("0", "1")
SENSITIVE = {"sex": ("is_male",), "race": (), "age_cat": ("age",)}  # each attribute with the features that reveal it


def prepare(paths: dict[str, Path]) -> Table:
    """Twelve features. days_in_custody counts whole days; rows without the first or last date of custody are dropped."""
    columns = [_RAW_COLUMNS.get(feature, feature) for feature in _FEATURES]
    columns += ["out_custody", "race", "age_cat", "two_year_recid"]
    frame = read_table(paths["compas-scores-two-years-violent.csv"], columns)
    frame = frame[(frame["in_custody"] != "") & (frame["out_custody"] != "")].copy()
    frame["days_b_screening_arrest"] = frame["days_b_screening_arrest"].replace("", "-1")
    frame["days_in_custody"] = (_parse_dates(frame, "out_custody") - _parse_dates(frame, "in_custody")).astype(np.int64)
    frame["is_male"] = codes(frame, "sex", ("Female", "Male"))
    groups = codes(frame, "two_year_recid", _CLASSES)
    return Table(numbers(frame, _FEATURES), groups, _FEATURES, tuple(zip(_CLASSES)), texts(frame, SENSITIVE))


def _parse_dates(frame: pd.DataFrame, column: str) -> np.ndarray:
    """A column as ``datetime64[D]`` (n,). Raises BadData if a cell is not a date."""
    dates = pd.to_datetime(frame[column], format="%Y-%m-%d", errors="coerce")
    if dates.isna().any():
        first_invalid = int(dates.isna().to_numpy().argmax())
        cell = frame[column].iloc[first_invalid]
        raise BadData(f"{frame.index[first_invalid]}: column {column} holds {cell!r}, which is not a date.")
    return dates.to_numpy().astype("datetime64[D]")
