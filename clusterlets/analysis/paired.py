"""Two methods on the same blocks: Wilcoxon's test with Holm's correction, its effect size, and bootstrap intervals."""

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

from clusterlets.analysis import selection
from clusterlets.analysis.statistics import ALPHA, Ranking, p_in_words
from clusterlets.text import counted

BEST_RUNS = "best_runs"
LEVEL = 0.95
_RESAMPLES = 9999
_SEED = 0
# Values that agree to this many decimals are equal: the last bits of a sum are no difference. As in the rankings.
_DECIMALS = 12
_TEST_COLUMNS = [
    *("ranking", "better", "worse", "blocks", "median_difference", "statistic", "p_value", "p_holm", "significant"),
    "rank_biserial",
]
_INTERVAL_COLUMNS = ["ranking", "method", "minus", "blocks", "deviation_mean", "low", "high", "level"]


def samples(runs: pd.DataFrame, rankings: list[Ranking]) -> dict[str, pd.DataFrame]:
    """Blocks x methods of mean deviations: those of the rankings, and table 4's best runs. Complete blocks only."""
    return {ranking.name: ranking.complete for ranking in rankings} | {BEST_RUNS: best_runs(runs)}


def best_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Datasets x (Clusterlets, FRAC (nearest), FRAC (fair)): the least mean deviation of a run, as in table 4."""
    values = selection.best_runs(runs).pivot(index="dataset", columns="method", values="deviation_mean")
    return values[[name for name in selection.METHODS if name in values]].rename_axis(columns=None).dropna()


def wilcoxon(samples: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Every pair of methods of each sample, the one of less mean deviation first: ``wilcoxon.csv``.

    Holm's correction runs over the pairs of one sample.
    """
    parts = [_test_pairs(name, values) for name, values in samples.items()]
    return pd.concat([part for part in parts if len(part)] or [pd.DataFrame(columns=_TEST_COLUMNS)], ignore_index=True)


def _test_pairs(name: str, values: pd.DataFrame) -> pd.DataFrame:
    ordered = values.mean().sort_values(kind="stable").index
    rows = [
        (name, better, worse, len(values), *signed_ranks(values[worse] - values[better]))
        for better, worse in combinations(ordered if len(values) else [], 2)
    ]
    columns = [column for column in _TEST_COLUMNS if column not in ("p_holm", "significant")]
    frame = pd.DataFrame(rows, columns=[*columns[:5], "statistic", "p_value", "rank_biserial"])
    frame["p_holm"] = multipletests(frame["p_value"], method="holm")[1] if len(frame) else []
    return frame.assign(significant=frame["p_holm"] < ALPHA)[_TEST_COLUMNS]


def least_p(n_blocks: int, n_pairs: int) -> float:
    """The least p after Holm that any of the pairs could have: one of the two is ahead in every block."""
    return min(1.0, n_pairs / 2 ** (n_blocks - 1))


def signed_ranks(differences: pd.Series) -> tuple[float, float, float, float]:
    """Median difference, Wilcoxon's statistic and two-sided p, and the matched-pairs rank-biserial correlation.

    Blocks without a difference are left out. The correlation is (W+ - W-) / (W+ + W-): 1 where every difference is
    positive, -1 where every one is negative, 0 where none is left (Kerby 2014).
    """
    differences = np.round(np.asarray(differences, float), _DECIMALS)
    left = differences[differences != 0]
    if not len(left):
        return 0.0, 0.0, 1.0, 0.0
    test = stats.wilcoxon(left)
    ranks = stats.rankdata(np.abs(left))
    effect = float((np.sign(left) * ranks).sum() / ranks.sum())
    return float(np.median(differences)), float(test.statistic), float(test.pvalue), effect


def intervals(samples: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Bootstrap intervals of each method's mean deviation, and of each pair's difference: ``intervals.csv``.

    Only samples whose blocks are datasets, the matchers once: as part of ``all_methods``.
    """
    rows = [row for name in ("all_methods", BEST_RUNS) for row in _interval_rows(name, samples[name])]
    return pd.DataFrame(rows, columns=_INTERVAL_COLUMNS)


def _interval_rows(name: str, values: pd.DataFrame) -> Iterator[tuple]:
    for method in values:
        yield name, method, None, len(values), *mean_interval(values[method]), LEVEL
    for one, other in combinations(values, 2):
        yield name, one, other, len(values), *mean_interval(values[one] - values[other]), LEVEL


def mean_interval(values: pd.Series) -> tuple[float, float, float]:
    """Mean of the blocks' values and its BCa bootstrap interval: blocks drawn anew 9,999 times from a fixed seed.

    The bounds are NaN below two blocks; values that are all equal are their own interval.
    """
    values = np.asarray(values, float)
    if len(values) < 2:
        return (float(values.mean()) if len(values) else np.nan), np.nan, np.nan
    if np.ptp(values.round(_DECIMALS)) == 0:
        return (float(values.mean()),) * 3
    found = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=_RESAMPLES,
        confidence_level=LEVEL,
        method="BCa",
        random_state=np.random.default_rng(_SEED),
    ).confidence_interval
    return float(values.mean()), float(found.low), float(found.high)


# ---- in words --------------------------------------------------------------------------------------------------------

ASSUMPTIONS = (
    "Wilcoxon's signed-rank test asks of two methods whether their differences, block by block, lie evenly around "
    "zero. It takes the blocks as independent and the differences as symmetric; it is exact for few blocks, and "
    "Holm's correction holds the error over all pairs of a ranking. With ten blocks no p is below .002, so that "
    "over the 36 pairs of nine methods none can come out below .07. It weighs how large a difference is, which "
    "ranks do not, and so may find a pair apart that Nemenyi's test leaves joined. The rank-biserial correlation "
    "is its effect size: 1 where the first method deviates less in every block. Intervals are 95 % BCa bootstrap "
    "intervals over blocks: they say how much hangs on which datasets were taken, as if these had been drawn at "
    "random, which they were not. Of Clusterlets the paper's grid has twenty times as many runs as of FRAC to "
    "choose the best from, so the comparison of best runs favours Clusterlets by its design."
)


def to_markdown(tests: pd.DataFrame, intervals: pd.DataFrame) -> str:
    """The best runs of Clusterlets and FRAC in words, which matchers Wilcoxon's test tells apart, and the assumptions."""
    lines = [f"- {_in_words(row, intervals)}" for row in tests[tests["ranking"] == BEST_RUNS].to_dict("records")]
    return "\n".join(
        [
            "## Pairs, by Wilcoxon's test and bootstrap\n",
            f"{ASSUMPTIONS}\n",
            f"Matchers that differ, blocks are datasets (level {ALPHA} after Holm): {_apart(tests)}.\n",
            "Best runs, as in table 4:\n",
            *(lines or ["- Not computed: no dataset has a best run of two of the methods."]),
            "",
        ]
    )


def _apart(tests: pd.DataFrame) -> str:
    """The pairs of matchers that the test tells apart; where it could tell none apart, that."""
    pairs = tests[tests["ranking"] == "matchers"]
    apart = pairs[pairs["significant"].astype(bool)].to_dict("records")
    least = least_p(pairs["blocks"].iloc[0], len(pairs)) if len(pairs) else 0
    if least >= ALPHA:
        return f"no pair, and none could: no p can come out below {least:.2g}"
    return ", ".join(f"{pair['better']} below {pair['worse']}" for pair in apart) or "no pair"


def _in_words(pair: dict, intervals: pd.DataFrame) -> str:
    names = {pair["better"], pair["worse"]}
    of_pair = intervals[(intervals["ranking"] == pair["ranking"]) & intervals["minus"].notna()]
    (row,) = (row for row in of_pair.to_dict("records") if {row["method"], row["minus"]} == names)
    return (
        f"{row['method']} minus {row['minus']}, {counted(pair['blocks'], 'dataset')}: {row['deviation_mean']:+.4f} "
        f"(from {row['low']:+.4f} to {row['high']:+.4f}); p {p_in_words(pair['p_value'])}, after Holm "
        f"{p_in_words(pair['p_holm'])}; rank-biserial {pair['rank_biserial']:.2f} in favour of {pair['better']}."
    )
