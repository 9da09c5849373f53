"""What fairness costs: every configuration's price against its largest deviation, with a line through the best trade-offs."""

from statistics import median_low

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.analysis.leaderboard import configurations, is_on_front
from clusterlets.benchmark.report.figures import Declaration
from clusterlets.pages.style import (
    COLORS,
    add_method_legend,
    empty_figure,
    method_styles,
    panels,
    set_round_ticks,
    set_square_root_axis,
)
from clusterlets.text import cut

FIGURES = [
    Declaration(
        name="price_against_unfairness",
        title="What fairness costs: price against the largest deviation",
        caption="One panel per dataset, at the middle k of the grid. A mark is a configuration, by its median price and "
        "largest deviation over the scoring seeds, if all these runs have k clusters. Price: squared error divided by that of "
        "plain k-means. Best is bottom left. Line: the front, that is, the configurations that no other beats in both, "
        "with their parameters. The axis of the deviation has a square-root scale, to give small values room. The title counts "
        "configurations too far above the front to be shown.",
        reads=("runs.csv", "leaderboard_points.csv"),
        sections=("report.html#leaderboard",),
        position=10,
    )
]

_MAX_DATASET_LENGTH = 20  # characters of a dataset's name
_MAX_LABEL_LENGTH = 20  # characters of a configuration's label
_MIN_HIGHEST_PRICE = 1.2  # the price axis reaches at least up to this price
_CHARACTER_WIDTH, _LINE_HEIGHT = 0.026, 0.075  # of labels, as shares of a panel's width and height
_DEVIATION_TICKS = (0, 0.02, 0.1, 0.2, 0.4, 0.7, 1)


def draw(runs: pd.DataFrame, points: pd.DataFrame) -> Figure:
    """Draw a panel per dataset, at the middle k of the grid: a mark per configuration, and the front as a labelled step line.

    The styles come from all methods in ``runs``, so that a method looks the same in every figure.
    """
    if points.empty:
        return empty_figure("Nothing to show: this figure needs two methods, two seeds and runs with a cost.")
    styles = method_styles(selection.in_order(selection.names(runs), COLORS))
    k = median_low(set(points["k"]))
    configurations_at_k = configurations(points).query("k == @k and exact")
    datasets = list(configurations_at_k["dataset"].unique())
    figure, all_axes = panels(len(datasets), per_row=3, height=2.1)
    for axes, dataset in zip(all_axes, datasets, strict=True):
        rows_of_dataset = configurations_at_k[configurations_at_k["dataset"] == dataset]
        rows_of_dataset = rows_of_dataset.assign(on_front=is_on_front(rows_of_dataset[["deviation_max", "price"]]))
        highest_price = max(_MIN_HIGHEST_PRICE, 1.15 * rows_of_dataset.loc[rows_of_dataset["on_front"], "price"].max())
        _draw_points(axes, rows_of_dataset[rows_of_dataset["price"] <= highest_price], styles, highest_price)
        n_above = int((rows_of_dataset["price"] > highest_price).sum())
        axes.set_title(cut(dataset, _MAX_DATASET_LENGTH) + (f" ({n_above} above)" if n_above else ""))
    legend_styles = {name: styles[name] for name in styles if name in set(configurations_at_k["method"])}
    front_note = "line: the front, configurations that no other beats in both, with their parameters"
    x_label = "largest deviation of a cluster on a square-root scale (left is fairer)"
    y_label = f"price: cost over that of plain k-means with k = {k:g} clusters (logarithmic; down is better)"
    add_method_legend(figure, legend_styles, x_label, y_label, front_note)
    return figure


def _draw_points(axes: Axes, points: pd.DataFrame, styles: dict[str, tuple[str, str]], highest_price: float) -> None:
    set_square_root_axis(axes, 1.02, _DEVIATION_TICKS)
    axes.set_yscale("log")
    axes.set_ylim(highest_price**-0.03, highest_price)  # a margin of about 3 % below price 1
    set_round_ticks(axes.yaxis, 5)
    for name, method_points in points.groupby("method", sort=False):
        color, marker = styles[str(name)]
        mark_style = {"color": color, "marker": marker, "s": 18, "alpha": 0.85, "lw": 0.3, "edgecolor": "white"}
        axes.scatter(method_points["deviation_max"], method_points["price"], zorder=3, clip_on=False, **mark_style)
    front = points[points["on_front"]].sort_values(["deviation_max", "price"])
    axes.plot(front["deviation_max"], front["price"], color="0.35", lw=0.8, drawstyle="steps-post", zorder=2)
    _label_front(axes, front[front["parameters"].fillna("") != ""])


def _label_front(axes: Axes, front: pd.DataFrame) -> None:
    """Label the points of the front with their parameters, the fairest first. Labels that would cover others are left out."""
    to_panel_shares = axes.transData + axes.transAxes.inverted()
    halo = withStroke(linewidth=1.5, foreground="white")
    occupied: list[tuple[float, float, float]] = []  # left end, right end and y of each label
    for row in front.to_dict("records"):
        label = cut(row["parameters"], _MAX_LABEL_LENGTH)
        point = (row["deviation_max"], row["price"])
        x, y = to_panel_shares.transform(point)
        width = _CHARACTER_WIDTH * len(label)
        left = x if x + width < 1 else x - width
        if all(abs(y - other_y) > _LINE_HEIGHT or left > end or left + width < start for start, end, other_y in occupied):
            occupied.append((left, left + width, y))
            text_style = {"ha": "left" if left == x else "right", "fontsize": 6, "zorder": 4, "path_effects": [halo]}
            axes.annotate(label, point, (3 if left == x else -3, 3), textcoords="offset points", **text_style)
