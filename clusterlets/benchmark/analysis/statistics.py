"""Whether the methods differ by more than chance: Friedman's test and Nemenyi's critical difference (Demsar 2006)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np
import pandas as pd
import scikit_posthocs
from scipy.stats import friedmanchisquare, studentized_range

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.grid.runs_frame import fill_text
from clusterlets.text import counted, first_of, significant

ALPHA = 0.05
#: The smallest p that is reported. Smaller values would be noise, because the tail is approximated, and 0 is not a p-value.
MIN_P = 1e-9
#: Baselines that make no claim of fairness, ranked along with the methods that do.
CONTROLS = ("k-means", "random")
WITH_CONTROLS, ALL_METHODS = "matchers_with_controls", "all_methods"
#: Stems of the files that hold the rankings.
TABLES = ("statistics", "blocks", "mean_ranks", "nemenyi")
_MAX_LISTED_BLOCKS = 12
_BLOCK_COLUMNS = ["dataset", "k", "seed"]


@dataclass(frozen=True)
class Ranking:
    """Methods ranked within blocks by mean deviation; rank 1 is the best.

    ``values`` are mean deviations, blocks x methods, NaN where a method has no result; only complete blocks are ranked.
    ``mean_ranks`` is indexed by method, with the best first. ``statistic`` and ``p_value`` are those of Friedman's test, and
    ``critical_difference`` is that of Nemenyi's. If these three cannot be computed, they are NaN, and ``obstacle`` says why.
    ``pairs`` has one row for each pair of methods, with the better one first: their difference of mean ranks, Nemenyi's p, and
    whether it is significant.
    """

    name: str
    title: str
    values: pd.DataFrame
    mean_ranks: pd.Series
    statistic: float
    p_value: float
    critical_difference: float
    pairs: pd.DataFrame
    obstacle: str = ""

    @property
    def complete(self) -> pd.DataFrame:
        """The blocks in which every method has a value."""
        return self.values.dropna()

    @property
    def incomplete(self) -> dict[str, str]:
        """The blocks that are left out, each with the methods that lack a value there."""
        left_out = {}
        for block, absent in self.values.isna().iterrows():
            if absent.any():
                parts = block if isinstance(block, tuple) else (block,)
                name = " ".join(f"{part:g}" if isinstance(part, float) else str(part) for part in parts)
                left_out[name] = ", ".join(absent.index[absent])
        return left_out

    @property
    def kendall_w(self) -> float:
        """Kendall's coefficient of concordance, from Friedman's chi-squared: 0 for no agreement, 1 if all blocks rank alike."""
        n_blocks, n_methods = self.complete.shape
        return self.statistic / (n_blocks * (n_methods - 1)) if n_blocks and n_methods > 1 else np.nan

    @property
    def nemenyi(self) -> pd.DataFrame:
        """Nemenyi's p for every pair of methods, as a matrix (methods x methods)."""
        methods = self.mean_ranks.index
        matrix = pd.DataFrame(1.0, methods, methods)
        for pair in self.pairs.to_dict("records"):
            matrix.loc[pair["better"], pair["worse"]] = matrix.loc[pair["worse"], pair["better"]] = pair["p_value"]
        return matrix


def rank_all(runs: pd.DataFrame) -> list[Ranking]:
    """The rankings of the report: matchers (figure 1), matchers with controls, all methods, and matchers in smaller blocks.

    The ranking of all methods leaves out methods with results on fewer than half of the datasets: with them, most blocks would
    be incomplete. The title of the ranking names them.
    """
    runs = selection.ok(runs)
    names, is_matcher = selection.names(runs), runs["matcher"].notna()
    matchers = selection.in_order(names[is_matcher], selection.PAPER_NAMES.values())
    others = selection.in_order(names[~is_matcher], selection.METHODS)
    all_deviations = blocks(runs, matchers + others, ["dataset"])
    sparse_methods = [name for name in all_deviations if all_deviations[name].notna().mean() < 0.5]
    exclusions = f", without {', '.join(sparse_methods)} (results on fewer than half of the datasets)" if sparse_methods else ""
    return [
        rank("matchers", "Matchers, blocks are datasets", blocks(runs, matchers, ["dataset"])),
        rank(
            WITH_CONTROLS,
            "Matchers with the controls k-means and random, blocks are datasets",
            blocks(runs, [*matchers, *CONTROLS], ["dataset"]),
        ),
        rank(ALL_METHODS, f"All methods{exclusions}, blocks are datasets", all_deviations.drop(columns=sparse_methods)),
        rank(
            "pseudo_replication",
            "Matchers, blocks are (dataset, k, seed): pseudo-replication",
            blocks(runs, matchers, _BLOCK_COLUMNS),
        ),
    ]


def blocks(runs: pd.DataFrame, methods: Iterable[str], by: list[str]) -> pd.DataFrame:
    """The mean deviation of each method in each block, averaged over runs: blocks x methods. ``by`` defines the blocks."""
    runs = runs.assign(name=selection.names(runs))
    runs = runs[runs["name"].isin(list(methods))]
    values = runs.pivot_table(index=by, columns="name", values="deviation_mean", aggfunc="mean", dropna=True)
    return values.rename_axis(columns=None)[[name for name in methods if name in values]]


def rank(name: str, title: str, values: pd.DataFrame) -> Ranking:
    """Friedman's test, Nemenyi's pairwise test and mean ranks of methods (columns) over blocks (rows); lower values are better.

    Values that agree to 12 decimals share a rank.
    """
    ranks = values.dropna().round(12).rank(axis=1)
    mean_ranks = ranks.mean().sort_values(kind="stable")
    nemenyi = pd.DataFrame(np.nan, mean_ranks.index, mean_ranks.index)
    statistic = p_value = nemenyi_difference = np.nan
    obstacle = _find_obstacle(ranks)
    if not obstacle:
        statistic, p_value = map(float, friedmanchisquare(*ranks.to_numpy().T))
        p_value = max(p_value, MIN_P)
        nemenyi = scikit_posthocs.posthoc_nemenyi_friedman(ranks.reset_index(drop=True))
        nemenyi_difference = critical_difference(ranks.shape[1], len(ranks))
    rows = [
        (name, better, worse, mean_ranks[worse] - mean_ranks[better], nemenyi.loc[better, worse])
        for better, worse in combinations(mean_ranks.index, 2)
    ]
    pairs = pd.DataFrame(rows, columns=["ranking", "better", "worse", "rank_difference", "p_value"])
    pairs = pairs.astype({"rank_difference": float, "p_value": float})
    pairs["p_value"] = pairs["p_value"].clip(lower=MIN_P)
    pairs["significant"] = (pairs["p_value"] < ALPHA).astype(object).where(pairs["p_value"].notna())
    return Ranking(name, title, values, mean_ranks, statistic, p_value, nemenyi_difference, pairs, obstacle)


def critical_difference(n_methods: int, n_blocks: int) -> float:
    """Nemenyi: mean ranks further apart than this differ at level :data:`ALPHA`; 1.84 for 5 methods and 11 blocks."""
    quantile = studentized_range.ppf(1 - ALPHA, n_methods, np.inf) / sqrt(2)
    return float(quantile * sqrt(n_methods * (n_methods + 1) / (6 * n_blocks)))


def _find_obstacle(ranks: pd.DataFrame) -> str:
    n_blocks, n_methods = ranks.shape
    if n_methods < 3:
        return f"Friedman's test needs at least 3 methods, and {counted(n_methods, 'has', 'have')} runs."
    if n_blocks < 3:
        return f"Friedman's test needs at least 3 blocks, and {counted(n_blocks, 'is', 'are')} complete."
    if (ranks.nunique(axis=1) == 1).all():
        return "All methods tie in every block."
    return ""


# ---- as tables and in words ------------------------------------------------------------------------------------------


def to_tables(rankings: list[Ranking]) -> dict[str, pd.DataFrame]:
    """The rankings as tables, by the stem of each table's file; :func:`from_tables` is the inverse."""
    return {
        "statistics": pd.DataFrame([_summary_row(ranking) for ranking in rankings]),
        "blocks": pd.concat([_values_table(ranking) for ranking in rankings]),
        "mean_ranks": pd.concat([_mean_ranks_table(ranking) for ranking in rankings]),
        "nemenyi": pd.concat([ranking.pairs for ranking in rankings]),
    }


def _summary_row(ranking: Ranking) -> dict:
    n_blocks, n_methods = ranking.complete.shape
    return {
        "ranking": ranking.name,
        "methods": n_methods,
        "blocks": n_blocks,
        "incomplete_blocks": len(ranking.incomplete),
        "friedman_chi2": ranking.statistic,
        "p_value": ranking.p_value,
        "kendall_w": ranking.kendall_w,
        "alpha": ALPHA,
        "critical_difference": ranking.critical_difference,
        "not_computed": ranking.obstacle,
        "title": ranking.title,
    }


def _values_table(ranking: Ranking) -> pd.DataFrame:
    values = ranking.values.rename_axis(columns="method").stack(future_stack=True).rename("deviation_mean").reset_index()
    return values.assign(ranking=ranking.name).reindex(columns=["ranking", *_BLOCK_COLUMNS, "method", "deviation_mean"])


def _mean_ranks_table(ranking: Ranking) -> pd.DataFrame:
    ranks, means = ranking.mean_ranks, ranking.complete.mean()
    columns = {"method": ranks.index, "mean_rank": ranks.to_numpy(), "deviation_mean": means[ranks.index].to_numpy()}
    return pd.DataFrame({"ranking": ranking.name, **columns})


def from_tables(summary: pd.DataFrame, blocks: pd.DataFrame, ranks: pd.DataFrame, pairs: pd.DataFrame) -> list[Ranking]:
    """The rankings that :func:`to_tables` wrote as ``statistics``, ``blocks``, ``mean_ranks`` and ``nemenyi``."""
    rankings = []
    for row in fill_text(summary, "not_computed").to_dict("records"):
        block_rows, rank_rows, pair_rows = (table[table["ranking"] == row["ranking"]] for table in (blocks, ranks, pairs))
        index = [column for column in _BLOCK_COLUMNS if block_rows[column].notna().any()]
        values = block_rows.pivot(index=index or "dataset", columns="method", values="deviation_mean").rename_axis(columns=None)
        rankings.append(
            Ranking(
                name=row["ranking"],
                title=row["title"],
                values=values[list(block_rows["method"].unique())],
                mean_ranks=rank_rows.set_index("method")["mean_rank"],
                statistic=row["friedman_chi2"],
                p_value=row["p_value"],
                critical_difference=row["critical_difference"],
                pairs=pair_rows,
                obstacle=row["not_computed"],
            )
        )
    return rankings


def describe(ranking: Ranking) -> str:
    """The result of a ranking in a few sentences."""
    n_blocks, n_methods = ranking.complete.shape
    if ranking.obstacle:
        return f"Not computed. {ranking.obstacle}"
    verdict = "differ" if ranking.p_value < ALPHA else "are not shown to differ"
    order = ", ".join(f"{method} {value:.2f}" for method, value in ranking.mean_ranks.items())
    significant_pairs = ranking.pairs[ranking.pairs["p_value"] < ALPHA].to_dict("records")
    pair_names = ", ".join(f"{pair['better']} over {pair['worse']}" for pair in significant_pairs)
    return (
        f"{n_methods} methods in {n_blocks} blocks {verdict} (Friedman chi-squared {ranking.statistic:.2f}, "
        f"p {format_p(ranking.p_value)}; Kendall's W {ranking.kendall_w:.2f}). Mean ranks, 1 is best: {order}. "
        f"Critical difference {ranking.critical_difference:.2f} (Nemenyi, level {ALPHA}); "
        f"significant: {pair_names or 'no pair'}."
    )


def format_p(p_value: float) -> str:
    """A p-value with its relation: ``= 0.012``, or ``< 1e−9`` if it is not above :data:`MIN_P`."""
    # Rounded to six digits first, because scipy's last bits differ between processors: an exact p of .125 could otherwise be
    # shown as .12 on one processor and as .13 on another.
    return "< 1e−9" if p_value <= MIN_P else f"= {significant(float(f'{p_value:.6g}'))}"


def compare_with_random(ranking: Ranking) -> str:
    """The methods ahead of and behind the random partition, in a sentence; empty if the random partition is not ranked."""
    ranks = ranking.mean_ranks
    if "random" not in ranks or ranking.obstacle:
        return ""
    ahead = ", ".join(ranks.index[ranks < ranks["random"]]) or "none"
    behind = ", ".join(ranks.index[ranks > ranks["random"]]) or "none"
    return f"Ahead of the random partition: {ahead}; behind it: {behind}."


HOW_TO_READ = (
    "Methods are ranked by their mean deviation, averaged over all runs of a method on a dataset. Friedman's test assumes "
    "independent blocks, and uses only the order of the methods within each block. Its chi-squared approximation is rough "
    "for few blocks. With eleven blocks and five methods, Nemenyi's test finds a difference only if two mean ranks are at "
    "least 1.84 apart, so methods may differ even if the test finds no difference. Blocks of (dataset, k, seed) are not "
    "independent, because runs on one dataset share their data. That ranking is pseudo-replication: its p-values are far "
    "too small. It only shows how much the result depends on the choice of blocks."
)


def describe_missing(ranking: Ranking, datasets_of_paper: Iterable[str]) -> str:
    """Two sentences: which of the paper's datasets have no block, and which blocks were left out."""
    present = set(ranking.values.index.get_level_values("dataset"))
    missing = [name for name in datasets_of_paper if name not in present]
    left_out = first_of([f"{block} (no {methods})" for block, methods in ranking.incomplete.items()], _MAX_LISTED_BLOCKS)
    return (
        f"The paper's datasets without a run: {', '.join(missing) or 'none'}. Blocks left out, because a method has no run "
        f"with status ok there: {', '.join(left_out) or 'none'}."
    )


def to_markdown(rankings: list[Ranking], datasets_of_paper: Sequence[str]) -> str:
    """How to read the tests, and each ranking in words, with the blocks that were left out of it."""
    sections = [
        f"## {ranking.title}\n\n{describe(ranking)} {describe_missing(ranking, datasets_of_paper)}\n" for ranking in rankings
    ]
    return "\n".join(["# Do the methods differ?\n", f"{HOW_TO_READ}\n", *sections])
