"""Are the methods' differences more than chance? Friedman's test and Nemenyi's critical difference (Demsar 2006)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pandas as pd
import scikit_posthocs
from scipy.stats import friedmanchisquare, studentized_range

from clusterlets.analysis import selection
from clusterlets.text import counted

ALPHA = 0.05
_LISTED = 12


@dataclass(frozen=True)
class Ranking:
    """Methods ranked within blocks by mean deviation; the highest rank is the best, as in the paper's figure 1.

    ``values`` holds the complete blocks only; ``incomplete`` names the others, each with the methods that have no
    value there. ``kendall_w`` is Friedman's effect size: 0 where the blocks agree on no order, 1 where on one. Where
    ``obstacle`` says why the tests cannot be computed, the numbers are NaN and ``nemenyi`` is empty.
    """

    name: str
    title: str
    values: pd.DataFrame
    incomplete: dict[str, str]
    mean_ranks: pd.Series
    statistic: float
    p_value: float
    critical_difference: float
    nemenyi: pd.DataFrame
    obstacle: str = ""

    @property
    def incomplete_blocks(self) -> int:
        """How many blocks were left out because a method has no value there."""
        return len(self.incomplete)

    @property
    def kendall_w(self) -> float:
        """Kendall's coefficient of concordance, from Friedman's chi-squared."""
        n_blocks, n_methods = self.values.shape
        return self.statistic / (n_blocks * (n_methods - 1)) if n_blocks and n_methods > 1 else np.nan

    @property
    def pairs(self) -> pd.DataFrame:
        """Every pair of methods, the better one first: difference of mean ranks, Nemenyi's p, and whether p < .05."""
        ordered = self.mean_ranks.index
        rows = [
            (self.name, better, worse, self.mean_ranks[better] - self.mean_ranks[worse], self._p(better, worse))
            for place, better in enumerate(ordered)
            for worse in ordered[place + 1 :]
        ]
        pairs = pd.DataFrame(rows, columns=["ranking", "better", "worse", "rank_difference", "p_value"])
        pairs = pairs.astype({"rank_difference": float, "p_value": float})
        return pairs.assign(significant=(pairs["p_value"] < ALPHA).astype(object).where(pairs["p_value"].notna()))

    def _p(self, better: str, worse: str) -> float:
        return np.nan if self.nemenyi.empty else float(self.nemenyi.loc[better, worse])


def rank_all(runs: pd.DataFrame) -> list[Ranking]:
    """The rankings of the report: figure 1, the same with FRAC and k-means, and a sensitivity check."""
    runs = selection.ok(runs)
    runs = runs.assign(name=selection.names(runs))
    own = selection.in_order(runs.loc[runs["matcher"].notna(), "name"], selection.PAPER_NAMES.values())
    others = ["FRAC (fair)", "FRAC (nearest)", "k-means"]
    return [
        rank("matchers", "Matchers, blocks are datasets", blocks(runs, own, ["dataset"])),
        rank(
            "with_frac",
            "Matchers, FRAC and k-means, blocks are datasets",
            blocks(runs, own + others, ["dataset"]),
        ),
        rank(
            "pseudo_replication",
            "Matchers, blocks are (dataset, k, seed): pseudo-replication",
            blocks(runs, own, ["dataset", "k", "seed"]),
        ),
    ]


def blocks(runs: pd.DataFrame, methods: Iterable[str], by: list[str]) -> pd.DataFrame:
    """Blocks x methods: the mean of the mean deviation over all runs of a method in a block."""
    runs = runs[runs["name"].isin(list(methods))]
    values = runs.pivot_table(index=by, columns="name", values="deviation_mean", aggfunc="mean", dropna=True)
    return values.rename_axis(columns=None)[[name for name in methods if name in values]]


def rank(name: str, title: str, values: pd.DataFrame) -> Ranking:
    """Friedman's test, Nemenyi's pairwise test and mean ranks of methods (columns) over blocks (rows); less is better.

    Values that agree to 12 decimals share a rank.
    """
    complete = values.dropna()
    ranks = complete.round(12).rank(axis=1, ascending=False)
    mean_ranks = ranks.mean().sort_values(ascending=False, kind="stable")
    obstacle = _obstacle(ranks)
    if obstacle:
        tests = (np.nan, np.nan, np.nan, pd.DataFrame())
    else:
        tests = (
            *friedmanchisquare(*ranks.to_numpy().T),
            critical_difference(ranks.shape[1], len(ranks)),
            scikit_posthocs.posthoc_nemenyi_friedman(ranks.reset_index(drop=True)),
        )
    return Ranking(name, title, complete, _incomplete(values), mean_ranks, *tests, obstacle)


def critical_difference(n_methods: int, n_blocks: int, alpha: float = ALPHA) -> float:
    """Nemenyi: mean ranks further apart than this differ at level ``alpha``; 1.84 for 5 methods and 11 blocks."""
    quantile = studentized_range.ppf(1 - alpha, n_methods, np.inf) / sqrt(2)
    return float(quantile * sqrt(n_methods * (n_methods + 1) / (6 * n_blocks)))


def _incomplete(values: pd.DataFrame) -> dict[str, str]:
    absent = values.isna()
    return {_block_name(block): ", ".join(values.columns[absent.loc[block]]) for block in values.index[absent.any(axis=1)]}


def _block_name(block: object) -> str:
    return " ".join(f"{part:g}" if isinstance(part, float) else str(part) for part in np.atleast_1d(np.array(block, object)))


def _obstacle(ranks: pd.DataFrame) -> str:
    n_blocks, n_methods = ranks.shape
    if n_methods < 3:
        return f"Friedman's test needs at least 3 methods, and {counted(n_methods, 'has', 'have')} runs."
    if n_blocks < 3:
        return f"Friedman's test needs at least 3 blocks, and {counted(n_blocks, 'is', 'are')} complete."
    if (ranks.nunique(axis=1) == 1).all():
        return "All methods tie in every block."
    return ""


# ---- how they are written down ---------------------------------------------------------------------------------------


def summary(rankings: list[Ranking]) -> pd.DataFrame:
    """One row a ranking: ``statistics.csv``."""
    return pd.DataFrame(
        [
            {
                "ranking": ranking.name,
                "methods": ranking.values.shape[1],
                "blocks": ranking.values.shape[0],
                "incomplete_blocks": ranking.incomplete_blocks,
                "friedman_chi2": ranking.statistic,
                "p_value": ranking.p_value,
                "kendall_w": ranking.kendall_w,
                "alpha": ALPHA,
                "critical_difference": ranking.critical_difference,
                "not_computed": ranking.obstacle,
            }
            for ranking in rankings
        ]
    )


def mean_ranks(rankings: list[Ranking]) -> pd.DataFrame:
    """Mean rank (highest is best) and mean deviation of each method in each ranking: ``mean_ranks.csv``."""
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "ranking": ranking.name,
                    "method": ranking.mean_ranks.index,
                    "mean_rank": ranking.mean_ranks.to_numpy(),
                    "deviation_mean": ranking.values.mean()[ranking.mean_ranks.index].to_numpy(),
                }
            )
            for ranking in rankings
        ]
    )


def pairs(rankings: list[Ranking]) -> pd.DataFrame:
    """Nemenyi's test of every pair in each ranking: ``nemenyi.csv``."""
    return pd.concat([ranking.pairs for ranking in rankings])


def in_words(ranking: Ranking) -> str:
    """What a ranking says, with what it rests on."""
    n_blocks, n_methods = ranking.values.shape
    if ranking.obstacle:
        return f"Not computed. {ranking.obstacle}"
    verdict = "differ" if ranking.p_value < ALPHA else "are not shown to differ"
    order = ", ".join(f"{method} {value:.2f}" for method, value in ranking.mean_ranks.items())
    separated = ranking.pairs.query("significant == True")
    listed = ", ".join(f"{pair['better']} over {pair['worse']}" for pair in separated.to_dict("records"))
    return (
        f"{n_methods} methods in {n_blocks} blocks {verdict} (Friedman chi-squared {ranking.statistic:.2f}, "
        f"p {p_in_words(ranking.p_value)}; Kendall's W {ranking.kendall_w:.2f}). Mean ranks, {n_methods} is best: {order}. "
        f"Critical difference {ranking.critical_difference:.2f} (Nemenyi, level {ALPHA}); "
        f"significant: {listed or 'no pair'}."
    )


def p_in_words(p_value: float) -> str:
    """``= 0.012``, or a bound where more digits would be noise of the tail's approximation.

    scipy's last bits differ by processor and must not show. So six digits are taken first: otherwise an exact p of .125, half
    way between two shown values, could be .12 on one processor and .13 on another.
    """
    return "< 1e-9" if p_value < 1e-9 else f"= {float(f'{p_value:.6g}'):.2g}"


ASSUMPTIONS = (
    "What is ranked is the mean deviation, averaged over all runs of a method on a dataset. Friedman's test takes the "
    "blocks as independent and asks only for the order within each; its chi-squared approximation is rough for few "
    "blocks, and with eleven blocks and five methods two mean ranks must lie 1.84 apart before Nemenyi's test tells "
    "them apart, so a pair that is not significant is not thereby equal. Blocks of (dataset, k, seed) are not "
    "independent: runs on one dataset share their data, so that ranking is pseudo-replication, is far too sure of "
    "itself, and serves only to show how much hangs on the choice of blocks."
)


def missing_in_words(ranking: Ranking, datasets_of_paper: Iterable[str]) -> str:
    """Which of the paper's datasets are no block, and which blocks were left out, by name and why."""
    blocks = ranking.values.index.get_level_values("dataset")
    met = {*blocks, *(name.split(" ")[0] for name in ranking.incomplete)}
    absent = [name for name in datasets_of_paper if name not in met]
    listed = [f"{block} (no {methods})" for block, methods in list(ranking.incomplete.items())[:_LISTED]]
    if ranking.incomplete_blocks > _LISTED:
        listed.append(f"and {ranking.incomplete_blocks - _LISTED} more")
    return (
        f"The paper's datasets without a run: {', '.join(absent) or 'none'}. Blocks left out, because a method has no run "
        f"with status ok there: {', '.join(listed) or 'none'}."
    )


def to_markdown(rankings: list[Ranking], datasets_of_paper: Sequence[str]) -> str:
    """All rankings in words, what they lack, and the assumptions."""
    sections = [
        f"## {ranking.title}\n\n{in_words(ranking)} {missing_in_words(ranking, datasets_of_paper)}\n" for ranking in rankings
    ]
    return "\n".join(["# Do the methods differ?\n", f"{ASSUMPTIONS}\n", *sections])
