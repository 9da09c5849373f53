"""The leaderboard in sentences and tables: which methods keep a limit on unfairness, and at what price."""

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

#: What a reader must know before the first number. The page and the Markdown file begin with this text.
INTRODUCTION = (
    "A clustering keeps a limit of 0.05, say, if it has exactly k clusters and no group's share in any cluster is further than "
    "0.05 from the group's share in the table. The largest such difference is the clustering's largest deviation. A block is a "
    "table with its sensitive groups, and a k. Reliability is the share of the blocks in which a method keeps the limit, and "
    "price is what it then costs: the sum of squared distances to the cluster means, divided by that of the best plain "
    "k-means. So a reliability of 1 at a price of 1 would be perfect."
)
#: A sentence on the features of a run, for each value of its setting ``scaling``.
_FEATURE_SENTENCES = {
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

# The heading of the column that counts each outcome.
_OUTCOMES = {
    KEEPS: "keeps the limit",
    MISSES: "the chosen parameters miss it on the scoring seeds",
    NOT_CHOSEN: "no parameters keep it on the choosing seeds",
    NO_RESULT: "no result",
}

# The heading of each kind of method.
_HEADINGS = {
    METHOD: "Methods",
    CLUSTERLETS: "Matchers of Clusterlets",
    leaderboard.OUTPUT: "Outputs without a claim",
    CONTROL: "Controls",
}


@dataclass(frozen=True)
class Standings:
    """The contents of a leaderboard's :data:`FILES`."""

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
        """Whether the leaderboard has no rows."""
        return self.board.empty

    @property
    def limits(self) -> list[float]:
        return sorted(self.board["limit"].unique())

    def under(self, limit: float, kind: str = "") -> pd.DataFrame:
        """Every method under one limit, over all blocks, in the leaderboard's order; with ``kind``, only those of that kind."""
        rows = self.overall[self.overall["limit"] == limit]
        return rows[rows["kind"] == kind] if kind else rows

    def pairs_under(self, limit: float) -> pd.DataFrame:
        """The pairs under one limit, in the leaderboard's order, without matchers, controls and second outputs."""
        pairs = self._pairs_both_ways(limit)
        better_first_pairs = set(combinations(self.under(limit, METHOD)["method"], 2))
        return pairs.loc[[pair in better_first_pairs for pair in zip(pairs["method"], pairs["other"], strict=True)]]

    def pairs_of(self, method: str, limit: float) -> pd.DataFrame:
        """The pairs of one method under one limit, with this method first, in the leaderboard's order of the other methods."""
        pairs = self._pairs_both_ways(limit)
        return pairs[pairs["method"] == method]

    def _pairs_both_ways(self, limit: float) -> pd.DataFrame:
        """Every pair of methods under one limit, in both orders, sorted as in the leaderboard."""
        pairs = self.pairs[self.pairs["limit"] == limit].fillna({"told_apart": ""})
        order = list(self.under(limit)["method"])
        both_ways = pd.concat([pairs, _swap_methods(pairs)])
        return both_ways.sort_values(["method", "other"], key=lambda column: column.map(order.index), kind="stable")


def _swap_methods(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs with the two methods exchanged: wins become losses, and ratios are inverted."""
    renamed_columns = {"method": "other", "wins": "losses", "ratio_low": "ratio_high", "difference_low": "difference_high"}
    renamed_columns |= {new: old for old, new in renamed_columns.items()}
    swapped = pairs.rename(columns=renamed_columns)[list(pairs.columns)]
    ratios, differences = ["ratio", "ratio_low", "ratio_high"], ["reliability_difference", "difference_low", "difference_high"]
    return swapped.assign(**{name: 1 / swapped[name] for name in ratios}, **{name: -swapped[name] for name in differences})


def summary(standings: Standings) -> list[str]:
    """Sentences on what was compared, and on how the methods rank under :data:`SHOWN_LIMIT`; the report links to the rest."""
    if standings.is_empty:
        return [EMPTY]
    return [_scope_text(standings), *([_leaders_text(standings, SHOWN_LIMIT)] if SHOWN_LIMIT in standings.limits else [])]


def findings(standings: Standings) -> list[tuple[str, str]]:
    """The main sentences, each with the file that its numbers come from; :data:`EMPTY` if there is no leaderboard."""
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
    """:data:`INTRODUCTION`, and a sentence on the features of a run with these settings."""
    return f"{INTRODUCTION} {_FEATURE_SENTENCES[settings['scaling']]}"


def _scope_text(standings: Standings) -> str:
    board = standings.board[standings.board["kind"] != CLUSTERLETS]
    board = standings.board if board.empty else board
    ks = ", ".join(f"{k:g}" for k in sorted(board["k"].unique()))
    n_tables = len(set(leaderboard.tables_of(board)))
    n_datasets = board["dataset"].nunique()
    group_text = f" with {n_datasets} choices of sensitive groups" if n_datasets > n_tables else ""
    n_seeds = int(standings.board["runs"].max()) if standings.board["runs"].notna().any() else 0
    return (
        f"{_count_methods(standings, METHOD)} methods and {counted(_count_methods(standings, CONTROL), 'control')} "
        f"were compared on {counted(n_tables, 'table')}{group_text}, "
        f"with k = {ks}. The scores come from the {counted(n_seeds, 'seed')} that did not choose the parameters."
    )


def _count_methods(standings: Standings, kind: str) -> int:
    return standings.board.loc[standings.board["kind"] == kind, "method"].nunique()


def _leaders_text(standings: Standings, limit: float) -> str:
    start = describe_limit(limit).capitalize()
    rows = standings.under(limit, METHOD)
    if rows.empty or not rows["kept"].max():
        return f"{start}, no method keeps the limit in any block."
    first, *others = rows.to_dict("records")
    runners_up = [f"{row['method']} {_percent(row['reliability'])}, {row['price']:.2f}" for row in others[:3] if row["kept"]]
    cheapest = _cheapest_methods(standings.board)
    count = ((cheapest["limit"] == limit) & (cheapest["method"] == first["method"])).sum()
    text = (
        f"{start}, {first['method']} is the most reliable: it keeps the limit in {first['kept']} of "
        f"{counted(first['blocks'], 'block')}, at a median price of {first['price']:.2f}. It is the cheapest method that does "
        f"in {count} of them."
    )
    text += f" Then come {'; '.join(runners_up)}." if runners_up else ""
    pairs = standings.pairs_under(limit)
    not_told_apart = pairs.loc[(pairs["method"] == first["method"]) & (pairs["told_apart"] == ""), "other"]
    return text + (f" It is not told apart from {', '.join(not_told_apart)}." if len(not_told_apart) else "")


def _cheapest_methods(board: pd.DataFrame) -> pd.DataFrame:
    """For each limit and block, the row of the method that keeps the limit at the lowest price; several rows in a tie."""
    keeping_rows = board[(board["outcome"] == KEEPS) & (board["kind"] == METHOD)]
    return keeping_rows[keeping_rows["price"] == keeping_rows.groupby([*BLOCK, "limit"])["price"].transform("min")]


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def leading_matcher(standings: Standings) -> Mapping | None:
    """The row, over all blocks, of the best matcher of Clusterlets under :data:`SHOWN_LIMIT`; None without matchers."""
    return next(iter(standings.under(SHOWN_LIMIT, CLUSTERLETS).to_dict("records")), None)


def _matcher_text(matcher: Mapping, n_blocks: int) -> str:
    start = describe_limit(SHOWN_LIMIT).capitalize()
    if not matcher["kept"]:
        return f"{start}, no matcher of Clusterlets keeps the limit in any block."
    return (
        f"{start}, the most reliable matcher of Clusterlets, {matcher['method']}, keeps the limit in {matcher['kept']} of the "
        f"{counted(matcher['blocks'], 'block')} of {n_blocks} in which its runs yield k clusters, at a median price of "
        f"{matcher['price']:.2f}."
    )


# ---- how to repeat a row ---------------------------------------------------------------------------------------------


def command(configfile: str) -> str:
    """The command that repeats the runs of a row. Append the files that :func:`cells_of` returns."""
    configured = f" --configfile {shlex.quote(configfile)}" if configfile else ""
    return f"snakemake --cores 1{configured} --forcerun fit_method score_method --"


def cells_of(row: Mapping, settings: Mapping) -> str:
    """The files of a row's runs, quoted for a shell; empty if no configuration was chosen."""
    if pd.isna(row["runs"]):
        return ""
    method_ids = {
        label: name for name, grid in settings["grids"].items() for label in selection.paper_names(pd.Series(grid["names"]))
    }
    parameters = parse_parameters(row["parameters"] if isinstance(row["parameters"], str) else "")
    k = int(parameters.pop("clusterlets", row["k"]))  # for a matcher: clusterlets per group, not clusters
    all_blocks = seed_blocks(**settings["seeds"])
    cells = [Cell(row["dataset"], method_ids[row["method"]], k, parameters, seeds) for seeds in all_blocks]
    return " ".join(shlex.quote(f"{settings['results']}/{cell.path}") for cell in cells)


# ---- Markdown --------------------------------------------------------------------------------------------------------


def to_markdown(standings: Standings, configfile: str, settings: Mapping) -> str:
    """``results/leaderboard.md``: findings, glossary, methods, pairs, failures, and the cheapest method of each block."""
    lines = ["# Leaderboard", "", "Which fair clustering methods keep a limit on unfairness, and what does that cost?", ""]
    if not standings.is_empty:
        figure = "![Reliability against price](figures/reliability_against_price.png)"
        lines += [*wrap(introduction(settings), 120), "", figure, ""]
    lines += [*_bullets(f"{sentence} (`{file}`)" for sentence, file in findings(standings)), ""]
    lines += ["Which method to take when: the first table of `docs/methods.md`.", ""]
    lines += ["## How to read the tables", "", *_bullets(f"**{word}**: {meaning}" for word, meaning in GLOSSARY.items()), ""]
    if SHOWN_LIMIT in standings.limits:
        lines += [f"## All methods {describe_limit(SHOWN_LIMIT)}", ""]
        for title, table in all_methods(standings, SHOWN_LIMIT).items():
            lines += [f"### {title}", "", *markdown_table(table), ""]
        lines += [f"`{_OVERALL}` has the other limits.", ""]
        if len(pairs := all_pairs(standings, SHOWN_LIMIT)):
            lines += ["## Pairs of methods", "", *markdown_table(pairs), "", f"`{_PAIRS}` has the other limits.", ""]
        lines += ["## Where methods fail", "", *markdown_table(all_outcomes(standings, SHOWN_LIMIT)), ""]
    if not standings.is_empty:
        lines += ["## The cheapest method of each block, with its price", "", *markdown_table(_winners(standings.board)), ""]
        lines += [f'`{_BOARD}` has every method, <a href="fronts.html">fronts.html</a> shows every value of its parameters.']
        lines += ["To repeat the runs of a row:", ""]
        lines += [f"    {command(configfile)} {settings['results']}/runs/DATASET/METHOD/kK_PARAMETERS/seedsBLOCK.csv", ""]
    return "\n".join(lines)


def _bullets(texts: Iterable[str]) -> list[str]:
    """A bulleted list, wrapped at 120 characters."""
    wrapper = TextWrapper(120, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return [line for text in texts for line in wrapper.wrap(text)]


def all_methods(standings: Standings, limit: float) -> dict[str, pd.DataFrame]:
    """Every method under one limit, as text for readers: the heading and the table of each kind."""
    kinds = {heading: standings.under(limit, kind).to_dict("records") for kind, heading in _HEADINGS.items()}
    return {heading: pd.DataFrame(list(map(_describe_method, methods))) for heading, methods in kinds.items() if methods}


def _describe_method(row: Mapping) -> dict[str, str]:
    """A row of the table of all methods. A method that keeps the limit in no block has no price."""
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
    """Every pair of methods that each keep the limit in some block, as text for readers."""
    reliable_methods = set(standings.under(limit, METHOD).query("kept > 0")["method"])
    rows = [row for row in standings.pairs_under(limit).to_dict("records") if {row["method"], row["other"]} <= reliable_methods]
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
    """Per method, the number of blocks with each outcome, and the statuses of runs without a result, as text for readers."""
    board = standings.board[standings.board["limit"] == limit]
    counts = pd.crosstab(board["method"], board["outcome"]).reindex(columns=_OUTCOMES, fill_value=0).rename(columns=_OUTCOMES)
    order = [method for method in standings.under(limit)["method"] if method in counts.index]
    statuses = {method: _total_statuses(rows["statuses"]) for method, rows in board.groupby("method")}
    return counts.loc[order].reset_index().assign(**{"runs without a result": [statuses[method] for method in order]})


def _total_statuses(counts: pd.Series) -> str:
    """``timeout 12, unsupported 24``: sums over blocks of the counts that :func:`leaderboard.count_statuses` wrote."""
    totals: dict[str, int] = {}
    for entry in "; ".join(counts.dropna()).split("; "):
        status, _, count = entry.rpartition(" ")
        if status:
            totals[status] = totals.get(status, 0) + int(count)
    return ", ".join(f"{status} {count:,}" for status, count in sorted(totals.items())) or "–"


def _winners(board: pd.DataFrame) -> pd.DataFrame:
    """The cheapest methods: a row per block, a column per limit. Methods that tie share a cell."""
    cheapest = _cheapest_methods(board).groupby([*BLOCK, "limit"])
    cells = {key: f"{', '.join(rows['method'])} {rows['price'].iloc[0]:.3f}" for key, rows in cheapest}
    limits = {limit: f"≤ {limit:g}" for limit in sorted(board["limit"].unique())}
    blocks = board[BLOCK].drop_duplicates().to_numpy().tolist()
    rows = [[*block, *(cells.get((*block, limit), "–") for limit in limits)] for block in blocks]
    return pd.DataFrame(rows, columns=[*BLOCK, *limits.values()])
