"""What fairness costs: the price of every configuration against its largest deviation, with the best trade-offs as a line."""

from statistics import median_low

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from clusterlets.analysis import selection
from clusterlets.analysis.leaderboard import configurations, is_on_front
from clusterlets.report.drawing.names import cut
from clusterlets.report.drawing.style import (
    COLORS,
    add_method_legend,
    empty_figure,
    method_styles,
    panels,
    set_root_axis,
    set_round_ticks,
)
from clusterlets.report.figures import Declaration

FIGURES = [
    Declaration(
        name="price_against_unfairness",
        title="What fairness costs: price against the largest deviation",
        caption="One panel per dataset, at the middle k of the grid; a mark is a configuration, by its median price and "
        "largest deviation over the scoring seeds, if all its runs there have k clusters. Price: squared error divided by "
        "that of plain k-means. Best is bottom left. Line: the front of configurations that none beats in both, with their "
        "parameters. The axis of the deviation is one of square roots, to give small values room. The title counts "
        "configurations too far above the front to be shown.",
        reads=("runs.csv", "leaderboard_points.csv"),
        sections=("leaderboard.html#figures", "report.html#leaderboard"),
        position=10,
    )
]

_MAX_NAME = 20  # characters of a dataset's name
_MAX_LABEL = 20  # characters of the label of a configuration
_MIN_TOP = 1.2  # the price axis reaches at least to here
_LETTER, _LINE = 0.026, 0.075  # width of a letter and height of a line, as shares of a panel's width and height
_TICKS = (0, 0.02, 0.1, 0.2, 0.4, 0.7, 1)


def draw(runs: pd.DataFrame, points: pd.DataFrame) -> Figure:
    """One panel per dataset, at the middle k of the grid: a mark per configuration, the front as steps with its parameters.

    All methods of the runs decide the look of each, so that it is the same in other figures.
    """
    if points.empty:
        return empty_figure("Nothing to show: it takes two methods, two seeds and runs with a cost.")
    look = method_styles(selection.in_order(selection.names(runs), COLORS))
    k = median_low(set(points["k"]))
    shown = configurations(points).query("k == @k and exact")
    datasets = list(shown["dataset"].unique())
    figure, all_axes = panels(len(datasets), per_row=3, height=2.1)
    for axes, dataset in zip(all_axes, datasets, strict=True):
        rows_of_dataset = shown[shown["dataset"] == dataset]
        rows_of_dataset = rows_of_dataset.assign(on_front=is_on_front(rows_of_dataset[["deviation_max", "price"]]))
        highest = max(_MIN_TOP, 1.15 * rows_of_dataset.loc[rows_of_dataset["on_front"], "price"].max())
        _draw_points(axes, rows_of_dataset[rows_of_dataset["price"] <= highest], look, highest)
        n_above = int((rows_of_dataset["price"] > highest).sum())
        axes.set_title(cut(dataset, _MAX_NAME) + (f" ({n_above} above)" if n_above else ""))
    shown_looks = {name: look[name] for name in look if name in set(shown["method"])}
    key = "line: the front of what no configuration beats in both, with its parameters"
    x = "largest deviation of a cluster on an axis of square roots (left is fairer)"
    y = f"price: cost over that of plain k-means with k = {k:g} clusters (logarithmic; down is better)"
    add_method_legend(figure, shown_looks, x, y, key)
    return figure


def _draw_points(axes: Axes, points: pd.DataFrame, look: dict[str, tuple[str, str]], highest: float) -> None:
    set_root_axis(axes, 1.02, _TICKS)
    axes.set_yscale("log")
    axes.set_ylim(highest**-0.03, highest)
    set_round_ticks(axes.yaxis, 5)
    for name, method_points in points.groupby("method", sort=False):
        color, marker = look[str(name)]
        style = {"color": color, "marker": marker, "s": 18, "alpha": 0.85, "lw": 0.3, "edgecolor": "white"}
        axes.scatter(method_points["deviation_max"], method_points["price"], zorder=3, clip_on=False, **style)
    front = points[points["on_front"]].sort_values(["deviation_max", "price"])
    axes.plot(front["deviation_max"], front["price"], color="0.35", lw=0.8, drawstyle="steps-post", zorder=2)
    _label_front(axes, front[front["parameters"].fillna("") != ""])


def _label_front(axes: Axes, front: pd.DataFrame) -> None:
    """Label each point of the front with its parameters, from the fairest on; labels that would cover another are left out."""
    to_axes = axes.transData + axes.transAxes.inverted()
    halo = withStroke(linewidth=1.5, foreground="white")
    occupied: list[tuple[float, float, float]] = []
    for row in front.to_dict("records"):
        label = cut(row["parameters"], _MAX_LABEL)
        point = (row["deviation_max"], row["price"])
        x, y = to_axes.transform(point)
        width = _LETTER * len(label)
        left = x if x + width < 1 else x - width
        if all(abs(y - other_y) > _LINE or left > end or left + width < start for start, end, other_y in occupied):
            occupied.append((left, left + width, y))
            style = {"ha": "left" if left == x else "right", "fontsize": 6, "zorder": 4, "path_effects": [halo]}
            axes.annotate(label, point, (3 if left == x else -3, 3), textcoords="offset points", **style)
