"""Pairs of methods on the same blocks: Wilcoxon's test with Holm's correction and effect size, and ratios with intervals."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

from clusterlets.analysis import selection
from clusterlets.analysis.bayes import ROPE
from clusterlets.analysis.statistics import ALL_METHODS, ALPHA, MIN_P, WITH_CONTROLS, Ranking, format_p
from clusterlets.text import counted, decimal, significant

BEST_RUNS, PLANNED = "best_runs", "planned"
#: The samples that get intervals and probabilities. Their blocks are datasets; ``ALL_METHODS`` includes the matchers.
SAMPLES = (ALL_METHODS, BEST_RUNS)
#: Comparisons that are the same for every run of the workflow, as (sample, method, other method). There are few of them, so
#: that the test has power after Holm's correction even with ten datasets.
PLANNED_COMPARISONS = (
    *((WITH_CONTROLS, matcher, "random") for matcher in selection.PAPER_NAMES.values()),
    (BEST_RUNS, "Clusterlets", "FRAC (fair)"),
)
LEVEL = 0.95  # of the intervals' confidence
#: In ratios, smaller mean deviations are raised to this, because the tables print them as .000 and 0 has no logarithm.
FLOOR = 0.0005
# As in the rankings, values that agree to this many decimals are equal: the last bits of a sum do not count as a difference.
_DECIMALS = 12
_TEST_COLUMNS = [
    *("ranking", "better", "worse", "blocks", "median_difference", "statistic", "p_value", "p_holm", "significant"),
    "rank_biserial",
]
_INTERVAL_COLUMNS = ["ranking", "method", "over", "blocks", "floored", "ratio", "low", "high", "level"]


def samples(runs: pd.DataFrame, rankings: list[Ranking]) -> dict[str, pd.DataFrame]:
    """The samples to test, by name: mean deviations, blocks x methods, of complete blocks only.

    There is one sample for each ranking. One more, :data:`BEST_RUNS`, holds the best run of each method in
    ``selection.METHODS``, controls included, on each dataset, chosen as in table 4.
    """
    best_runs = selection.best_runs(runs).pivot(index="dataset", columns="method", values="deviation_mean")
    best_runs = best_runs[[name for name in selection.METHODS if name in best_runs]].rename_axis(columns=None).dropna()
    return {ranking.name: ranking.complete for ranking in rankings} | {BEST_RUNS: best_runs}


def wilcoxon(samples: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Tests of every pair of methods in each sample, and of ``PLANNED_COMPARISONS`` as one more family: ``wilcoxon.csv``."""
    families = {
        name: [(values[method], values[other]) for method, other in combinations(values, 2)] for name, values in samples.items()
    }
    families[PLANNED] = [
        (samples[name][method], samples[name][other])
        for name, method, other in PLANNED_COMPARISONS
        if name in samples and {method, other} <= set(samples[name])
    ]
    tables = [compare_pairs(name, pairs) for name, pairs in families.items()]
    # If all families are empty, so is the result, but it has the columns.
    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)


def compare_pairs(name: str, pairs: Iterable[tuple[pd.Series, pd.Series]]) -> pd.DataFrame:
    """Test pairs of methods as one family, with Holm's correction. In each pair, the method with the lower mean comes first.

    ``name`` becomes the value of the column ``ranking``. Each pair holds the mean deviations of two methods on the same blocks,
    as two series with the methods' names. A pair without blocks is left out. The columns are those of ``wilcoxon.csv``.
    """
    ordered_pairs = [sorted(pair, key=lambda values: values.mean()) for pair in pairs if len(pair[0])]
    rows = [(name, better.name, worse.name, len(better), *signed_ranks(worse - better)) for better, worse in ordered_pairs]
    frame = pd.DataFrame(rows, columns=[column for column in _TEST_COLUMNS if column not in ("p_holm", "significant")])
    frame["p_holm"] = multipletests(frame["p_value"], method="holm")[1] if len(frame) else []
    return frame.assign(significant=frame["p_holm"] < ALPHA)[_TEST_COLUMNS]


def count_differing_pairs(ranking: Ranking) -> tuple[int, str]:
    """How many pairs of a ranking's methods differ at level :data:`ALPHA`, and a text with the number that each test finds.

    A pair differs if Nemenyi's test, or Wilcoxon's with Holm's correction, is significant. The whole project uses this rule.
    """
    tests = wilcoxon({ranking.name: ranking.complete})
    by_nemenyi = _set_of_pairs(ranking.pairs[ranking.pairs["p_value"] < ALPHA])
    by_wilcoxon = _set_of_pairs(tests[tests["p_holm"] < ALPHA])
    by_test = f"{len(by_nemenyi)} by Nemenyi's test, {len(by_wilcoxon)} by Wilcoxon's with Holm's correction"
    return len(by_nemenyi | by_wilcoxon), by_test


def _set_of_pairs(pairs: pd.DataFrame) -> set[frozenset[str]]:
    return set(map(frozenset, pairs[["better", "worse"]].to_numpy()))


def describe_differing_pairs(ranking: Ranking) -> str:
    """How many pairs differ, by which test: ``9 of 10 pairs differ significantly: 4 by Nemenyi's test, 9 by ...``."""
    n_apart, by_test = count_differing_pairs(ranking)
    verb = "differs" if n_apart == 1 else "differ"
    return f"{n_apart} of {counted(len(ranking.pairs), 'pair')} {verb} significantly: {by_test}"


def smallest_possible_p(n_blocks: int, n_pairs: int) -> float:
    """The smallest p that a pair can have after Holm's correction, which is that of a method ahead in every block."""
    return min(1.0, n_pairs / 2 ** (n_blocks - 1))


def signed_ranks(differences: pd.Series) -> tuple[float, float, float, float]:
    """Median difference, Wilcoxon's statistic and two-sided p, and the matched-pairs rank-biserial correlation.

    The median is over all blocks; the test and the correlation leave out blocks without a difference. The correlation is
    (W+ - W-) / (W+ + W-): 1 if every difference is positive, -1 if every difference is negative, 0 if all are 0 (Kerby 2014).
    """
    differences = np.round(np.asarray(differences, float), _DECIMALS)
    nonzero = differences[differences != 0]
    if not len(nonzero):
        return 0.0, 0.0, 1.0, 0.0
    test = stats.wilcoxon(nonzero)
    ranks = stats.rankdata(np.abs(nonzero))
    effect = float((np.sign(nonzero) * ranks).sum() / ranks.sum())
    return float(np.median(differences)), float(test.statistic), max(float(test.pvalue), MIN_P), effect


def intervals(samples: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The ratio of the mean deviations of every pair of methods, with an interval: ``intervals.csv``."""
    rows = [
        (name, method, other, *mean_ratio(samples[name][method], samples[name][other]), LEVEL)
        for name in SAMPLES
        for method, other in combinations(samples[name], 2)
    ]
    return pd.DataFrame(rows, columns=_INTERVAL_COLUMNS)


def mean_ratio(values: pd.Series, other_values: pd.Series) -> tuple[int, int, float, float, float]:
    """Geometric mean over n blocks of the ratio of two methods' mean deviations (n,), with a t interval of its logarithm.

    A deviation below ``FLOOR`` counts as ``FLOOR``, so that zeros have a ratio. Returns the number of blocks, the number of
    blocks with a deviation below ``FLOOR``, the ratio (NaN without blocks), and the ends of the interval (NaN for fewer than
    two blocks).
    """
    pair = np.column_stack([values, other_values]).astype(float)
    n_floored = int((pair < FLOOR).any(axis=1).sum())
    logs = np.log(np.maximum(pair, FLOOR))
    log_ratios = logs[:, 0] - logs[:, 1]
    n_blocks = len(log_ratios)
    if n_blocks < 2:
        ratio = float(np.exp(log_ratios.mean())) if n_blocks else np.nan
        return n_blocks, n_floored, ratio, np.nan, np.nan
    mean, standard_error = log_ratios.mean(), log_ratios.std(ddof=1) / np.sqrt(n_blocks)
    half_width = standard_error * stats.t.ppf((1 + LEVEL) / 2, n_blocks - 1)
    return n_blocks, n_floored, float(np.exp(mean)), float(np.exp(mean - half_width)), float(np.exp(mean + half_width))


# ---- in words --------------------------------------------------------------------------------------------------------

HOW_TO_READ = (
    "Wilcoxon's signed-rank test checks whether the differences between two methods, one per block, are symmetric around "
    "zero. It assumes independent blocks and symmetric differences, and is exact for few blocks. Holm's correction controls "
    "the error over all pairs of a ranking. With ten blocks, the smallest possible p is about 0.002, or 0.07 after the "
    "correction for the 36 pairs of nine methods. So the code names a few planned comparisons, the same for every run, which "
    "are corrected separately: each of Clusterlets' matchers with the random partition, and Clusterlets' best runs with those "
    "of FRAC (fair). The test considers how large the differences are, which ranks do not, so it may find a difference that "
    "Nemenyi's test misses. The rank-biserial correlation is its effect size: 1 if the first method deviates less in every "
    "block. A ratio is the geometric mean, over blocks, of one method's deviation divided by the other's. It has a 95 % t "
    f"interval of its logarithm, not corrected for the number of pairs. A deviation below {FLOOR} counts as {FLOOR}. The "
    "interval shows how much the ratio depends on the choice of datasets. It treats them as a random sample, which they are "
    "not. The Bayesian signed-rank test gives three probabilities: that one method deviates less than the other by more than "
    f"{ROPE}, that the two are equivalent within {ROPE}, and that it deviates more. The paper's grid has twenty times as many "
    "runs of Clusterlets as of FRAC, of k-means or of the random partition. So the comparison of best runs favours Clusterlets."
)


def to_markdown(tests: pd.DataFrame, intervals: pd.DataFrame, posteriors: pd.DataFrame) -> str:
    """How to read the tests, the matchers that differ by Wilcoxon's test, and the planned comparisons and best runs."""
    planned_lines = [f"- {_describe_test(row)}" for row in _rows_with_blocks(tests, PLANNED)]
    best_run_lines = [f"- {_describe_ratio(row, tests, posteriors)}" for row in _rows_with_blocks(intervals, BEST_RUNS)]
    return "\n".join(
        [
            "## Pairs of methods: Wilcoxon's test, ratios, and the Bayesian signed-rank test\n",
            f"{HOW_TO_READ}\n",
            f"Matchers that differ, blocks are datasets (level {ALPHA} after Holm): {_describe_separated_pairs(tests)}.\n",
            "Planned comparisons, the same for every run:\n",
            *(planned_lines or ["- Not computed: no dataset has both methods of any of them."]),
            "",
            "Best runs, as in table 4, with those of the controls:\n",
            *(best_run_lines or ["- Not computed: no dataset has a best run of two of the methods."]),
            "",
        ]
    )


def _rows_with_blocks(table: pd.DataFrame, ranking: str) -> Iterator[dict]:
    return (row for row in table.to_dict("records") if row["ranking"] == ranking and row["blocks"])


def _describe_separated_pairs(tests: pd.DataFrame) -> str:
    """Name the pairs of matchers that the test separates, or say that it could not have separated any."""
    pairs = tests[tests["ranking"] == "matchers"]
    separated = pairs[pairs["significant"].astype(bool)].to_dict("records")
    smallest_p = smallest_possible_p(pairs["blocks"].iloc[0], len(pairs)) if len(pairs) else 0
    if smallest_p >= ALPHA:
        return f"no pair. With so few datasets, no p can be below {significant(smallest_p)}"
    return ", ".join(f"{pair['better']} below {pair['worse']}" for pair in separated) or "no pair"


def _describe_test(pair: dict) -> str:
    return (
        f"{pair['better']} below {pair['worse']}, {counted(pair['blocks'], 'dataset')}: p {format_p(pair['p_value'])}, "
        f"after Holm {format_p(pair['p_holm'])}; rank-biserial {decimal(pair['rank_biserial'], 2)}."
    )


def _describe_ratio(row: dict, tests: pd.DataFrame, posteriors: pd.DataFrame) -> str:
    names = {row["method"], row["over"]}
    (test,) = (pair for pair in _rows_with_blocks(tests, row["ranking"]) if {pair["better"], pair["worse"]} == names)
    (posterior,) = (pair for pair in _rows_with_blocks(posteriors, row["ranking"]) if {pair["method"], pair["other"]} == names)
    return (
        f"{row['method']} compared with {row['over']}, {counted(row['blocks'], 'dataset')}: ratio {row['ratio']:.2f} "
        f"(from {row['low']:.2f} to {row['high']:.2f}; {counted(row['floored'], 'dataset')} with a value below {FLOOR}); "
        f"p {format_p(test['p_value'])}, after Holm {format_p(test['p_holm'])}; rank-biserial "
        f"{decimal(test['rank_biserial'], 2)} in favour of {test['better']}; probability that {row['method']} deviates less "
        f"{_show_probability(posterior['probability_lower'])}, equivalent within {posterior['rope']} "
        f"{_show_probability(posterior['probability_equivalent'])}, more {_show_probability(posterior['probability_higher'])}."
    )


def _show_probability(value: float) -> str:
    """Three decimals, or a bound near 0 and 1, because the number comes from random draws."""
    return "below 0.001" if value < 0.001 else "above 0.999" if value > 0.999 else f"{value:.3f}"
