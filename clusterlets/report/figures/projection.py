"""One dataset on its principal components, with the clusters of each matcher."""

from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from clusterlets.analysis import selection
from clusterlets.report.drawing.names import cut
from clusterlets.report.drawing.style import add_legend, empty_figure, panels
from clusterlets.report.figures import Declaration

FIGURES = [
    Declaration(
        name="projection",
        title="One dataset on its two principal components with the clusters of each matcher",
        caption="All matchers at the same setting (k near 5, 2 hops, omega near 0.5) on the first seed. Hue: cluster, by "
        "falling size; shape: group. A row in several clusters shows one inside the other. Of the datasets with at most four "
        "groups, it is the one with the largest share of variance on its second component. The numbers are in "
        "clusterings/projection.csv.",
        reads=("runs.csv", "clusterings/projection.csv"),
        sections=("report.html#figures",),
        position=80,
    )
]

# Clusters by falling size: Okabe and Ito's colors without black, and grey for all further clusters.
_HUES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#AAAAAA")
_GREYS = ("0.65", "black", "0.4")
_MARKERS = "o^sDvP*Xdp"
_MAX_NAMED = 8  # groups; more are only counted
_GROUP_LETTERS, _DATASET_LETTERS = 24, 40  # longer names are cut
_INK = 7_000  # square points for all marks of a panel


def draw(runs: pd.DataFrame, projection: pd.DataFrame) -> Figure:
    """One panel with the groups, one for each matcher with its clusters; a row in two clusters has a mark inside its mark."""
    if projection.empty:
        return empty_figure("Nothing to show: no run of Clusterlets has a result.")
    matchers = selection.in_order(runs.loc[runs["method"] == "Clusterlets", "matcher"], selection.PAPER_NAMES)
    figure, all_axes = panels(1 + len(matchers), per_row=3, height=2.05)
    markers = dict(zip(sorted(projection["group"].unique()), cycle(_MARKERS)))
    rows = projection.drop_duplicates("row")
    greys = dict(zip(markers, cycle(_GREYS)))
    all_axes[0].set_title("the data, by group")
    _draw_points(all_axes[0], rows.assign(hue=rows["group"].map(greys)), markers)
    _name_shapes(all_axes[0], markers, greys)
    for axes, matcher in zip(all_axes[1:], matchers, strict=True):
        lines = projection[projection["matcher"] == matcher]
        axes.set_title(f"{selection.PAPER_NAMES.get(matcher, matcher)}: {_describe_clusters(runs, lines)}")
        _draw_points(axes, lines.assign(hue=[_HUES[min(cluster, len(_HUES) - 1)] for cluster in lines["cluster"]]), markers)
    for axes in all_axes:
        axes.grid(False)
        axes.set(xticks=[], yticks=[], xlim=_limits(rows["x"]), ylim=_limits(rows["y"]))
    _explain(figure, rows.iloc[0], len(rows))
    return figure


def _name_shapes(axes: Axes, markers: dict[str, str], greys: dict[str, str]) -> None:
    """The groups' names with their marks; only their number if there are too many."""
    style = {"ls": "", "markersize": 4}
    shapes = [Line2D([], [], color=greys[name], marker=marker, **style) for name, marker in markers.items()]
    labels = [cut(name, _GROUP_LETTERS) for name in markers]
    if len(labels) > _MAX_NAMED:
        shapes, labels = [Line2D([], [], ls="")], [f"{len(labels)} groups"]
    axes.legend(shapes, labels, fontsize=7, handletextpad=0.1, borderpad=0.3, labelspacing=0.3)


def _draw_points(axes: Axes, lines: pd.DataFrame, markers: dict[str, str]) -> None:
    """One mark per line: a large one for the first cluster of a row, a smaller one inside it for each further cluster."""
    depth = lines.groupby("row").cumcount()
    area = np.clip(_INK / lines["row"].nunique(), 10, 24) if len(lines) else 0
    for level in range(depth.max() + 1 if len(lines) else 0):
        for group, marker in markers.items():
            marks = lines[(depth == level) & (lines["group"] == group)]
            style = {"s": area / (1 + level) ** 1.6, "lw": 0, "marker": marker, "rasterized": True}
            axes.scatter(marks["x"], marks["y"], color=marks["hue"], **style)


def _describe_clusters(runs: pd.DataFrame, lines: pd.DataFrame) -> str:
    """The number of clusters in the run of these lines, and the share of rows in several clusters."""
    if lines.empty:
        return "no valid partition"
    keys = ["dataset", "matcher", "k", "seed", "omega" if lines["hops"].isna().all() else "hops"]
    (run,) = runs.merge(lines[keys].drop_duplicates(), on=keys).to_dict("records")
    several = f", {run['overlap']:.0%} in several" if run["overlap"] else ""
    return f"{run['n_clusters']:.0f} clusters{several}"


def _explain(figure: Figure, first: pd.Series, n_shown: int) -> None:
    """Add a legend of the clusters' hues, and the axis labels."""
    style = {"ls": "", "markersize": 4.5}
    hues = [Line2D([], [], color=hue, marker="s", label=number + 1, **style) for number, hue in enumerate(_HUES[:-1])]
    hues[0].set_label("cluster 1 (largest)")
    further = Line2D([], [], color=_HUES[-1], marker="s", label="further ones", **style)
    add_legend(figure, [*hues, further], columns=len(_HUES))
    row_count = f"{n_shown:,} of {first['rows']:,} rows" if n_shown < first["rows"] else f"all {n_shown:,} rows"
    x_label = f"first principal component of {cut(first['dataset'], _DATASET_LETTERS)} ({first['x_share']:.0%} of the variance)"
    figure.supxlabel(f"{x_label}; {row_count}")
    figure.supylabel(f"second component ({first['y_share']:.0%})")


def _limits(values: pd.Series) -> tuple[float, float]:
    margin = 0.04 * np.ptp(values) or 1.0
    return values.min() - margin, values.max() + margin
