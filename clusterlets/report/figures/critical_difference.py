"""Figure 1 of the paper: the critical-difference diagram."""

from collections.abc import Iterable
from textwrap import fill

import pandas as pd
import scikit_posthocs
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlets.analysis import selection
from clusterlets.analysis.statistics import ALL_METHODS, WITH_CONTROLS, Ranking, from_tables
from clusterlets.report.figures.style import looks, single

_TITLE = 90  # letters of a line of the title
_FIGURES = {
    "figure1_critical_difference": "matchers",
    "critical_difference_with_controls": WITH_CONTROLS,
    "critical_difference_all_methods": ALL_METHODS,
}


def from_runs(runs: pd.DataFrame, *tables: pd.DataFrame) -> dict[str, Figure]:
    """Figure 1, the same with controls, and of all methods, by file name; ``tables`` as ``statistics.from_tables`` has them."""
    rankings = {ranking.name: ranking for ranking in from_tables(*tables)}
    names = set(selection.names(selection.ok(runs)))
    return {figure: draw(rankings[ranking], names) for figure, ranking in _FIGURES.items()}


def draw(ranking: Ranking, names: Iterable[str] = ()) -> Figure:
    """Figure 1: mean ranks (right is better), bands join methods whose difference is not significant.

    ``names`` are all methods of the runs, ranked or not, so that each has the hue that it has in other figures.
    """
    figure, axes = single(1 if ranking.obstacle else 1.9 + 0.25 * len(ranking.mean_ranks))
    axes.set_title(fill(ranking.title, _TITLE))
    if ranking.obstacle:
        axes.axis("off")
        axes.text(0.5, 0.5, f"Not computed. {ranking.obstacle}", ha="center", va="center", transform=axes.transAxes)
        return figure
    artists = scikit_posthocs.critical_difference_diagram(
        ranking.mean_ranks,
        ranking.nemenyi,
        ax=axes,
        label_fmt_left="{label} ({rank:.2f})  ",
        label_fmt_right="  ({rank:.2f}) {label}",
        color_palette={name: color for name, (color, _) in looks({*names, *ranking.mean_ranks.index}).items()},
    )
    for (band,) in artists["crossbars"]:  # through points in the order of a set, which is another one in every process
        band.set_xdata(sorted(band.get_xdata()))
    for label in artists["labels"]:
        label.set_color("black")
    _scale_bar(axes, float(ranking.mean_ranks.min()), ranking.critical_difference)
    key = "right is better; bands join what is not significantly different"
    words = f"mean rank over {len(ranking.complete)} blocks: {key}"
    axes.text(0.5, -0.06, words, ha="center", va="top", fontsize=8, transform=axes.transAxes)
    return figure


def _scale_bar(axes: Axes, start: float, length: float) -> None:
    """The critical difference as a bar above the axis, clear of the tick labels."""
    axes.plot([start, start + length], [1.6, 1.6], color="black", marker="|", markersize=8, lw=1.5)
    axes.text(start + length / 2, 1.8, f"critical difference {length:.2f}", ha="center", va="bottom", fontsize=8)
    axes.set_ylim(top=2.8)
