"""The leaderboard in one picture: how often each method keeps a limit, and what it costs where it does."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import PercentFormatter

from clusterlets.report import SHOWN_LIMIT
from clusterlets.report.drawing.style import GRID, empty_figure, plt, set_round_ticks
from clusterlets.report.figures import Declaration

FIGURES = [
    Declaration(
        name="reliability_against_price",
        title="Which method keeps a largest deviation of 0.05, and what it costs",
        caption="Up: the method keeps the limit in more cases (a case is a table with its groups, and a k). Left: in these "
        "cases its clusters cost less; at 1 they cost as much as plain k-means, which ignores the groups. Lines: intervals "
        "over the tables. Grey: controls, second outputs of methods, and the matchers of Clusterlets, which choose their own "
        "number of clusters. Methods that keep the limit in no case have no price and are named below the axis.",
        reads=("leaderboard_overall.csv",),
        sections=("leaderboard.html#findings", "report.html#leaderboard"),
        position=1,
    )
]

_SIZE = 7.0, 4.6  # inches
_COLOR, _GREY = "#0072B2", "0.55"
_HALO = withStroke(linewidth=2, foreground="white")
_STEPS = (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5)  # lines by which a name may move up or down
# In points.
_LINE_HEIGHT, _LETTER_WIDTH, _MARK_RADIUS = 9.0, 4.3, 3.0


def draw(overall: pd.DataFrame) -> Figure:
    """Draw a point per method: reliability against median price under :data:`SHOWN_LIMIT`, with intervals."""
    rows = overall[overall["limit"] == SHOWN_LIMIT]
    priced_rows = rows[rows["kept"] > 0]
    if priced_rows.empty:
        return empty_figure(f"Nothing to show: no method keeps a largest deviation of {SHOWN_LIMIT:g}.")
    with plt.rc_context(GRID):
        figure, axes = plt.subplots(figsize=_SIZE, layout="constrained")
    _set_axes(axes, priced_rows)
    for row in priced_rows.to_dict("records"):
        color = _COLOR if row["kind"] == "method" else _GREY
        axes.plot([row["price"]] * 2, [row["reliability_low"], row["reliability_high"]], color=color, lw=0.8, alpha=0.5)
        axes.plot([row["price_low"], row["price_high"]], [row["reliability"]] * 2, color=color, lw=0.8, alpha=0.5)
        axes.plot(row["price"], row["reliability"], "o", color=color, markersize=5, zorder=3)
    _write_names(axes, priced_rows)
    axes.set_title(f"Keeping every group's share within {SHOWN_LIMIT:g} of the table's, in every cluster", loc="left")
    axes.set_ylabel("keeps the limit in this share of the cases (up is better)")
    without_price = ", ".join(rows.loc[rows["kept"] == 0, "method"])
    note = f"\nin no case: {without_price}" if without_price else ""
    axes.set_xlabel(f"median price where it does: cost over that of plain k-means (left is better){note}", wrap=True)
    return figure


def _set_axes(axes: Axes, priced_rows: pd.DataFrame) -> None:
    axes.set_xscale("log")
    lowest, highest = min(1.0, priced_rows["price"].min()), priced_rows["price"].max()
    room = (highest / lowest) ** 0.06
    axes.set_xlim(lowest / room, highest * room**3)  # room for the names on the right
    axes.set_ylim(-0.04, 1.06)
    set_round_ticks(axes.xaxis, 8)
    axes.yaxis.set_major_formatter(PercentFormatter(1))


def _write_names(axes: Axes, priced_rows: pd.DataFrame) -> None:
    """Write each name beside its point, moved up or down by whole lines if another name is in the way."""
    axes.figure.canvas.draw()  # lays the figure out, which moves the points
    pixels_per_point = axes.figure.dpi / 72
    centers = axes.transData.transform(priced_rows[["price", "reliability"]].to_numpy(float)) / pixels_per_point
    occupied = [(x - _MARK_RADIUS, x + _MARK_RADIUS, y) for x, y in centers]
    for row, (x, y) in zip(priced_rows.to_dict("records"), centers, strict=True):
        width = _LETTER_WIDTH * len(row["method"]) + 8  # with a gap
        start = x + 2 * _MARK_RADIUS
        steps = (step for step in _STEPS if all(_is_apart(start, width, y + step * _LINE_HEIGHT, other) for other in occupied))
        step = next(steps, 0)
        occupied.append((start, start + width, y + step * _LINE_HEIGHT))
        arrow = {"arrowstyle": "-", "lw": 0.4, "color": "0.5", "shrinkA": 0, "shrinkB": 2} if step else None
        color = "0.1" if row["kind"] == "method" else "0.4"
        style = {"va": "center", "fontsize": 7.5, "color": color, "zorder": 4, "path_effects": [_HALO], "arrowprops": arrow}
        point = (row["price"], row["reliability"])
        axes.annotate(row["method"], point, (2 * _MARK_RADIUS, step * _LINE_HEIGHT), textcoords="offset points", **style)


def _is_apart(x: float, width: float, y: float, other: tuple[float, float, float]) -> bool:
    left, right, other_y = other
    return abs(y - other_y) >= _LINE_HEIGHT or x > right or x + width < left
