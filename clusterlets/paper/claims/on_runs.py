"""How claims are tested that no table of the paper decides: on every run, and on the ranks of figure 1.

A kind takes ``Numbers`` and the parameters of the claim, and gives a ``Finding``; it never knows whose numbers it looks at.
What they do not tell raises ``CannotTell``.
"""

import numpy as np
import pandas as pd

from clusterlets.analysis import paired, selection, statistics
from clusterlets.analysis.descriptive import variance
from clusterlets.paper.claims.findings import CannotTell, Finding, Scale, graded, number, two_steps
from clusterlets.paper.claims.numbers import Numbers, aligned


def filter_changes(numbers: Numbers, filtered: str, without: str, without_other: str) -> Finding:
    """On how many datasets a filter changes the choice: holds if on more than half and on more than the other filter."""
    counts = []
    for unfiltered in (without, without_other):
        one, other = aligned(numbers, filtered, unfiltered)
        counts.append(int((one["deviation_mean"] != other["deviation_mean"]).sum()))
    words = f"fewer than 3 clusters: {counts[0]}, overlap: {counts[1]} of {len(one)} datasets"
    return two_steps(counts[0] > len(one) / 2 and counts[0] > counts[1], counts[0] > 0, words)


def apart(numbers: Numbers, better: str, worse: str) -> Finding:
    """Whether two matchers differ by Nemenyi's test; in part: by Wilcoxon's with Holm's correction alone.

    That a test finds nothing is nothing against the claim where it could find nothing; that the order is another is.
    """
    verdicts, words = _tested(numbers, better, worse)
    if verdicts["order"] and not verdicts["nemenyi"]:
        _check_power(numbers, words)
    return two_steps(verdicts["nemenyi"] and verdicts["order"], verdicts["wilcoxon"] and verdicts["order"], words)


def not_apart(numbers: Numbers, matcher: str, others: list[str]) -> Finding:
    """Whether a matcher differs from none of the others by Nemenyi's nor Wilcoxon's test; in part: not by Nemenyi's.

    That a test finds nothing is nothing for the claim where it could find nothing.
    """
    tested = [_tested(numbers, matcher, other) for other in others]
    joined = not any(verdicts["nemenyi"] for verdicts, _ in tested)
    agreed = not any(verdicts["wilcoxon"] for verdicts, _ in tested)
    words = "; ".join(words for _, words in tested)
    if joined:
        _check_power(numbers, words)
    return two_steps(joined and agreed, joined, words)


def _check_power(numbers: Numbers, words: str) -> None:
    """Refuse to read anything from Wilcoxon's test where it could tell no pair of matchers apart.

    Nemenyi's always could: from three datasets on, the least that are tested, first and last can be further apart than needed.
    """
    n_datasets = len(numbers.rankings["matchers"].complete)
    least = paired.least_p(n_datasets, len(numbers.wilcoxon))
    if least >= statistics.ALPHA:
        raise CannotTell(
            f"{words}. Over {n_datasets} datasets no p of Wilcoxon's can come out below {least:.2g} after Holm, so that it "
            f"could tell no pair apart at level {statistics.ALPHA}."
        )


def _tested(numbers: Numbers, one: str, other: str) -> tuple[dict[str, bool], str]:
    """Both tests of two matchers over the datasets, and whether ``one`` is ahead."""
    ranking = _computed(numbers, "matchers")
    for name in (one, other):
        numbers.matcher(name)
    pair = _pair(ranking.pairs, one, other)
    tested = _pair(numbers.wilcoxon, one, other)
    words = (
        f"{one} and {other}: {pair['rank_difference']:.2f} ranks of {ranking.critical_difference:.2f} needed, Nemenyi p "
        f"{statistics.p_in_words(pair['p_value'])}, Wilcoxon p after Holm {statistics.p_in_words(tested['p_holm'])}"
    )
    return {
        "nemenyi": pair["p_value"] < statistics.ALPHA,
        "wilcoxon": tested["p_holm"] < statistics.ALPHA,
        "order": ranking.mean_ranks[one] > ranking.mean_ranks[other],
    }, words


def _pair(pairs: pd.DataFrame, one: str, other: str) -> dict:
    (found,) = pairs[pairs["better"].isin([one, other]) & pairs["worse"].isin([one, other])].to_dict("records")
    return found


def _computed(numbers: Numbers, name: str) -> statistics.Ranking:
    ranking = numbers.rankings[name]
    if ranking.obstacle:
        raise CannotTell(ranking.obstacle)
    return ranking


def few_pairs_apart(numbers: Numbers, share: float, in_part: float) -> Finding:
    """Share of the pairs of matchers that Nemenyi's test tells apart."""
    pairs = _computed(numbers, "matchers").pairs
    apart = pairs["significant"].astype(bool)
    words = f"{int(apart.sum())} of {len(pairs)} pairs are apart (Nemenyi, level {statistics.ALPHA})"
    return two_steps(apart.mean() <= share, apart.mean() <= in_part, words)


def least_on_each_dataset(numbers: Numbers, matcher: str, scale: Scale) -> Finding:
    """Whether a matcher's deviation, averaged over all its runs, is the least of all matchers on each dataset."""
    runs = numbers.needed_runs
    own = [name for name in selection.PAPER_NAMES.values() if numbers.matcher(name) is not None]
    values = statistics.blocks(runs.assign(name=selection.names(runs)), own, ["dataset"]).dropna()
    return graded(values.idxmin(axis=1) == matcher, scale, values.idxmin(axis=1))


def less_spread_over_seeds(numbers: Numbers, matcher: str, than: str, scale: Scale) -> Finding:
    """Whether a matcher's mean deviation varies less between seeds, relative to its mean, dataset by dataset.

    The spread is pooled: root of the variance over seeds, averaged over the configurations.
    """
    spreads = {name: _spread_over_seeds(numbers.needed_runs, name) for name in (matcher, than)}
    both = pd.DataFrame(spreads).dropna()
    if both.empty:
        raise CannotTell(f"No dataset has runs of both {matcher} and {than}.")
    finding = graded(both[matcher] < both[than], scale)
    medians = ", ".join(f"{name} {100 * both[name].median():.0f} %" for name in both)
    return Finding(finding.verdict, f"lower on {finding.statistic}; medians {medians} of the mean")


def _spread_over_seeds(runs: pd.DataFrame, name: str) -> pd.Series:
    runs = runs[selection.names(runs) == name]
    configurations = runs.groupby(selection.CONFIGURATION, dropna=False)["deviation_mean"]
    pooled = configurations.agg(variance).groupby("dataset").mean()
    return np.sqrt(pooled) / runs.groupby("dataset")["deviation_mean"].mean()


def rises_with_omega(numbers: Numbers, quantity: str, scale: Scale) -> Finding:
    """Whether the mean over the runs of C at each omega never falls and ends higher than it began, dataset by dataset."""
    runs = numbers.needed_runs
    means = runs[runs["matcher"] == "C"].pivot_table(index="dataset", columns="omega", values=quantity)
    if means.shape[1] < 2:
        raise CannotTell("It takes runs of C at two values of omega or more.")
    steps = means.diff(axis=1).iloc[:, 1:].round(12)
    rising = (steps >= 0).all(axis=1) & (means.iloc[:, -1] > means.iloc[:, 0])
    finding = graded(rising, scale)
    overall = ", ".join(f"{value:.3f} at {omega:g}" for omega, value in means.mean().items())
    return Finding(finding.verdict, f"{finding.statistic}; over all, {overall}")


def beats_random(numbers: Numbers, chosen: str, quantity: str, scale: Scale) -> Finding:
    """Whether the chosen run has more of a quantity than random partitions of the dataset have on average."""
    runs = numbers.needed_runs
    random = runs[runs["method"] == "random"].groupby("dataset")[quantity].mean()
    rows = numbers.chosen(chosen)
    both = [name for name in rows.index if name in random.index]
    if not both:
        raise CannotTell("No dataset has both random partitions and a chosen run.")
    ours, chance = rows.loc[both, quantity], random[both]
    finding = graded(ours > chance, scale, ours.map(number) + " against " + chance.map(number))
    return Finding(finding.verdict, f"{finding.statistic}; median gain {number((ours - chance).median())}")


def not_behind(numbers: Numbers, frac: str) -> Finding:
    """Whether the best-ranked matcher ranks above a FRAC; in part: below it, but not significantly."""
    ranking = _computed(numbers, "with_frac")
    own = [name for name in ranking.mean_ranks.index if name in selection.PAPER_NAMES.values()]
    if frac not in ranking.mean_ranks or not own:
        raise CannotTell(f"Not both {frac} and a matcher of Clusterlets are among the runs.")
    gap = ranking.mean_ranks[own[0]] - ranking.mean_ranks[frac]
    behind = int((ranking.complete[own[0]] > ranking.complete[frac]).sum())
    words = (
        f"mean ranks {own[0]} {ranking.mean_ranks[own[0]]:.2f}, {frac} {ranking.mean_ranks[frac]:.2f}; critical difference "
        f"{ranking.critical_difference:.2f}; {frac} is ahead of {own[0]} on {behind} of {len(ranking.complete)} datasets"
    )
    return two_steps(gap > 0, gap > -ranking.critical_difference, words)


def nobody_measured(numbers: Numbers) -> Finding:
    """A sentence of which neither the paper's numbers nor ours say anything."""
    raise CannotTell("Neither the tables nor the runs say anything about it.")
