"""Pairs of methods on the same blocks: Wilcoxon's test with Holm's correction, and its effect size.

The test is shown beside Nemenyi's and decides nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.analysis.statistics import ALPHA, MIN_P, WITH_CONTROLS, Ranking, format_p
from clusterlets.text import counted, decimal, significant

BEST_RUNS, PLANNED = "best_runs", "planned"
#: Comparisons that are the same for every run of the workflow, as (sample, method, other method). There are few of them, so
#: that the test has power after Holm's correction even with ten datasets.
PLANNED_COMPARISONS = (
    *((WITH_CONTROLS, matcher, "random") for matcher in selection.PAPER_NAMES.values()),
    (BEST_RUNS, "Clusterlets", "FRAC (fair)"),
)
# As in the rankings, values that agree to this many decimals are equal: the last bits of a sum do not count as a difference.
_DECIMALS = 12
_TEST_COLUMNS = [
    *("ranking", "better", "worse", "blocks", "median_difference", "statistic", "p_value", "p_holm", "significant"),
    "rank_biserial",
]


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


# ---- in words --------------------------------------------------------------------------------------------------------

HOW_TO_READ = (
    "Wilcoxon's signed-rank test checks whether the differences between two methods, one per block, are symmetric around "
    "zero. It assumes independent blocks and symmetric differences, and is exact for few blocks. Holm's correction controls "
    "the error over all pairs of a ranking. With ten blocks, the smallest possible p is about 0.002, or 0.07 after the "
    "correction for the 36 pairs of nine methods. So the code names a few planned comparisons, the same for every run, which "
    "are corrected separately: each of Clusterlets' matchers with the random partition, and Clusterlets' best runs with those "
    "of FRAC (fair). The test considers how large the differences are, which ranks do not, so it may find a difference that "
    "Nemenyi's test misses. It is shown beside Nemenyi's test and decides nothing. The rank-biserial correlation is its effect "
    "size: 1 if the first method deviates less in every block. The paper's grid has twenty times as many runs of Clusterlets "
    "as of FRAC, of k-means or of the random partition. So the comparison of best runs favours Clusterlets."
)


def to_markdown(tests: pd.DataFrame) -> str:
    """How to read the tests, the matchers that they separate, and the planned comparisons and best runs."""
    planned_lines = [f"- {_describe_test(row)}" for row in _rows_with_blocks(tests, PLANNED)]
    best_run_lines = [f"- {_describe_test(row)}" for row in _rows_with_blocks(tests, BEST_RUNS)]
    return "\n".join(
        [
            "## Pairs of methods: Wilcoxon's test\n",
            f"{HOW_TO_READ}\n",
            f"Matchers that it separates (blocks are datasets, level {ALPHA}): {_describe_separated_pairs(tests)}.\n",
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
