"""Tests of claims that no table of the paper decides: on every run, and on the ranks of figure 1.

Each function takes ``Numbers`` and the parameters of the claim, and returns a ``Finding``; it does not know whose numbers
they are. If they do not decide the claim, it raises ``Undecided``.
"""

from collections.abc import Collection

import numpy as np
import pandas as pd

from clusterlets.analysis import paired, selection, statistics
from clusterlets.analysis.descriptive import variance
from clusterlets.paper.claims.findings import Finding, Scale, Undecided, format_number, grade, grade_in_two_steps
from clusterlets.paper.claims.numbers import Numbers, align


def filter_changes(numbers: Numbers, filtered: str, without: str, without_other: str) -> Finding:
    """On how many datasets a filter changes the choice; holds if on more than half, and on more than the other filter does."""
    counts = []
    for unfiltered in (without, without_other):
        with_filter, without_filter = align(numbers, filtered, unfiltered)
        counts.append(int((with_filter["deviation_mean"] != without_filter["deviation_mean"]).sum()))
    statistic = f"fewer than 3 clusters: {counts[0]}, overlap: {counts[1]} of {len(with_filter)} datasets"
    return grade_in_two_steps(counts[0] > len(with_filter) / 2 and counts[0] > counts[1], counts[0] > 0, statistic)


def apart(numbers: Numbers, better: str, worse: str) -> Finding:
    """Whether two matchers differ by Nemenyi's test; in part: by Wilcoxon's with Holm's correction only.

    A test that could not have found a difference does not count against the claim; the opposite order does.
    """
    verdicts, statistic = _test_pair(numbers, better, worse)
    if verdicts["is_ahead"] and not verdicts["nemenyi"]:
        _check_power(len(numbers.rankings["matchers"].complete), len(numbers.wilcoxon), statistic)
    is_ahead = verdicts["is_ahead"]
    return grade_in_two_steps(verdicts["nemenyi"] and is_ahead, verdicts["wilcoxon"] and is_ahead, statistic)


def not_apart(numbers: Numbers, matcher: str, others: list[str]) -> Finding:
    """Whether a matcher differs from none of the others by Nemenyi's or Wilcoxon's test; in part: not by Nemenyi's.

    A test that could not have found a difference does not count for the claim.
    """
    tested = [_test_pair(numbers, matcher, other) for other in others]
    none_by_nemenyi = not any(verdicts["nemenyi"] for verdicts, _ in tested)
    none_by_wilcoxon = not any(verdicts["wilcoxon"] for verdicts, _ in tested)
    statistic = "; ".join(statistic for _, statistic in tested)
    if none_by_nemenyi:
        _check_power(len(numbers.rankings["matchers"].complete), len(numbers.wilcoxon), statistic)
    return grade_in_two_steps(none_by_nemenyi and none_by_wilcoxon, none_by_nemenyi, statistic)


def _check_power(n_datasets: int, n_pairs: int, statistic: str) -> None:
    """Raise ``Undecided`` if Wilcoxon's test could not have separated any of the pairs.

    Nemenyi's always can: with three datasets, the fewest that are tested, first and last can already be far enough apart.
    """
    smallest = paired.smallest_possible_p(n_datasets, n_pairs)
    if smallest >= statistics.ALPHA:
        raise Undecided(
            f"{statistic}. Over {n_datasets} datasets no p of Wilcoxon's can come out below {smallest:.2g} after Holm, so that "
            f"it could tell no pair apart at level {statistics.ALPHA}."
        )


def _test_pair(numbers: Numbers, one: str, other: str) -> tuple[dict[str, bool], str]:
    """Results of both tests of two matchers over the datasets, whether ``one`` is ahead, and a sentence with the numbers."""
    ranking = _get_ranking(numbers, "matchers")
    for name in (one, other):
        numbers.matcher(name)
    nemenyi = _pair(ranking.pairs, one, other)
    wilcoxon = _pair(numbers.wilcoxon, one, other)
    statistic = (
        f"{one} and {other}: {nemenyi['rank_difference']:.2f} ranks of {ranking.critical_difference:.2f} needed, Nemenyi p "
        f"{statistics.format_p(nemenyi['p_value'])}, Wilcoxon p after Holm {statistics.format_p(wilcoxon['p_holm'])}"
    )
    return {
        "nemenyi": nemenyi["p_value"] < statistics.ALPHA,
        "wilcoxon": wilcoxon["p_holm"] < statistics.ALPHA,
        "is_ahead": ranking.mean_ranks[one] < ranking.mean_ranks[other],
    }, statistic


def _pair(pairs: pd.DataFrame, one: str, other: str) -> dict:
    (pair,) = pairs[pairs["better"].isin([one, other]) & pairs["worse"].isin([one, other])].to_dict("records")
    return pair


def _get_ranking(numbers: Numbers, name: str) -> statistics.Ranking:
    ranking = numbers.rankings[name]
    if ranking.obstacle:
        raise Undecided(ranking.obstacle)
    return ranking


def few_pairs_apart(numbers: Numbers, share: float, in_part: float) -> Finding:
    """Share of the pairs of matchers that Nemenyi's test, or Wilcoxon's with Holm's correction, separates.

    If Wilcoxon's test could not have found a difference, it does not count for the claim.
    """
    ranking = _get_ranking(numbers, "matchers")
    n_pairs, (n_apart, by_test) = len(ranking.pairs), paired.count_pairs_apart(ranking)
    statistic = f"{n_apart} of {n_pairs} pairs are apart at level {statistics.ALPHA}: {by_test}"
    if n_apart <= in_part * n_pairs:
        _check_power(len(ranking.complete), n_pairs, statistic)
    return grade_in_two_steps(n_apart <= share * n_pairs, n_apart <= in_part * n_pairs, statistic)


def least_on_each_dataset(numbers: Numbers, matcher: str, scale: Scale) -> Finding:
    """Whether a matcher's deviation, averaged over all its runs, is the smallest of all matchers on each dataset."""
    values = statistics.blocks(numbers.all_runs, numbers.every_matcher().index, ["dataset"]).dropna()
    return grade(values.idxmin(axis=1) == matcher, scale, values.idxmin(axis=1))


def less_spread_over_seeds(numbers: Numbers, matcher: str, than: str, scale: Scale) -> Finding:
    """Whether a matcher's mean deviation varies less between seeds than another's, relative to its mean, on each dataset.

    The spread is pooled: the root of the variance over seeds, averaged over the configurations.
    """
    spreads = {name: _spread_over_seeds(numbers.all_runs, name) for name in (matcher, than)}
    both = pd.DataFrame(spreads).dropna()
    if both.empty:
        raise Undecided(f"No dataset has runs of both {matcher} and {than}.")
    finding = grade(both[matcher] < both[than], scale)
    medians = ", ".join(f"{name} {100 * both[name].median():.0f} %" for name in both)
    return Finding(finding.verdict, f"lower on {finding.statistic}; medians {medians} of the mean")


def _spread_over_seeds(runs: pd.DataFrame, name: str) -> pd.Series:
    runs = runs[selection.names(runs) == name]
    configurations = runs.groupby(selection.CONFIGURATION, dropna=False)["deviation_mean"]
    pooled = configurations.agg(variance).groupby("dataset").mean()
    return np.sqrt(pooled) / runs.groupby("dataset")["deviation_mean"].mean()


def rises_with_omega(numbers: Numbers, quantity: str, scale: Scale) -> Finding:
    """Whether, on each dataset, the mean over the runs of C never falls as omega grows, and ends higher than it began."""
    runs = numbers.all_runs
    means = runs[runs["matcher"] == "C"].pivot_table(index="dataset", columns="omega", values=quantity)
    if means.shape[1] < 2:
        raise Undecided("It takes runs of C at two values of omega or more.")
    steps = means.diff(axis=1).iloc[:, 1:].round(12)
    rises = (steps >= 0).all(axis=1) & (means.iloc[:, -1] > means.iloc[:, 0])
    finding = grade(rises, scale)
    overall = ", ".join(f"{value:.3f} at {omega:g}" for omega, value in means.mean().items())
    return Finding(finding.verdict, f"{finding.statistic}; over all, {overall}")


def beats_random(numbers: Numbers, rule: str, quantity: str, scale: Scale) -> Finding:
    """Whether the run that this rule chooses has a higher value than random partitions of the dataset have on average."""
    runs = numbers.all_runs
    random_means = runs[runs["method"] == "random"].groupby("dataset")[quantity].mean()
    rows = numbers.chosen_runs(rule)
    datasets = [name for name in rows.index if name in random_means.index]
    if not datasets:
        raise Undecided("No dataset has both random partitions and a chosen run.")
    ours, chance = rows.loc[datasets, quantity], random_means[datasets]
    finding = grade(ours > chance, scale, ours.map(format_number) + " against " + chance.map(format_number))
    return Finding(finding.verdict, f"{finding.statistic}; median gain {format_number((ours - chance).median())}")


def not_behind(numbers: Numbers, frac: str, contenders: Collection[str] = tuple(selection.PAPER_NAMES.values())) -> Finding:
    """Whether the best-ranked contender ranks above this FRAC; in part: below it, but neither test separates them.

    The tests are Nemenyi's over all ranked methods, and Wilcoxon's with Holm's correction over the contenders against this
    FRAC. If Wilcoxon's could not have found a difference, they do not count for the claim.
    """
    ranking = _get_ranking(numbers, "with_frac")
    values, ranks = ranking.complete, ranking.mean_ranks
    ranked_contenders = [name for name in ranks.index if name in contenders]
    if frac not in ranks or not ranked_contenders:
        raise Undecided(f"Not both {frac} and {' or '.join(contenders)} are among the runs.")
    best = ranked_contenders[0]
    wilcoxon = _pair(paired.compare_pairs("", [(values[name], values[frac]) for name in ranked_contenders]), best, frac)
    apart = min(wilcoxon["p_holm"], _pair(ranking.pairs, best, frac)["p_value"]) < statistics.ALPHA
    behind = int((values[best] > values[frac]).sum())
    statistic = (
        f"mean ranks {best} {ranks[best]:.2f}, {frac} {ranks[frac]:.2f}; critical difference "
        f"{ranking.critical_difference:.2f}, Wilcoxon p after Holm {statistics.format_p(wilcoxon['p_holm'])}; "
        f"{frac} is ahead of {best} on {behind} of {len(values)} datasets"
    )
    ahead = ranks[best] < ranks[frac]
    if not ahead and not apart:
        _check_power(len(values), len(ranked_contenders), statistic)
    return grade_in_two_steps(ahead, not apart, statistic)


def nobody_measured(numbers: Numbers) -> Finding:
    """A claim that neither the paper's numbers nor ours can decide."""
    raise Undecided("Neither the tables nor the runs say anything about it.")
