"""The leaderboard in words: findings, each with the file it rests on, a glossary, and the page as Markdown."""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from textwrap import TextWrapper

import numpy as np
import pandas as pd

from clusterlets.analysis import leaderboard, selection
from clusterlets.analysis.leaderboard import BLOCK
from clusterlets.grid.cells import Cell, parse_parameters, seed_blocks
from clusterlets.metrics.table import score
from clusterlets.text import counted, markdown_table

_BOARD, _OVERALL, _POINTS = "leaderboard.csv", "leaderboard_overall.csv", "leaderboard_points.csv"
SHOWN_LIMIT = 0.05  # on the largest deviation; all methods are shown under this one
EMPTY = "There is no leaderboard: it takes two methods and two seeds with results, and runs of k-means to compare costs with."

GLOSSARY = {
    "block": "a dataset with one of its sensitive features, and a k",
    "seeds": "the first half chooses each method's parameters, the other half scores them; every number here is of the other "
    "half",
    "limit": "on the largest deviation: the largest difference, over all clusters and sensitive groups, between a "
    "group's share in the cluster and in the dataset",
    "price": "squared error divided by the smallest that any run reached with k clusters, or, for a clustering of more than k "
    "clusters, with as many; the median over the seeds that score",
    "price_low, price_high": "the least and the largest price over these seeds",
    "rank": "1 is the least price among the methods whose median deviation keeps the limit on the seeds that score",
    "outcome": "`ranked`; `misses the limit`: it kept the limit on the seeds that choose, and not on those that score, or has "
    "no cost there; `none keeps the limit`: no configuration keeps it on the seeds that choose; `no result`: no run is ok",
    "within": "share of the scoring seeds on which the clustering keeps the limit",
    **{name: score(name).explanation for name in ("delta_min", "weighted_deviation")},
    "n_clusters": "median number of clusters; methods of Clusterlets choose it themselves",
    "on_front": "no other configuration of the block has both a lower delta_min and a lower price",
    "tried": f"configurations that a method chooses from: at most {leaderboard.TRIED}, spread over its grid; 1 where it has no "
    "parameters",
    "mean rank": "over the blocks in which any method keeps the limit; methods that miss it share the places that are left",
    "within 1.1": "share of these blocks in which the method keeps the limit and costs at most 1.1 times the least price",
    "hypervolume": f"area that a method's points dominate (delta_min up to 1, price up to {leaderboard.DEAREST:g}), over the "
    "area that all points dominate; mean over the blocks",
    "seconds, memory_mb": "median seconds of a fit and the largest memory of its process; of a matcher of the matching alone",
}


@dataclass(frozen=True)
class Standings:
    """The contents of a leaderboard's files."""

    board: pd.DataFrame
    overall: pd.DataFrame
    points: pd.DataFrame

    @classmethod
    def none(cls) -> "Standings":
        """The standings of runs that have no leaderboard."""
        return cls(pd.DataFrame(columns=["seeds", "limit"]), pd.DataFrame(columns=["limit"]), pd.DataFrame())

    @property
    def is_empty(self) -> bool:
        """Whether no method has a configuration with a cost."""
        return bool(self.board["seeds"].isna().all())

    @property
    def limits(self) -> list[float]:
        return sorted(self.board["limit"].unique())

    def methods_under(self, limit: float) -> pd.DataFrame:
        """Every method over all blocks under one limit, the best first."""
        return self.overall[self.overall["limit"] == limit]


def summary(standings: Standings) -> list[str]:
    """What was compared, and which method leads under :data:`SHOWN_LIMIT`; the report links to the rest."""
    if standings.is_empty:
        return [EMPTY]
    return [_scope(standings.board), _leaders(standings.methods_under(SHOWN_LIMIT), SHOWN_LIMIT)]


def findings(standings: Standings) -> list[tuple[str, str]]:
    """Sentences, each with the file that its numbers come from; :data:`EMPTY` if there is no leaderboard."""
    if standings.is_empty:
        return [(EMPTY, _BOARD)]
    sentences = [(_scope(standings.board), _BOARD)]
    sentences += [(_leaders(standings.methods_under(limit), limit), _OVERALL) for limit in standings.limits]
    sentences.append((_areas(standings.overall), _OVERALL))
    sentences += [(sentence, _OVERALL) for sentence in _matchers(standings)]
    sentences.append((_front_finding(standings.points), _POINTS))
    sentences += [(sentence, _BOARD) for sentence in (_misses(standings.board), *_without_results(standings.board))]
    return sentences


def describe_limit(limit: float) -> str:
    """``at a largest deviation of at most 0.05``, or without a limit."""
    return f"at a largest deviation of at most {limit:g}" if np.isfinite(limit) else "without a limit"


def _scope(board: pd.DataFrame) -> str:
    rows = board[board["limit"] == board["limit"].max()]
    blocks = len(rows[BLOCK].drop_duplicates())
    seeds = int(board["seeds"].max())
    return (
        f"{rows['method'].nunique()} methods were compared in {counted(blocks, 'block')}: "
        f"{counted(rows['dataset'].nunique(), 'dataset')} with k {', '.join(f'{k:g}' for k in sorted(rows['k'].unique()))}, "
        f"each configuration scored on {counted(seeds, 'seed')} that its choice has not seen."
    )


def _leaders(overall: pd.DataFrame, limit: float) -> str:
    first, *others = overall.to_dict("records")
    ranked_in = f"keeps the limit in {first['ranked']} and " if np.isfinite(limit) else ""
    runners_up = "; ".join(f"{row['method']} {row['mean_rank']:.2f}" for row in others[:3])
    return (
        f"{describe_limit(limit).capitalize()}, {first['method']} has the best mean rank, {first['mean_rank']:.2f} of "
        f"{len(overall)} methods, and the least price in {first['first']} of {counted(first['blocks'], 'block')}; "
        f"it {ranked_in}costs at most 1.1 times the least price in {_percent(first['within_1.1'])} of "
        f"the blocks. Then come {runners_up}."
    )


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def _areas(overall: pd.DataFrame) -> str:
    rows = overall[overall["limit"] == overall["limit"].max()].sort_values(["hypervolume", "method"], ascending=[False, True])
    leaders = ", ".join(f"{row['method']} {row['hypervolume']:.3f}" for row in rows.head(4).to_dict("records"))
    return f"Over all trade-offs of price and delta_min the largest relative hypervolumes are those of {leaders}."


@dataclass(frozen=True)
class Matcher:
    """The best matcher of Clusterlets under a limit: its name, its place among all methods, and its row over all blocks."""

    name: str
    place: int
    row: pd.Series


def leading_matcher(standings: Standings, limit: float) -> Matcher | None:
    """The matcher with the best mean rank; None if there is none, or no other method to compare it with."""
    order = standings.methods_under(limit).reset_index(drop=True)
    matchers = order[order["method"].isin(selection.PAPER_NAMES.values())]
    if matchers.empty or len(matchers) == len(order):
        return None
    return Matcher(matchers.iloc[0]["method"], matchers.index[0] + 1, matchers.iloc[0])


def _matchers(standings: Standings) -> list[str]:
    """Where the best matcher of Clusterlets stands under each limit."""
    sentences = []
    for limit in standings.limits:
        matcher = leading_matcher(standings, limit)
        if matcher is not None:
            row, n_methods = matcher.row, len(standings.methods_under(limit))
            sentences.append(
                f"{describe_limit(limit).capitalize()}, the best matcher of Clusterlets is {matcher.name}, in place "
                f"{matcher.place} of {n_methods}: mean rank {row['mean_rank']:.2f}, ranked in {row['ranked']} of "
                f"{counted(row['blocks'], 'block')}, the least price in {row['first']}."
            )
    return sentences


def _front_finding(points: pd.DataFrame) -> str:
    counts = points[points["on_front"].astype(bool)].groupby("method")[BLOCK].apply(lambda part: len(part.drop_duplicates()))
    counts = counts.sort_index().sort_values(ascending=False, kind="stable")
    listed = ", ".join(f"{method} in {number}" for method, number in counts.head(4).items())
    return f"Of {counted(len(points[BLOCK].drop_duplicates()), 'block')}, a configuration is on the front of {listed}."


def _misses(board: pd.DataFrame) -> str:
    choices = board[board["parameters"].notna() | board["seeds"].notna()]
    missed = int((choices["outcome"] == leaderboard.MISSED).sum())
    return f"Of {counted(len(choices), 'choice')} made, {missed} miss the limit, or have no cost, on the seeds that score."


def _without_results(board: pd.DataFrame) -> list[str]:
    """Methods with runs that are not ok, those with the most first."""
    rows = board[board["limit"] == board["limit"].max()]
    by_method = rows.groupby("method")[["runs", "runs_ok"]].sum()
    failed = (by_method["runs"] - by_method["runs_ok"]).sort_values(ascending=False, kind="stable")
    listed = ", ".join(
        f"{method} ({number:,} of {by_method.loc[method, 'runs']:,})" for method, number in failed[failed > 0].items()
    )
    return [f"Runs without a result rank last; these methods have some: {listed}."] if listed else []


# ---- how to repeat a row ---------------------------------------------------------------------------------------------


def command(configfile: str) -> str:
    """The command that repeats the runs of a row, but for the files, which :func:`cells_of` names."""
    configured = f" --configfile {shlex.quote(configfile)}" if configfile else ""
    return f"snakemake --cores 1{configured} --forcerun fit_method score_method --"


def cells_of(row: Mapping, settings: Mapping) -> str:
    """The files of a row's runs, quoted for a shell; empty if no configuration was chosen."""
    if row["seeds"] is None or pd.isna(row["seeds"]):
        return ""
    names = {
        label: name for name, grid in settings["grids"].items() for label in selection.paper_names(pd.Series(grid["names"]))
    }
    parameters = parse_parameters(row["parameters"] if isinstance(row["parameters"], str) else "")
    blocks = seed_blocks(**settings["seeds"])
    cells = [Cell(row["dataset"], names[row["method"]], int(row["k"]), parameters, seeds) for seeds in blocks]
    return " ".join(shlex.quote(f"{settings['results']}/{cell.path}") for cell in cells)


# ---- Markdown --------------------------------------------------------------------------------------------------------


def to_markdown(standings: Standings, configfile: str, results: str) -> str:
    """``results/leaderboard.md``: findings, all methods under one limit, the cheapest of each block, and the glossary."""
    lines = ["# Leaderboard", "", *_items(f"{sentence} (`{file}`)" for sentence, file in findings(standings)), ""]
    if not standings.is_empty:
        table = all_methods(standings.methods_under(SHOWN_LIMIT))
        lines += [f"## All methods {describe_limit(SHOWN_LIMIT)}", "", *markdown_table(table), ""]
        lines += ["`leaderboard_overall.csv` has the other limits.", ""]
        lines += ["## The cheapest method of each block, with its price", "", *markdown_table(_cheapest(standings.board)), ""]
        lines += [f"`{_BOARD}` has every method. To repeat the runs of a row:", ""]
        lines += [f"    {command(configfile)} {results}/runs/DATASET/METHOD/kK_PARAMETERS/seedsBLOCK.csv", ""]
    lines += ["## What the words mean", "", *_items(f"**{word}**: {meaning}" for word, meaning in GLOSSARY.items()), ""]
    return "\n".join(lines)


def _items(texts: Iterable[str]) -> list[str]:
    """A bulleted list, wrapped at 120 characters."""
    wrapper = TextWrapper(120, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return [line for text in texts for line in wrapper.wrap(text)]


def all_methods(overall: pd.DataFrame) -> pd.DataFrame:
    """Every method under one limit, as text for readers."""
    return pd.DataFrame(
        {
            "method": overall["method"],
            "mean rank": overall["mean_rank"].map("{:.2f}".format),
            "blocks ranked": [f"{row['ranked']} of {row['blocks']}" for row in overall.to_dict("records")],
            "first": overall["first"].astype(str),
            "within 1.1": overall["within_1.1"].map("{:.2f}".format),
            "hypervolume": overall["hypervolume"].map("{:.3f}".format),
        }
    )


def _cheapest(board: pd.DataFrame) -> pd.DataFrame:
    """One row per block, one column per limit; methods that tie for first place share a cell."""
    winners = board[board["rank"] == 1]
    cells: dict[tuple, str] = {}
    for key, rows in winners.groupby([*BLOCK, "limit"], sort=False):
        cells[key] = f"{', '.join(rows['method'])} {rows['price'].iloc[0]:.3f}"
    limits = {limit: f"≤ {limit:g}" if np.isfinite(limit) else "no limit" for limit in sorted(board["limit"].unique())}
    blocks = board[BLOCK].drop_duplicates().to_numpy().tolist()
    rows = [[*block, *(cells.get((*block, limit), "–") for limit in limits)] for block in blocks]
    return pd.DataFrame(rows, columns=[*BLOCK, *limits.values()])
