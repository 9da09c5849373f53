"""Tests of the claims that the paper's tables decide.

Each function tests one kind of claim. It takes ``Numbers``, which may be the paper's or ours, and the parameters of the claim.
It returns a ``Finding``, or raises ``Inconclusive`` if the numbers do not decide the claim. Its docstring gives the condition
under which the claim holds and, after "in part:", a weaker one under which it holds in part. A ``scale`` grades the share of
datasets, or of other cases, in which the condition is true. A rule (also ``first`` and ``second``) is the name of a way to
select one run of each dataset, see ``Numbers.selected_runs``.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.paper import reported
from clusterlets.benchmark.paper.claims.findings import (
    ROUNDING_ERROR,
    Finding,
    Inconclusive,
    Scale,
    format_number,
    grade,
    grade_in_two_steps,
    readable_name,
)
from clusterlets.benchmark.paper.claims.numbers import Numbers, align, differ

_HALF_DIGIT = 0.0005  # half a unit in the last digit of a deviation in tables 2 to 4

# ---- table 1: the matchers -------------------------------------------------------------------------------------------


def place(numbers: Numbers, matcher: str, place: int) -> Finding:
    """Whether a matcher has this place by mean deviation; in part: one place off."""
    order = numbers.every_matcher()["deviation_mean"].sort_values(kind="stable")
    n_off = abs(order.index.get_loc(matcher) + 1 - place)
    statistic = ", ".join(f"{name} {format_number(value)}" for name, value in order.items())
    return grade_in_two_steps(n_off == 0, n_off == 1, statistic)


def ratio(numbers: Numbers, of: str, to: str, factor: float, tolerance: float) -> Finding:
    """Whether two matchers' mean deviations have the ratio ``factor``, within ``tolerance`` as a fraction of it.

    In part: the deviation of ``of`` is larger by another factor.
    """
    quotient = _quotient(numbers.matcher(of)["deviation_mean"], numbers.matcher(to)["deviation_mean"])
    return grade_in_two_steps(
        abs(quotient / factor - 1) <= tolerance + ROUNDING_ERROR, quotient > 1, f"{of} / {to} = {quotient:.2f}"
    )


def relative_spread(numbers: Numbers, spreads: Mapping[str, float], tolerance: float) -> Finding:
    """Whether each matcher's mean deviation has this relative spread (standard deviation over mean, in percent).

    In part: at least one matcher's does.
    """
    percentages = pd.Series({name: _relative_spread(numbers.matcher(name)) for name in spreads})
    near = (percentages - pd.Series(spreads)).abs() <= tolerance + ROUNDING_ERROR
    statistic = ", ".join(f"{name} {percentages[name]:.0f} %" for name in spreads)
    return grade_in_two_steps(bool(near.all()), bool(near.any()), statistic)


def less_relative_spread(numbers: Numbers, matcher: str, than: str, factor: float) -> Finding:
    """Whether a matcher's relative spread is at most ``factor`` times the other's; in part: lower by less."""
    spread, other_spread = (_relative_spread(numbers.matcher(name)) for name in (matcher, than))
    return grade_in_two_steps(
        spread <= factor * other_spread, spread < other_spread, f"{matcher} {spread:.0f} %, {than} {other_spread:.0f} %"
    )


def _relative_spread(row: pd.Series) -> float:
    return 100 * _quotient(row["deviation_mean_std"], row["deviation_mean"])


def _quotient(number: float, mean_deviation: float) -> float:
    """A number as a multiple of a matcher's mean deviation; raises ``Inconclusive`` if that is 0."""
    if mean_deviation == 0:
        raise Inconclusive("A mean deviation is 0, so there is no ratio to it.")
    return number / mean_deviation


def least(numbers: Numbers, matcher: str, quantities: list[str]) -> Finding:
    """Whether a matcher has the lowest value of each of these quantities of table 1; in part: of at least one."""
    table = numbers.every_matcher()
    lowest = {quantity: table[quantity].idxmin() for quantity in quantities}
    statistic = ", ".join(
        f"least {readable_name(name)}: {lowest_matcher} {format_number(table.loc[lowest_matcher, name])}"
        for name, lowest_matcher in lowest.items()
    )
    return grade_in_two_steps(set(lowest.values()) == {matcher}, matcher in lowest.values(), statistic)


def range_of_matchers(numbers: Numbers, factor: float, in_part: float) -> Finding:
    """Whether the matchers' largest mean deviation is at least ``factor`` times the least; in part: ``in_part`` times."""
    deviation = numbers.every_matcher()["deviation_mean"]
    quotient = _quotient(deviation.max(), deviation.min())
    return grade_in_two_steps(
        quotient >= factor, quotient >= in_part, f"{deviation.idxmax()} / {deviation.idxmin()} = {quotient:.2f}"
    )


# ---- tables 2 to 4: selected runs ------------------------------------------------------------------------------------


def within(
    numbers: Numbers, rule: str, scale: Scale, at_least: Mapping = {}, at_most: Mapping = {}, exception: str = ""
) -> Finding:
    """Whether the run that the rule selects is within bounds on each dataset, but out of bounds on ``exception``."""
    rows = numbers.selected_runs(rule)
    are_within = _within_bounds(rows, at_least, at_most)
    violations = {
        name: ", ".join(
            f"{readable_name(column)} {format_number(rows.loc[name, column])}"
            for column in are_within
            if name == exception or not is_within[column]
        )
        for name, is_within in are_within.iterrows()
    }
    return grade(are_within.all(axis=1) ^ (rows.index == exception), scale, pd.Series(violations))


def attained(numbers: Numbers, scale: Scale, at_least: Mapping = {}, at_most: Mapping = {}) -> Finding:
    """Whether each dataset has a single run within bounds."""
    runs = numbers.single_runs
    is_attained = _within_bounds(runs, at_least, at_most).all(axis=1).groupby(runs["dataset"]).any()
    return grade(is_attained.loc[selection.in_order(is_attained.index, reported.datasets())], scale)


def _within_bounds(rows: pd.DataFrame, at_least: Mapping, at_most: Mapping) -> pd.DataFrame:
    """Whether each value is within its bound: rows x bounded columns."""
    return pd.DataFrame(
        {name: rows[name] >= bound - ROUNDING_ERROR for name, bound in at_least.items()}
        | {name: rows[name] <= bound + ROUNDING_ERROR for name, bound in at_most.items()}
    )


def made_by(numbers: Numbers, rule: str, matchers: list[str], scale: Scale) -> Finding:
    """Whether the run that the rule selects on each dataset is by one of these matchers."""
    rows = numbers.selected_runs(rule)
    return grade(rows["matcher"].isin(matchers), scale, rows["matcher"])


def changed(numbers: Numbers, first: str, second: str, columns: list[str], scale: Scale) -> Finding:
    """Whether, on each dataset, the runs that two rules select differ in any of the columns."""
    return grade(differ(*align(numbers, first, second), columns), scale)


def higher(
    numbers: Numbers, first: str, second: str, quantity: str, scale: Scale, factor: float = 1.0, below: float = 0.0
) -> Finding:
    """Whether the first rule's value is higher than the second's.

    Given ``factor`` or ``below``, whether it is at least ``factor`` times the second's value, minus ``below``. For a factor
    above 1 it must be higher too, as zero is no multiple of zero.
    """
    first_values, second_values = (rows[quantity] for rows in align(numbers, first, second))
    is_higher, remark = first_values > second_values, ""
    if below or factor != 1:
        is_enough = first_values >= factor * second_values - below - ROUNDING_ERROR
        is_higher = is_enough & is_higher if factor > 1 else is_enough
        remark = f"; {second} is higher on {int((second_values > first_values).sum())} of {len(first_values)}"
    finding = grade(is_higher, scale, _format_pairs(first_values, second_values))
    return Finding(
        finding.verdict, f"{finding.statistic}{remark}; {_format_medians(first, first_values, second, second_values)}"
    )


def lower(numbers: Numbers, first: str, second: str, quantity: str, scale: Scale) -> Finding:
    """Whether the first rule's value is below the second's."""
    first_values, second_values = (rows[quantity] for rows in align(numbers, first, second))
    finding = grade(first_values < second_values, scale, _format_pairs(first_values, second_values))
    return Finding(finding.verdict, f"{finding.statistic}; {_format_medians(first, first_values, second, second_values)}")


def _format_pairs(one: pd.Series, other: pd.Series) -> pd.Series:
    return one.map(format_number) + " against " + other.map(format_number)


def _format_medians(first: str, one: pd.Series, second: str, other: pd.Series) -> str:
    return f"medians: {first} {format_number(one.median())}, {second} {format_number(other.median())}"


def worse(numbers: Numbers, first: str, second: str, quantities: list[str], scale: Scale) -> Finding:
    """Whether the quantities are higher for the first rule. Each quantity on each dataset is a case."""
    first_rows, second_rows = align(numbers, first, second)
    is_higher = (first_rows[quantities] > second_rows[quantities]).T.stack()
    finding = grade(is_higher, scale, unit="cases")
    counts = ", ".join(f"{readable_name(name)} {int(is_higher[name].sum())} of {len(first_rows)}" for name in quantities)
    return Finding(finding.verdict, f"higher: {counts}")


def relative_spread_higher(numbers: Numbers, first: str, second: str, scale: Scale) -> Finding:
    """Whether the relative spread of deviations within a clustering is higher for the first rule.

    Inconclusive if the rounding of printed numbers leaves it open.
    """
    half_digit = _HALF_DIGIT if numbers.runs is None else 0.0
    (least, most), (other_least, other_most) = (_spread_bounds(rows, half_digit) for rows in align(numbers, first, second))
    certain, possible = (grade(is_higher, scale) for is_higher in (least > other_most, most > other_least))
    if certain.verdict != possible.verdict:
        counts = f"{int((least > other_most).sum())} to {int((most > other_least).sum())}"
        raise Inconclusive(f"Rounding leaves it open: higher on {counts} of {len(least)} datasets.")
    return certain


def _spread_bounds(rows: pd.DataFrame, half_digit: float) -> tuple[pd.Series, pd.Series]:
    """The least and the largest ratio of spread to mean that a run's printed numbers allow."""
    mean, spread = rows["deviation_mean"], rows["deviation_std"]
    least = (spread - half_digit).clip(lower=0) / (mean + half_digit)
    return least, (spread + half_digit) / (mean - half_digit).clip(lower=0)


def times_lower(numbers: Numbers, first: str, second: str, factor: float, min_datasets: int) -> Finding:
    """Whether the first rule's mean deviation is ``factor`` times lower on ``min_datasets`` datasets; in part: on one."""
    first_rows, second_rows = align(numbers, first, second)
    ratios = second_rows["deviation_mean"] / first_rows["deviation_mean"]
    is_lower = ratios >= factor - ROUNDING_ERROR
    # The ratio to a printed zero is infinite. The true value is at most half a unit of the last digit, so the true ratio
    # has a lower bound.
    lower_bounds = (second_rows["deviation_mean"] - _HALF_DIGIT) / _HALF_DIGIT
    large_ratios = ", ".join(
        f"{name} above {lower_bounds[name]:.0f}" if np.isinf(value) else f"{name} {value:.0f}"
        for name, value in ratios[is_lower].items()
    )
    listed_ratios = large_ratios or f"at most {format_number(ratios.max())}"
    statistic = f"{int(is_lower.sum())} of {len(is_lower)} datasets; {second} / {first}: {listed_ratios}"
    return grade_in_two_steps(is_lower.sum() >= min_datasets, is_lower.sum() > 0, statistic)


# ---- table 5 ---------------------------------------------------------------------------------------------------------


def correlated(numbers: Numbers, x: str, y: str, sign: int, scale: Scale) -> Finding:
    """Whether the three coefficients of ``x`` and ``y`` have this sign. Each coefficient is a case."""
    table = numbers.tables["table5_correlations"]
    values = table[(table["x"] == x) & (table["y"] == y)].set_index("coefficient")["value"].dropna()
    finding = grade(values * sign > 0, scale, unit="coefficients")
    return Finding(finding.verdict, ", ".join(f"{name.capitalize()} {value:.3f}" for name, value in values.items()))
