"""What every cluster of a table must keep: limits as fair-limit takes them, in whole numbers, and multiples of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from clusterlets.algorithms.limits import Limit, exact, limit_rows, products
from clusterlets.estimators.groups import column_names
from clusterlets.estimators.inputs import InvalidInput
from clusterlets.grid.cells import in_words
from clusterlets.methods.fair_limit import FairLimit

#: The method whose clusters keep the limits by construction.
LIMITED = FairLimit.name
#: The multiples of the limits that a run is tested for, strictest first. One that keeps ``NEAR_MISS`` times the limits misses
#: them by little.
NEAR_MISS = 1.5
MULTIPLES = (0.5, 1.0, NEAR_MISS, 2.0)


@dataclass(frozen=True)
class Requirement:
    """Limits on the groups of every cluster.

    Attributes
    ----------
    bounds : mapping
        The limits as parameters of fair-limit: ``max_deviation``, ``shares`` or ``min_ratio``.
    columns : mapping of str to sequence (K,)
        The value of each group in each sensitive column.
    totals : int array (K,)
        Rows of each group.
    """

    bounds: Mapping[str, Any]
    columns: Mapping[Any, Sequence[Any]]
    totals: np.ndarray

    @classmethod
    def of(cls, sensitive_features, classes: np.ndarray, groups: np.ndarray, bounds: Mapping[str, Any]) -> "Requirement":
        """The limits of ``bounds`` that are not None, else a deviation of 0.02.

        ``classes`` (K,) or (K, S) and ``groups`` (n,) are the encoded sensitive features. InvalidInput for limits that
        fair-limit does not take, and for two kinds of them.
        """
        given = {name: value for name, value in bounds.items() if value is not None} or {"max_deviation": 0.02}
        largest = given.get("max_deviation", 0)
        for value in largest.values() if isinstance(largest, Mapping) else [largest]:
            if not isinstance(value, Real) or not 0 <= float(value) <= 1:
                raise InvalidInput(f"max_deviation={value!r} is not a number from 0 to 1.")
        faults = FairLimit().faults(2, **given)
        if faults:
            raise InvalidInput(f"{faults[0]}.")
        columns = dict(zip(column_names(sensitive_features), np.atleast_2d(classes.T).tolist(), strict=True))
        requirement = cls(given, columns, np.bincount(groups))
        requirement.limits()  # raises for columns and groups that do not occur
        return requirement

    def times(self, multiple: float) -> Mapping[str, Any]:
        """The bounds, with this multiple of the largest deviations, at most 1; bounds of other kinds have no multiples."""
        value = self.bounds.get("max_deviation")
        if value is None:
            return self.bounds
        if isinstance(value, Mapping):
            return {"max_deviation": {column: _scaled(number, multiple) for column, number in value.items()}}
        return {"max_deviation": _scaled(value, multiple)}

    def limits(self, multiple: float = 1.0) -> tuple[list[Limit], np.ndarray]:
        """The limits at this multiple, and the levels (K, S) of the groups in the sensitive columns."""
        method = FairLimit()
        method.sensitive_columns = self.columns
        return method.limits(self.totals, range(len(self.totals)), **self.times(multiple))

    def least_multiple(self, counts: np.ndarray) -> float:
        """The least of :data:`MULTIPLES` of the limits that counts (K, k) of the groups in clusters keep, or infinity."""
        for multiple in MULTIPLES if "max_deviation" in self.bounds else [1.0]:
            rows = limit_rows(*self.limits(multiple), self.totals)
            if (products(rows, counts) <= 0).all():
                return multiple
        return math.inf

    def compared(self) -> dict[str, float]:
        """The multiples of the limits to compare, by their names in a table; a single one if all are the same."""
        value = self.bounds.get("max_deviation")
        if value is None:
            return {"the limits": 1.0}
        if isinstance(value, Mapping):
            return {"half the limits": 0.5, "the limits": 1.0, "twice the limits": 2.0}
        return {f"limit {self.times(multiple)['max_deviation']:g}": multiple for multiple in (0.5, 1.0, 2.0)}

    def delta(self, one_row: float) -> float:
        """The largest delta, rounded down to four digits, whose bounds imply the limits; 0 if none does.

        The bounds are r (1 - delta) <= p <= r / (1 - delta) for every share r, up to a row of a cluster, whose share is
        ``one_row``; shares of a cluster add up to 1.
        """
        r, least, most = self._intervals()
        least, most = np.minimum(r, least + one_row), np.maximum(r, most - one_row)

        def implies(delta: float) -> bool:
            above = np.minimum(r * delta / (1 - delta), (1 - r) * delta)
            below = np.minimum(r * delta, (1 - r) * delta / (1 - delta))
            return bool((r + above <= most).all() and (r - below >= least).all())

        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if implies(middle) else (low, middle)
        digits = 10 ** (4 - math.floor(math.log10(low))) if low > 1e-9 else 1
        return math.floor(low * digits) / digits

    def _intervals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Share of every level of every column, and the least and largest one in a cluster that imply the limits."""
        limits, levels = self.limits()
        all_levels = [(column, int(level)) for column, codes in enumerate(levels.T) for level in np.unique(codes)]
        indices = {level: index for index, level in enumerate(all_levels)}
        r = np.array([self.totals[levels[:, column] == level].sum() / self.totals.sum() for column, level in indices])
        least, most = np.zeros(len(r)), np.ones(len(r))
        for limit in limits:
            index, fraction = indices[limit.column, limit.level], float(limit.fraction)
            if limit.of_level is not None:  # count of one level <= fraction * that of another
                other = indices[limit.column, limit.of_level]
                root = math.sqrt(fraction * r[other] / r[index])
                most[index], least[other] = min(most[index], r[index] * root), max(least[other], r[other] / root)
            elif limit.all_but:
                least[index] = max(least[index], 1 - fraction)
            else:
                most[index] = min(most[index], fraction)
        return r, least, most

    def __str__(self) -> str:
        value = self.bounds.get("max_deviation")
        if value is None:
            ((name, value),) = self.bounds.items()
            return f"within {name} {in_words({name: value}).partition('=')[2]}"
        if isinstance(value, Mapping):
            value = ", ".join(f"{number:g} ({column})" for column, number in value.items())
        return f"within {value if isinstance(value, str) else f'{float(value):g}'} of the table's shares"


def _scaled(number: float | str | Fraction, multiple: float) -> float:
    return min(1.0, float(exact(number) * Fraction(multiple)))
