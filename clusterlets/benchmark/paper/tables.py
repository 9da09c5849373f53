"""The paper's tables 1 to 5, computed from our runs, and how they are printed in Markdown and LaTeX."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.analysis.descriptive import COEFFICIENTS, correlation, std
from clusterlets.benchmark.grid.runs_frame import read_results_table
from clusterlets.benchmark.paper import reported
from clusterlets.benchmark.paper.table_names import NAMES
from clusterlets.text import counted, decimal

#: The quantities of table 1. The paper's cohesion of C may be a silhouette, so both silhouettes are included.
QUANTITIES_OF_MATCHERS = (
    *("deviation_mean", "deviation_max", "size", "cohesion", "overlap"),
    *("silhouette", "centroid_silhouette"),
)
#: The pairs of variables of table 5, and what s may be: the text names the silhouette of the clustering, the caption cohesion,
#: and equation 1 the silhouette that the matcher C maximises.
MEANINGS_OF_S = ("silhouette", "cohesion", "centroid_silhouette")
CORRELATED = (*((s, other) for s in MEANINGS_OF_S for other in ("omega", "deviation")), ("omega", "deviation"))
CORRELATED_BY_TEXT = tuple(pair for pair in CORRELATED if pair[0] in ("silhouette", "omega"))

_METRICS = ["size", "deviation_mean", "deviation_std", "deviation_max", "cohesion", "overlap"]
_COUNTS = ["candidates", "degenerate", "dropped"]
_INTEGER_COLUMNS = ["k", "hops", "seed"]


@dataclass(frozen=True)
class Column:
    """A printed column: its title, the keys of its value and of its spread, if it has one, and its decimals (None for text).

    With ``is_identifier``, the values are names from the code, which :func:`readable_name` turns into words.
    """

    title: str
    keys: tuple[str, ...]
    decimals: int | None = None
    is_identifier: bool = False


@dataclass(frozen=True)
class Table:
    """One of the paper's tables, or a variant: ``frame`` has all columns, ``columns`` describes the printed ones.

    ``note`` says how many runs were included and how many were not.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    frame: pd.DataFrame
    note: str


# ---- contents --------------------------------------------------------------------------------------------------------


def by_matcher(runs: pd.DataFrame) -> pd.DataFrame:
    """Table 1: mean and population standard deviation over all runs of a matcher, degenerate ones included."""
    runs = runs[runs["method"] == "Clusterlets"].rename(columns={"n_clusters": "size"})
    quantities = QUANTITIES_OF_MATCHERS
    grouped = selection.ok(runs)[["matcher", *quantities]].groupby("matcher")
    means, columns = grouped.mean(), {}
    for quantity in quantities:
        columns[quantity] = means[quantity]
        columns[f"{quantity}_std"] = grouped[quantity].agg(std)
    run_counts, all_counts = grouped.size(), runs["matcher"].value_counts()
    frame = pd.DataFrame(columns | {"runs": run_counts}).reindex(selection.in_order(all_counts.index, selection.PAPER_NAMES))
    frame["runs"] = frame["runs"].fillna(0).astype(int)
    frame["dropped"] = all_counts.reindex(frame.index) - frame["runs"]
    frame = frame.rename_axis("matcher").reset_index()
    return frame.assign(matcher=selection.paper_names(frame["matcher"]))


def best_runs(runs: pd.DataFrame, by: str) -> pd.DataFrame:
    """Tables 2 (``by="deviation_mean"``) and 3 (``by="cohesion"``): the single best run of each dataset."""
    return best_runs_of_methods(runs, by, ["Clusterlets"]).drop(columns="method")


def best_configurations(runs: pd.DataFrame, by: str) -> pd.DataFrame:
    """A sounder variant of tables 2 and 3: the configuration of each dataset with the best mean over seeds.

    The rule on degenerate clusterings applies to the means of a configuration, because dropping single runs
    first would favour configurations with few seeds left.
    """
    runs = runs[runs["method"] == "Clusterlets"]
    frame = _choose_best(runs, selection.configuration_means(selection.ok(runs)), by, ["dataset"])
    frame["seeds"] = frame["seeds"].astype("Int64")
    columns = ["size", "deviation_mean", "deviation_mean_std", *_METRICS[2:]]
    return frame[["dataset", "matcher", "k", *columns, "hops", "omega", "seeds", *_COUNTS]]


def best_runs_of_methods(runs: pd.DataFrame, by: str, methods: Collection[str] = selection.METHODS) -> pd.DataFrame:
    """The single best run of each dataset and method: table 4, and tables 2 and 3 with FRAC and the controls added."""
    runs = runs[runs["method"].isin(methods)]
    frame = _choose_best(runs, selection.ok(runs), by, ["dataset", "method"])
    columns = ["dataset", "method", "matcher", "k", *_METRICS, "hops", "omega", "seed", *_COUNTS]
    return frame[columns].astype({"size": "Int64"})


def correlations(runs: pd.DataFrame) -> pd.DataFrame:
    """Table 5: correlations between s, omega and mean deviation over the runs of C.

    The paper names three meanings of s, see :data:`MEANINGS_OF_S`, and all are included. Kendall's coefficient is tau-b. A
    coefficient is NaN if a variable is constant or fewer than three runs have both variables.
    """
    runs = selection.ok(runs[runs["matcher"] == "C"]).rename(columns={"deviation_mean": "deviation"})
    complete_pairs = {(x, y): runs[[x, y]].dropna() for x, y in CORRELATED}
    rows = [
        (coefficient, x, y, correlation(values[x], values[y], coefficient), len(values))
        for coefficient in COEFFICIENTS
        for (x, y), values in complete_pairs.items()
    ]
    return pd.DataFrame(rows, columns=["coefficient", "x", "y", "value", "runs"])


def _choose_best(runs: pd.DataFrame, candidates: pd.DataFrame, by: str, group_columns: list[str]) -> pd.DataFrame:
    """The best candidate of each group of runs, with counts of the group's candidates, degenerate runs and failed runs.

    ``group_columns`` name the columns that define a group. A group without a candidate keeps its row.
    """
    eligible = selection.without_degenerate(candidates)
    frames_by_count = {"candidates": eligible, "degenerate": candidates, "dropped": runs[runs["status"] != "ok"]}
    sizes = {name: frame.groupby(group_columns).size() for name, frame in frames_by_count.items()}
    counts = pd.DataFrame(sizes, index=runs.groupby(group_columns).size().index).fillna(0).astype(int)
    counts["degenerate"] -= counts["candidates"]  # so far, this counted all candidates
    best_of_group = selection.best(eligible, by, group_columns).rename(columns={"n_clusters": "size"})
    frame = counts.reset_index().merge(best_of_group, on=group_columns, how="left")
    frame = frame.astype({column: "Int64" for column in _INTEGER_COLUMNS if column in frame})
    frame["matcher"] = selection.paper_names(frame["matcher"])
    usual_orders = {"dataset": reported.datasets(), "method": selection.METHODS}
    orders = {column: selection.in_order(runs[column], usual_orders[column]) for column in group_columns}
    return frame.sort_values(group_columns, key=lambda column: column.map(orders[column.name].index), ignore_index=True)


# ---- the tables ------------------------------------------------------------------------------------------------------

_DATASET, _MATCHER, _K = Column("Dataset", ("dataset",)), Column("Matcher", ("matcher",)), Column("k", ("k",), 0)
_PARAMETERS = (Column("Hops", ("hops",), 0), Column("Omega", ("omega",), 2))
_SEED = Column("Seed", ("seed",), 0)
_SIZE, _MEAN_SIZE = Column("Size", ("size",), 0), Column("Size", ("size",), 1)
_DEVIATION = Column("Deviation", ("deviation_mean", "deviation_std"), 3)
_QUALITY = tuple(
    Column(title, (key,), 3)
    for title, key in (("Max deviation", "deviation_max"), ("Cohesion", "cohesion"), ("Overlap", "overlap"))
)

_MATCHER_COLUMNS = (
    _MATCHER,
    Column("Deviation", ("deviation_mean", "deviation_mean_std"), 3),
    Column("Max deviation", ("deviation_max", "deviation_max_std"), 3),
    Column("Size", ("size", "size_std"), 1),
    Column("Cohesion", ("cohesion", "cohesion_std"), 3),
    Column("Overlap", ("overlap", "overlap_std"), 3),
    Column("Runs", ("runs",), 0),
)
_RUN_COLUMNS = (_DATASET, _MATCHER, _K, *_PARAMETERS, _SEED, _SIZE, _DEVIATION, *_QUALITY)
_METHOD_COLUMNS = (_DATASET, Column("Method", ("method",)), *_RUN_COLUMNS[1:])
_MEAN_COLUMNS = (
    *(_DATASET, _MATCHER, _K, *_PARAMETERS, Column("Seeds", ("seeds",), 0), _MEAN_SIZE),
    *(Column("Deviation", ("deviation_mean", "deviation_mean_std"), 3), *_QUALITY),
)
_CORRELATION_COLUMNS = (
    *(Column("Coefficient", ("coefficient",), is_identifier=True), Column("First variable", ("x",), is_identifier=True)),
    Column("Second variable", ("y",), is_identifier=True),
    *(Column("Value", ("value",), 3), Column("Runs", ("runs",), 0)),
)

_LIMITS = "Runs with fewer than 3 clusters, or an overlap of 0.5 or more, are left out."
_MEANS_OVER_SEEDS = (
    "averaged over seeds (± is the spread over seeds). Configurations with a mean of fewer than 3 clusters, or a mean overlap "
    "of 0.5 or more, are left out."
)
# Caption, printed columns and function of each table.
_SPECIFICATIONS: dict[str, tuple[str, tuple[Column, ...], Callable[[pd.DataFrame], pd.DataFrame]]] = {
    "table1_matchers": (
        "Clusterlets by matcher: mean ± standard deviation over all runs.",
        _MATCHER_COLUMNS,
        by_matcher,
    ),
    "table2_best_by_deviation": (
        f"The best run on each dataset, by mean deviation. {_LIMITS}",
        _RUN_COLUMNS,
        partial(best_runs, by="deviation_mean"),
    ),
    "table3_best_by_cohesion": (
        f"The best run on each dataset, by cohesion. {_LIMITS}",
        _RUN_COLUMNS,
        partial(best_runs, by="cohesion"),
    ),
    "table4_frac_vs_clusterlets": (
        "The best run of Clusterlets and of FRAC on each dataset, by mean deviation. FRAC (nearest) is FRAC as the paper "
        f"scored it, and FRAC (fair) is the algorithm as defined. {_LIMITS}",
        _METHOD_COLUMNS,
        partial(best_runs_of_methods, by="deviation_mean", methods=selection.COMPARED),
    ),
    "table5_correlations": (
        "Correlations over the runs of C between s (silhouette, as in the text; cohesion, as in the caption; or centroid "
        "silhouette, as in equation 1), omega and mean deviation.",
        _CORRELATION_COLUMNS,
        correlations,
    ),
    "table2_by_configuration_mean": (
        f"The best configuration on each dataset by mean deviation, {_MEANS_OVER_SEEDS}",
        _MEAN_COLUMNS,
        partial(best_configurations, by="deviation_mean"),
    ),
    "table3_by_configuration_mean": (
        f"The best configuration on each dataset by cohesion, {_MEANS_OVER_SEEDS}",
        _MEAN_COLUMNS,
        partial(best_configurations, by="cohesion"),
    ),
    "table2_with_controls": (
        f"Table 2 with FRAC and the controls: the best run of each method on each dataset, by mean deviation. {_LIMITS}",
        _METHOD_COLUMNS,
        partial(best_runs_of_methods, by="deviation_mean"),
    ),
    "table3_with_controls": (
        f"Table 3 with FRAC and the controls: the best run of each method on each dataset, by cohesion. {_LIMITS}",
        _METHOD_COLUMNS,
        partial(best_runs_of_methods, by="cohesion"),
    ),
}


def make(runs: pd.DataFrame, names: Collection[str] = NAMES) -> dict[str, Table]:
    """The tables with these names, computed from the first ten seeds of ``runs``."""
    runs = selection.seeds_of_paper(runs)
    note = _note(runs)
    return {
        name: Table(name, caption, columns, build(runs), note)
        for name, (caption, columns, build) in _SPECIFICATIONS.items()
        if name in names
    }


def read(folder: Path, runs: pd.DataFrame) -> dict[str, Table]:
    """Read the tables from the CSV files in a folder; ``runs`` are the runs that they were computed from."""
    note = _note(selection.seeds_of_paper(runs))
    return {
        name: Table(name, caption, columns, read_results_table(folder / f"{name}.csv"), note)
        for name, (caption, columns, _) in _SPECIFICATIONS.items()
    }


def _note(runs: pd.DataFrame) -> str:
    counts = runs.loc[runs["method"].isin(selection.METHODS), "status"].value_counts().sort_index()
    left_out = ", ".join(f"{count:,} {status}" for status, count in counts.drop("ok", errors="ignore").items())
    return (
        f"From {counted(counts.get('ok', 0), 'run')} (all methods, seeds below {selection.SEEDS_OF_PAPER}); "
        f"left out for their status: {left_out or 'none'}."
    )


# ---- formats ---------------------------------------------------------------------------------------------------------


def cells(table: Table) -> list[list[str]]:
    """The printed text of every cell, row by row: ``–`` for a missing value, ``mean ± spread`` for a value with a spread."""
    return [[_format_cell(row, column) for column in table.columns] for row in table.frame.to_dict("records")]


def _format_cell(row: dict, column: Column) -> str:
    values = [row[key] for key in column.keys]
    if pd.isna(values[0]):
        return "–"
    if column.decimals is None:
        return readable_name(values[0]) if column.is_identifier else str(values[0])
    return " ± ".join(decimal(value, column.decimals) for value in values if not pd.isna(value))


def readable_name(name: str) -> str:
    """A name from the code as words: ``Centroid silhouette`` for ``centroid_silhouette``."""
    return name.replace("_", " ").capitalize()


_BEST_VALUE: dict[str, Callable] = {"deviation_mean": min, "deviation_max": min, "cohesion": max, "overlap": min}


def best(table: Table) -> frozenset[tuple[int, int]]:
    """The cells (row, column) with the best value of a dataset or, in a table without datasets, of the whole column."""
    frame, best_cells = table.frame, set()
    groups = frame.groupby("dataset", sort=False).indices.values() if "dataset" in frame else [np.arange(len(frame))]
    for rows, (position, column) in product(groups, enumerate(table.columns)):
        are_best = is_best(frame[column.keys[0]].iloc[rows], column.keys[0])
        best_cells |= {(int(row), position) for row in rows[are_best]}
    return frozenset(best_cells)


def is_best(values: pd.Series, quantity: str) -> np.ndarray:
    """Whether each value of a quantity is the best; all values that tie for the best are.

    No value is the best if all agree to 12 decimals, or if neither high nor low values of the quantity are better.
    """
    if quantity not in _BEST_VALUE:
        return np.zeros(len(values), dtype=bool)
    rounded = values.to_numpy(float, na_value=np.nan).round(12)
    distinct = set(rounded[~np.isnan(rounded)])
    return rounded == (_BEST_VALUE[quantity](distinct) if len(distinct) > 1 else np.nan)


def to_markdown(table: Table) -> str:
    """A pipe table with its caption above and its note below."""
    header = [column.title for column in table.columns]
    delimiters = ["---" if column.decimals is None else "---:" for column in table.columns]
    rows = _formatted_cells(table, lambda cell: re.sub(r"[\\|]", r"\\\g<0>", cell), "**{}**")
    lines = [f"| {' | '.join(row)} |" for row in (header, delimiters, *rows)]
    return "\n".join([table.caption, "", *lines, "", table.note, ""])


def _formatted_cells(table: Table, escape: Callable[[str], str], bold: str) -> list[list[str]]:
    """The text of every cell in a markup language; the format string ``bold`` sets the best ones in bold."""
    best_cells = best(table)
    return [
        [bold.format(escape(cell)) if (i, j) in best_cells else escape(cell) for j, cell in enumerate(row)]
        for i, row in enumerate(cells(table))
    ]


def to_latex(table: Table) -> str:
    """A ``table`` environment for documents that load booktabs and multirow. Equal first cells of adjacent rows are merged."""
    alignment = "".join("l" if column.decimals is None else "r" for column in table.columns)
    header = [latex_escape(column.title) for column in table.columns]
    return "\n".join(
        [
            r"\begin{table}[t]",
            r"\centering\footnotesize",
            r"\setlength{\tabcolsep}{1mm}",
            rf"\caption{{{latex_escape(table.caption)} {latex_escape(table.note)}}}",
            rf"\label{{tbl:{table.name}}}",
            rf"\begin{{tabular}}{{@{{}}{alignment}@{{}}}}",
            r"\toprule",
            rf"{' & '.join(header)} \\",
            r"\midrule",
            *_latex_body(_formatted_cells(table, latex_escape, r"\textbf{{{}}}")),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def document(names: Iterable[str]) -> str:
    """A complete LaTeX document that inputs the tables with these names from files in its own folder."""
    return "\n".join(
        [
            r"\documentclass{article}",
            r"\usepackage[a4paper, landscape, margin=2cm]{geometry}",
            r"\usepackage{booktabs, multirow}",
            r"\begin{document}",
            *(rf"\input{{{name}}}\clearpage" for name in names),
            r"\end{document}",
            "",
        ]
    )


def _latex_body(rows: list[list[str]]) -> Iterator[str]:
    groups = [list(group) for _, group in groupby(rows, key=itemgetter(0))]
    for position, group in enumerate(groups):
        if position and len(group) > 1:
            yield r"\midrule"
        for row_number, row in enumerate(group):
            if len(group) > 1:
                row = ["" if row_number else rf"\multirow{{{len(group)}}}{{*}}{{{row[0]}}}", *row[1:]]
            yield rf"{' & '.join(row)} \\"


def latex_escape(text: str) -> str:
    """Escape text so that LaTeX prints it literally, including ``±``, ``–`` and the minus sign."""
    return re.sub("|".join(map(re.escape, _LATEX_ESCAPES)), lambda match: _LATEX_ESCAPES[match[0]], text)


_LATEX_ESCAPES = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    "−": "$-$",
    "|": r"\textbar{}",
    "<": r"$<$",
    ">": r"$>$",
}
