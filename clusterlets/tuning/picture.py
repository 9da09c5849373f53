"""The plot of a path: price against limit, with a line for each number of clusters."""

from typing import TYPE_CHECKING

from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from clusterlets.pages.style import add_legend, empty_figure, method_styles, panels, set_square_root_axis
from clusterlets.text import counted
from clusterlets.tuning.path import REFERENCE

if TYPE_CHECKING:
    from clusterlets.tuning import Tuned


def draw(tuned: "Tuned") -> Figure:
    """Draw a point for each limit that is kept, a ring around the recommended one, and other methods at their deviation.

    A hollow point is a search that the time ended.
    """
    task, ks = tuned.task, tuned.numbers_of_clusters
    lines = {}
    for k in ks:
        cheapest = [(step.limit, tuned.cheapest(k, step)) for step in task.path]
        # Limits of another kind than a largest deviation have no place on the axis; the deviation takes it.
        lines[k] = [
            (run.deviation if isinstance(limit, str) else limit, tuned.price(run), run.is_cut)
            for limit, run in cheapest
            if run is not None
        ]
    others = [run for run in tuned.runs if run.method != REFERENCE and not run.step and run.counts is not None]
    deviations = [*(x for line in lines.values() for x, _, _ in line), *(run.deviation for run in others)]
    if not deviations:
        return empty_figure("Nothing to show: no run keeps a limit.")
    figure, (axes,) = panels(1, per_row=3, height=3.4)
    set_square_root_axis(axes, 1.1 * max(0.01, *deviations), (0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.axhline(1, color="0.35", lw=0.8)
    colors = dict(zip(ks, colormaps["viridis"]([0.85 * index / max(1, len(ks) - 1) for index in range(len(ks))]), strict=True))
    for k, line in lines.items():
        style = {"color": colors[k], "marker": "o", "markersize": 3.5}
        axes.plot([x for x, _, _ in line], [price for _, price, _ in line], lw=1.2, **style)
        cut = [(x, price) for x, price, is_cut in line if is_cut]
        axes.plot([x for x, _ in cut], [price for _, price in cut], ls="", markerfacecolor="white", **style)
    styles = method_styles(sorted({run.method for run in others}))
    for run in others:
        _, marker = styles[run.method]
        axes.scatter(run.deviation, tuned.price(run), color=colors[run.n_clusters], marker=marker, s=22)
    if not isinstance(task.asked.limit, str):
        axes.axvline(task.asked.limit, color="0.35", lw=0.8, ls="--")
        axes.scatter(task.asked.limit, tuned.price(tuned.best), s=70, facecolors="none", edgecolors="#D55E00", lw=1.5, zorder=4)
    axes.set(xlabel="largest deviation allowed (left is fairer)", ylabel="price: cost over that of plain k-means")
    handles = [Line2D([], [], color=colors[k], marker="o", markersize=3.5, label=counted(k, "cluster")) for k in ks]
    if any(is_cut for line in lines.values() for _, _, is_cut in line):
        unfinished = "search ended by the time"
        handles.append(
            Line2D([], [], color="0.5", marker="o", markerfacecolor="white", markersize=3.5, ls="", label=unfinished)
        )
    handles += [Line2D([], [], color="0.5", marker=marker, ls="", label=name) for name, (_, marker) in styles.items()]
    add_legend(figure, handles, "What each limit costs; dashed: the requested one", 3)
    return figure
