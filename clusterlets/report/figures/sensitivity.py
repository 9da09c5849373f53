"""Sensitivity analysis of the headline numbers: one panel per number, one row per choice."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator

from clusterlets.analysis import selection
from clusterlets.report.drawing.style import COLORS, GRID, empty_figure, plt
from clusterlets.report.figures import Declaration

FIGURES = [
    Declaration(
        name="sensitivity",
        title="Sensitivity analysis: numbers with the usual choices, and with one choice taken the other way",
        caption="A choice without a mark leaves the number as it is.",
        reads=("sensitivity.csv",),
        sections=("report.html#sensitivity",),
    )
]

_MATCHERS = list(selection.PAPER_NAMES.values())
_TABLES = ("table1_matchers", "table2_best_by_deviation", "table3_best_by_cohesion", "table4_frac_vs_clusterlets")
_ALL = "all"
_INK = "#333333"
# By title: table, quantity, and rows: one per matcher, or the one over all datasets.
_PANELS = {
    "table 1: mean deviation": (_TABLES[0], "deviation_mean", _MATCHERS),
    "table 1: mean cohesion": (_TABLES[0], "cohesion", _MATCHERS),
    "table 2: mean of the deviation": (_TABLES[1], "deviation_mean", [_ALL]),
    "table 3: mean of the cohesion": (_TABLES[2], "cohesion", [_ALL]),
    "table 4: datasets below FRAC": (_TABLES[3], "datasets_below_frac", [_ALL]),
    "numbers reproduced": ("verdicts", "reproduced", [_ALL]),
}
_COUNTS = ("datasets_below_frac", "reproduced")
_PAPER, _USUAL = "the paper", "usual choices"


def draw(assessed: pd.DataFrame) -> Figure:
    """The paper's number, and ours: with the usual choices, on further seeds, and with one choice changed at a time.

    A choice that does not change a number has no mark.
    """
    shown = assessed[assessed["table"].isin([table for table, *_ in _PANELS.values()])]
    if shown.empty:
        return empty_figure("Nothing to show: the sensitivity analysis was not run.")
    label = (shown["choice"].str.replace("_", " ") + ":\n" + shown["taken"]).where(shown["choice"] != "seeds", _USUAL)
    shown = shown.assign(label=label)
    rows = list(dict.fromkeys([_PAPER, _USUAL, *label]))
    with plt.rc_context({**GRID, "grid.color": "0.92"}):
        size = (5.4, 0.5 + 3 * (0.6 + 0.33 * len(rows)))
        figure, axes = plt.subplots(3, 2, figsize=size, sharey=True, layout="constrained")
    for panel, (title, (table, quantity, subjects)) in zip(axes.flat, _PANELS.items(), strict=True):
        numbers = shown[(shown["table"] == table) & (shown["quantity"] == quantity)]
        panel.set_title(title, fontsize=9)
        for position, subject in enumerate(subjects):
            offset = 0.13 * (position - (len(subjects) - 1) / 2)
            color = COLORS[subject] if subject in _MATCHERS else _INK
            _draw_number(panel, numbers[numbers["row"] == subject], rows, offset, color)
        if numbers.empty:
            panel.text(0.5, 0.5, "none of the paper's\ndatasets is here", ha="center", fontsize=8, transform=panel.transAxes)
        panel.margins(x=0.12)
        panel.xaxis.set_major_locator(MaxNLocator(4, integer=quantity in _COUNTS) if len(numbers) else NullLocator())
        panel.tick_params(labelsize=8)
        panel.tick_params(axis="y", length=0)
    axes[0, 0].set(yticks=range(len(rows)), yticklabels=rows, ylim=(len(rows) - 0.4, -0.6))
    figure.legend(handles=_legend(), ncols=4, fontsize=8, loc="outside upper center", frameon=False, handletextpad=0.4)
    return figure


def _draw_number(axes: Axes, numbers: pd.DataFrame, rows: list[str], offset: float, color: str) -> None:
    """One number under all choices; ``offset`` is its height within each row."""
    if numbers.empty:
        return
    first = numbers.iloc[0]
    axes.plot(first["reported"], offset, marker="D", ms=4.5, color=color, mfc="white", zorder=3)
    axes.axvline(first["baseline"], color=color, lw=0.7, alpha=0.5, zorder=1)
    axes.plot(first["baseline"], 1 + offset, marker="o", ms=5, color=color, zorder=3)
    for change in numbers[numbers["difference"] != 0].to_dict("records"):
        y = rows.index(change["label"]) + offset
        if change["label"] == _USUAL:
            axes.plot(change["varied"], y, marker="|", ms=7, color=color, zorder=2)
            continue
        axes.plot([change["baseline"], change["varied"]], [y, y], color=color, lw=1.2, zorder=2)
        axes.plot(change["varied"], y, marker="o", ms=5, color=color, zorder=3)


def _legend() -> list[Line2D]:
    look = {"color": _INK, "ls": "", "markersize": 5}
    return [
        *(Line2D([], [], **look | {"color": COLORS[matcher]}, marker="o", label=matcher) for matcher in _MATCHERS),
        Line2D([], [], **look, marker="o", label="in all"),
        Line2D([], [], **look, marker="D", mfc="white", label="the paper"),
        Line2D([], [], **look, marker="|", label="ten other seeds"),
    ]
