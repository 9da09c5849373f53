"""Limits on the groups of every cluster, in whole numbers.

A limit bounds one count in a cluster by another: ``count of A <= f * count of B``. A holds the instances with a certain level
of a sensitive column, or all instances without that level. B holds all instances of the cluster, or those with another level of
the column.

A group is a combination of levels, one from each column. So every limit can be written as a row of whole numbers, one for each
group. A cluster keeps all limits if ``rows @ counts <= 0`` for its counts of the groups.

Counts are at most n, the number of instances. So f can be replaced by the largest fraction up to f whose denominator is at most
n, and the same counts keep the limit. The replacement keeps all products far below 2^63. If a count may miss the limit by less
than one instance, the smallest fraction from f on takes its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from clusterlets.errors import ClusterletsError

_MOST_DIGITS = 400  # of a number in text; 1e-99999999 would take minutes


def exact_fraction(number: float | str | Fraction) -> Fraction:
    """The exact number. A float stands for its shortest decimal, so 0.03 is 3/100, although its binary value is less.

    Raises ValueError for a text that is no number, or that stands for one of more than some 400 digits.
    """
    if isinstance(number, str):
        exponent = number.lower().partition("e")[2].strip().lstrip("+-")
        if len(number) > _MOST_DIGITS or len(exponent) > 3 or (exponent.isdecimal() and int(exponent) > _MOST_DIGITS):
            raise ValueError(f"{number[:60]} has too many digits")
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


@dataclass(frozen=True)
class Limit:
    """``count of A <= fraction * count of B`` in every cluster.

    A holds the instances with ``level`` in the sensitive ``column``, or, if ``all_but``, the instances without that level.
    B holds the instances with ``of_level`` in the same column, or all instances of the cluster if ``of_level`` is None.
    """

    column: int
    level: int
    fraction: Fraction
    all_but: bool = False
    of_level: int | None = None


def deviation_limits(levels: np.ndarray, counts: np.ndarray, max_deviations: Sequence[Fraction]) -> list[Limit]:
    """Limits that keep the share of every level in a cluster near its share in the table.

    In column c, the two shares may differ by at most ``max_deviations[c]``. ``levels`` (K, S) are the levels of the groups, and
    ``counts`` (K,) their counts in the table.
    """
    limits = []
    for column, deviation in enumerate(max_deviations):
        for level, share in enumerate(_shares(levels[:, column], counts)):
            limits += _limits_on_share(column, level, share - deviation, share + deviation)
    return limits


def share_limits(column: int, bounds: Mapping[int, tuple[Fraction, Fraction]]) -> list[Limit]:
    """Limits that keep the share of each level in ``bounds`` between its lower and its upper bound."""
    return [limit for level, (lower, upper) in bounds.items() for limit in _limits_on_share(column, level, lower, upper)]


def ratio_limits(levels: np.ndarray, counts: np.ndarray, min_ratios: Sequence[Fraction]) -> list[Limit]:
    """Limits that keep the ratio of any two levels' counts in a cluster near their ratio in the table.

    In column c, the ratio in the cluster is at least ``min_ratios[c]`` times the ratio in the table. ``levels`` (K, S) are the
    levels of the groups, and ``counts`` (K,) their counts in the table.
    """
    limits = []
    for column, ratio in enumerate(min_ratios):
        shares = _shares(levels[:, column], counts)
        limits += [
            Limit(column, level, shares[level] / (ratio * shares[other_level]), of_level=other_level)
            for level in range(len(shares))
            for other_level in range(len(shares))
            if level != other_level and ratio and shares[level] and shares[other_level]
        ]
    return limits


def _shares(levels: np.ndarray, counts: np.ndarray) -> list[Fraction]:
    totals = np.bincount(levels, counts).astype(np.int64)
    return [Fraction(int(total), int(counts.sum())) for total in totals]


def _limits_on_share(column: int, level: int, lower: Fraction, upper: Fraction) -> list[Limit]:
    return [Limit(column, level, upper), Limit(column, level, 1 - lower, all_but=True)]


def limit_rows(limits: Sequence[Limit], levels: np.ndarray, totals: np.ndarray, allow_rounding: bool = False) -> np.ndarray:
    """The limits as rows (R, K) of whole numbers: a cluster with counts m (K,) of the groups keeps them if ``rows @ m <= 0``.

    ``levels`` (K, S) are the levels of the groups, and ``totals`` (K,) the number of all instances of each group. A limit that
    every cluster keeps has no row. If several limits bound the same counts, only the strictest has one. With
    ``allow_rounding``, the rows are for counts that may miss a limit by less than one instance.
    """
    strictest: dict[tuple[bytes, bytes], tuple[np.ndarray, np.ndarray, Fraction]] = {}
    for limit in limits:
        in_a = (levels[:, limit.column] == limit.level) ^ limit.all_but
        in_b = np.full(len(levels), True) if limit.of_level is None else levels[:, limit.column] == limit.of_level
        if not in_a.any() or (limit.fraction >= 1 and in_b[in_a].all()):
            continue
        key = in_a.tobytes(), in_b.tobytes()
        if key not in strictest or limit.fraction < strictest[key][2]:
            strictest[key] = in_a, in_b, limit.fraction
    rows = np.zeros((len(strictest), len(levels)), dtype=np.int64)
    n = max(1, int(totals.sum()))
    for row, (in_a, in_b, fraction) in zip(rows, strictest.values(), strict=True):
        fraction = min(fraction, Fraction(n))  # if B has an instance, a larger fraction allows as many of A
        bound = (fraction_above if allow_rounding else fraction_below)(fraction, max(1, int(totals[in_b].sum())))
        row += bound.denominator * in_a.astype(np.int64) - bound.numerator * in_b.astype(np.int64)
    return rows


def fraction_below(number: Fraction, largest_denominator: int) -> Fraction:
    """The largest fraction up to ``number`` whose denominator is at most ``largest_denominator``."""
    closest = number.limit_denominator(largest_denominator)
    if closest <= number:
        return closest
    # The closest fraction, p/q, is too large. The result is its lower neighbour in the Farey sequence: a/b with
    # p b - q a = 1 and the largest possible b.
    p, q = closest.numerator, closest.denominator
    b = pow(p, -1, q)
    b += q * ((largest_denominator - b) // q)
    return Fraction((p * b - 1) // q, b)


def fraction_above(number: Fraction, largest_denominator: int) -> Fraction:
    """The smallest fraction from ``number`` on whose denominator is at most ``largest_denominator``."""
    return -fraction_below(-number, largest_denominator)


def levels_of_groups(columns: Sequence[Sequence]) -> tuple[np.ndarray, list[list]]:
    """Levels (K, S) of the groups, and for each column a list of the values that the levels stand for.

    ``columns`` (S, K) holds the value of each sensitive column in every group. Levels are numbered in the order in which
    their values appear.
    """
    level_values = [list(dict.fromkeys(column)) for column in columns]
    levels = np.array([[values.index(value) for value in column] for values, column in zip(level_values, columns, strict=True)])
    return np.ascontiguousarray(levels.T, dtype=np.int64), level_values


def largest_deviation(counts: np.ndarray, levels: np.ndarray, reference: np.ndarray | None = None) -> Fraction:
    """The largest difference between a level's share in a cluster and its share in the table, as an exact fraction.

    ``counts`` (K, k) are the counts of the groups in the clusters, and ``reference`` (K,) their counts in the table, by default
    the sums over all clusters. Raises ClusterletsError if a cluster is empty.
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


def assignment_limits(
    limits: Sequence[Limit], levels: np.ndarray, composition: np.ndarray, new_totals: np.ndarray, allow_rounding: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Rows (R, K) and slack (R, k): old and new instances together keep the limits if ``rows @ counts <= slack``.

    Here ``counts`` (K, k) are the new instances of each group in each cluster, and ``composition`` (K, k) the old ones.
    ``new_totals`` (K,) counts all new instances of each group. With ``allow_rounding``, a count may miss a limit by less than
    one instance.
    """
    rows = limit_rows(limits, levels, composition.sum(axis=1) + new_totals, allow_rounding)
    slack = -products(rows, composition)
    if allow_rounding:
        slack += (rows.max(axis=1) - rows.min(axis=1) - 1)[:, None] if len(rows) else 0
    return rows, slack


def representation_limits(
    composition: np.ndarray,
    new_totals: np.ndarray,
    reference: np.ndarray,
    delta: float = 0.0,
    balance: float | None = None,
    max_deviation: float | None = None,
    **_,
) -> tuple[np.ndarray, np.ndarray]:
    """Limits on the shares of the groups in every cluster, up to whole instances, for old and new instances together.

    Let r be the share of a group in the table, whose counts are ``reference`` (K,). By default, a group's share in a cluster is
    at least r (1 - delta) and at most r / (1 - delta): bounded representation (Bera et al. 2019; Bercea et al. 2019). With
    ``max_deviation``, the two shares differ by at most that much. With ``balance``, the smaller of two groups' counts is at
    least ``balance`` times the larger (Chierichetti et al. 2017): this treats both groups alike, so the rarer group may prevail
    in a cluster.

    A count may miss a limit by less than one instance. Groups that are not in the table are not limited. Other parameters of a
    fit are ignored. ``composition``, ``new_totals`` and the result are as in :func:`assignment_limits`.
    """
    totals = reference.tolist()
    bounds = _share_bounds(totals, delta, balance, max_deviation)
    bounds_of_table = {group: bounds[group] for group, total in enumerate(totals) if total}
    levels = np.arange(len(totals))[:, None]
    return assignment_limits(share_limits(0, bounds_of_table), levels, composition, new_totals, allow_rounding=True)


def _share_bounds(
    totals: list[int], delta: float, balance: float | None, max_deviation: float | None
) -> list[tuple[Fraction, Fraction]]:
    """The smallest and the largest share of each group in a cluster, for :func:`representation_limits`."""
    shares, one = [Fraction(total, sum(totals)) for total in totals], Fraction(1)
    if balance is not None:
        lower = exact_fraction(balance) / (1 + exact_fraction(balance))
        return [(lower, 1 - lower)] * len(totals)
    if max_deviation is not None:
        if not 0 <= max_deviation <= 1:
            raise ClusterletsError(f"max_deviation must be from 0 to 1, not {max_deviation!r}.")
        deviation = exact_fraction(max_deviation)
        return [(max(Fraction(0), share - deviation), min(one, share + deviation)) for share in shares]
    if not 0 <= delta < 1:
        raise ClusterletsError(f"delta must be at least 0 and below 1, not {delta!r}.")
    rest = 1 - exact_fraction(delta)
    return [(share * rest, min(one, share / rest)) for share in shares]


def limits_of_fit(
    groups: np.ndarray,
    n_clusters: int,
    delta: float = 0.0,
    balance: float | None = None,
    max_deviation: float | None = None,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Rows (R, K) of :func:`representation_limits` for a table with the given groups (n,), and the slack (R, k) to try in turn.

    A bound on the balance is first tried without rounding to whole instances. Raises ClusterletsError if a bound is out of
    range, or one on the balance is given for more or fewer than two groups.
    """
    totals = np.bincount(groups)
    if balance is not None:
        if len(totals) != 2:
            raise ClusterletsError(f"A bound on the balance needs two groups, not {len(totals)}: give delta instead.")
        table_balance = totals.min() / totals.max()
        if not 0 <= balance <= table_balance:
            raise ClusterletsError(f"balance must be from 0 to the table's own, {table_balance:.6g}, not {balance!r}.")
    composition = np.zeros((len(totals), n_clusters), dtype=np.int64)
    rows, slack = representation_limits(composition, totals, totals, delta, balance, max_deviation)
    return rows, [slack] if balance is None else [np.zeros_like(slack), slack]


def violation_units(rows: np.ndarray) -> np.ndarray:
    """The most by which adding, removing or replacing one instance changes each of ``rows @ counts`` (R,).

    A violation divided by its row's unit is a number of instances.
    """
    return np.maximum(0, rows.max(axis=1)) - np.minimum(0, rows.min(axis=1)) if len(rows) else np.ones(0, dtype=np.int64)


def products(rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """``rows @ counts``, summed in a fixed order. ``rows`` is (R, K), and ``counts`` is (K, k) or (K,)."""
    if counts.ndim == 1:
        return (rows * counts).sum(axis=1)
    return (rows[:, :, None] * counts[None, :, :]).sum(axis=1)
