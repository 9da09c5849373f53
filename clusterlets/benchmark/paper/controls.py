"""How often the verdicts on the paper's numbers are right, measured on copies of the paper that we make ourselves.

A copy has the paper's tables, filled from our runs with ten other seeds and printed with as many digits as the paper. A
perfect copy should rarely get the verdict "differs". A wrong copy prints numbers of something else, or numbers that are too
large or too small. It should rarely get the verdict "reproduced".
"""

from collections.abc import Iterator
from itertools import permutations

import pandas as pd

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.paper import averages, best_runs, cells, reported
from clusterlets.benchmark.paper.comparison import counted_cells
from clusterlets.benchmark.paper.verdict import DIFFERS, REPRODUCED, VERDICTS, judge, judge_together

PAPER, PERFECT = "the paper", "perfect"
#: The wrong copies, and what each of them prints instead of our numbers.
WRONG = {
    "another row": "numbers of another dataset; in table 1 of another matcher, in table 5 of another pair",
    "another size": "deviations 1.5 times as large, cohesion lower by 0.03, correlations higher by 0.1",
    "FRAC exchanged": "in table 4, the fair output of FRAC for the one that the paper scored",
    "random": "in tables 2 and 3, a random partition for Clusterlets",
}
COLUMNS = [
    *("table", "source", "copies", "cells", *VERDICTS, "differs_least", "differs_most"),
    *("whole_reproduced", "whole_differs"),
]

#: The rule and its cut-offs were designed on seeds below this one, so copies are made from later ones.
FIRST_UNSEEN_SEED = 20

# For the copy "another size": the change of each kind of quantity.
_SHIFTS = {
    "deviation": lambda value: 1.5 * value,
    "cohesion": lambda value: value - 0.03,
    "correlation": lambda value: value + 0.1,
}


def count_verdicts(comparison: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The counts of verdicts on the paper and on the copies: ``results/comparison_controls.csv``.

    ``comparison`` is the result of :func:`~clusterlets.benchmark.paper.comparison.compare` for these runs. The copies are
    made from the runs if they have at least two full groups of ten seeds from :data:`FIRST_UNSEEN_SEED` on (20 to 29, ...).
    Otherwise the counts for copies are those of the committed reference, which has ten datasets and fifty seeds.
    """
    printed_cells = counted_cells(comparison)
    measured = measure(runs[runs["seed"] >= FIRST_UNSEEN_SEED], printed_cells)
    copies = measured if len(measured) else reported.controls().query("source != @PAPER")
    paper = _average_counts(printed_cells.assign(source=PAPER, copy=0))
    order = pd.MultiIndex.from_product([reported.TABLES, [PAPER, PERFECT, *WRONG]], names=["table", "source"])
    rows = pd.concat([paper, copies]).set_index(["table", "source"])
    return rows.loc[order.intersection(rows.index, sort=False)].reset_index()


def measure(runs: pd.DataFrame, printed_cells: pd.DataFrame) -> pd.DataFrame:
    """Counts of the verdicts on copies of the paper, with :data:`COLUMNS`; empty with fewer than twenty seeds.

    ``runs`` are rows of ``runs.csv`` on datasets of the paper. ``printed_cells`` are the cells of the paper that are compared.
    In each ordered pair of groups of ten seeds, one group gives the copies, and the other gives the forecasts that judge them.

    The result has one row per table and source, which is the kind of copy. ``copies`` counts the copies. ``cells`` is the
    number of cells that a copy changes (all, for a perfect copy), and the columns of the verdicts count the cells with each
    verdict; these are means over the copies. ``differs_least`` and ``differs_most`` are the smallest and the largest share of a
    copy's cells that differ. ``whole_reproduced`` and ``whole_differs`` are the shares of copies whose cells have this
    verdict as a whole. Copies share their groups of seeds, so they are no independent repetitions.

    The paper's averages include datasets that we may lack. To imitate this, tables 1 and 5 of a copy average over all of our
    datasets, but the forecasts come from all datasets but one. Each dataset is left out in turn.
    """
    judged_copies = [
        copy for pair in permutations(selection.groups_of_seeds(runs), 2) for copy in _judge_copies(*pair, printed_cells)
    ]
    if not judged_copies:
        return pd.DataFrame(columns=COLUMNS)
    return _average_counts(pd.concat([copy.assign(copy=number) for number, copy in enumerate(judged_copies)]))


def _average_counts(judged: pd.DataFrame) -> pd.DataFrame:
    """The counts of verdicts, averaged over the copies of each table and source, with :data:`COLUMNS`."""
    copies = judged.groupby(["table", "source", "copy"])
    counts = copies["verdict"].value_counts().unstack(fill_value=0)
    counts = counts.reindex(columns=list(VERDICTS), fill_value=0)
    counts["cells"] = counts.sum(axis=1)
    shares = (counts[DIFFERS] / counts["cells"]).groupby(level=[0, 1]).agg(["min", "max", "size"])
    shares.columns = ["differs_least", "differs_most", "copies"]
    whole = pd.Series([judge_together(copy)[-1] for _, copy in copies], counts.index, dtype=object)
    for verdict in (REPRODUCED, DIFFERS):
        shares[f"whole_{verdict}"] = (whole == verdict).groupby(level=[0, 1]).mean()
    return counts.groupby(level=[0, 1]).mean().join(shares).reset_index()[COLUMNS].round(4)


def _judge_copies(forecast_runs: pd.DataFrame, copy_runs: pd.DataFrame, printed_cells: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The verdicts on the cells of every copy made from ``copy_runs``, by forecasts from ``forecast_runs``."""
    copies_of_selections, copies_of_averages = (
        list(_copies(copy_runs, printed_cells[printed_cells["table"].isin(group)]))
        for group in (cells.SELECTIONS, cells.AVERAGES)
    )
    forecasts_with_copies = [(best_runs.forecasts(forecast_runs), copies_of_selections)]
    for dataset in forecast_runs["dataset"].unique() if copies_of_averages else ():
        remaining_runs = forecast_runs[forecast_runs["dataset"] != dataset]
        forecasts_with_copies.append((averages.forecasts(remaining_runs, copy_runs["dataset"].nunique()), copies_of_averages))
    for forecasts, copies in forecasts_with_copies:
        for source, copy in copies:
            yield copy[["table", "row", "quantity"]].assign(source=source).join(judge(copy, forecasts))


def _copies(runs: pd.DataFrame, printed_cells: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The source of every copy, and the cells that the copy changes, with the copy's values in the column ``reported``."""
    names = [name for name in reported.TABLES if (printed_cells["table"] == name).any()]
    if not names:
        return
    values = cells.values(runs, names)
    perfect = _reprint(printed_cells, values)
    yield PERFECT, perfect
    for source, copy in _wrong_copies(runs, names, values, printed_cells):
        perfect_values = perfect.set_index(cells.KEY)["reported"].reindex(pd.MultiIndex.from_frame(copy[cells.KEY])).to_numpy()
        changed = copy[(copy["reported"] != perfect_values) & pd.notna(perfect_values)]
        if len(changed):
            yield source, changed


def _wrong_copies(
    runs: pd.DataFrame, names: list[str], values: pd.Series, printed_cells: pd.DataFrame
) -> Iterator[tuple[str, pd.DataFrame]]:
    for step in range(1, len(reported.datasets())):
        from_other_row = _reprint(_with_other_rows(printed_cells, step), values)
        yield "another row", from_other_row.assign(row=from_other_row["own_row"])
    shifted = values.copy()
    for kind, shift in _SHIFTS.items():
        is_kind = shifted.index.get_level_values("quantity").str.startswith(kind)
        shifted[is_kind] = shifted[is_kind].astype(float).map(shift).map(repr)
    yield "another size", _reprint(printed_cells, shifted)
    yield "FRAC exchanged", _reprint(printed_cells, cells.values(selection.swap_frac_outputs(runs), names))
    random = runs[runs["method"] == "random"].assign(method="Clusterlets")
    yield "random", _reprint(printed_cells, cells.values(random, names))


def _with_other_rows(printed_cells: pd.DataFrame, step: int) -> pd.DataFrame:
    """The cells, with ``row`` replaced by the name of the row ``step`` rows below it, and the true one in ``own_row``.

    The first row of a table follows its last. Tables with only ``step`` rows or fewer are left out.
    """
    # A row of table 5 has a coefficient and a pair of variables: the other row must have the same coefficient.
    coefficient = printed_cells["row"].str.split().str[0].where(printed_cells["table"] == "table5_correlations", "")
    shifted_cells = printed_cells.assign(other=None)
    for _, group in printed_cells.groupby([printed_cells["table"], coefficient], sort=False):
        rows = list(group["row"].unique())
        if step < len(rows):
            other_row = dict(zip(rows, rows[step:] + rows[:step], strict=True))
            shifted_cells.loc[group.index, "other"] = group["row"].map(other_row)
    shifted_cells = shifted_cells.dropna(subset="other")
    return shifted_cells.assign(own_row=shifted_cells["row"], row=shifted_cells["other"])


def _reprint(printed_cells: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """The cells that have a value in ``values``, with this value as ``reported``, printed with the paper's decimals."""
    keys = pd.MultiIndex.from_frame(printed_cells[cells.KEY])
    printed_cells = printed_cells.assign(value=values.reindex(keys).to_numpy()).dropna(subset="value")
    reprinted = [
        value if quantity in cells.CHOICES else f"{float(value):.{len(paper_value.partition('.')[2])}f}"
        for quantity, value, paper_value in printed_cells[["quantity", "value", "reported"]].to_numpy()
    ]
    return printed_cells.assign(reported=reprinted)
