"""Probable mistakes in a table: identifiers as features, unlike scales, a measurement as the sensitive group."""

import re

import numpy as np

from clusterlets.datasets.table import Table

# "id", "person_id" and "personID", but neither "paid" nor "humid".
_NAMED = re.compile(r"(?:^|[^A-Za-z])[Ii][Dd](?:$|[^A-Za-z])|[a-z](?:Id|ID)$|^(?:index|uuid|rowid|row_number)$")
_FEWEST = 10  # rows below which whole numbers differ by chance
#: Largest acceptable ratio between the standard deviations of two features.
LARGEST_RATIO = 100.0
#: Sensitive groups above which their column is more likely a measurement than a group.
MAX_GROUPS = 20


def identifiers(table: Table) -> dict[str, str]:
    """Features that look like identifiers, with the reason: the name, or whole numbers that all differ. O(n d log n)."""
    reasons = {}
    for name, values in zip(table.feature_names, table.X.T, strict=True):
        if _NAMED.search(name):
            reasons[name] = "its name"
        elif len(values) >= _FEWEST and (values == np.floor(values)).all() and len(np.unique(values)) == len(values):
            consecutive = np.ptp(values) == len(values) - 1
            reasons[name] = "consecutive numbers" if consecutive else "whole numbers that all differ"
    return reasons


def unlike_scales(table: Table) -> tuple[str, str, float] | None:
    """The features of the largest and the smallest standard deviation, and their ratio, if above :data:`LARGEST_RATIO`. O(n d).

    Features that never vary do not count.
    """
    spread = table.X.std(axis=0)
    varies = np.flatnonzero(np.ptp(table.X, axis=0) > 0)
    most, least = varies[spread[varies].argmax()], varies[spread[varies].argmin()]
    ratio = float(spread[most] / spread[least])
    return (table.feature_names[most], table.feature_names[least], ratio) if ratio > LARGEST_RATIO else None
