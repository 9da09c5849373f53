"""How often the verdicts on the paper's numbers would be right and wrong, measured on papers that we make ourselves.

A copy prints what ten other seeds of ours give, in the paper's tables and with its digits. A perfect copy should rarely
differ. Wrong ones, which print numbers of something else or of another size, should rarely be reproduced.
"""

from collections.abc import Iterator
from itertools import permutations

import pandas as pd

from clusterlets.analysis import selection
from clusterlets.paper import averages, best_runs, cells, reported
from clusterlets.paper.comparison import counted
from clusterlets.paper.verdict import DIFFERS, VERDICTS, judge

PAPER, PERFECT = "the paper", "perfect"
#: The wrong copies, with what they print instead of our numbers.
WRONG = {
    "another row": "numbers of another dataset; in table 1 of another matcher, in table 5 of another pair",
    "another size": "deviations half as large again, cohesion less .03, correlations plus .1",
    "FRAC exchanged": "in table 4, the fair output of FRAC for the one that the paper scored",
    "random": "in tables 2 and 3, a random partition for Clusterlets",
}
COLUMNS = ["table", "source", "copies", "cells", *VERDICTS, "differs_least", "differs_most"]

_SHIFTS = {
    "deviation": lambda value: 1.5 * value,
    "cohesion": lambda value: value - 0.03,
    "correlation": lambda value: value + 0.1,
}


def count_verdicts(comparison: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The counts of the paper and of the copies: ``results/comparison_controls.csv``.

    ``comparison`` is what :func:`clusterlets.paper.comparison.compare` gives for these runs. With two groups of ten seeds or
    more the copies are measured, otherwise they are those of the committed reference, ten datasets with fifty seeds.
    """
    printed = counted(comparison)
    measured = measure(runs, printed)
    copies = measured if len(measured) else reported.controls().query("source != @PAPER")
    paper = _average_counts(printed.assign(source=PAPER, copy=0))
    order = pd.MultiIndex.from_product([reported.TABLES, [PAPER, PERFECT, *WRONG]], names=["table", "source"])
    rows = pd.concat([paper, copies]).set_index(["table", "source"])
    return rows.loc[order.intersection(rows.index, sort=False)].reset_index()


def measure(runs: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Verdicts on copies of the paper, as :data:`COLUMNS`; empty with fewer than twenty seeds.

    ``runs`` are as in ``runs.csv``, on datasets of the paper. Each two disjoint groups of ten seeds give a copy and what it is
    compared with. ``printed`` are the cells of the paper that are compared. For each table and source there is the number of
    copies, and averaged over these: how many cells the source changes (all, if it is perfect), and their verdicts.
    ``differs_least`` and ``differs_most`` are the smallest and the largest share of the cells of a copy that differ.

    The paper's averages include datasets that we may lack. So tables 1 and 5 of a copy have all of ours, and are compared with
    forecasts from all but one, each in turn.
    """
    judged = [copy for pair in permutations(selection.groups_of_seeds(runs), 2) for copy in _judge_copies(*pair, printed)]
    if not judged:
        return pd.DataFrame(columns=COLUMNS)
    return _average_counts(pd.concat([copy.assign(copy=number) for number, copy in enumerate(judged)]))


def _average_counts(judged: pd.DataFrame) -> pd.DataFrame:
    """Mean counts of the verdicts over the copies of each table and source, with :data:`COLUMNS`."""
    counts = judged.groupby(["table", "source", "copy"])["verdict"].value_counts().unstack(fill_value=0)
    counts = counts.reindex(columns=list(VERDICTS), fill_value=0)
    counts["cells"] = counts.sum(axis=1)
    shares = (counts[DIFFERS] / counts["cells"]).groupby(level=[0, 1]).agg(["min", "max", "size"])
    shares.columns = ["differs_least", "differs_most", "copies"]
    return counts.groupby(level=[0, 1]).mean().join(shares).reset_index()[COLUMNS].round(4)


def _judge_copies(ours: pd.DataFrame, others: pd.DataFrame, printed: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The verdicts on every copy from other seeds; of wrong ones, on the cells that they change."""
    of_selections, of_averages = (
        list(_copies(others, printed[printed["table"].isin(names)])) for names in (cells.SELECTIONS, cells.AVERAGES)
    )
    to_judge = [(best_runs.forecasts(ours), of_selections)]
    for dataset in ours["dataset"].unique() if of_averages else ():
        without_one = ours[ours["dataset"] != dataset]
        to_judge.append((averages.forecasts(without_one, others["dataset"].nunique()), of_averages))
    for forecasts, copies in to_judge:
        for source, copy in copies:
            yield copy[["table"]].assign(source=source, verdict=judge(copy, forecasts)["verdict"]).dropna()


def _copies(runs: pd.DataFrame, printed: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """(source, cells that it changes), with what the copy prints as ``reported``."""
    names = [name for name in reported.TABLES if (printed["table"] == name).any()]
    if not names:
        return
    values = cells.values(runs, names)
    perfect = _reprint(printed, values)
    yield PERFECT, perfect
    for source, copy in _wrong_copies(runs, names, values, printed):
        same = perfect.set_index(cells.KEY)["reported"].reindex(pd.MultiIndex.from_frame(copy[cells.KEY])).to_numpy()
        changed = copy[(copy["reported"] != same) & pd.notna(same)]
        if len(changed):
            yield source, changed


def _wrong_copies(
    runs: pd.DataFrame, names: list[str], values: pd.Series, printed: pd.DataFrame
) -> Iterator[tuple[str, pd.DataFrame]]:
    for step in range(1, len(reported.datasets())):
        moved = _reprint(_moved(printed, step), values)
        yield "another row", moved.assign(row=moved["own"])
    shifted = values.copy()
    for kind, shift in _SHIFTS.items():
        is_kind = shifted.index.get_level_values("quantity").str.startswith(kind)
        shifted[is_kind] = shifted[is_kind].astype(float).map(shift).map(repr)
    yield "another size", _reprint(printed, shifted)
    yield "FRAC exchanged", _reprint(printed, cells.values(selection.swap_frac_outputs(runs), names))
    random = runs[runs["method"] == "random"].assign(method="Clusterlets")
    yield "random", _reprint(printed, cells.values(random, names))


def _moved(printed: pd.DataFrame, step: int) -> pd.DataFrame:
    """The cells with the row that is ``step`` rows further down their table, or on from its top, unless it is the same row."""
    # A row of table 5 is a coefficient and a pair of variables: only the pair changes.
    family = printed["row"].str.split().str[0].where(printed["table"] == "table5_correlations", "")
    moved = printed.assign(other=None)
    for _, group in printed.groupby([printed["table"], family], sort=False):
        rows = list(group["row"].unique())
        if step < len(rows):
            further = dict(zip(rows, rows[step:] + rows[:step], strict=True))
            moved.loc[group.index, "other"] = group["row"].map(further)
    moved = moved.dropna(subset="other")
    return moved.assign(own=moved["row"], row=moved["other"])


def _reprint(printed: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """The cells that have a value, which is printed with as many digits as the paper's."""
    keys = pd.MultiIndex.from_frame(printed[cells.KEY])
    printed = printed.assign(value=values.reindex(keys).to_numpy()).dropna(subset="value")
    texts = [
        value if quantity in cells.CHOICES else f"{float(value):.{len(text.partition('.')[2])}f}"
        for quantity, value, text in printed[["quantity", "value", "reported"]].to_numpy()
    ]
    return printed.assign(reported=texts)
