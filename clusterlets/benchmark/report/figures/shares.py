"""Which share of the paper's numbers is inside our ranges, beside that of perfect and wrong copies of the paper."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from clusterlets.benchmark.paper import copies
from clusterlets.benchmark.report.figures import Declaration
from clusterlets.pages.style import empty_figure, plt

FIGURES = [
    Declaration(
        name="shares",
        title="How many of the paper's numbers are inside our ranges, beside copies of the paper that we made",
        caption="A perfect copy prints what ten other seeds of ours give. A wrong copy prints numbers of another dataset, "
        "matcher, pair or method, or of another size. A bar goes from the copy with the fewest numbers inside to the one with "
        "the most.",
        reads=("shares.csv",),
        sections=("report.html#answers",),
    )
]

# Label and color of each kind of copy, and the distance of its bar from the middle of the row.
_BARS = {copies.PERFECT: ("perfect copies", "#7FB77F", -0.17), "wrong": ("wrong copies", "#D9847C", 0.17)}
_BAR_HEIGHT = 0.28
_MIN_BAR_WIDTH = 0.8  # so that a bar without extent can be seen
# Label, size and fill of each count of the paper's numbers. If both are equal, the larger mark frames the smaller one.
_MARKS = {copies.BY_TEXT: ("the paper, by its text", 5, "black"), copies.BY_CODE: ("by the published code", 9, "white")}


def draw(shares: pd.DataFrame) -> Figure:
    """Draw a row for each table: the ranges of perfect and wrong copies, and a mark for the paper by text and by code."""
    tables = list(shares.loc[shares["source"] == copies.BY_TEXT, "table"])
    if not tables:
        return empty_figure("Nothing to compare: none of the paper's datasets is among these runs.")
    figure, axes = plt.subplots(figsize=(5.4, 0.95 + 0.38 * len(tables)), layout="constrained")
    shares = shares[shares["table"].isin(tables)]
    kinds = shares["source"].replace(dict.fromkeys(copies.WRONG, "wrong"))
    spans = shares.groupby(["table", kinds], sort=False).agg({"least": "min", "most": "max"})
    for (table, kind), (least, most) in (100 * spans).iterrows():
        y = tables.index(table)
        if kind in _MARKS:
            _, size, fill = _MARKS[kind]
            axes.plot(least, y, "D", mfc=fill, mec="black", ms=size, zorder=4 - size / 10)  # the smaller one in front
        else:
            _, color, offset = _BARS[kind]
            axes.barh(y + offset, max(most - least, _MIN_BAR_WIDTH), _BAR_HEIGHT, left=least, color=color, zorder=2)
    table_labels = [f"Table {name[5]}" for name in tables]  # such as "table1_matchers"
    axes.set(yticks=range(len(tables)), yticklabels=table_labels, xlim=(-2, 102), ylim=(len(tables) - 0.5, -0.5))
    axes.set_xlabel("numbers inside, %")
    axes.tick_params(axis="y", length=0)
    handles: list = [
        Line2D([], [], ls="", marker="D", mfc=fill, mec="black", ms=size, label=label) for label, size, fill in _MARKS.values()
    ]
    handles += [Patch(color=color, label=label) for label, color, _ in _BARS.values()]
    figure.legend(handles=handles, ncols=4, loc="outside upper center", frameon=False)
    return figure
