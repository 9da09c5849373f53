"""How many of the paper's numbers differ from ours, next to copies of the paper that we made right or wrong on purpose."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from clusterlets.benchmark.paper import controls
from clusterlets.benchmark.report.figures import Declaration
from clusterlets.pages.style import empty_figure, plt

FIGURES = [
    Declaration(
        name="verdict",
        title="How many of the paper's numbers differ from ours, beside copies of the paper that we made",
        caption="A perfect copy prints what other seeds of ours give. A wrong copy prints numbers of another dataset, matcher, "
        "pair or method, or of another size. A bar is a range, from the copy with the fewest differing numbers to the one "
        "with the most.",
        reads=("comparison_controls.csv",),
        sections=("report.html#verdict",),
    )
]

# Label and color of each kind of copy, and the distance of its bar from the middle of the row, because bars may overlap.
_BARS = {controls.PERFECT: ("range of perfect copies", "#7FB77F", -0.15), "wrong": ("range of wrong copies", "#D9847C", 0.15)}
_BAR_HEIGHT = 0.26
_MIN_BAR_WIDTH = 0.6  # so that a bar without extent can be seen


def draw(counts: pd.DataFrame) -> Figure:
    """Draw a row for each table: the range of the perfect copies, that of the wrong copies, and a mark for the paper."""
    tables = list(counts.loc[counts["source"] == controls.PAPER, "table"])
    if not tables:
        return empty_figure("Nothing to compare: none of the paper's datasets is among these runs.")
    figure, axes = plt.subplots(figsize=(5.4, 0.9 + 0.34 * len(tables)), layout="constrained")
    counts = counts[counts["table"].isin(tables)]  # with few datasets, some tables have only copies
    kinds = counts["source"].replace(dict.fromkeys(controls.WRONG, "wrong"))
    ranges = counts.groupby(["table", kinds], sort=False).agg({"differs_least": "min", "differs_most": "max"})
    for (table, kind), (fewest, most) in (100 * ranges).iterrows():
        y = tables.index(table)
        if kind == controls.PAPER:
            axes.plot(fewest, y, "D", color="black", ms=6, zorder=3)
        else:
            _, color, offset = _BARS[kind]
            axes.barh(y + offset, max(most - fewest, _MIN_BAR_WIDTH), _BAR_HEIGHT, left=fewest, color=color, zorder=2)
    table_labels = [f"Table {name[5]}" for name in tables]  # such as "table1_matchers"
    axes.set(yticks=range(len(tables)), yticklabels=table_labels, xlim=(-2, 100), ylim=(len(tables) - 0.5, -0.5))
    axes.set_xlabel("numbers that differ, %")
    axes.tick_params(axis="y", length=0)
    handles = [Patch(color=color, label=label) for label, color, _ in _BARS.values()]
    handles.append(Line2D([], [], color="black", ls="", marker="D", label=controls.PAPER))
    figure.legend(handles=handles, ncols=3, loc="outside upper center", frameon=False)
    return figure
