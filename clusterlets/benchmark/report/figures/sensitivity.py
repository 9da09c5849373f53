"""Sensitivity analysis of the headline numbers: a panel for each number, a row for each choice."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.report.figures import Declaration
from clusterlets.pages.style import COLORS, GRID, empty_figure, plt

FIGURES = [
    Declaration(
        name="sensitivity",
        title="Sensitivity analysis: numbers with the usual choices, and with one choice changed",
        caption="A row without a mark: the choice does not change the number.",
        reads=("sensitivity.csv",),
        sections=("report.html#sensitivity",),
    )
]

_MATCHERS = list(selection.PAPER_NAMES.values())
_TABLES = ("table1_matchers", "table2_best_by_deviation", "table3_best_by_cohesion", "table4_frac_vs_clusterlets")
_ALL = "all"
_NEUTRAL_COLOR = "#333333"  # of numbers that belong to no matcher
# The table, the quantity and the rows of each panel, by its title.
_PANELS = {
    "table 1: mean deviation": (_TABLES[0], "deviation_mean", _MATCHERS),
    "table 1: mean cohesion": (_TABLES[0], "cohesion", _MATCHERS),
    "table 2: mean of the deviation": (_TABLES[1], "deviation_mean", [_ALL]),
    "table 3: mean of the cohesion": (_TABLES[2], "cohesion", [_ALL]),
    "table 4: datasets below FRAC": (_TABLES[3], "datasets_below_frac", [_ALL]),
    "numbers inside": ("inside", "inside", [_ALL]),
}
_WHOLE_NUMBERS = ("datasets_below_frac", "inside")
# The labels of the first two rows of every panel. In each other row, one choice is changed.
_PAPER_LABEL, _USUAL_LABEL = "the paper", "usual choices"


def draw(assessment: pd.DataFrame) -> Figure:
    """Draw the paper's numbers and ours: with the usual choices, on other seeds, and with one choice changed at a time."""
    rows = assessment[assessment["table"].isin([table for table, *_ in _PANELS.values()])]
    if rows.empty:
        return empty_figure("Nothing to show: the sensitivity analysis was not run.")
    labels = (rows["choice"].str.replace("_", " ") + ":\n" + rows["taken"]).where(rows["choice"] != "seeds", _USUAL_LABEL)
    rows = rows.assign(label=labels)
    row_labels = list(dict.fromkeys([_PAPER_LABEL, _USUAL_LABEL, *labels]))
    with plt.rc_context({**GRID, "grid.color": "0.92"}):
        size = (6.4, 0.5 + 3 * (0.6 + 0.33 * len(row_labels)))
        figure, axes_grid = plt.subplots(3, 2, figsize=size, sharey=True, layout="constrained")
    for axes, (title, (table, quantity, row_names)) in zip(axes_grid.flat, _PANELS.items(), strict=True):
        panel_rows = rows[(rows["table"] == table) & (rows["quantity"] == quantity)]
        axes.set_title(title, fontsize=8)
        for position, row_name in enumerate(row_names):
            offset = 0.13 * (position - (len(row_names) - 1) / 2)
            color = COLORS[row_name] if row_name in _MATCHERS else _NEUTRAL_COLOR
            _draw_number(axes, panel_rows[panel_rows["row"] == row_name], row_labels, offset, color)
        if panel_rows.empty:
            axes.text(0.5, 0.5, "none of the paper's\ndatasets is here", ha="center", fontsize=8, transform=axes.transAxes)
        axes.margins(x=0.12)
        axes.xaxis.set_major_locator(MaxNLocator(3, integer=quantity in _WHOLE_NUMBERS) if len(panel_rows) else NullLocator())
        axes.tick_params(labelsize=8)
        axes.tick_params(axis="y", length=0)
    axes_grid[0, 0].set(yticks=range(len(row_labels)), yticklabels=row_labels, ylim=(len(row_labels) - 0.4, -0.6))
    figure.legend(handles=_legend_handles(), ncols=4, fontsize=8, loc="outside upper center", frameon=False, handletextpad=0.4)
    return figure


def _draw_number(axes: Axes, number_rows: pd.DataFrame, row_labels: list[str], offset: float, color: str) -> None:
    """Draw one number in all rows, ``offset`` away from the middle of each row. Row 0: the paper, row 1: the usual choices."""
    if number_rows.empty:
        return
    first_row = number_rows.iloc[0]
    axes.plot(first_row["reported"], offset, marker="D", ms=4.5, color=color, mfc="white", zorder=3)
    axes.axvline(first_row["baseline"], color=color, lw=0.7, alpha=0.5, zorder=1)
    axes.plot(first_row["baseline"], 1 + offset, marker="o", ms=5, color=color, zorder=3)
    for changed_row in number_rows[number_rows["difference"] != 0].to_dict("records"):
        y = row_labels.index(changed_row["label"]) + offset
        if changed_row["label"] == _USUAL_LABEL:
            axes.plot(changed_row["varied"], y, marker="|", ms=7, color=color, zorder=2)
            continue
        axes.plot([changed_row["baseline"], changed_row["varied"]], [y, y], color=color, lw=1.2, zorder=2)
        axes.plot(changed_row["varied"], y, marker="o", ms=5, color=color, zorder=3)


def _legend_handles() -> list[Line2D]:
    style = {"color": _NEUTRAL_COLOR, "ls": "", "markersize": 5}
    return [
        *(Line2D([], [], **style | {"color": COLORS[matcher]}, marker="o", label=matcher) for matcher in _MATCHERS),
        Line2D([], [], **style, marker="o", label="overall"),
        Line2D([], [], **style, marker="D", mfc="white", label="the paper"),
        Line2D([], [], **style, marker="|", label="ten other seeds"),
    ]
