"""The leaderboard in sentences and tables: which methods keep a limit on unfairness, and at what price."""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import isclose
from textwrap import TextWrapper, wrap
from types import MappingProxyType

import pandas as pd

from clusterlets.benchmark.analysis import leaderboard
from clusterlets.benchmark.analysis.leaderboard import (
    CASE,
    CLUSTERLETS,
    CONTROL,
    KEEPS,
    METHOD,
    MISSES,
    NO_RESULT,
    NOT_CHOSEN,
    OURS,
    UNSUPPORTED,
)
from clusterlets.benchmark.grid.runs_frame import fill_text
from clusterlets.benchmark.report import SHOWN_LIMIT
from clusterlets.metrics.all_scores import score
from clusterlets.text import counted, markdown_table

_BOARD, _OVERALL, _PAIRS = "leaderboard.csv", "leaderboard_overall.csv", "leaderboard_pairs.csv"
#: The files of a leaderboard, in the order of :class:`Standings`.
FILES = (_BOARD, _OVERALL, _PAIRS)
NO_LEADERBOARD = "There is no leaderboard, because it needs at least two seeds."

#: The first paragraph.
INTRODUCTION = (
    "A clustering keeps a limit, such as 0.05, if it has exactly k clusters and no group's share in any cluster differs by "
    "more than 0.05 from the group's share in the table: this difference is the deviation. A case is a table with its "
    "sensitive groups, and a k. Methods are ordered by the cases in which they keep the limit, and then by their median price "
    "there. The price is the sum of squared distances to the cluster means, divided by that of the best plain k-means."
)
#: A sentence on the features of a run, for each value of its setting ``scaling``.
_FEATURE_SENTENCES = {
    "none": "The features are raw, as in the paper. Prices of raw and of standardised features cannot be compared.",
    "standard": "Each feature has mean 0 and variance 1. Prices of raw and of standardised features cannot be compared.",
}
TUNED_ON = ("pima", "magic", "heloc", "compas")  # the tables that fair-limit was mostly developed on
#: The rules of the leaderboard, which were written down before the run, and the words in its tables.
RULES = {
    "price": score("price_of_fairness").explanation,
    "limits": "0.01, 0.02, 0.03, 0.05, 0.07 and 0.1. This project developed `fair-limit`, marked (ours), at 0.01, 0.02, 0.05 "
    f"and 0.1, mostly on {', '.join(TUNED_ON[:-1])} and {TUNED_ON[-1]}; at 0.03 and 0.07 nobody tuned it. It wrote "
    "all other methods anew from their papers",
    "case": "does not count if `fair-limit` proves that no clustering of it keeps the limit",
    "keeps the limit": "in whole rows, in each sensitive column by itself, and in all scoring runs of the chosen rung",
    "within one row": "the cases if every count may be one row beyond the limit, with rungs chosen by the same rule",
    "rungs": "the parameter values that a method tries, at most eight: the six limits, if it takes a limit on the deviation; "
    "otherwise values of the parameter that trades fairness for cost, from the strictest that usually gives a result to one "
    "too loose for most cases",
    "seeds": "the first half chooses a rung for each method, case and limit; the other half scores it. `halves exchanged` has "
    "the cases if they exchange their roles",
    "choice": "a rung is safe in a case if all its choosing runs there keep the limit, and either none deviates by more than "
    "half the limit, or no choosing run of the rung breaks the limit in any case. The cheapest safe rung is chosen; without "
    "one, that whose choosing runs keep the limit most often and, of these, deviate least; none, if no run keeps it",
    "starts": "a run is the best, by the method's own objective, of 1 to 128 starts. Their number was set for each case before "
    "the run, from CPU times measured alone, with those of `fair-limit` as the aim. The next word has what the run took; "
    "where it is below 1, `fair-limit` had more time",
    "CPU over fair-limit's": "CPU time of a fit with all its starts, divided by that of `fair-limit` in the same case: the "
    "median over the cases, the smallest and the largest",
    "reliability": "share of the cases in which the limit is kept, with its exact 95 % interval (Clopper and Pearson) as if "
    "cases were independent. Those of one table are alike, so `tables` counts tables in all of whose cases the limit is kept",
    "price, 90th percentile, worst": "median, 90th percentile and largest price of the cases in which the limit is kept",
    "runs within": "share of the scoring runs that keep the limit, where a rung was chosen",
    "unsupported": "cases that the method does not take, such as three groups for a method for two; `of those it takes` is "
    "the reliability without them",
    "wins, losses, ties": "cases in which both keep the limit and the first costs less, more, and as much",
    "ratio": "the first method's cost over the other's in these cases, as geometric mean over each table's cases and then "
    "over the tables, with a t interval over the tables if there are six or more",
    "told apart": "by a t test over the tables, of the ratio or of the difference in reliability, at level 0.05 after Holm's "
    "correction over all tests under a limit. Only pairs with the first method are tested",
    "matchers of Clusterlets": "choose their own number of clusters, and have only the cases whose k their runs yield",
    "controls": "methods that ignore the groups",
    "outputs without a claim": "a method's second clustering, which its authors do not call fair, such as FRAC (nearest)",
}

# The heading of the column that counts each outcome.
_OUTCOMES = {
    KEEPS: "keeps the limit",
    MISSES: "the chosen parameters miss it on the scoring seeds",
    NOT_CHOSEN: "no parameters keep it on the choosing seeds",
    NO_RESULT: "no result",
    UNSUPPORTED: "unsupported",
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
    """The leaderboard: the contents of its :data:`FILES`."""

    board: pd.DataFrame
    overall: pd.DataFrame
    pairs: pd.DataFrame

    @classmethod
    def none(cls) -> "Standings":
        """An empty leaderboard."""
        frames = (pd.DataFrame(columns=names) for names in (leaderboard.COLUMNS, leaderboard.OVERALL, leaderboard.PAIRS))
        return cls(*frames)

    @property
    def is_empty(self) -> bool:
        return self.board.empty

    @property
    def limits(self) -> list[float]:
        return sorted(self.board["limit"].unique())

    def under(self, limit: float, kind: str = "") -> pd.DataFrame:
        """Every method, or every method of one kind, under one limit over all cases, in the leaderboard's order."""
        rows = self.overall[self.overall["limit"] == limit]
        return rows[rows["kind"] == kind] if kind else rows

    def tied_with_first(self, limit: float) -> list[str]:
        """The methods with as many cases and the same median price as the first; the order of their names means nothing."""
        first, *others = self.under(limit, METHOD).to_dict("records")
        ties = [row for row in others if row["kept"] == first["kept"] and isclose(row["price"], first["price"], rel_tol=1e-9)]
        return [row["method"] for row in ties]

    def pairs_under(self, limit: float) -> pd.DataFrame:
        """The pairs of the kind :data:`METHOD` under one limit, in the leaderboard's order."""
        pairs = self._pairs_both_ways(limit)
        better_first = set(combinations(self.under(limit, METHOD)["method"], 2))
        return pairs.loc[[pair in better_first for pair in zip(pairs["method"], pairs["other"], strict=True)]]

    def pairs_of(self, method: str, limit: float) -> pd.DataFrame:
        """The pairs of one method under one limit, with this method first, in the leaderboard's order."""
        pairs = self._pairs_both_ways(limit)
        return pairs[pairs["method"] == method]

    def _pairs_both_ways(self, limit: float) -> pd.DataFrame:
        """The pairs under one limit, each in both orders, sorted as in the leaderboard."""
        pairs = fill_text(self.pairs[self.pairs["limit"] == limit], "told_apart")
        order = list(self.under(limit)["method"])
        both_ways = pd.concat([pairs, _swap_methods(pairs)])
        return both_ways.sort_values(["method", "other"], key=lambda column: column.map(order.index), kind="stable")


def _swap_methods(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs with the two methods exchanged: wins become losses, and ratios are inverted."""
    new_names = {"method": "other", "wins": "losses", "ratio_low": "ratio_high", "difference_low": "difference_high"}
    new_names |= {new: old for old, new in new_names.items()}
    swapped = pairs.rename(columns=new_names)[list(pairs.columns)]
    ratios, differences = ([f"{name}{end}" for end in ("", "_low", "_high")] for name in ("ratio", "difference"))
    return swapped.assign(**{name: 1 / swapped[name] for name in ratios}, **{name: -swapped[name] for name in differences})


def summary(standings: Standings) -> list[str]:
    """For the report: what was compared, and how the methods rank under :data:`SHOWN_LIMIT`."""
    if standings.is_empty:
        return [NO_LEADERBOARD]
    leaders = [_leaders_text(standings, SHOWN_LIMIT)] if SHOWN_LIMIT in standings.limits else []
    return [scope(standings), *leaders]


def findings(standings: Standings) -> list[tuple[str, str]]:
    """The main sentences, each with the file that its numbers come from."""
    if standings.is_empty:
        return [(NO_LEADERBOARD, _BOARD)]
    sentences = [(scope(standings), _BOARD)]
    sentences += [(_leaders_text(standings, limit), _OVERALL) for limit in standings.limits]
    if SHOWN_LIMIT in standings.limits:
        sentences.append((_within_row_text(standings), _OVERALL))
    if matcher := leading_matcher(standings):
        sentences.append((_matcher_text(matcher, standings.under(SHOWN_LIMIT)["cases"].max()), _OVERALL))
    return sentences


def describe_limit(limit: float) -> str:
    """The limit as text: ``at a largest deviation of at most 0.05``."""
    return f"at a largest deviation of at most {limit:g}"


def introduction(settings: Mapping) -> str:
    """:data:`INTRODUCTION`, and a sentence on the scaling of the features."""
    return f"{INTRODUCTION} {_FEATURE_SENTENCES[settings['scaling']]}"


def scope(standings: Standings) -> str:
    """What was compared, as a sentence."""
    board = standings.board[standings.board["kind"] != CLUSTERLETS]
    board = standings.board if board.empty else board
    ks = ", ".join(f"{k:g}" for k in sorted(board["k"].unique()))
    n_tables = len(set(leaderboard.tables_of(board)))
    n_datasets = board["dataset"].nunique()
    group_text = f" with {n_datasets} choices of sensitive groups" if n_datasets > n_tables else ""
    n_seeds = int(standings.board["runs"].max()) if standings.board["runs"].notna().any() else 0
    return (
        f"{counted(_count(standings, METHOD), 'method')} and {counted(_count(standings, CONTROL), 'control')} on "
        f"{counted(n_tables, 'table')}{group_text}, k = {ks}, scored on {counted(n_seeds, 'seed')} that did not choose "
        "parameters."
    )


def _count(standings: Standings, kind: str) -> int:
    return standings.board.loc[standings.board["kind"] == kind, "method"].nunique()


def _leaders_text(standings: Standings, limit: float) -> str:
    start = describe_limit(limit).capitalize()
    rows = standings.under(limit, METHOD)
    if rows.empty or not rows["kept"].max():
        return f"{start}, no method keeps the limit in any case."
    first, *others = rows.to_dict("records")
    name, pairs = marked(first["method"]), standings.pairs_of(first["method"], limit).set_index("other")
    runners_up = [_describe_rival(row, pairs.loc[row["method"]]) for row in others[:3] if row["kept"]]
    lead = ""
    if tied := standings.tied_with_first(limit):
        lead = f", with as many cases and the same median price as {' and '.join(map(marked, tied))}"
    elif any(row["reliability"] == first["reliability"] for row in others):
        lead = f", by its median price (the next is {100 * (others[0]['price'] / first['price'] - 1):.2g} % higher)"
    text = (
        f"{start}, {name} comes first{lead}. It keeps the limit in {first['kept']} of "
        f"{counted(first['cases'], 'case')} at a price of {first['price']:.2f} (90th percentile "
        f"{first['price_90']:.2f}, worst {first['price_worst']:.2f}), and is the cheapest in "
        f"{count_cheapest(standings, first['method'], limit)}."
    )
    if runners_up:
        text += f" Next, with their cases and their cost over its own: {'; '.join(runners_up)}."
    not_told_apart = [row["method"] for row in others if not pairs.loc[row["method"], "told_apart"]]
    if not_told_apart:
        return f"{text} Tests of price and reliability do not tell it apart from {', '.join(not_told_apart)}."
    return text + (" Tests of price or reliability tell it apart from all others." if others else "")


def marked(method: str) -> str:
    """The name of a method, with a mark if it is this project's own."""
    return f"{method} (ours)" if method == OURS else method


def count_cheapest(standings: Standings, method: str, limit: float) -> int:
    """In how many cases no method that keeps the limit is cheaper than this one."""
    cheapest = _cheapest_methods(standings.board)
    return int(((cheapest["limit"] == limit) & (cheapest["method"] == method)).sum())


def _describe_rival(row: Mapping, pair: Mapping) -> str:
    """A method behind the first one; ``pair`` compares the first with it."""
    cost = f"{1 / pair['ratio']:.2f}" if pair["cases"] else "no shared case"
    return f"{marked(row['method'])} {row['kept']}, {cost}"


def _cheapest_methods(board: pd.DataFrame) -> pd.DataFrame:
    """For each limit and case, the rows of the methods that keep the limit at the least price."""
    keeping_rows = board[(board["outcome"] == KEEPS) & (board["kind"] == METHOD)]
    return keeping_rows[keeping_rows["price"] == keeping_rows.groupby([*CASE, "limit"])["price"].transform("min")]


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def leading_matcher(standings: Standings) -> Mapping | None:
    """The row of the best matcher of Clusterlets under :data:`SHOWN_LIMIT`; None if there is no matcher."""
    return next(iter(standings.under(SHOWN_LIMIT, CLUSTERLETS).to_dict("records")), None)


def _matcher_text(matcher: Mapping, n_cases: int) -> str:
    start = describe_limit(SHOWN_LIMIT).capitalize()
    if not matcher["kept"]:
        return f"{start}, no matcher of Clusterlets keeps the limit with exactly k clusters."
    return (
        f"{start}, the most reliable matcher of Clusterlets, {matcher['method']}, keeps the limit in {matcher['kept']} of the "
        f"{counted(matcher['cases'], 'case')} (of {n_cases}) in which its runs yield k clusters, at a median price of "
        f"{matcher['price']:.2f}."
    )


def _within_row_text(standings: Standings) -> str:
    rows = standings.under(SHOWN_LIMIT, METHOD)
    more = rows[rows["kept_within_row"] > rows["kept"]]
    gains = [f"{row['method']} {row['kept_within_row']} instead of {row['kept']}" for row in more.to_dict("records")]
    start = f"If every count may be one row beyond a largest deviation of {SHOWN_LIMIT:g}"
    return f"{start}, more cases count for {', '.join(gains)}." if gains else f"{start}, no method keeps it in more cases."


def headlines(standings: Standings) -> list[str]:
    """The main sentences under :data:`SHOWN_LIMIT`, and the first method under the other limits, for the README."""
    if SHOWN_LIMIT not in standings.limits:
        return [NO_LEADERBOARD]
    limits_by_first: dict[str, list[str]] = {}
    for limit, name in leaderboard.first_methods(standings.overall).items():
        count = f"{count_cheapest(standings, name, limit)} of {standings.under(limit, METHOD)['cases'].max()}"
        ours = "" if name == OURS else f"; {marked(OURS)} in {count_cheapest(standings, OURS, limit)}"
        limits_by_first.setdefault(marked(name), []).append(f"{limit:g} ({count}{ours})")
    firsts = "; ".join(f"{name} at {', '.join(limits)}" for name, limits in limits_by_first.items())
    sentences = [
        _leaders_text(standings, SHOWN_LIMIT),
        f"First at each limit, with the cases in which it is the cheapest, ties included: {firsts}.",
    ]
    untuned = [table not in TUNED_ON for table in leaderboard.tables_of(standings.board)]
    if any(untuned) and not all(untuned):
        others = Standings(standings.board[untuned], standings.overall, standings.pairs)
        n_cases = len(others.board[others.board["limit"] == SHOWN_LIMIT].drop_duplicates(CASE))
        sentences.append(
            f"{marked(OURS)} was developed mostly on {', '.join(TUNED_ON)}. On the other tables, it is the cheapest in "
            f"{count_cheapest(others, OURS, SHOWN_LIMIT)} of {n_cases} cases."
        )
    matcher = leading_matcher(standings)
    return sentences + ([_matcher_text(matcher, standings.under(SHOWN_LIMIT)["cases"].max())] if matcher else [])


def orders(standings: Standings) -> pd.DataFrame:
    """The first three methods under each change of the rules, as text; changes that give the same order share a row.

    The changes: each table left out, the halves of the seeds exchanged, one row of room, and each other limit.
    """
    board = standings.board[standings.board["limit"] == SHOWN_LIMIT]
    tables = pd.Series(leaderboard.tables_of(board), index=board.index)
    summaries = {f"at most {SHOWN_LIMIT:g}": standings.under(SHOWN_LIMIT)}
    if tables.nunique() > 1:
        summaries |= {f"without {name}": leaderboard.overall(board[tables != name]) for name in tables.unique()}
    ranked = standings.under(SHOWN_LIMIT, METHOD)
    for change, keys in (
        ("halves exchanged", ["kept_exchanged", "price"]),
        ("within one row", ["kept_within_row", "price_within_row"]),
    ):
        summaries[change] = ranked.sort_values([*keys, "method"], ascending=[False, True, True], kind="stable")
    summaries |= {f"at most {limit:g}": standings.under(limit) for limit in standings.limits if limit != SHOWN_LIMIT}
    changes_by_order: dict[str, list[str]] = {}
    for change, summary in summaries.items():
        names = summary.loc[(summary["kind"] == METHOD) & (summary["kept"] > 0), "method"]
        changes_by_order.setdefault(", ".join(map(marked, names[:3])) or "none", []).append(change)
    return pd.DataFrame({"first three": order, "under": ", ".join(changes)} for order, changes in changes_by_order.items())


def rerun_command(configfile: str) -> str:
    """The command that repeats runs, without the paths of their files."""
    configured = f" --configfile {shlex.quote(configfile)}" if configfile else ""
    return f"snakemake --cores 1{configured} --forcerun fit_method score_method --"


# ---- Markdown --------------------------------------------------------------------------------------------------------


def to_markdown(standings: Standings, configfile: str, settings: Mapping, costs: pd.DataFrame | None = None) -> str:
    """The text of ``results/leaderboard.md``. With ``costs``, those of ``accounts/leaderboard_costs.csv``, it has CPU times."""
    efforts = {} if costs is None else relative_efforts(costs)
    lines = ["# Leaderboard", "", "Which fair clustering methods keep a limit on unfairness, and what does that cost?", ""]
    if not standings.is_empty:
        figure = "![Reliability against price](figures/reliability_against_price.png)"
        lines += [*wrap(introduction(settings), 120), "", figure, ""]
    lines += [*bullets(f"{sentence} (`{file}`)" for sentence, file in findings(standings)), ""]
    lines += ["The first table of `docs/methods.md` says when to use which method.", ""]
    rules = pd.DataFrame(RULES.items(), columns=["word", "meaning"])
    lines += ["## The rules", "", *markdown_table(rules), ""]
    if SHOWN_LIMIT in standings.limits:
        lines += [f"## All methods {describe_limit(SHOWN_LIMIT)}", ""]
        for title, table in all_methods(standings, SHOWN_LIMIT, efforts).items():
            lines += [f"### {title}", "", *markdown_table(table), ""]
        lines += [f"`{_OVERALL}` has the other limits.", ""]
        lines += ["## What changes the order", "", *markdown_table(orders(standings)), ""]
        if len(pairs := all_pairs(standings, SHOWN_LIMIT)):
            lines += ["## Pairs of methods", "", *markdown_table(pairs), "", f"`{_PAIRS}` has the other limits.", ""]
        lines += ["## Where methods fail", "", *markdown_table(all_outcomes(standings, SHOWN_LIMIT)), ""]
    if not standings.is_empty:
        cheapest = markdown_table(_cheapest_by_case(standings.board))
        lines += ["## The cheapest method of each case, with its price", "", *cheapest, ""]
        lines += [f"`{_BOARD}` has every method. To repeat the runs of a method in a case:", ""]
        lines += [f"    {rerun_command(configfile)} {settings['results']}/runs/DATASET/METHOD/kK/seedsBATCH.csv", ""]
    return "\n".join(lines)


def bullets(items: Iterable[str]) -> list[str]:
    """A bulleted list, wrapped at 120 characters."""
    wrapper = TextWrapper(120, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return [line for item in items for line in wrapper.wrap(item)]


def all_methods(
    standings: Standings, limit: float, efforts: Mapping[str, str] = MappingProxyType({})
) -> dict[str, pd.DataFrame]:
    """For each kind of method, its heading and a table of its methods under one limit, as text.

    ``efforts`` are the :func:`relative_efforts`, if they are known.
    """
    tables = {}
    for kind, heading in _HEADINGS.items():
        rows = [_describe_method(row, efforts) for row in standings.under(limit, kind).to_dict("records")]
        if rows:
            tables[heading] = pd.DataFrame(rows)
    return tables


def relative_efforts(costs: pd.DataFrame) -> dict[str, str]:
    """The CPU time of each method over that of :data:`OURS`: median over the cases, smallest and largest, as text."""
    seconds = costs.groupby([*CASE, "method"])["seconds"].mean().unstack("method")
    if OURS not in seconds:
        return {}
    ratios = seconds.div(seconds[OURS], axis="index")
    return {name: f"{values.median():.2f} [{values.min():.2f}, {values.max():.2f}]" for name, values in ratios.items()}


def _describe_method(row: Mapping, efforts: Mapping[str, str]) -> dict[str, str]:
    """A row of the table of methods. A method that keeps the limit in no case has no price."""
    cpu = {f"CPU over {OURS}'s": efforts.get(row["method"], "–")} if efforts else {}
    tables = f"{row['tables_kept']} of {row['tables']} [{row['tables_low']:.2f}, {row['tables_high']:.2f}]"
    return {
        "method": marked(row["method"]),
        "reliability": _with_interval(row, "reliability"),
        "cases": f"{row['kept']} of {row['cases']}",
        "within one row": f"{row['kept_within_row']}",
        "halves exchanged": f"{row['kept_exchanged']}",
        "unsupported": f"{row['unsupported']}",
        "of those it takes": "–" if pd.isna(row["reliability_supported"]) else f"{row['reliability_supported']:.2f}",
        "tables": tables,
        "price": f"{row['price']:.2f}" if row["kept"] else "–",
        "90th percentile": f"{row['price_90']:.2f}" if row["kept"] else "–",
        "worst": f"{row['price_worst']:.2f}" if row["kept"] else "–",
        "runs within": "–" if pd.isna(row["within"]) else _percent(row["within"]),
        **cpu,
    }


def _with_interval(row: Mapping, name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return f"{row[name]:.2f}" + ("" if pd.isna(low) else f" [{low:.2f}, {high:.2f}]")


def all_pairs(standings: Standings, limit: float) -> pd.DataFrame:
    """The pairs of methods that both keep the limit in some case, as text."""
    keeping_methods = set(standings.under(limit, METHOD).query("kept > 0")["method"])
    rows = [row for row in standings.pairs_under(limit).to_dict("records") if {row["method"], row["other"]} <= keeping_methods]
    return pd.DataFrame(
        [
            {
                "method": row["method"],
                "other": row["other"],
                "wins, losses, ties": f"{row['wins']}, {row['losses']}, {row['ties']}",
                "ratio": _with_interval(row, "ratio") if row["cases"] else "–",
                "told apart": row["told_apart"] or "–",
            }
            for row in rows
        ]
    )


def all_outcomes(standings: Standings, limit: float) -> pd.DataFrame:
    """For each method, the number of cases with each outcome, and of runs without a result."""
    board = standings.board[standings.board["limit"] == limit]
    counts = pd.crosstab(board["method"], board["outcome"]).reindex(columns=_OUTCOMES, fill_value=0).rename(columns=_OUTCOMES)
    order = [method for method in standings.under(limit)["method"] if method in counts.index]
    n_failed = board.groupby("method")["failed"].sum()[order]
    return counts.loc[order].reset_index().assign(**{"runs without a result": n_failed.to_numpy()})


def _cheapest_by_case(board: pd.DataFrame) -> pd.DataFrame:
    """A row per case and a column per limit, with the cheapest methods and their price."""
    cheapest = _cheapest_methods(board).groupby([*CASE, "limit"])
    cells = {key: f"{', '.join(rows['method'])} {rows['price'].iloc[0]:.3f}" for key, rows in cheapest}
    limits = {limit: f"≤ {limit:g}" for limit in sorted(board["limit"].unique())}
    cases = board[CASE].drop_duplicates().to_numpy().tolist()
    rows = [[*case, *(cells.get((*case, limit), "–") for limit in limits)] for case in cases]
    return pd.DataFrame(rows, columns=[*CASE, *limits.values()])
