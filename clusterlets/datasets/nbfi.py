"""NBFI vehicle loans, Kaggle "Automobile loan default" (Train_Dataset.csv). The group is Default, 1 = did not repay.

Written from the file's description, as no copy was available; so a table that does not fit is a warning (``strict: false``).
"""

from pathlib import Path

from clusterlets.datasets.reading import codes, numbers, read_table, texts
from clusterlets.datasets.table import BadData, Table

_MISSING = ("", "$", "##", "&", "@", "#", "x", "#VALUE!")
_DROPPED = ("ID", "Own_House_Age", "Type_Organization", "Phone_Change")
_TEXT = tuple(
    "Accompany_Client Client_Income_Type Client_Marital_Status Loan_Contract_Type Client_Housing_Type Client_Occupation".split()
)
_MUST_BE_KNOWN = tuple(
    (
        "Client_Income Client_Education Child_Count Client_Marital_Status Application_Process_Hour Client_Permanent_Match_Tag "
        "Client_Contact_Work_Tag Score_Source_1 Score_Source_2 Score_Source_3 Credit_Bureau Credit_Amount Loan_Annuity "
        "Accompany_Client Population_Region_Relative Client_Occupation Client_Family_Members Social_Circle_Default"
    ).split()
)
_EDUCATION = ("Junior secondary", "Secondary", "Graduation dropout", "Graduation", "Post Grad")
_TWO_VALUED = (("No", "Yes"), ("Female", "Male"))
_CLASS = ("0", "1")
SENSITIVE = {"Client_Gender": ("Client_Gender",), "Client_Marital_Status": ()}


def prepare(paths: dict[str, Path]) -> Table:
    """All numeric and boolean columns of the rows without a missing value in them or in the columns above."""
    frame = read_table(paths["Train_Dataset.csv"])
    absent = [column for column in (*_DROPPED, *_TEXT, *_MUST_BE_KNOWN, "Default") if column not in frame]
    if absent:
        raise BadData(f"Train_Dataset.csv has no column {', '.join(absent)}.")
    features = tuple(column for column in frame if column not in (*_DROPPED, *_TEXT, "Default"))
    needed = list(dict.fromkeys((*features, *_MUST_BE_KNOWN)))
    frame = frame[~frame[needed].isin(_MISSING).any(axis=1)].copy()
    sensitive = texts(frame, SENSITIVE)
    frame["Client_Education"] = codes(frame, "Client_Education", _EDUCATION)
    for column in features:
        for pair in _TWO_VALUED:
            if frame[column].isin(pair).all():
                frame[column] = codes(frame, column, pair)
    return Table(numbers(frame, features), codes(frame, "Default", _CLASS), features, _CLASS, sensitive)
