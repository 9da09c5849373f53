"""Sensitivity analysis of the paper's tables: the same numbers with one choice changed that the paper leaves open.

Some choices need additional runs (variants of the grid). Others only reanalyze the same runs: how runs are selected, how
FRAC is scored, what the blocks of the statistics are, which ten seeds are used.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from clusterlets.benchmark.analysis import selection, statistics
from clusterlets.benchmark.paper import cells, ranges, reported, tables
from clusterlets.benchmark.paper.repetitions import repeat

COLUMNS = [
    *("choice", "usual", "taken", "table", "row", "quantity", "baseline", "varied", "difference", "reported"),
    "range_over_seeds",
]
_TABLE1, _TABLE2, _TABLE3, _TABLE4 = reported.TABLES[:4]
_INSIDE = "inside"
_RANKS = "figure1"
_ALL = "all"
_KEY = ["table", "row", "quantity"]
_METRICS = ["deviation_mean", "cohesion", "size", "overlap"]
# Results of SciPy are rounded: their last digits differ by processor, but this table must be the same to the byte.
_DECIMALS = 6


class Choice(NamedTuple):
    """A choice that the paper leaves open, its usual value, and the alternative."""

    name: str
    usual: str
    alternative: str

    @classmethod
    def from_variant(cls, config: Mapping, variant: str) -> "Choice":
        """The choice that a variant of the grid changes; a variant that changes several goes by its own name."""
        changes = config["variants"][variant]
        if len(changes) > 1:
            return cls("variant", "usual choices", variant)
        ((name, alternative),) = changes.items()
        return cls(name, config[name], alternative)


# The choices that only reanalyze the same runs.
_SELECTION = Choice("selection", "single runs", "configuration means")
_FRAC = Choice("FRAC is scored", "nearest", "fair")
_BLOCKS = Choice("blocks of figure 1", "datasets", "(dataset, k, seed)")
_SEEDS = "seeds"

#: The numbers to look at first, by title: (table, row, quantity).
HEADLINES = {
    **{f"{matcher}: deviation": (_TABLE1, matcher, "deviation_mean") for matcher in selection.PAPER_NAMES.values()},
    "table 2: deviation": (_TABLE2, _ALL, "deviation_mean"),
    "table 2: won by G-B": (_TABLE2, "G-B", "wins"),
    "table 3: cohesion": (_TABLE3, _ALL, "cohesion"),
    "table 3: size": (_TABLE3, _ALL, "size"),
    "table 4: datasets below FRAC": (_TABLE4, _ALL, "datasets_below_frac"),
    "numbers inside": (_INSIDE, _ALL, _INSIDE),
}


def assess(runs: pd.DataFrame, variants: Mapping[Choice, pd.DataFrame]) -> pd.DataFrame:
    """The table ``results/sensitivity.csv``, with a row for each choice and number, and columns :data:`COLUMNS`.

    ``runs`` are all runs of the grid, and ``variants`` the runs under each alternative. If any dataset is one
    of the paper's, all others are left out. ``range_over_seeds`` is how far a number of the baseline moves over disjoint
    groups of ten seeds, if there are several. A smaller difference may be noise.
    """
    runs = reported.runs_of_paper(runs)
    first_seeds, *other_seeds = selection.groups_of_seeds(runs) or [selection.seeds_of_paper(runs)]
    baseline = _numbers_from_runs(first_seeds)
    over_seeds = {
        Choice(_SEEDS, "0-9", f"{10 * number}-{10 * number + 9}"): _numbers_from_runs(group)
        for number, group in enumerate(other_seeds, 1)
    }
    varied = {
        choice: _numbers_from_runs(selection.seeds_of_paper(reported.runs_of_paper(frame)))
        for choice, frame in variants.items()
    }
    varied[_SELECTION] = _numbers(_tables_of_means(first_seeds))
    if first_seeds["method"].str.startswith("FRAC").any():
        varied[_FRAC] = _numbers_from_runs(selection.swap_frac_outputs(first_seeds))
    rankings = {ranking.name: ranking for ranking in statistics.rank_all(first_seeds)}
    varied[_BLOCKS] = _ranks(rankings["pseudo_replication"])
    baseline = pd.concat([baseline, _ranks(rankings["matchers"])])
    rows = [_compare(choice, baseline, numbers) for choice, numbers in (varied | over_seeds).items()]
    by_seeds = pd.DataFrame([baseline, *over_seeds.values()])
    ranges = (by_seeds.max() - by_seeds.min()).where(bool(over_seeds) & by_seeds.notna().all())
    columns = {"reported": _printed_numbers(first_seeds), "range_over_seeds": ranges}
    return pd.concat(rows, ignore_index=True).join(pd.DataFrame(columns), on=_KEY)[COLUMNS]


def _compare(choice: Choice, baseline: pd.Series, varied: pd.Series) -> pd.DataFrame:
    """One row per number that the choice can affect."""
    values = pd.DataFrame({"baseline": baseline.reindex(varied.index), "varied": varied})
    values["difference"] = values["varied"] - values["baseline"]
    return values.rename_axis(_KEY).reset_index().assign(choice=choice.name, usual=choice.usual, taken=choice.alternative)


# ---- the numbers -----------------------------------------------------------------------------------------------------


def _numbers_from_runs(runs: pd.DataFrame) -> pd.Series:
    """All numbers of tables 1 to 4, and how many of the paper's are inside the ranges of these runs."""
    our_tables = tables.make(runs, reported.TABLES)
    frames = {name: our_tables[name].frame for name in reported.TABLES[:4]}
    return pd.concat([_numbers(frames), _numbers_inside(runs)])


def _printed_numbers(runs: pd.DataFrame) -> pd.Series:
    """The paper's numbers on the datasets that were run. Those of table 1 are over all of the paper's datasets."""
    tables_of_paper = (reported.table(name).replace("FRAC", "FRAC (nearest)") for name in reported.TABLES[1:4])
    on_our_datasets = [table[table["dataset"].isin(runs["dataset"])] for table in tables_of_paper]
    if on_our_datasets[0].empty:
        return pd.Series(dtype=float, index=pd.MultiIndex.from_arrays([[]] * 3, names=_KEY))
    return _numbers(dict(zip(reported.TABLES[:4], [reported.table(_TABLE1), *on_our_datasets], strict=True)))


def _tables_of_means(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tables 2 to 4 with configurations chosen by their means over seeds."""
    means = selection.without_degenerate(selection.configuration_means(selection.ok(runs)))
    return {
        _TABLE2: tables.best_configurations(runs, "deviation_mean"),
        _TABLE3: tables.best_configurations(runs, "cohesion"),
        _TABLE4: selection.best(means, "deviation_mean", ["dataset", "method"]),
    }


def _numbers(our_tables: Mapping[str, pd.DataFrame]) -> pd.Series:
    """Summary numbers of these tables (of 1 to 4), ours or the paper's, by (table, row, quantity)."""
    summaries = {_TABLE1: _numbers_of_matchers, _TABLE4: _numbers_against_frac}
    numbers = {
        (name, *key): value
        for name, frame in our_tables.items()
        for key, value in summaries.get(name, _numbers_of_winners)(frame).items()
    }
    return pd.Series(numbers, dtype=float).rename_axis(_KEY)


def _numbers_of_matchers(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Table 1, and each matcher's place by mean deviation, where 1 is the lowest."""
    table = table.set_index("matcher")[_METRICS].astype(float)
    table["place"] = table["deviation_mean"].rank()
    return table.stack(future_stack=True).to_dict()


def _numbers_of_winners(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Tables 2 and 3: means over the datasets' winners, and how many datasets each matcher wins."""
    return {
        (_ALL, "datasets"): table["matcher"].count(),
        **{(_ALL, name): value for name, value in table[_METRICS].astype(float).mean().items()},
        **{(matcher, "wins"): (table["matcher"] == matcher).sum() for matcher in selection.PAPER_NAMES.values()},
    }


def _numbers_against_frac(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Table 4 on the datasets with both methods: mean deviations, their ratio, and the datasets won by Clusterlets."""
    deviations = table.pivot(index="dataset", columns="method", values="deviation_mean").astype(float)
    deviations = deviations.reindex(columns=["Clusterlets", "FRAC (nearest)"]).dropna()
    ours, frac = deviations["Clusterlets"], deviations["FRAC (nearest)"]
    return {
        (_ALL, "datasets"): len(deviations),
        (_ALL, "datasets_below_frac"): int((ours < frac).sum()) if len(deviations) else np.nan,
        (_ALL, "deviation_mean_clusterlets"): ours.mean(),
        (_ALL, "deviation_mean_frac"): frac.mean(),
        (_ALL, "ratio_to_frac"): ours.mean() / frac.mean() if frac.mean() else np.nan,
    }


def _numbers_inside(runs: pd.DataFrame) -> pd.Series:
    """How many of the paper's ``numbers`` are ``inside`` the ranges of these runs, by table; empty without its datasets.

    The ranges come from the ten seeds of each choice, so they are narrower than those of results/comparison.csv.
    """
    if not runs["dataset"].isin(reported.datasets()).any():
        return pd.Series(dtype=float)
    printed = cells.paper_cells()
    printed = printed[[not cells.why_not_counted(cell) for cell in printed.to_dict("records")]]
    has_averages = not reported.why_too_few(runs["dataset"].nunique())
    names = reported.TABLES if has_averages else cells.SELECTIONS
    judged = ranges.judge(printed, repeat(runs, names, pairs=tables.CORRELATED_BY_TEXT)).query("inside != ''")
    is_inside = (judged["inside"] == ranges.INSIDE).groupby(judged["table"])
    counts = pd.DataFrame({_INSIDE: is_inside.sum(), "numbers": is_inside.size()})
    counts.loc[_ALL] = counts.sum()
    return pd.concat({_INSIDE: counts.stack()}).astype(float).rename_axis(_KEY)


def _ranks(ranking: statistics.Ranking) -> pd.Series:
    """Nemenyi's p of every pair of matchers; the numbers of blocks and of significant pairs; the critical difference."""
    numbers = {}
    for pair in ranking.pairs.to_dict("records"):
        names = selection.in_order((pair["better"], pair["worse"]), selection.PAPER_NAMES.values())
        numbers[_RANKS, " - ".join(names), "p_value"] = round(pair["p_value"], _DECIMALS)
    numbers[_RANKS, _ALL, "blocks"] = len(ranking.complete)
    numbers[_RANKS, _ALL, "critical_difference"] = round(ranking.critical_difference, _DECIMALS)
    n_significant = (ranking.pairs["p_value"] < statistics.ALPHA).sum()
    numbers[_RANKS, _ALL, "significant_pairs"] = np.nan if ranking.obstacle else n_significant
    return pd.Series(numbers, dtype=float).rename_axis(_KEY)


# ---- in words --------------------------------------------------------------------------------------------------------

_HOW_TO_READ = (
    "Each row changes one choice and leaves the others as usual; = means the same number as with the usual choices. The "
    "deviations below are means over all runs of a matcher (table 1); tables 2 and 3 are means over the datasets' best runs; "
    "the last column counts the paper's numbers inside the ranges of the choice's own ten seeds."
)
_NO_VARIANTS = (
    "Choices that need runs of their own are missing, because no variants were run. `make extended` runs the variants and "
    "forty further seeds (workflow/configs/extended.yaml)."
)
_NO_GROUPS = "Which differences are noise is unknown, because this needs two groups of ten seeds or more (`make extended`)."


def headlines(assessed: pd.DataFrame) -> pd.DataFrame:
    """The rows of :data:`HEADLINES` that exist, in their order and with their titles."""
    titles = pd.DataFrame([(title, *key) for title, key in HEADLINES.items()], columns=["title", *_KEY])
    return titles.merge(assessed, on=_KEY)


def to_markdown(assessed: pd.DataFrame) -> str:
    """A table of the headline numbers with a row per choice, notes on missing runs, and the effect of figure 1's blocks."""
    # A number's rows, one for each choice, repeat the paper's number, the baseline and the range.
    number_rows = assessed.drop_duplicates(_KEY)
    headline_rows = headlines(number_rows).to_dict("records")
    cells_by_label = {
        "the paper": {row["title"]: _number(row, "reported") for row in headline_rows},
        "usual choices": _headline_cells(number_rows, "baseline"),
    }
    for choice, rows in assessed.groupby(["choice", "usual", "taken"], sort=False):
        cells = _headline_cells(rows, "varied")
        if cells:
            cells_by_label["{0}: {2} instead of {1}".format(*choice)] = cells
    has_ranges = any(pd.notna(row["range_over_seeds"]) for row in headline_rows)
    if has_ranges:
        cells_by_label["range over seeds"] = {row["title"]: _number(row, "range_over_seeds") for row in headline_rows}
    legend = "Bold: the change is larger than the range over groups of ten seeds (last row)." if has_ranges else _NO_GROUPS
    variant_choices = set(assessed["choice"]) - {_SELECTION.name, _FRAC.name, _BLOCKS.name, _SEEDS}
    titles = [row["title"] for row in headline_rows]
    rows_of_text = [[label, *(cells.get(title, "") for title in titles)] for label, cells in cells_by_label.items()]
    table = [["", *titles], ["---", *["---:"] * len(titles)], *rows_of_text]
    introduction = f"{_HOW_TO_READ}{_describe_basis_of_paper(assessed)}"
    parts = ["# Sensitivity analysis", introduction, legend, *([] if variant_choices else [_NO_VARIANTS])]
    parts += ["\n".join(f"| {' | '.join(row)} |" for row in table), _describe_blocks(assessed)]
    return "\n\n".join(parts) + "\n"


def _headline_cells(rows: pd.DataFrame, column: str) -> dict[str, str]:
    """The headline numbers in a column, by title; the numbers inside as "n of m", m being those that can be compared."""
    totals = rows[(rows["table"] == _INSIDE) & (rows["row"] == _ALL) & (rows["quantity"] == "numbers")]
    cells = {}
    for row in headlines(rows).to_dict("records"):
        cell = _number(row, column)
        if column == "varied" and row["difference"] == 0:
            cell = "="
        elif column == "varied" and abs(row["difference"]) > row["range_over_seeds"]:  # False without a range (NaN)
            cell = f"**{cell}**"
        cells[row["title"]] = f"{cell} of {totals[column].sum():.0f}" if row["table"] == _INSIDE else cell
    return cells


def _describe_basis_of_paper(assessed: pd.DataFrame) -> str:
    """A sentence on the datasets behind the paper's row, if they are not the same for all of its tables."""
    present = assessed.loc[(assessed["table"] == _TABLE2) & (assessed["quantity"] == "datasets"), "reported"].max()
    total = len(reported.datasets())
    if pd.isna(present) or present == total:
        return ""
    return f' In the row "the paper", table 1 is over all of its {total} datasets, tables 2 to 4 over the {present:.0f} here.'


def _number(row: Mapping, column: str) -> str:
    if pd.isna(row[column]):
        return "–"
    decimals = {"deviation_mean": 3, "cohesion": 3, "size": 1}.get(row["quantity"], 0)
    return f"{row[column]:.{decimals}f}"


def _describe_blocks(assessed: pd.DataFrame) -> str:
    """Which pairs of matchers are significant, by the blocks of figure 1's statistics."""
    rows = assessed[assessed["table"] == _RANKS]
    pairs = rows[rows["quantity"] == "p_value"]
    if pairs["baseline"].isna().all() or pairs["varied"].isna().all():
        return "Blocks of figure 1: the tests cannot be computed; statistics/statistics.md says why."
    by_blocks = []
    for column, blocks in (("baseline", rows["usual"].iloc[0]), ("varied", rows["taken"].iloc[0])):
        names = pairs.loc[pairs[column] < statistics.ALPHA, "row"]
        by_blocks.append(f"with blocks of {blocks}, {len(names)} of {len(pairs)} ({', '.join(names) or 'none'})")
    return f"Pairs of matchers that differ significantly: {'; '.join(by_blocks)}. The latter is pseudo-replication."
