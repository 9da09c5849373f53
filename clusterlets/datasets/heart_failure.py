"""Heart failure clinical records, UCI 519: D. Chicco, G. Jurman, 2020. The colour is DEATH_EVENT."""

from pathlib import Path

from clusterlets.datasets.reading import codes, numbers, read_table
from clusterlets.datasets.table import Table

_FEATURES = (
    "age", "anaemia", "creatinine_phosphokinase", "diabetes", "ejection_fraction", "high_blood_pressure", "platelets",
    "serum_creatinine", "serum_sodium", "sex", "smoking", "time",
)
_CLASS = ("0", "1")


def prepare(paths: dict[str, Path]) -> Table:
    """All columns but the class."""
    frame = read_table(paths["heart_failure_clinical_records_dataset.csv"], (*_FEATURES, "DEATH_EVENT"))
    return Table(numbers(frame, _FEATURES), codes(frame, "DEATH_EVENT", _CLASS), _FEATURES, _CLASS)
