"""Critical-difference diagrams: figure 1 of the paper, and the same diagram for more methods."""

from collections.abc import Iterable
from textwrap import fill

import pandas as pd
import scikit_posthocs
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.analysis.statistics import ALPHA, Ranking, from_tables
from clusterlets.benchmark.report.figures import Declaration
from clusterlets.pages.style import mark_empty, method_styles, single_panel

READS = (
    "runs.csv",
    "statistics/statistics.csv",
    "statistics/blocks.csv",
    "statistics/mean_ranks.csv",
    "statistics/nemenyi.csv",
)
FIGURES = [
    Declaration(
        name="figure1_critical_difference",
        title="Figure 1: critical differences of the matchers by mean deviation",
        caption="Mean ranks of the matchers; blocks are datasets. 1, on the left, is best, and bands join matchers whose "
        "difference is not significant (Nemenyi's test, level 0.05).",
        reads=READS,
        sections=("report.html#figures",),
        position=10,
        options={"ranking": "matchers"},
    ),
    Declaration(
        name="critical_difference_with_controls",
        title="Figure 1 with the controls k-means and random beside the matchers",
        caption="Is a matcher fairer than a random partition?",
        reads=READS,
        sections=("report.html#figures",),
        position=20,
        options={"ranking": "matchers_with_controls"},
    ),
    Declaration(
        name="critical_difference_all_methods",
        title="Figure 1 of all methods, with the controls k-means and random",
        caption="Mean ranks by mean deviation; blocks are datasets.",
        reads=READS,
        sections=("report.html#figures",),
        position=30,
        options={"ranking": "all_methods"},
    ),
]

_TITLE_WIDTH = 90  # characters per line of the title


def draw(runs: pd.DataFrame, *tables: pd.DataFrame, ranking: str) -> Figure:
    """Draw the ranking with this name. ``tables`` are the arguments of :func:`statistics.from_tables`."""
    rankings = {entry.name: entry for entry in from_tables(*tables)}
    return draw_ranking(rankings[ranking], set(selection.names(selection.ok(runs))))


def draw_ranking(ranking: Ranking, names: Iterable[str] = ()) -> Figure:
    """Draw a diagram like figure 1: mean ranks (left is better), and bands that join methods without a significant difference.

    ``names`` are all methods of the runs, so that a method has the same color in every figure.
    """
    figure, axes = single_panel(1 if ranking.obstacle else 1.9 + 0.25 * len(ranking.mean_ranks))
    axes.set_title(fill(ranking.title, _TITLE_WIDTH))
    if ranking.obstacle:
        axes.axis("off")
        axes.text(0.5, 0.5, f"Not computed. {ranking.obstacle}", ha="center", va="center", transform=axes.transAxes)
        return mark_empty(figure)
    artists = scikit_posthocs.critical_difference_diagram(
        ranking.mean_ranks,
        _ends_of_bands(ranking.mean_ranks, ranking.nemenyi),
        ax=axes,
        label_fmt_left="{label} ({rank:.2f})  ",
        label_fmt_right="  ({rank:.2f}) {label}",
        color_palette={name: color for name, (color, _) in method_styles({*names, *ranking.mean_ranks.index}).items()},
    )
    for (band,) in artists["crossbars"]:  # scikit-posthocs takes the ends from a set, whose order differs between processes
        band.set_xdata(sorted(band.get_xdata()))
    for method_label in artists["labels"]:
        method_label.set_color("black")
    _draw_scale_bar(axes, float(ranking.mean_ranks.min()), ranking.critical_difference)
    explanation = "1, on the left, is best; bands join what is not significantly different"
    axis_label = f"mean rank over {len(ranking.complete)} blocks: {explanation}"
    axes.text(0.5, -0.06, axis_label, ha="center", va="top", fontsize=8, transform=axes.transAxes)
    return figure


def _ends_of_bands(mean_ranks: pd.Series, p: pd.DataFrame) -> pd.DataFrame:
    """A matrix like ``p`` that is 1 for the two ends of each band and 0 for all other pairs.

    Nemenyi's p falls with the difference of two ranks, so a band holds all methods between its ends. scikit-posthocs would look
    for bands among all sets of methods, in exponential time: 40 s for 20 methods that do not differ.
    """
    names = list(mean_ranks.sort_values(kind="stable").index)
    ends = pd.DataFrame(0.0, index=p.index, columns=p.columns)
    last = 0  # position of the right end of the band before
    for position, name in enumerate(names):
        end = max(other for other in range(position, len(names)) if other == position or p.loc[name, names[other]] >= ALPHA)
        if end > max(last, position):
            ends.loc[name, names[end]] = ends.loc[names[end], name] = 1.0
            last = end
    return ends


def _draw_scale_bar(axes: Axes, start: float, length: float) -> None:
    """Draw the critical difference as a bar above the axis and its labels."""
    axes.plot([start, start + length], [1.6, 1.6], color="black", marker="|", markersize=8, lw=1.5)
    axes.text(start + length / 2, 1.8, f"critical difference {length:.2f}", ha="center", va="bottom", fontsize=8)
    axes.set_ylim(top=2.8)
