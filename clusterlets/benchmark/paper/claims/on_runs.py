"""Tests of the claims that need every run, or the ranks of figure 1. No table of the paper decides them.

Each function tests one kind of claim. It takes ``Numbers``, which may be the paper's or ours, and the parameters of the claim.
It returns a ``Finding``, or raises ``Inconclusive`` if the numbers do not decide the claim. Its docstring gives the condition
under which the claim holds and, after "in part:", a weaker one under which it holds in part. A rule is the name of a way to
select one run of each dataset, see ``Numbers.selected_runs``.
"""

from collections.abc import Collection

import numpy as np
import pandas as pd

from clusterlets.benchmark.analysis import paired, selection, statistics
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
from clusterlets.benchmark.paper.claims.numbers import Numbers, align


def filter_changes(numbers: Numbers, filtered: str, without: str, without_other: str) -> Finding:
    """Whether a filter changes the selected run on over half of the datasets, and more often than another filter.

    In part: it changes the run on at least one. ``filtered``, ``without`` and ``without_other`` are rules with both filters,
    without this one, and without the other.
    """
    counts = []
    for unfiltered in (without, without_other):
        with_filter, without_filter = align(numbers, filtered, unfiltered)
        counts.append(int((with_filter["deviation_mean"] != without_filter["deviation_mean"]).sum()))
    n_changed, n_changed_by_other = counts
    n_datasets = len(with_filter)
    statistic = f"fewer than 3 clusters: {n_changed}, overlap: {n_changed_by_other} of {n_datasets} datasets"
    return grade_in_two_steps(n_changed > n_datasets / 2 and n_changed > n_changed_by_other, n_changed > 0, statistic)


def apart(numbers: Numbers, better: str, worse: str) -> Finding:
    """Whether ``better`` ranks ahead of ``worse`` and Nemenyi's test separates the two."""
    *are_apart, statistic = _test_pair(numbers, better, worse)
    ranks = numbers.rankings["matchers"].mean_ranks
    is_ahead = bool(ranks[better] < ranks[worse])
    return _by_both_tests(*(grade_in_two_steps(is_ahead and rule, False, statistic) for rule in are_apart))


def not_apart(numbers: Numbers, matcher: str, others: list[str]) -> Finding:
    """Whether Nemenyi's test separates a matcher from none of the others; in part: not from all of them."""
    *are_apart, statistics_of_pairs = zip(*(_test_pair(numbers, matcher, other) for other in others), strict=True)
    statistic = "; ".join(statistics_of_pairs)
    return _by_both_tests(*(grade_in_two_steps(not any(rule), not all(rule), statistic) for rule in are_apart))


def _by_both_tests(by_nemenyi: Finding, by_wilcoxon: Finding) -> Finding:
    """The finding by Nemenyi's test, which decides. Its text says so if Wilcoxon's test with Holm's correction disagrees."""
    if by_nemenyi.verdict == by_wilcoxon.verdict:
        return by_nemenyi
    remark = f"the verdict depends on the test: by Wilcoxon's with Holm's correction, the claim {by_wilcoxon.verdict}"
    return Finding(by_nemenyi.verdict, f"{by_nemenyi.statistic}; {remark}")


def _test_pair(numbers: Numbers, one: str, other: str) -> tuple[bool, bool, str]:
    """Whether Nemenyi's test separates two matchers, whether Wilcoxon's does, and a text with the numbers of both."""
    ranking = _get_ranking(numbers, "matchers")
    for name in (one, other):
        numbers.matcher(name)
    nemenyi = _row_of_pair(ranking.pairs, one, other)
    wilcoxon = _row_of_pair(numbers.wilcoxon, one, other)
    statistic = (
        f"{one} and {other}: {nemenyi['rank_difference']:.2f} ranks of {ranking.critical_difference:.2f} needed, Nemenyi p "
        f"{statistics.format_p(nemenyi['p_value'])}, Wilcoxon p after Holm {statistics.format_p(wilcoxon['p_holm'])}"
    )
    return nemenyi["p_value"] < statistics.ALPHA, bool(wilcoxon["significant"]), statistic


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
    n_by_wilcoxon = int(numbers.wilcoxon["significant"].sum())
    statistic = (
        f"{n_apart} of {n_pairs} pairs are apart at level {statistics.ALPHA} by Nemenyi's test, {n_by_wilcoxon} by Wilcoxon's "
        "with Holm's correction"
    )
    return _by_both_tests(
        *(grade_in_two_steps(n <= share * n_pairs, n <= in_part * n_pairs, statistic) for n in (n_apart, n_by_wilcoxon))
    )


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
    """Whether the best-ranked contender ranks above ``frac``; in part: below it, but Nemenyi's test does not separate the two.

    ``frac`` is one of the outputs of FRAC. Nemenyi's test is over all ranked methods. Wilcoxon's, which is only shown, is over
    the pairs of each contender with ``frac``.
    """
    ranking = _get_ranking(numbers, "with_frac")
    deviations, ranks = ranking.complete, ranking.mean_ranks
    ranked_contenders = [name for name in ranks.index if name in contenders]
    if frac not in ranks or not ranked_contenders:
        raise Inconclusive(f"The runs lack {frac}, or all of {', '.join(contenders)}.")
    best = ranked_contenders[0]
    tests = paired.compare_pairs("", [(deviations[name], deviations[frac]) for name in ranked_contenders])
    wilcoxon = _row_of_pair(tests, best, frac)
    n_behind = int((deviations[best] > deviations[frac]).sum())
    statistic = (
        f"mean ranks {best} {ranks[best]:.2f}, {frac} {ranks[frac]:.2f}; critical difference "
        f"{ranking.critical_difference:.2f}, Wilcoxon p after Holm "
        f"{statistics.format_p(wilcoxon['p_holm'])}; "
        f"{frac} is ahead of {best} on {n_behind} of {len(deviations)} datasets"
    )
    are_apart = _row_of_pair(ranking.pairs, best, frac)["p_value"] < statistics.ALPHA, bool(wilcoxon["significant"])
    return _by_both_tests(*(grade_in_two_steps(ranks[best] < ranks[frac], not rule, statistic) for rule in are_apart))


def nobody_measured(numbers: Numbers) -> Finding:
    """A claim that is not about numbers."""
    return Finding(NOT_TESTED, "Neither the tables nor the runs say anything about it.")
