"""The share of each group in the clusters of the best clusterings, beside its share in the dataset."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from clusterlets.analysis import selection
from clusterlets.paper import reported
from clusterlets.report.drawing.style import empty_figure, panels
from clusterlets.report.figures import Declaration
from clusterlets.text import cut

FIGURES = [
    Declaration(
        name="composition",
        title="The groups of every cluster in the best run of each dataset by mean deviation (table 4)",
        caption="Methods: Clusterlets, FRAC as the paper scored it and as it is defined, and the controls k-means and random. "
        "A bar is a cluster, the largest on the left, with its size if there is room. Dashed: the shares in the dataset, which "
        "all clusters of a perfectly fair clustering would have. The numbers are in clusterings/composition.csv.",
        reads=("runs.csv", "clusterings/composition.csv"),
        sections=("report.html#figures",),
        position=70,
    )
]

# Okabe and Ito's colors, ordered so that neighbours differ in lightness. A color scale replaces them if there are more groups.
_COLORS = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#0072B2", "#F0E442", "#D55E00")
_MAX_NAMED_GROUPS = 3  # names that fit side by side
_MAX_NAME_LENGTH = 12  # characters of a group's name
_MAX_TITLE_LENGTH = 28  # characters of a dataset's name
_MAX_LABELLED_BARS = 7  # bars with room for their sizes
_OUTLINE = withStroke(linewidth=2, foreground="white")
_METHOD_SPACING = 1.12  # between the left ends of neighbouring methods, whose bars have a total width of 1


def draw(runs: pd.DataFrame, composition: pd.DataFrame) -> Figure:
    """Draw a panel per dataset, with a bar for each cluster in the best runs of Clusterlets, FRAC and the controls."""
    runs_to_show = runs[runs["method"].isin(selection.METHODS)]
    datasets = selection.in_order(runs_to_show["dataset"], reported.datasets())
    methods = selection.in_order(runs_to_show["method"], selection.METHODS)
    if not datasets:
        return empty_figure("Nothing to show: no run of Clusterlets, FRAC or a control.")
    figure, all_axes = panels(len(datasets), per_row=1, height=1.4)
    for axes, dataset in zip(all_axes, datasets, strict=True):
        axes.set_title(cut(dataset, _MAX_TITLE_LENGTH), loc="left", pad=14)
        axes.grid(False)
        _draw_dataset(axes, composition[composition["dataset"] == dataset], methods)
        axes.set_ylabel("share of\nthe group")
    return figure


def _draw_dataset(axes: Axes, rows: pd.DataFrame, methods: Sequence[str]) -> None:
    """Draw the clusters of the methods side by side, and dashed lines for the shares of the groups in the dataset."""
    axes.set(ylim=(0, 1), yticks=[0, 0.5, 1])
    if rows.empty:
        axes.set(xticks=[])
        reason = "no run with 3 clusters or more\nand an overlap below 0.5"
        axes.annotate(reason, (0.5, 0.5), xycoords="axes fraction", ha="center", va="center", fontsize=7.5)
        return
    names = list(rows["group"].unique())
    colors = _COLORS if len(names) <= len(_COLORS) else colormaps["viridis"](np.linspace(0.05, 0.95, len(names)))
    lefts = _METHOD_SPACING * np.arange(len(methods))
    for left, method in zip(lefts, methods, strict=True):
        method_rows = rows[rows["method"] == method]
        if len(method_rows):
            _draw_bars(axes, left, method_rows, names, colors)
    axes.set_xticks(lefts + 0.5, [_describe_run(rows[rows["method"] == method], method) for method in methods])
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.03, lefts[-1] + 1.03)
    boundaries = rows.drop_duplicates("group")["dataset_share"].cumsum().to_numpy()[:-1]
    for boundary in boundaries:
        axes.axhline(boundary, color="black", lw=1, ls=(0, (4, 2)), path_effects=[_OUTLINE])
    _name_groups(axes, names, colors)


def _draw_bars(axes: Axes, left: float, rows: pd.DataFrame, names: list[str], colors: Sequence) -> None:
    """Draw a stacked bar per cluster, with the cluster's size if there is room. The bars have a total width of 1."""
    shares = rows.pivot(index="cluster", columns="group", values="share")[names].to_numpy()
    starts = np.cumsum(shares, axis=1) - shares
    centers = left + (np.arange(len(shares)) + 0.5) / len(shares)
    for group, name in enumerate(names):
        style = {"width": 0.88 / len(shares), "color": colors[group], "lw": 0, "label": name}
        axes.bar(centers, shares[:, group], bottom=starts[:, group], **style)
    if len(shares) <= _MAX_LABELLED_BARS:
        for center, size in zip(centers, rows.drop_duplicates("cluster")["size"], strict=True):
            axes.text(center, 0.03, f"{size:,}", rotation=90, ha="center", va="bottom", fontsize=6.5, path_effects=[_OUTLINE])


def _describe_run(rows: pd.DataFrame, method: str) -> str:
    """The run's method, its number of clusters, and the range of their sizes."""
    if rows.empty:
        return f"{method}\nno eligible run\n"
    row, sizes = rows.iloc[0], rows["size"]
    name = method if pd.isna(row["matcher"]) else f"{method}, {selection.PAPER_NAMES.get(row['matcher'], row['matcher'])}"
    return f"{name}\n{rows['cluster'].nunique()} clusters of\n{sizes.min():,} to {sizes.max():,}"


def _name_groups(axes: Axes, names: list[str], colors: Sequence) -> None:
    """Write the names of the groups above the panel, or only their number if there are too many."""
    labels = [(cut(name, _MAX_NAME_LENGTH), color) for name, color in zip(names, colors, strict=False)]  # _COLORS may be longer
    if len(names) > _MAX_NAMED_GROUPS:
        labels = [(f"{len(names)} groups", "0.3")]
    style = {"va": "bottom", "fontsize": 7}
    text = axes.annotate("", (0, 1.03), xycoords="axes fraction", **style)
    for name, color in labels:
        square = axes.annotate("■ ", (1, 0), xycoords=text, color=color, **style)
        text = axes.annotate(f"{name}   ", (1, 0), xycoords=square, **style)
