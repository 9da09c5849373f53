"""Limits on the groups of every cluster, in whole numbers.

A limit bounds one count in a cluster by another: ``count of A <= f * count of B``. A consists of the instances with a level of
a sensitive column, or of all others. B is the whole cluster, or the instances that have a different level. A group is a
combination of levels, one of each column. So every limit can be written as a row of whole numbers for the counts of the groups,
and a cluster keeps the limits if ``rows @ counts <= 0``.

Counts are at most n, the number of instances. So f can be replaced by the largest fraction up to f whose denominator is at most
n: exactly the same counts meet both. The replacement keeps all products far below 64 bits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from clusterlets.errors import ClusterletsError


def exact(number: float | str | Fraction) -> Fraction:
    """The exact number. A float stands for its shortest decimal, so .03 is 3/100, although its binary value is less."""
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


@dataclass(frozen=True)
class Limit:
    """``count of A <= fraction * count of B`` in every cluster.

    A is the instances with ``level`` of ``column``, or with ``all_but`` the other instances. B is the instances with
    ``of_level`` of the same column, or all instances if it is None.
    """

    column: int
    level: int
    fraction: Fraction
    all_but: bool = False
    of_level: int | None = None


def deviation_limits(levels: np.ndarray, counts: np.ndarray, max_deviations: Sequence[Fraction]) -> list[Limit]:
    """Limits on deviation: no level's share differs from that in the table by more than the column's ``max_deviations`` (S,).

    ``levels`` (K, S) are those of the groups, and ``counts`` (K,) the groups' counts in the table.
    """
    limits = []
    for column, deviation in enumerate(max_deviations):
        for level, share in enumerate(_shares(levels[:, column], counts)):
            limits += _between(column, level, share - deviation, share + deviation)
    return limits


def share_limits(column: int, bounds: Mapping[int, tuple[Fraction, Fraction]]) -> list[Limit]:
    """Limits that keep the share of each level in ``bounds`` between its two numbers."""
    return [limit for level, (least, most) in bounds.items() for limit in _between(column, level, least, most)]


def ratio_limits(levels: np.ndarray, counts: np.ndarray, min_ratios: Sequence[Fraction]) -> list[Limit]:
    """Limits on ratios: the ratio of two levels' counts is at least the column's ``min_ratios`` (S,) times that in the table.

    ``levels`` (K, S) are those of the groups, and ``counts`` (K,) the groups' counts in the table.
    """
    limits = []
    for column, ratio in enumerate(min_ratios):
        shares = _shares(levels[:, column], counts)
        limits += [
            Limit(column, one, shares[one] / (ratio * shares[other]), of_level=other)
            for one in range(len(shares))
            for other in range(len(shares))
            if one != other and ratio and shares[one] and shares[other]
        ]
    return limits


def _shares(levels: np.ndarray, counts: np.ndarray) -> list[Fraction]:
    totals = np.bincount(levels, counts).astype(np.int64)
    return [Fraction(int(total), int(counts.sum())) for total in totals]


def _between(column: int, level: int, least: Fraction, most: Fraction) -> list[Limit]:
    return [Limit(column, level, most), Limit(column, level, 1 - least, all_but=True)]


def limit_rows(limits: Sequence[Limit], levels: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """The limits as rows (R, K) of whole numbers: a cluster with counts m (K,) keeps them if ``rows @ m <= 0``.

    ``levels`` (K, S) are those of the groups, and ``totals`` (K,) the numbers of instances to be assigned. Limits that every
    cluster keeps are left out. If several bound the same counts, only the strictest is kept.
    """
    fractions: dict[tuple[bytes, bytes], tuple[np.ndarray, np.ndarray, Fraction]] = {}
    for limit in limits:
        part = (levels[:, limit.column] == limit.level) ^ limit.all_but
        whole = np.full(len(levels), True) if limit.of_level is None else levels[:, limit.column] == limit.of_level
        if not part.any() or (limit.fraction >= 1 and whole[part].all()):
            continue
        key = part.tobytes(), whole.tobytes()
        if key not in fractions or limit.fraction < fractions[key][2]:
            fractions[key] = part, whole, limit.fraction
    rows = np.zeros((len(fractions), len(levels)), dtype=np.int64)
    for row, (part, whole, fraction) in zip(rows, fractions.values(), strict=True):
        below = fraction_below(fraction, max(1, int(totals[whole].sum())))
        row += below.denominator * part.astype(np.int64) - below.numerator * whole.astype(np.int64)
    return rows


def fraction_below(number: Fraction, largest_denominator: int) -> Fraction:
    """The largest fraction up to ``number`` whose denominator is at most ``largest_denominator``."""
    closest = number.limit_denominator(largest_denominator)
    if closest <= number:
        return closest
    # The result is the lower neighbour of p/q in the Farey sequence: a/b with p b - q a = 1 and the largest possible b.
    p, q = closest.numerator, closest.denominator
    b = pow(p, -1, q)
    b += q * ((largest_denominator - b) // q)
    return Fraction((p * b - 1) // q, b)


def levels_of_groups(columns: Sequence[Sequence]) -> tuple[np.ndarray, list[list]]:
    """Levels (K, S) of the groups, and the names of each column's levels.

    ``columns`` (S, K) holds, for each sensitive column, its value in every group.
    """
    names = [list(dict.fromkeys(column)) for column in columns]
    levels = np.array([[present.index(value) for value in column] for present, column in zip(names, columns, strict=True)])
    return np.ascontiguousarray(levels.T, dtype=np.int64), names


def largest_deviation(counts: np.ndarray, levels: np.ndarray, reference: np.ndarray | None = None) -> Fraction:
    """The exact largest difference between the share of a level in a cluster and its share in the table.

    ``counts`` (K, k) are those of the groups in the clusters, none of which is empty. ``reference`` (K,) are the counts in the
    table, by default the sums over all clusters.
    """
    reference = counts.sum(axis=1) if reference is None else reference
    if not counts.sum(axis=0).all():
        raise ClusterletsError("A cluster without instances has no shares.")
    n, sizes = int(reference.sum()), counts.sum(axis=0)
    largest = Fraction(0)
    for column in levels.T:
        for level in range(int(column.max()) + 1):
            total, level_counts = int(reference[column == level].sum()), counts[column == level].sum(axis=0)
            for count, size in zip(level_counts.tolist(), sizes.tolist(), strict=True):
                largest = max(largest, abs(Fraction(count, size) - Fraction(total, n)))
    return largest


def assignment_rows(
    limits: Sequence[Limit], levels: np.ndarray, composition: np.ndarray, new_totals: np.ndarray, whole: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Rows (R, K) and slack (R, k) such that ``rows @ counts <= slack`` if old and new instances together keep the limits.

    ``counts`` (K, k) are those of the new instances. ``composition`` (K, k) are the counts of the old ones in the clusters, and
    ``new_totals`` (K,) the numbers of new instances of each group. With ``whole``, a count may miss a limit by less than one
    instance.
    """
    rows = limit_rows(limits, levels, composition.sum(axis=1) + new_totals)
    slack = -products(rows, composition)
    if whole:
        slack += (rows.max(axis=1) - rows.min(axis=1) - 1)[:, None] if len(rows) else 0
    return rows, slack


def rows_within_shares(
    composition: np.ndarray,
    new_totals: np.ndarray,
    delta: float = 0.0,
    balance: float | None = None,
    max_deviation: float | None = None,
    **_,
) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of :mod:`clusterlets.algorithms.fair_assignment` on old and new instances together, in whole instances.

    The result has the form of :func:`assignment_rows`. Other parameters of a fit are ignored. Groups without old instances are
    not bounded.
    """
    totals = composition.sum(axis=1).tolist()
    shares = [Fraction(total, sum(totals)) for total in totals]
    zero, one = Fraction(0), Fraction(1)
    if balance is not None:
        least = exact(balance) / (1 + exact(balance))
        bounds = [(least, 1 - least)] * len(totals)
    elif max_deviation is not None:
        deviation = exact(max_deviation)
        bounds = [(max(zero, share - deviation), min(one, share + deviation)) for share in shares]
    else:
        bounds = [(share * (1 - exact(delta)), min(one, share / (1 - exact(delta)))) for share in shares]
    old_bounds = {group: bounds[group] for group, total in enumerate(totals) if total}
    levels = np.arange(len(totals))[:, None]
    return assignment_rows(share_limits(0, old_bounds), levels, composition, new_totals, whole=True)


def violation_units(rows: np.ndarray) -> np.ndarray:
    """How much one instance can change each row (R,): a violation divided by this number is one in units of instances."""
    return rows.max(axis=1) - np.minimum(0, rows.min(axis=1)) if len(rows) else np.ones(0, dtype=np.int64)


def products(rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """``rows @ counts`` of rows (R, K) and counts (K, k) or (K,), summed in a fixed order."""
    if counts.ndim == 1:
        return (rows * counts).sum(axis=1)
    return (rows[:, :, None] * counts[None, :, :]).sum(axis=1)
