"""The leaderboard in words and tables: which methods keep a limit, and what that costs."""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from textwrap import TextWrapper, wrap

import pandas as pd

from clusterlets.analysis import leaderboard, selection
from clusterlets.analysis.leaderboard import BLOCK, CLUSTERLETS, CONTROL, KEEPS, METHOD, MISSES, NO_RESULT, NOT_CHOSEN
from clusterlets.grid.cells import Cell, parse_parameters, seed_blocks
from clusterlets.metrics.table import score
from clusterlets.report import SHOWN_LIMIT
from clusterlets.text import counted, markdown_table

_BOARD, _OVERALL, _PAIRS = "leaderboard.csv", "leaderboard_overall.csv", "leaderboard_pairs.csv"
#: The files of a leaderboard, in the order of :class:`Standings`.
FILES = (_BOARD, _OVERALL, _PAIRS)
EMPTY = "There is no leaderboard: it takes two seeds."

#: What a reader must know before the first number; the page and the Markdown begin with it.
INTRODUCTION = (
    "A clustering keeps a limit of 0.05, say, if it has exactly k clusters and no group's share in any cluster is further than "
    "0.05 from the group's share in the table. The largest such difference is the clustering's largest deviation. A block is a "
    "table with its sensitive groups, and a k. Reliability is the share of the blocks in which a method keeps the limit, and "
    "price is what it then costs: the sum of squared distances to the cluster means, divided by that of the best plain "
    "k-means. So a reliability of 1 at a price of 1 would be perfect."
)
#: The features of a run, by its setting ``scaling``: numbers of the two kinds are two experiments.
_FEATURES = {
    "none": "The features are raw, as in the paper. Prices of raw and of standardised features cannot be compared.",
    "standard": "Each feature has mean 0 and variance 1. Prices of raw and of standardised features cannot be compared.",
}
#: What the words in the tables mean.
GLOSSARY = {
    "price": score("price_of_fairness").explanation,
    "block": "one for which `fair-limit` proves that no clustering keeps the limit does not count",
    "keeps the limit": "in whole numbers; a method does in a block if all scoring runs of its chosen parameters do",
    "seeds": "the first half chooses each method's parameters, the other half scores them; every number here is of the other "
    "half",
    "starts": "a run is the best of so many starts, by the method's own objective",
    "price, 90th percentile, worst": "over the blocks in which the method keeps the limit: the median, the price that nine "
    "tenths do not exceed, and the largest",
    "runs within": "share of the scoring runs that keep the limit, over the blocks for which parameters were chosen",
    "interval": "in brackets: 95 % of 2,000 draws of whole tables with replacement. Blocks of one table are alike, so they do "
    "not count as independent",
    "wins, losses, ties": "of the blocks in which both methods keep the limit, those in which the first costs less, more, as "
    "much",
    "ratio": "the first method's cost over that of the other in these blocks, geometric mean",
    "told apart": "what differs by more than chance: `price` if the interval of the ratio leaves out 1, `reliability` if that "
    "of the difference leaves out 0",
    "matchers of Clusterlets": "they choose their own number of clusters, so each block is compared with those of their runs "
    "that yield k clusters; the other blocks do not count for them, and a matcher without such a block is not listed",
    "controls": "methods that ignore the groups",
    "outputs without a claim": "a method's second clustering, which its authors do not call fair, such as FRAC (nearest)",
}

_OUTCOMES = {
    KEEPS: "keeps the limit",
    MISSES: "the chosen parameters miss it on the scoring seeds",
    NOT_CHOSEN: "no parameters keep it on the choosing seeds",
    NO_RESULT: "no result",
}

_HEADINGS = {
    METHOD: "Methods",
    CLUSTERLETS: "Matchers of Clusterlets",
    leaderboard.OUTPUT: "Outputs without a claim",
    CONTROL: "Controls",
}


@dataclass(frozen=True)
class Standings:
    """The contents of a leaderboard's files."""

    board: pd.DataFrame
    overall: pd.DataFrame
    pairs: pd.DataFrame

    @classmethod
    def none(cls) -> "Standings":
        """The standings of runs that have no leaderboard."""
        frames = (pd.DataFrame(columns=names) for names in (leaderboard.COLUMNS, leaderboard.OVERALL, leaderboard.PAIRS))
        return cls(*frames)

    @property
    def is_empty(self) -> bool:
        """Whether no method has a block."""
        return self.board.empty

    @property
    def limits(self) -> list[float]:
        return sorted(self.board["limit"].unique())

    def under(self, limit: float, kind: str = "") -> pd.DataFrame:
        """Every method over all blocks under one limit, or those of a kind, in the leaderboard's order."""
        rows = self.overall[self.overall["limit"] == limit]
        return rows[rows["kind"] == kind] if kind else rows

    def pairs_under(self, limit: float) -> pd.DataFrame:
        """Every pair of methods under one limit, without matchers, controls and second outputs, in the leaderboard's order."""
        pairs = self._pairs_both_ways(limit)
        better_first = set(combinations(self.under(limit, METHOD)["method"], 2))
        return pairs.loc[[names in better_first for names in zip(pairs["method"], pairs["other"], strict=True)]]

    def pairs_of(self, method: str, limit: float) -> pd.DataFrame:
        """The pairs of one method under one limit, each seen from it, in the leaderboard's order of the others."""
        pairs = self._pairs_both_ways(limit)
        return pairs[pairs["method"] == method]

    def _pairs_both_ways(self, limit: float) -> pd.DataFrame:
        """Every pair of outputs under one limit, seen from either, in the leaderboard's order."""
        pairs = self.pairs[self.pairs["limit"] == limit].fillna({"told_apart": ""})
        order = list(self.under(limit)["method"])
        both_ways = pd.concat([pairs, _flipped(pairs)])
        return both_ways.sort_values(["method", "other"], key=lambda column: column.map(order.index), kind="stable")


def _flipped(pairs: pd.DataFrame) -> pd.DataFrame:
    """The same pairs seen from the other method."""
    names = {"method": "other", "wins": "losses", "ratio_low": "ratio_high", "difference_low": "difference_high"}
    names |= {second: first for first, second in names.items()}
    flipped = pairs.rename(columns=names)[list(pairs.columns)]
    ratios, differences = ["ratio", "ratio_low", "ratio_high"], ["reliability_difference", "difference_low", "difference_high"]
    return flipped.assign(**{name: 1 / flipped[name] for name in ratios}, **{name: -flipped[name] for name in differences})


def summary(standings: Standings) -> list[str]:
    """What was compared, and how the methods stand under the limit that is shown; the report links to the rest."""
    if standings.is_empty:
        return [EMPTY]
    return [_scope_text(standings), *([_leaders_text(standings, SHOWN_LIMIT)] if SHOWN_LIMIT in standings.limits else [])]


def findings(standings: Standings) -> list[tuple[str, str]]:
    """A few sentences, each with the file that its numbers come from; :data:`EMPTY` if there is no leaderboard."""
    if standings.is_empty:
        return [(EMPTY, _BOARD)]
    sentences = [(_scope_text(standings), _BOARD)]
    sentences += [(_leaders_text(standings, limit), _OVERALL) for limit in standings.limits]
    if matcher := leading_matcher(standings):
        sentences.append((_matcher_text(matcher, standings.under(SHOWN_LIMIT)["blocks"].max()), _OVERALL))
    return sentences


def describe_limit(limit: float) -> str:
    """``at a largest deviation of at most 0.05``."""
    return f"at a largest deviation of at most {limit:g}"


def introduction(settings: Mapping) -> str:
    """What a reader must know before the first number of a run with these settings."""
    return f"{INTRODUCTION} {_FEATURES[settings['scaling']]}"


def _scope_text(standings: Standings) -> str:
    board = standings.board[standings.board["kind"] != CLUSTERLETS]
    board = standings.board if board.empty else board
    ks = ", ".join(f"{k:g}" for k in sorted(board["k"].unique()))
    tables = len(set(leaderboard.tables_of(board)))
    groups = board["dataset"].nunique()
    sensitive = f" with {groups} choices of sensitive groups" if groups > tables else ""
    runs = int(standings.board["runs"].max()) if standings.board["runs"].notna().any() else 0
    return (
        f"{_count(standings, METHOD)} methods and {counted(_count(standings, CONTROL), 'control')} were compared "
        f"on {counted(tables, 'table')}{sensitive}, "
        f"with k = {ks}. The scores come from the {counted(runs, 'seed')} that did not choose the parameters."
    )


def _count(standings: Standings, kind: str) -> int:
    return standings.board.loc[standings.board["kind"] == kind, "method"].nunique()


def _leaders_text(standings: Standings, limit: float) -> str:
    lead = describe_limit(limit).capitalize()
    rows = standings.under(limit, METHOD)
    if rows.empty or not rows["kept"].max():
        return f"{lead}, no method keeps the limit in any block."
    first, *others = rows.to_dict("records")
    runners_up = [f"{row['method']} {_percent(row['reliability'])}, {row['price']:.2f}" for row in others[:3] if row["kept"]]
    cheapest = _cheapest_methods(standings.board)
    count = ((cheapest["limit"] == limit) & (cheapest["method"] == first["method"])).sum()
    text = (
        f"{lead}, {first['method']} is the most reliable: it keeps the limit in {first['kept']} of "
        f"{counted(first['blocks'], 'block')}, at a median price of {first['price']:.2f}. It is the cheapest method that does "
        f"in {count} of them."
    )
    text += f" Then come {'; '.join(runners_up)}." if runners_up else ""
    pairs = standings.pairs_under(limit)
    not_told_apart = pairs.loc[(pairs["method"] == first["method"]) & (pairs["told_apart"] == ""), "other"]
    return text + (f" It is not told apart from {', '.join(not_told_apart)}." if len(not_told_apart) else "")


def _cheapest_methods(board: pd.DataFrame) -> pd.DataFrame:
    """The rows of the methods that keep a limit in a block at the least price; several if they tie."""
    keeping = board[(board["outcome"] == KEEPS) & (board["kind"] == METHOD)]
    return keeping[keeping["price"] == keeping.groupby([*BLOCK, "limit"])["price"].transform("min")]


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def leading_matcher(standings: Standings) -> Mapping | None:
    """The row over all blocks of the first matcher of Clusterlets under the limit that is shown; None if there is none."""
    return next(iter(standings.under(SHOWN_LIMIT, CLUSTERLETS).to_dict("records")), None)


def _matcher_text(matcher: Mapping, n_blocks: int) -> str:
    lead = describe_limit(SHOWN_LIMIT).capitalize()
    if not matcher["kept"]:
        return f"{lead}, no matcher of Clusterlets keeps the limit in any block."
    return (
        f"{lead}, the most reliable matcher of Clusterlets, {matcher['method']}, keeps the limit in {matcher['kept']} of the "
        f"{counted(matcher['blocks'], 'block')} of {n_blocks} in which its runs yield k clusters, at a median price of "
        f"{matcher['price']:.2f}."
    )


# ---- how to repeat a row ---------------------------------------------------------------------------------------------


def command(configfile: str) -> str:
    """The command that repeats the runs of a row, up to the files, which :func:`cells_of` gives."""
    configured = f" --configfile {shlex.quote(configfile)}" if configfile else ""
    return f"snakemake --cores 1{configured} --forcerun fit_method score_method --"


def cells_of(row: Mapping, settings: Mapping) -> str:
    """The files of a row's runs, quoted for a shell; empty if no configuration was chosen."""
    if pd.isna(row["runs"]):
        return ""
    names = {
        label: name for name, grid in settings["grids"].items() for label in selection.paper_names(pd.Series(grid["names"]))
    }
    parameters = parse_parameters(row["parameters"] if isinstance(row["parameters"], str) else "")
    k = int(parameters.pop("clusterlets", row["k"]))  # a matcher's own k
    blocks = seed_blocks(**settings["seeds"])
    cells = [Cell(row["dataset"], names[row["method"]], k, parameters, seeds) for seeds in blocks]
    return " ".join(shlex.quote(f"{settings['results']}/{cell.path}") for cell in cells)


# ---- Markdown --------------------------------------------------------------------------------------------------------


def to_markdown(standings: Standings, configfile: str, settings: Mapping) -> str:
    """``results/leaderboard.md``: findings, glossary, all methods, pairs, where methods fail, the cheapest of each block."""
    lines = ["# Leaderboard", "", "Which fair clustering methods keep a limit on unfairness, and what does that cost?", ""]
    if not standings.is_empty:
        picture = "![Reliability against price](figures/reliability_against_price.png)"
        lines += [*wrap(introduction(settings), 120), "", picture, ""]
    lines += [*_items(f"{sentence} (`{file}`)" for sentence, file in findings(standings)), ""]
    lines += ["Which method to take when: the first table of `docs/methods.md`.", ""]
    lines += ["## How to read the tables", "", *_items(f"**{word}**: {meaning}" for word, meaning in GLOSSARY.items()), ""]
    if SHOWN_LIMIT in standings.limits:
        lines += [f"## All methods {describe_limit(SHOWN_LIMIT)}", ""]
        for title, table in all_methods(standings, SHOWN_LIMIT).items():
            lines += [f"### {title}", "", *markdown_table(table), ""]
        lines += [f"`{_OVERALL}` has the other limits.", ""]
        if len(pairs := all_pairs(standings, SHOWN_LIMIT)):
            lines += ["## Pairs of methods", "", *markdown_table(pairs), "", f"`{_PAIRS}` has the other limits.", ""]
        lines += ["## Where methods fail", "", *markdown_table(all_outcomes(standings, SHOWN_LIMIT)), ""]
    if not standings.is_empty:
        lines += ["## The cheapest method of each block, with its price", "", *markdown_table(_cheapest(standings.board)), ""]
        lines += [f'`{_BOARD}` has every method, <a href="fronts.html">fronts.html</a> shows every value of its parameters.']
        lines += ["To repeat the runs of a row:", ""]
        lines += [f"    {command(configfile)} {settings['results']}/runs/DATASET/METHOD/kK_PARAMETERS/seedsBLOCK.csv", ""]
    return "\n".join(lines)


def _items(texts: Iterable[str]) -> list[str]:
    """A bulleted list, wrapped at 120 characters."""
    wrapper = TextWrapper(120, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return [line for text in texts for line in wrapper.wrap(text)]


def all_methods(standings: Standings, limit: float) -> dict[str, pd.DataFrame]:
    """Every method under one limit, as text for readers: a table for each kind, by its heading."""
    rows = {heading: standings.under(limit, kind).to_dict("records") for kind, heading in _HEADINGS.items()}
    return {heading: pd.DataFrame(list(map(_describe_method, own))) for heading, own in rows.items() if own}


def _describe_method(row: Mapping) -> dict[str, str]:
    """One row of the table of all methods; a method that keeps the limit nowhere has no price."""
    return {
        "method": row["method"],
        "reliability": _with_interval(row, "reliability"),
        "blocks": f"{row['kept']} of {row['blocks']}",
        "price": _with_interval(row, "price") if row["kept"] else "–",
        "90th percentile": f"{row['price_90']:.2f}" if row["kept"] else "–",
        "worst": f"{row['price_worst']:.2f}" if row["kept"] else "–",
        "runs within": "–" if pd.isna(row["within"]) else _percent(row["within"]),
    }


def _with_interval(row: Mapping, name: str) -> str:
    return f"{row[name]:.2f} [{row[f'{name}_low']:.2f}, {row[f'{name}_high']:.2f}]"


def all_pairs(standings: Standings, limit: float) -> pd.DataFrame:
    """Every pair of methods that both keep the limit somewhere, as text for readers."""
    kept = set(standings.under(limit, METHOD).query("kept > 0")["method"])
    rows = [row for row in standings.pairs_under(limit).to_dict("records") if {row["method"], row["other"]} <= kept]
    return pd.DataFrame(
        [
            {
                "method": row["method"],
                "other": row["other"],
                "wins, losses, ties": f"{row['wins']}, {row['losses']}, {row['ties']}",
                "ratio": _with_interval(row, "ratio") if row["blocks"] else "–",
                "told apart": row["told_apart"] or "–",
            }
            for row in rows
        ]
    )


def all_outcomes(standings: Standings, limit: float) -> pd.DataFrame:
    """In how many blocks each method keeps the limit or does not, and why, as text for readers."""
    board = standings.board[standings.board["limit"] == limit]
    counts = pd.crosstab(board["method"], board["outcome"]).reindex(columns=_OUTCOMES, fill_value=0).rename(columns=_OUTCOMES)
    order = [method for method in standings.under(limit)["method"] if method in counts.index]
    statuses = {method: _total_statuses(rows["statuses"]) for method, rows in board.groupby("method")}
    return counts.loc[order].reset_index().assign(**{"runs without a result": [statuses[method] for method in order]})


def _total_statuses(counts: pd.Series) -> str:
    """The statuses that :func:`leaderboard.count_statuses` wrote for each block, added up: ``timeout 12, unsupported 24``."""
    totals: dict[str, int] = {}
    for entry in "; ".join(counts.dropna()).split("; "):
        status, _, count = entry.rpartition(" ")
        if status:
            totals[status] = totals.get(status, 0) + int(count)
    return ", ".join(f"{status} {count:,}" for status, count in sorted(totals.items())) or "–"


def _cheapest(board: pd.DataFrame) -> pd.DataFrame:
    """One row per block, one column per limit; methods that tie for the least price share a cell."""
    cheapest = _cheapest_methods(board).groupby([*BLOCK, "limit"])
    cells = {key: f"{', '.join(best['method'])} {best['price'].iloc[0]:.3f}" for key, best in cheapest}
    limits = {limit: f"≤ {limit:g}" for limit in sorted(board["limit"].unique())}
    blocks = board[BLOCK].drop_duplicates().to_numpy().tolist()
    rows = [[*block, *(cells.get((*block, limit), "–") for limit in limits)] for block in blocks]
    return pd.DataFrame(rows, columns=[*BLOCK, *limits.values()])
