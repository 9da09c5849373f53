"""Every number of the paper's table 1, and the range in which ours lies in 95 % of our repetitions."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.paper import ranges, reported
from clusterlets.benchmark.paper.comparison import counted_cells
from clusterlets.benchmark.report.figures import Declaration
from clusterlets.pages.style import empty_figure, plt

FIGURES = [
    Declaration(
        name="table1_ranges",
        title="Table 1: each printed number, and the range of ours",
        caption="A line is the range that 95 % of our repetitions of ten seeds give, by the paper's text. A dot is the number "
        "that the paper prints: blue inside the range, red outside. A ring is ours by the authors' published code. The upper "
        "row has the means over runs, the lower row their spreads. Structural zeros are left out.",
        reads=("comparison.csv",),
        sections=("report.html#answers",),
        position=101,
    )
]

_INSIDE_COLOR, _OUTSIDE_COLOR = "#0072B2", "#D55E00"
_QUANTITIES = {
    "deviation_mean": "mean deviation",
    "deviation_max": "largest deviation",
    "size": "clusters",
    "cohesion": "cohesion",
    "overlap": "overlap",
}


def draw(comparison: pd.DataFrame) -> Figure:
    """Draw a panel for each quantity of table 1, and one for its spread, with a row for each matcher."""
    cells = counted_cells(comparison[comparison["table"] == reported.TABLES[0]])
    if cells.empty:
        return empty_figure("Nothing to compare: too few of the paper's datasets are among these runs.")
    matchers = selection.in_order(cells["row"], selection.PAPER_NAMES.values())
    figure, rows = plt.subplots(2, len(_QUANTITIES), figsize=(7.0, 3.6), layout="constrained", sharey=True)
    for suffix, panels in zip(("", "_std"), rows, strict=True):
        for (quantity, title), axes in zip(_QUANTITIES.items(), panels, strict=True):
            for cell in cells[cells["quantity"] == f"{quantity}{suffix}"].to_dict("records"):
                y = matchers.index(cell["row"])
                color = _INSIDE_COLOR if cell["inside"] == ranges.INSIDE else _OUTSIDE_COLOR
                axes.plot([cell["low"], cell["high"]], [y, y], color="0.65", lw=4, solid_capstyle="butt", zorder=1)
                axes.plot(float(cell["reported"]), y, "o", color=color, ms=4.5, zorder=3)
                axes.plot(float(cell["reproduced_by_code"] or np.nan), y, "o", mfc="none", mec="black", mew=0.8, ms=6, zorder=2)
            axes.set_title(title if not suffix else f"{title}, ±", fontsize=8)
            axes.set(yticks=range(len(matchers)), yticklabels=matchers, ylim=(len(matchers) - 0.5, -0.5))
            axes.tick_params(axis="y", length=0)
            axes.locator_params(axis="x", nbins=3)
    handles: list = [Line2D([], [], color="0.65", lw=4, label="range of ours, by the text")]
    for label, color in (("the paper, inside", _INSIDE_COLOR), ("the paper, outside", _OUTSIDE_COLOR)):
        handles.append(Line2D([], [], ls="", marker="o", color=color, label=label))
    handles.append(Line2D([], [], ls="", marker="o", mfc="none", mec="black", label="ours by the published code"))
    figure.legend(handles=handles, ncols=4, loc="outside upper center", frameon=False)
    return figure
