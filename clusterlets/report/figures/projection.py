"""One dataset on its first two principal components, with the clusters of each matcher."""

from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from clusterlets.analysis import selection
from clusterlets.report.drawing.style import add_legend, empty_figure, panels
from clusterlets.report.figures import Declaration
from clusterlets.text import cut

FIGURES = [
    Declaration(
        name="projection",
        title="One dataset on its first two principal components, with the clusters of each matcher",
        caption="All matchers at the same setting (k near 5, 2 hops, omega near 0.5) on the first seed. Hue: cluster, by "
        "falling size; shape: group. A row in several clusters has a mark for each, inside one another. Of the datasets "
        "with at most four groups, this one has the largest share of its variance on the second component. The numbers are in "
        "clusterings/projection.csv.",
        reads=("runs.csv", "clusterings/projection.csv"),
        sections=("report.html#figures",),
        position=80,
    )
]

# Okabe and Ito's palette without black for the clusters, the largest first, and grey for all further clusters.
_HUES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#AAAAAA")
_GROUP_GREYS = ("0.65", "black", "0.4")
_GROUP_MARKERS = "o^sDvP*Xdp"
_MAX_NAMED_GROUPS = 8  # with more groups, the legend only gives their number
_MAX_GROUP_LENGTH, _MAX_DATASET_LENGTH = 24, 40  # characters of a name; longer names are cut
_MARKS_AREA = 7_000  # area of all marks of a panel together, in square points


def draw(runs: pd.DataFrame, projection: pd.DataFrame) -> Figure:
    """Draw a panel with the groups, and a panel for each matcher with its clusters."""
    if projection.empty:
        return empty_figure("Nothing to show: no run of Clusterlets has a result.")
    matchers = selection.in_order(runs.loc[runs["method"] == "Clusterlets", "matcher"], selection.PAPER_NAMES)
    figure, all_axes = panels(1 + len(matchers), per_row=3, height=2.05)
    markers = dict(zip(sorted(projection["group"].unique()), cycle(_GROUP_MARKERS)))
    rows = projection.drop_duplicates("row")
    group_greys = dict(zip(markers, cycle(_GROUP_GREYS)))
    all_axes[0].set_title("the data, by group")
    _draw_points(all_axes[0], rows.assign(hue=rows["group"].map(group_greys)), markers)
    _add_group_legend(all_axes[0], markers, group_greys)
    for axes, matcher in zip(all_axes[1:], matchers, strict=True):
        points = projection[projection["matcher"] == matcher]
        axes.set_title(f"{selection.PAPER_NAMES.get(matcher, matcher)}: {_describe_clusters(runs, points)}")
        _draw_points(axes, points.assign(hue=[_HUES[min(cluster, len(_HUES) - 1)] for cluster in points["cluster"]]), markers)
    for axes in all_axes:
        axes.grid(False)
        axes.set(xticks=[], yticks=[], xlim=_axis_limits(rows["x"]), ylim=_axis_limits(rows["y"]))
    _add_cluster_legend_and_labels(figure, rows.iloc[0], len(rows))
    return figure


def _add_group_legend(axes: Axes, markers: dict[str, str], greys: dict[str, str]) -> None:
    """Add a legend with the markers of the groups, or only their number if there are too many."""
    style = {"ls": "", "markersize": 4}
    handles = [Line2D([], [], color=greys[name], marker=marker, **style) for name, marker in markers.items()]
    labels = [cut(name, _MAX_GROUP_LENGTH) for name in markers]
    if len(labels) > _MAX_NAMED_GROUPS:
        handles, labels = [Line2D([], [], ls="")], [f"{len(labels)} groups"]
    axes.legend(handles, labels, fontsize=7, handletextpad=0.1, borderpad=0.3, labelspacing=0.3)


def _draw_points(axes: Axes, points: pd.DataFrame, markers: dict[str, str]) -> None:
    """Draw a mark for each point. A row of the dataset has a point for each of its clusters: smaller marks inside the first."""
    levels = points.groupby("row").cumcount()
    area = np.clip(_MARKS_AREA / points["row"].nunique(), 10, 24) if len(points) else 0
    for level in range(levels.max() + 1 if len(points) else 0):
        for group, marker in markers.items():
            level_points = points[(levels == level) & (points["group"] == group)]
            style = {"s": area / (1 + level) ** 1.6, "lw": 0, "marker": marker, "rasterized": True}
            axes.scatter(level_points["x"], level_points["y"], color=level_points["hue"], **style)


def _describe_clusters(runs: pd.DataFrame, points: pd.DataFrame) -> str:
    """The clusters of the run that these points come from, such as ``5 clusters, 12% in several``."""
    if points.empty:
        return "no valid partition"
    run_columns = ["dataset", "matcher", "k", "seed", "omega" if points["hops"].isna().all() else "hops"]
    (run,) = runs.merge(points[run_columns].drop_duplicates(), on=run_columns).to_dict("records")
    overlap_note = f", {run['overlap']:.0%} in several" if run["overlap"] else ""
    return f"{run['n_clusters']:.0f} clusters{overlap_note}"


def _add_cluster_legend_and_labels(figure: Figure, first: pd.Series, n_shown: int) -> None:
    """Add a legend of hues, and label the axes. ``first`` is the first of ``n_shown`` rows."""
    style = {"ls": "", "markersize": 4.5}
    handles = [Line2D([], [], color=hue, marker="s", label=number + 1, **style) for number, hue in enumerate(_HUES[:-1])]
    handles[0].set_label("cluster 1 (largest)")
    handle_of_others = Line2D([], [], color=_HUES[-1], marker="s", label="all others", **style)
    add_legend(figure, [*handles, handle_of_others], columns=len(_HUES))
    row_count = f"{n_shown:,} of {first['rows']:,} rows" if n_shown < first["rows"] else f"all {n_shown:,} rows"
    x_label = (
        f"first principal component of {cut(first['dataset'], _MAX_DATASET_LENGTH)} ({first['x_share']:.0%} of the variance)"
    )
    figure.supxlabel(f"{x_label}; {row_count}")
    figure.supylabel(f"second component ({first['y_share']:.0%})")


def _axis_limits(values: pd.Series) -> tuple[float, float]:
    margin = 0.04 * np.ptp(values) or 1.0
    return values.min() - margin, values.max() + margin
