"""Tests of the claims that need every run, or the ranks of figure 1. No table of the paper decides them.

Each function tests one kind of claim. It takes ``Numbers``, which may be the paper's or ours, and the parameters of the claim.
It returns a ``Finding``, or raises ``Inconclusive`` if the numbers do not decide the claim. Its docstring gives the condition
under which the claim holds and, after "in part:", a weaker one under which it holds in part. A rule is the name of a way to
select one run of each dataset, see ``Numbers.selected_runs``.
"""

from collections.abc import Collection

import numpy as np
import pandas as pd

from clusterlets.benchmark.analysis import selection, statistics
from clusterlets.benchmark.analysis.descriptive import variance
from clusterlets.benchmark.paper.claims.findings import (
    NOT_TESTED,
    Finding,
    Inconclusive,
    Scale,
    format_number,
    grade,
    grade_in_two_steps,
)
from clusterlets.benchmark.paper.claims.numbers import Numbers, align, differ


def apart(numbers: Numbers, better: str, worse: str) -> Finding:
    """Whether ``better`` ranks ahead of ``worse`` and Nemenyi's test separates the two."""
    is_apart, statistic = _test_pair(numbers, better, worse)
    ranks = numbers.rankings["matchers"].mean_ranks
    return grade_in_two_steps(bool(ranks[better] < ranks[worse]) and is_apart, False, statistic)


def not_apart(numbers: Numbers, matcher: str, others: list[str]) -> Finding:
    """Whether Nemenyi's test separates a matcher from none of the others; in part: not from all of them."""
    are_apart, statistics_of_pairs = zip(*(_test_pair(numbers, matcher, other) for other in others), strict=True)
    return grade_in_two_steps(not any(are_apart), not all(are_apart), "; ".join(statistics_of_pairs))


def _test_pair(numbers: Numbers, one: str, other: str) -> tuple[bool, str]:
    """Whether Nemenyi's test separates two matchers, and a text with its numbers."""
    ranking = _get_ranking(numbers, "matchers")
    for name in (one, other):
        numbers.matcher(name)
    row = _row_of_pair(ranking.pairs, one, other)
    difference, needed = row["rank_difference"], ranking.critical_difference
    statistic = f"{one} and {other}: {difference:.2f} ranks of {needed:.2f} needed, p {statistics.format_p(row['p_value'])}"
    return row["p_value"] < statistics.ALPHA, statistic


def _row_of_pair(pairs: pd.DataFrame, one: str, other: str) -> dict:
    (row,) = pairs[pairs["better"].isin([one, other]) & pairs["worse"].isin([one, other])].to_dict("records")
    return row


def _get_ranking(numbers: Numbers, name: str) -> statistics.Ranking:
    ranking = numbers.rankings[name]
    if ranking.obstacle:
        raise Inconclusive(ranking.obstacle)
    return ranking


def few_pairs_apart(numbers: Numbers, share: float, in_part: float) -> Finding:
    """Whether Nemenyi's test separates at most ``share`` of the pairs of matchers; in part: at most the share ``in_part``."""
    ranking = _get_ranking(numbers, "matchers")
    n_pairs, n_apart = len(ranking.pairs), int((ranking.pairs["p_value"] < statistics.ALPHA).sum())
    statistic = f"{n_apart} of {n_pairs} pairs are apart at level {statistics.ALPHA}"
    return grade_in_two_steps(n_apart <= share * n_pairs, n_apart <= in_part * n_pairs, statistic)


def least_on_each_dataset(numbers: Numbers, matcher: str, scale: Scale) -> Finding:
    """Whether a matcher's deviation, averaged over all its runs, is the smallest of all matchers on each dataset."""
    deviations = statistics.blocks(numbers.ok_runs, numbers.every_matcher().index, ["dataset"]).dropna()
    best_matchers = deviations.idxmin(axis=1)
    return grade(best_matchers == matcher, scale, best_matchers)


def less_spread_over_seeds(numbers: Numbers, matcher: str, than: str, scale: Scale) -> Finding:
    """Whether a matcher's mean deviation has a smaller relative spread over seeds than another's, on each dataset."""
    spreads = pd.DataFrame({name: _spread_over_seeds(numbers.ok_runs, name) for name in (matcher, than)}).dropna()
    if spreads.empty:
        raise Inconclusive(f"No dataset has runs of both {matcher} and {than}.")
    finding = grade(spreads[matcher] < spreads[than], scale)
    medians = ", ".join(f"{name} {100 * spreads[name].median():.0f} %" for name in spreads)
    return Finding(finding.verdict, f"lower on {finding.statistic}; medians {medians} of the mean")


def _spread_over_seeds(runs: pd.DataFrame, name: str) -> pd.Series:
    """For each dataset, the root of a configuration's mean variance over seeds, divided by the mean deviation of all runs."""
    runs = runs[selection.names(runs) == name]
    configurations = runs.groupby(selection.CONFIGURATION, dropna=False)["deviation_mean"]
    variances = configurations.agg(variance).groupby("dataset").mean()
    return np.sqrt(variances) / runs.groupby("dataset")["deviation_mean"].mean()


def rises_with_omega(numbers: Numbers, quantity: str, scale: Scale) -> Finding:
    """Whether, on each dataset, the mean over the runs of C never falls as omega grows, and is higher at the largest omega."""
    runs = numbers.ok_runs
    means = runs[runs["matcher"] == "C"].pivot_table(index="dataset", columns="omega", values=quantity)
    if means.shape[1] < 2:
        raise Inconclusive("This needs runs of C at two or more values of omega.")
    # Rounded, so that a rounding error does not count as a fall.
    steps = means.diff(axis=1).iloc[:, 1:].round(12)
    rises = (steps >= 0).all(axis=1) & (means.iloc[:, -1] > means.iloc[:, 0])
    finding = grade(rises, scale)
    overall = ", ".join(f"{value:.3f} at {omega:g}" for omega, value in means.mean().items())
    return Finding(finding.verdict, f"{finding.statistic}; over all, {overall}")


def beats_random(numbers: Numbers, rule: str, quantity: str, scale: Scale) -> Finding:
    """Whether, on each dataset, the run that the rule selects has a higher value than random partitions have on average."""
    runs = numbers.ok_runs
    random_means = runs[runs["method"] == "random"].groupby("dataset")[quantity].mean()
    rows = numbers.selected_runs(rule)
    datasets = [name for name in rows.index if name in random_means.index]
    if not datasets:
        raise Inconclusive("No dataset has both random partitions and a chosen run.")
    selected, random = rows.loc[datasets, quantity], random_means[datasets]
    finding = grade(selected > random, scale, selected.map(format_number) + " against " + random.map(format_number))
    return Finding(finding.verdict, f"{finding.statistic}; median gain {format_number((selected - random).median())}")


def not_behind(numbers: Numbers, frac: str, contenders: Collection[str] = tuple(selection.PAPER_NAMES.values())) -> Finding:
    """Whether the best-ranked contender ranks above ``frac``, an output of FRAC.

    In part: below it, but Nemenyi's test over all ranked methods does not separate the two.
    """
    ranking = _get_ranking(numbers, "with_frac")
    ranks = ranking.mean_ranks
    ranked_contenders = [name for name in ranks.index if name in contenders]
    if frac not in ranks or not ranked_contenders:
        raise Inconclusive(f"The runs lack {frac}, or all of {', '.join(contenders)}.")
    best = ranked_contenders[0]
    n_behind = int((ranking.complete[best] > ranking.complete[frac]).sum())
    statistic = (
        f"mean ranks {best} {ranks[best]:.2f}, {frac} {ranks[frac]:.2f}; critical difference "
        f"{ranking.critical_difference:.2f}; {frac} is ahead of {best} on {n_behind} of {len(ranking.complete)} datasets"
    )
    is_apart = _row_of_pair(ranking.pairs, best, frac)["p_value"] < statistics.ALPHA
    return grade_in_two_steps(ranks[best] < ranks[frac], not is_apart, statistic)


def same_configuration(numbers: Numbers, first: str, second: str, scale: Scale) -> Finding:
    """Whether, on each dataset, the run that the first rule selects has the configuration that the second one selects."""
    if numbers.runs is None:
        raise Inconclusive("The printed tables do not show it; it takes the runs.")
    first_rows, second_rows = align(numbers, first, second)
    values = first_rows["deviation_mean"].map(format_number) + " against " + second_rows["deviation_mean"].map(format_number)
    return grade(~differ(first_rows, second_rows, ["matcher", "k", "hops", "omega"]), scale, values)


def nobody_measured(numbers: Numbers) -> Finding:
    """A claim that is not about numbers."""
    return Finding(NOT_TESTED, "Neither the tables nor the runs say anything about it.")
