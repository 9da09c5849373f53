"""What the ranges are worth, measured on copies of the paper that we make ourselves.

A copy has the paper's tables, filled from our runs with ten seeds that the ranges have not seen, and printed with as many
digits as the paper. The numbers of a perfect copy should be inside. A wrong copy prints numbers of something else, or numbers
that are too large or too small: of these, few should be inside.
"""

from collections.abc import Iterator

import pandas as pd

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.grid.variants import SEEDS_OF_PAPER
from clusterlets.benchmark.paper import cells, reported, tables
from clusterlets.benchmark.paper.comparison import counted_cells
from clusterlets.benchmark.paper.ranges import INSIDE, UNKNOWN, judge
from clusterlets.benchmark.paper.repetitions import repeat

BY_TEXT, BY_CODE, PERFECT = "the paper by the text", "the paper by the published code", "a perfect copy"
#: The wrong copies, and what each of them prints instead of our numbers.
WRONG = {
    "another row": "numbers of another dataset; in table 1 of another matcher, in table 5 of another pair",
    "another size": "deviations 1.5 times as large, cohesion lower by 0.03, correlations higher by 0.1",
    "FRAC exchanged": "in table 4, the fair output of FRAC for the one that the paper scored",
    "random": "in tables 2 and 3, a random partition for Clusterlets",
}
#: ``inside`` is the share of the ``numbers`` that is inside; ``least`` and ``most`` are that of the worst and the best fold.
COLUMNS = ["table", "source", "copies", "numbers", "inside", "least", "most"]

# For the copy "another size": the change of each kind of quantity.
_SHIFTS = {
    "deviation": lambda value: 1.5 * value,
    "cohesion": lambda value: value - 0.03,
    "correlation": lambda value: value + 0.1,
}


def shares(comparison: pd.DataFrame, copies: pd.DataFrame) -> pd.DataFrame:
    """The table ``results/shares.csv``: of the paper and of copies of it, which share of the numbers is inside.

    ``comparison`` is the result of :func:`~clusterlets.benchmark.paper.comparison.compare`, and ``copies`` the shares of the
    copies, those of :func:`measure` or the committed ones.
    """
    counted = counted_cells(comparison)
    by_code = counted[counted["inside_by_code"] != UNKNOWN].assign(inside=counted["inside_by_code"], source=BY_CODE)
    paper = _average(pd.concat([counted.assign(source=BY_TEXT), by_code]).assign(copy=0, fold=0))
    order = pd.MultiIndex.from_product([reported.TABLES, [BY_TEXT, BY_CODE, PERFECT, *WRONG]], names=["table", "source"])
    rows = pd.concat([paper, copies[copies["table"].isin(counted["table"])]]).set_index(["table", "source"])
    return rows.loc[order.intersection(rows.index, sort=False)].reset_index()


def measure(runs: pd.DataFrame) -> pd.DataFrame:
    """Which share of the numbers of copies is inside, with :data:`COLUMNS`; empty with fewer than twenty seeds.

    ``runs`` are rows of ``runs.csv`` on datasets of the paper. Each group of ten seeds in turn gives the copies, and all other
    seeds the ranges. ``numbers`` is the mean number of cells that a copy changes: all, for a perfect copy.

    The paper's averages include datasets that we may lack. To imitate this, tables 1 and 5 of a copy average over all of our
    datasets, and the ranges come from all but one, which is left out in turn.
    """
    groups = selection.groups_of_seeds(runs)
    if len(groups) < 2:
        return pd.DataFrame(columns=COLUMNS)
    printed = cells.paper_cells()
    printed = printed[~printed["table"].isin(cells.SELECTIONS) | printed["dataset"].isin(runs["dataset"])]
    printed = printed[[not cells.why_not_counted(cell) for cell in printed.to_dict("records")]]
    judged = [copy.assign(fold=n) for n, group in enumerate(groups) for copy in _judge_copies(runs, n, group, printed)]
    return _average(pd.concat([copy.assign(copy=number) for number, copy in enumerate(judged)]))


def _average(judged: pd.DataFrame) -> pd.DataFrame:
    """The shares of numbers inside, with :data:`COLUMNS`; ``least`` and ``most`` are those of the worst and the best fold."""
    key = [judged["table"], judged["source"]]
    is_inside = (judged["inside"] == INSIDE).astype(float)
    by_fold = is_inside.groupby([*key, judged["fold"]]).mean().groupby(level=[0, 1]).agg(inside="mean", least="min", most="max")
    n_copies = judged.groupby(key)["copy"].nunique()
    return by_fold.assign(copies=n_copies, numbers=is_inside.groupby(key).size() / n_copies).reset_index()[COLUMNS].round(4)


def _judge_copies(runs: pd.DataFrame, number: int, group: pd.DataFrame, printed: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Whether the cells of every copy made from the group of seeds are inside the ranges of all other seeds."""
    others = runs[runs["seed"] // SEEDS_OF_PAPER != number]
    copies = {
        names: list(_copies(group, printed[printed["table"].isin(names)])) for names in (cells.SELECTIONS, cells.AVERAGES)
    }
    numbers_and_names = [(repeat(others, cells.SELECTIONS), cells.SELECTIONS)]
    datasets = runs["dataset"].unique()
    for dataset in datasets if len(datasets) > 1 else ():
        rest = others[others["dataset"] != dataset]
        numbers_and_names.append((repeat(rest, cells.AVERAGES, len(datasets), tables.CORRELATED_BY_TEXT), cells.AVERAGES))
    for numbers, names in numbers_and_names:
        for source, copy in copies[names]:
            yield judge(copy, numbers)[["table", "inside"]].assign(source=source)


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
