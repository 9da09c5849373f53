"""NBFI vehicle loans, Kaggle "Automobile loan default" (Train_Dataset.csv). The group is Default; 1 means not repaid.

This module was written from a description of the file, without a copy of it. So numbers of rows or features
that differ from those in ``sources.yaml`` only cause a warning (``strict: false``).
"""

from pathlib import Path

from clusterlets.tables.reading import codes, numbers, read_table, texts
from clusterlets.tables.table import BadData, Table

_MISSING_MARKS = ("", "$", "##", "&", "@", "#", "x", "#VALUE!")
_DROPPED_COLUMNS = ("ID", "Own_House_Age", "Type_Organization", "Phone_Change")
_TEXT_COLUMNS = tuple(
    "Accompany_Client Client_Income_Type Client_Marital_Status Loan_Contract_Type Client_Housing_Type Client_Occupation".split()
)
_REQUIRED_COLUMNS = tuple(
    (
        "Client_Income Client_Education Child_Count Client_Marital_Status Application_Process_Hour Client_Permanent_Match_Tag "
        "Client_Contact_Work_Tag Score_Source_1 Score_Source_2 Score_Source_3 Credit_Bureau Credit_Amount Loan_Annuity "
        "Accompany_Client Population_Region_Relative Client_Occupation Client_Family_Members Social_Circle_Default"
    ).split()
)
_EDUCATION_LEVELS = ("Junior secondary", "Secondary", "Graduation dropout", "Graduation", "Post Grad")
_BOOLEAN_VALUES = (("No", "Yes"), ("Female", "Male"))
_CLASSES = ("0", "1")
SENSITIVE = {"Client_Gender": ("Client_Gender",), "Client_Marital_Status": ()}  # each with the features that reveal it


def prepare(paths: dict[str, Path]) -> Table:
    """All numeric and boolean columns. Rows that lack a value in any of these or any of ``_REQUIRED_COLUMNS`` are dropped."""
    frame = read_table(paths["Train_Dataset.csv"])
    missing = [column for column in (*_DROPPED_COLUMNS, *_TEXT_COLUMNS, *_REQUIRED_COLUMNS, "Default") if column not in frame]
    if missing:
        raise BadData(f"Train_Dataset.csv has no column {', '.join(missing)}.")
    features = tuple(column for column in frame if column not in (*_DROPPED_COLUMNS, *_TEXT_COLUMNS, "Default"))
    required = list(dict.fromkeys((*features, *_REQUIRED_COLUMNS)))
    frame = frame[~frame[required].isin(_MISSING_MARKS).any(axis=1)].copy()
    sensitive = texts(frame, SENSITIVE)
    frame["Client_Education"] = codes(frame, "Client_Education", _EDUCATION_LEVELS)
    for column in features:
        for pair in _BOOLEAN_VALUES:
            if frame[column].isin(pair).all():
                frame[column] = codes(frame, column, pair)
    return Table(numbers(frame, features), codes(frame, "Default", _CLASSES), features, tuple(zip(_CLASSES)), sensitive)
