"""Bank marketing, UCI dataset 222: S. Moro, P. Rita, P. Cortez, 2014. The group says if the client subscribed to a deposit."""

from pathlib import Path

from clusterlets.tables.reading import age_groups, codes, numbers, read_table, texts
from clusterlets.tables.table import Table

_FEATURES = ("age", "education", "default", "balance", "housing", "loan", "campaign", "pdays", "previous")
_EDUCATION_LEVELS = ("unknown", "primary", "secondary", "tertiary")
_NO_YES = ("no", "yes")
SENSITIVE = {"marital": (), "age_group": ("age",)}  # each attribute with the features that reveal it


def prepare(paths: dict[str, Path]) -> Table:
    """Nine features. Education is ordinal, and its lowest level is ``unknown``. default, housing and loan are booleans."""
    frame = read_table(paths["bank-full.csv"], (*_FEATURES, "marital", "y"), separator=";")
    frame["age_group"] = age_groups(frame, "age")
    frame["education"] = codes(frame, "education", _EDUCATION_LEVELS)
    for column in ("default", "housing", "loan"):
        frame[column] = codes(frame, column, _NO_YES)
    return Table(numbers(frame, _FEATURES), codes(frame, "y", _NO_YES), _FEATURES, tuple(zip(_NO_YES)), texts(frame, SENSITIVE))
