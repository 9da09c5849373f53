"""The limits that every cluster must keep, and multiples of them, which are tested exactly."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from clusterlets.algorithms.limits import Limit, exact_fraction, limit_rows, products
from clusterlets.estimators.groups import column_names
from clusterlets.estimators.inputs import InvalidInput
from clusterlets.grid.cells import format_nested
from clusterlets.methods.fair_limit import FairLimit

#: The method whose clusters keep the limits by construction.
FAIR_LIMIT = FairLimit.name
#: A run is a near miss if it misses the limits but keeps this multiple of them.
NEAR_MISS = 1.5
#: The multiples of the limits that every run is tested for, strictest first.
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
        """Make a requirement from the bounds that are not None. If all are None, the largest deviation is limited to 0.02.

        ``classes`` (K,) or (K, S) and ``groups`` (n,) are the encoded sensitive features. Raises InvalidInput if fair-limit
        would refuse the bounds.
        """
        used_bounds = {name: value for name, value in bounds.items() if value is not None} or {"max_deviation": 0.02}
        max_deviation = used_bounds.get("max_deviation", 0)
        for value in max_deviation.values() if isinstance(max_deviation, Mapping) else [max_deviation]:
            if not isinstance(value, Real) or not 0 <= float(value) <= 1:
                raise InvalidInput(f"max_deviation={value!r} is not a number from 0 to 1.")
        faults = FairLimit().faults(2, **used_bounds)
        if faults:
            raise InvalidInput(f"{faults[0]}.")
        columns = dict(zip(column_names(sensitive_features), np.atleast_2d(classes.T).tolist(), strict=True))
        requirement = cls(used_bounds, columns, np.bincount(groups))
        requirement.limits()  # raises for a column or a group that does not occur
        return requirement

    def scaled_bounds(self, multiple: float) -> Mapping[str, Any]:
        """The bounds, with ``max_deviation`` times ``multiple``, at most 1. Other kinds of bounds have no multiples."""
        max_deviation = self.bounds.get("max_deviation")
        if max_deviation is None:
            return self.bounds
        if isinstance(max_deviation, Mapping):
            return {"max_deviation": {column: _capped_product(number, multiple) for column, number in max_deviation.items()}}
        return {"max_deviation": _capped_product(max_deviation, multiple)}

    def limits(self, multiple: float = 1.0) -> tuple[list[Limit], np.ndarray]:
        """The limits that ``scaled_bounds(multiple)`` imply, and the level of each group in each sensitive column (K, S)."""
        method = FairLimit()
        method.sensitive_columns = self.columns
        return method.limits(self.totals, range(len(self.totals)), **self.scaled_bounds(multiple))

    def least_multiple(self, counts: np.ndarray) -> float:
        """The smallest of :data:`MULTIPLES` of the limits that all clusters keep, or infinity.

        ``counts`` (K, k) holds the number of rows of each group in each cluster.
        """
        for multiple in MULTIPLES if "max_deviation" in self.bounds else [1.0]:
            rows = limit_rows(*self.limits(multiple), self.totals)
            if (products(rows, counts) <= 0).all():
                return multiple
        return math.inf

    def compared_multiples(self) -> dict[str, float]:
        """The multiples of the limits that a recommendation compares, by their labels."""
        max_deviation = self.bounds.get("max_deviation")
        if max_deviation is None:
            return {"the limits": 1.0}
        if isinstance(max_deviation, Mapping):
            return {"half the limits": 0.5, "the limits": 1.0, "twice the limits": 2.0}
        return {f"limit {self.scaled_bounds(multiple)['max_deviation']:g}": multiple for multiple in (0.5, 1.0, 2.0)}

    def delta(self, one_row: float) -> float:
        """The largest delta whose bounds imply the limits, rounded down to five significant digits; 0 if there is none.

        The bounds are r (1 - delta) <= p <= r / (1 - delta) for the shares r of a level in the table and p in a cluster. A
        cluster may miss them by one row, which is the share ``one_row`` of its rows.
        """
        r, lowest, highest = self._share_intervals()
        lowest, highest = np.minimum(r, lowest + one_row), np.maximum(r, highest - one_row)

        def implies_limits(delta: float) -> bool:
            # The shares of a cluster add up to 1, so the other levels' bounds also limit how far p can be from r.
            max_above = np.minimum(r * delta / (1 - delta), (1 - r) * delta)
            max_below = np.minimum(r * delta, (1 - r) * delta / (1 - delta))
            return bool((r + max_above <= highest).all() and (r - max_below >= lowest).all())

        low, high = 0.0, 1.0
        for _ in range(40):  # bisection, to within 1e-12
            middle = (low + high) / 2
            low, high = (middle, high) if implies_limits(middle) else (low, middle)
        factor = 10 ** (4 - math.floor(math.log10(low))) if low > 1e-9 else 1
        return math.floor(low * factor) / factor

    def _share_intervals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each level's share in the table, and an interval of its shares in a cluster. The intervals imply the limits."""
        limits, levels = self.limits()
        pairs = [(column, int(level)) for column, codes in enumerate(levels.T) for level in np.unique(codes)]
        indices = {pair: index for index, pair in enumerate(pairs)}
        r = np.array([self.totals[levels[:, column] == level].sum() / self.totals.sum() for column, level in indices])
        lowest, highest = np.zeros(len(r)), np.ones(len(r))
        for limit in limits:
            index, fraction = indices[limit.column, limit.level], float(limit.fraction)
            if limit.of_level is not None:  # count of one level <= fraction * count of another level
                # This ratio stays within its limit if each of the two shares changes by at most the factor ``root``.
                other = indices[limit.column, limit.of_level]
                root = math.sqrt(fraction * r[other] / r[index])
                highest[index], lowest[other] = min(highest[index], r[index] * root), max(lowest[other], r[other] / root)
            elif limit.all_but:
                lowest[index] = max(lowest[index], 1 - fraction)
            else:
                highest[index] = min(highest[index], fraction)
        return r, lowest, highest

    def __str__(self) -> str:
        max_deviation = self.bounds.get("max_deviation")
        if max_deviation is None:
            ((name, value),) = self.bounds.items()
            return f"within {name} {format_nested({name: value}).partition('=')[2]}"
        if isinstance(max_deviation, Mapping):
            text = ", ".join(f"{number:g} ({column})" for column, number in max_deviation.items())
        else:
            text = max_deviation if isinstance(max_deviation, str) else f"{float(max_deviation):g}"
        return f"within {text} of the table's shares"


def _capped_product(number: float | str | Fraction, multiple: float) -> float:
    return min(1.0, float(exact_fraction(number) * Fraction(multiple)))
