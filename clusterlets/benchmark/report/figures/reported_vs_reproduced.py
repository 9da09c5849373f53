"""The paper's numbers against ours, one panel per quantity, with the names of the numbers that differ most."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import NullLocator

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.paper.comparison import counted_cells
from clusterlets.benchmark.paper.prediction import closeness_limit
from clusterlets.benchmark.report.figures import Declaration
from clusterlets.pages.style import add_method_legend, empty_figure, panels

FIGURES = [
    Declaration(
        name="reported_vs_reproduced",
        title="The paper's numbers against ours",
        caption="On the diagonal, the paper's number and ours are equal; in the grey band around it, they are close. A close "
        "number still differs if other seeds of ours would not give it. The three numbers of a panel that differ most are "
        "numbered, and named below the panel with their table. Deviations and sizes are on logarithmic axes. Numbers that do "
        "not count (structural zeros, rows that repeat another table's) are left out.",
        reads=("comparison.csv",),
        sections=("report.html#figures",),
        position=90,
    )
]

_VERDICT_STYLES = {
    "reproduced": ("#0072B2", "o"),
    "undecided": ("#56B4E9", "v"),
    "differs": ("#D55E00", "X"),
}
_SHARE_TICKS = (0, 0.01, 0.03, 0.1, 0.3)
# Title and ticks of each quantity. With ticks, the axes are logarithmic, but linear below the second tick.
_PANELS = {
    "deviation_mean": ("mean deviation", _SHARE_TICKS),
    "deviation_std": ("deviation, spread", _SHARE_TICKS),
    "deviation_max": ("largest deviation", _SHARE_TICKS),
    "cohesion": ("cohesion", ()),
    "overlap": ("overlap (fuzzy only)", ()),
    "size": ("size (clusters)", (0, 2, 5, 10, 20, 50)),
    "correlation": ("correlation", ()),
}
_NUMBER_OFFSETS = ((6, 4), (6, -5), (0, 8))  # from a mark to its number, in points; different, because marks may coincide


def draw(comparison: pd.DataFrame) -> Figure:
    """Draw a panel per quantity: the paper's number against ours, by verdict."""
    cells = counted_cells(comparison).dropna(subset="difference")
    cells = cells.assign(panel=cells["quantity"].replace({"deviation_mean_std": "deviation_std"}))
    quantities = selection.in_order(set(cells["panel"]) & set(_PANELS), _PANELS)
    if not quantities:
        return empty_figure("Nothing to compare: none of the paper's datasets is among these runs.")
    figure, all_axes = panels(len(quantities), height=2.1)
    for axes, quantity in zip(all_axes, quantities, strict=True):
        numbers = cells[cells["panel"] == quantity].astype({"reported": float, "reproduced": float})
        title, ticks = _PANELS[quantity]
        axes.set_title(title)
        _set_same_scale(axes, numbers[["reported", "reproduced"]].to_numpy(), ticks)
        _draw_band(axes, quantity)
        for verdict, (color, marker) in _VERDICT_STYLES.items():
            points = numbers[numbers["verdict"] == verdict]
            style = {"color": color, "marker": marker, "s": 16, "alpha": 0.85, "lw": 0}
            axes.scatter(points["reported"], points["reproduced"], **style)
        _label_points(axes, _largest_differences(numbers))
    key = "grey: close; numbered: those that differ most, named below the panel (T2: table 2)"
    add_method_legend(figure, _VERDICT_STYLES, "in the paper", "ours", key)
    return figure


def _largest_differences(numbers: pd.DataFrame) -> pd.DataFrame:
    """The numbers that differ most, relative to the largest difference that is still close."""
    differing = numbers[numbers["verdict"] == "differs"]
    limits = [closeness_limit(cell["quantity"], cell["reported"]) for cell in differing.to_dict("records")]
    order = (differing["difference"].abs() / limits).sort_values(ascending=False, kind="stable").index
    return differing.loc[order[: len(_NUMBER_OFFSETS)]]


def _draw_band(axes: Axes, quantity: str) -> None:
    """Draw the diagonal, and around it the band of close numbers."""
    low, high = axes.get_xlim()
    left, right = axes.transData.transform([(low, low), (high, high)])[:, 0]
    pixels = np.column_stack([np.linspace(left, right, 200), np.zeros(200)])
    reported = axes.transData.inverted().transform(pixels)[:, 0]  # evenly spaced on the axis, which may be logarithmic
    limits = np.array([closeness_limit(quantity, number) for number in reported])
    axes.fill_between(reported, reported - limits, reported + limits, color="0.9", lw=0, zorder=0.5)
    axes.plot(reported, reported, color="0.55", lw=0.8, zorder=0.6)


def _set_same_scale(axes: Axes, values: np.ndarray, ticks: tuple[float, ...]) -> None:
    """Set the same limits and ticks on both axes. Without ticks the axes are linear."""
    low, high = values.min(), values.max()
    if not ticks:
        margin = 0.06 * (high - low) or 0.05
        axes.set(xlim=(low - margin, high + margin), ylim=(low - margin, high + margin))
        axes.locator_params(nbins=4)
    else:
        start = low - 0.1 * ticks[1] if low < ticks[1] else low / 1.3
        limits = (start, max(high * 1.4, ticks[1]))
        near_zero = {"linthresh": ticks[1], "linscale": 0.5}
        axes.set_xscale("symlog", **near_zero)
        axes.set_yscale("symlog", **near_zero)
        axes.set(xticks=ticks, yticks=ticks)
        axes.set(xlim=limits, ylim=limits)  # last, because setting ticks widens the limits
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_minor_locator(NullLocator())
    axes.set_aspect("equal")


def _label_points(axes: Axes, differing: pd.DataFrame) -> None:
    """Number the points of ``differing`` in the panel, and name them with their tables below it."""
    cells = differing.to_dict("records")
    halo = [withStroke(linewidth=1.5, foreground="white")]
    for number, cell in enumerate(cells, 1):
        point = (cell["reported"], cell["reproduced"])
        style = {"ha": "center", "va": "center", "fontsize": 6.5, "zorder": 6, "path_effects": halo}
        axes.annotate(f"{number}", point, _NUMBER_OFFSETS[number - 1], textcoords="offset points", **style)
    # T2 is "table2_best_by_deviation", and so on.
    names = [f"{number} {cell['row']}, T{cell['table'][5]}" for number, cell in enumerate(cells, 1)]
    axes.set_xlabel("\n".join(names), fontsize=6.5, loc="left")
