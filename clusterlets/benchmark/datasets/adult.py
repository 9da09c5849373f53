"""Adult (census income), UCI dataset 2: B. Becker, R. Kohavi, 1996. The group says whether the income is above 50K.

All 48,842 rows of both files are kept. The paper's authors use a 75 % sample of these rows, whose seed is unknown.
"""

from pathlib import Path

import pandas as pd

from clusterlets.tables.reading import age_groups, codes, numbers, read_table, texts
from clusterlets.tables.table import Table

_HEADER = tuple(
    (
        "age workclass fnlwgt education education_num marital_status occupation relationship race sex capital_gain "
        "capital_loss hours_per_week native_country income"
    ).split()
)
_FEATURES = ("age", "capital_gain", "capital_loss", "education", "fnlwgt", "hours_per_week", "is_male")
_EDUCATION_LEVELS = tuple(
    (
        "Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Assoc-acdm Assoc-voc Some-college Bachelors Masters "
        "Doctorate Prof-school"
    ).split()
)
_INCOME_CLASSES = ("<=50K", ">50K")
SENSITIVE = {"sex": ("is_male",), "race": (), "age_group": ("age",)}  # each attribute with the features that reveal it
_COLUMNS = ("age", "capital_gain", "capital_loss", "education", "fnlwgt", "hours_per_week", "sex", "race", "income")


def prepare(paths: dict[str, Path]) -> Table:
    """Seven features. In ``adult.test``, the first line is a comment (``|``), and the labels end in a full stop."""
    files = [paths["adult.data"], paths["adult.test"]]
    frame = pd.concat([read_table(path, _COLUMNS, _HEADER, comment="|") for path in files])
    frame["income"] = frame["income"].str.removesuffix(".")
    frame["education"] = codes(frame, "education", _EDUCATION_LEVELS)
    frame["age_group"] = age_groups(frame, "age")
    frame["is_male"] = codes(frame, "sex", ("Female", "Male"))
    groups = codes(frame, "income", _INCOME_CLASSES)
    return Table(numbers(frame, _FEATURES), groups, _FEATURES, tuple(zip(_INCOME_CLASSES)), texts(frame, SENSITIVE))
