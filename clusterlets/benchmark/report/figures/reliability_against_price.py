"""The leaderboard in one picture: how often each method keeps a limit, and what it costs where it does."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import PercentFormatter

from clusterlets.benchmark.report import SHOWN_LIMIT
from clusterlets.benchmark.report.figures import Declaration
from clusterlets.benchmark.report.standings import marked
from clusterlets.pages.style import GRID, empty_figure, plt, set_round_ticks

FIGURES = [
    Declaration(
        name="reliability_against_price",
        title="Which method keeps a largest deviation of 0.05, and what it costs",
        caption="Up: the method keeps the limit in more cases (a case is a table with its groups, and a k). Right: its "
        "clusters cost more than those of the most reliable method, in the cases in which both keep the limit; their number "
        "follows the name. Upright bars: exact 95 % intervals over cases. Level bars: t intervals over tables, if there are "
        "six or more. Grey: controls, second outputs of methods, and the matchers of Clusterlets, which choose their own "
        "number of clusters. Methods without a shared case are named below the axis.",
        reads=("leaderboard_overall.csv", "leaderboard_pairs.csv"),
        sections=("report.html#leaderboard",),
        position=1,
    )
]

_SIZE = 7.0, 4.6  # inches
_COLOR, _GREY = "#0072B2", "0.55"
_HALO = withStroke(linewidth=3, foreground="white")
_STEPS = (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5)  # lines by which a name may move up or down
# In points.
_LINE_HEIGHT, _LETTER_WIDTH, _MARK_RADIUS = 9.0, 4.3, 3.0


def draw(overall: pd.DataFrame, pairs: pd.DataFrame) -> Figure:
    """Draw a point per method: reliability under :data:`SHOWN_LIMIT` against cost over that of the first method."""
    rows = overall[overall["limit"] == SHOWN_LIMIT]
    if not (rows["kept"] * (rows["kind"] == "method")).any():
        return empty_figure(f"Nothing to show: no method keeps a largest deviation of {SHOWN_LIMIT:g}.")
    first = rows["method"].iloc[0]
    rows = rows.merge(_costs_over(first, pairs[pairs["limit"] == SHOWN_LIMIT]), on="method", how="left")
    rows.loc[rows["method"] == first, ["ratio", "shared"]] = 1.0, rows["kept"].iloc[0]
    drawn = rows[rows["shared"] > 0]
    with plt.rc_context(GRID):
        figure, axes = plt.subplots(figsize=_SIZE, layout="constrained")
    _set_axes(axes, drawn)
    for row in drawn.to_dict("records"):
        color = _COLOR if row["kind"] == "method" else _GREY
        axes.plot([row["ratio"]] * 2, [row["reliability_low"], row["reliability_high"]], color=color, lw=0.8, alpha=0.5)
        axes.plot([row["ratio_low"], row["ratio_high"]], [row["reliability"]] * 2, color=color, lw=0.8, alpha=0.5)
        axes.plot(row["ratio"], row["reliability"], "o", color=color, markersize=5, zorder=3)
    _write_names(axes, drawn)
    axes.set_title(f"Keeping every group's share within {SHOWN_LIMIT:g} of the table's, in every cluster", loc="left")
    axes.set_ylabel("keeps the limit in this share of the cases (up is better)")
    not_drawn = ", ".join(rows.loc[~(rows["shared"] > 0), "method"])
    note = f"\nno shared case: {not_drawn}" if not_drawn else ""
    label = f"cost over that of {marked(first)}, in the cases in which both keep the limit (left is better)"
    axes.set_xlabel(f"{label}{note}", wrap=True)
    return figure


def _costs_over(first: str, pairs: pd.DataFrame) -> pd.DataFrame:
    """The cost of each other method over that of the first, with its interval and the number of shared cases."""
    ratios, swapped = ["ratio", "ratio_low", "ratio_high"], ["ratio", "ratio_high", "ratio_low"]
    others = pairs.loc[pairs["other"] == first, ["method", "cases", *ratios]]
    inverse = pairs.loc[pairs["method"] == first, ["other", "cases", *swapped]]
    inverse = inverse.set_axis(others.columns, axis=1).assign(
        **{name: 1 / inverse[old] for name, old in zip(ratios, swapped, strict=True)}
    )
    return pd.concat([others, inverse]).rename(columns={"cases": "shared"})


def _set_axes(axes: Axes, drawn: pd.DataFrame) -> None:
    axes.set_xscale("log")
    lowest, highest = min(1.0, drawn["ratio"].min()), max(1.1, drawn["ratio"].max())
    room = (highest / lowest) ** 0.06
    axes.set_xlim(lowest / room, highest * room**3)  # room for the names on the right
    axes.set_ylim(-0.04, 1.1)  # room for a name above 100 %
    set_round_ticks(axes.xaxis, 8)
    axes.yaxis.set_major_formatter(PercentFormatter(1))


def _write_names(axes: Axes, drawn: pd.DataFrame) -> None:
    """Write each name beside its point, moved up or down by whole lines if another name is in the way."""
    axes.figure.canvas.draw()  # lays the figure out, which moves the points
    pixels_per_point = axes.figure.dpi / 72
    centers = axes.transData.transform(drawn[["ratio", "reliability"]].to_numpy(float)) / pixels_per_point
    occupied = [(x - _MARK_RADIUS, x + _MARK_RADIUS, y) for x, y in centers]
    top = axes.bbox.ymax / pixels_per_point - _LINE_HEIGHT / 2
    for number, (row, (x, y)) in enumerate(zip(drawn.to_dict("records"), centers, strict=True)):
        name = f"{marked(row['method'])}, {row['shared']:.0f}"
        width = _LETTER_WIDTH * len(name) + 8  # with a gap
        start = x + 2 * _MARK_RADIUS
        steps = [step for step in _STEPS if y + step * _LINE_HEIGHT <= top]
        step = next((n for n in steps if all(_is_apart(start, width, y + n * _LINE_HEIGHT, other) for other in occupied)), 0)
        occupied.append((start, start + width, y + step * _LINE_HEIGHT))
        arrow = {"arrowstyle": "-", "lw": 0.4, "color": "0.5", "shrinkA": 0, "shrinkB": 2} if step else None
        color = "0.1" if row["kind"] == "method" else "0.4"
        # Each name is drawn over the lines to the points of all names below it in the leaderboard.
        style = {"va": "center", "fontsize": 7.5, "color": color, "zorder": 5 - number / 1000, "arrowprops": arrow}
        point = (row["ratio"], row["reliability"])
        axes.annotate(
            name, point, (2 * _MARK_RADIUS, step * _LINE_HEIGHT), textcoords="offset points", path_effects=[_HALO], **style
        )


def _is_apart(x: float, width: float, y: float, other: tuple[float, float, float]) -> bool:
    left, right, other_y = other
    return abs(y - other_y) >= _LINE_HEIGHT or x > right or x + width < left
