"""The group shares of each cluster in the best clusterings, against the dataset's."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from clusterlets.analysis import selection
from clusterlets.paper import reported
from clusterlets.report.drawing.names import cut
from clusterlets.report.drawing.style import empty_figure, panels
from clusterlets.report.figures import Declaration

FIGURES = [
    Declaration(
        name="composition",
        title="The groups of every cluster in the best run of each dataset by mean deviation (table 4)",
        caption="Of Clusterlets, of FRAC as the paper scored it and as it is defined, and of the controls k-means and random. "
        "A bar is a cluster, the largest on the left, with its size where there is room. Dashed: the dataset's shares, which "
        "every bar of a perfectly fair clustering would meet. The numbers are in clusterings/composition.csv.",
        reads=("runs.csv", "clusterings/composition.csv"),
        sections=("report.html#figures",),
        position=70,
    )
]

# Okabe and Ito's colors, ordered so that neighbours differ in lightness too; with more groups, one scale colors them all.
_HUES = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#0072B2", "#F0E442", "#D55E00")
_MAX_NAMED = 3  # groups whose names fit side by side
_MAX_NAME = 12  # characters of a group's name
_MAX_TITLE = 28  # characters of a dataset's name
_MAX_LABELLED = 7  # bars with room for their sizes
_OUTLINE = withStroke(linewidth=2, foreground="white")
_APART = 1.12  # from the left end of one method's bars to the next one's


def draw(runs: pd.DataFrame, composition: pd.DataFrame) -> Figure:
    """One row per dataset, one bar per cluster: the best run of Clusterlets, then FRAC's and the controls'.

    Lines show the dataset's shares.
    """
    shown = runs[runs["method"].isin(selection.METHODS)]
    datasets = selection.in_order(shown["dataset"], reported.datasets())
    methods = selection.in_order(shown["method"], selection.METHODS)
    if not datasets:
        return empty_figure("Nothing to show: no run of Clusterlets, FRAC or a control.")
    figure, all_axes = panels(len(datasets), per_row=1, height=1.4)
    for axes, dataset in zip(all_axes, datasets, strict=True):
        axes.set_title(cut(dataset, _MAX_TITLE), loc="left", pad=14)
        axes.grid(False)
        _draw_dataset(axes, composition[composition["dataset"] == dataset], methods)
        axes.set_ylabel("share of\nthe group")
    return figure


def _draw_dataset(axes: Axes, lines: pd.DataFrame, methods: Sequence[str]) -> None:
    """The clusters of each method side by side, with the dataset's shares drawn across all of them."""
    axes.set(ylim=(0, 1), yticks=[0, 0.5, 1])
    if lines.empty:
        axes.set(xticks=[])
        reason = "no run with 3 clusters or more\nand an overlap below 0.5"
        axes.annotate(reason, (0.5, 0.5), xycoords="axes fraction", ha="center", va="center", fontsize=7.5)
        return
    names = list(lines["group"].unique())
    hues = _HUES if len(names) <= len(_HUES) else colormaps["viridis"](np.linspace(0.05, 0.95, len(names)))
    lefts = _APART * np.arange(len(methods))
    for left, method in zip(lefts, methods, strict=True):
        method_lines = lines[lines["method"] == method]
        if len(method_lines):
            _draw_bars(axes, left, method_lines, names, hues)
    axes.set_xticks(lefts + 0.5, [_describe_run(lines[lines["method"] == method], method) for method in methods])
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.03, lefts[-1] + 1.03)
    shares = lines.drop_duplicates("group")["dataset_share"].cumsum().to_numpy()[:-1]
    for share in shares:
        axes.axhline(share, color="black", lw=1, ls=(0, (4, 2)), path_effects=[_OUTLINE])
    _name_groups(axes, names, hues)


def _draw_bars(axes: Axes, left: float, lines: pd.DataFrame, names: list[str], hues: Sequence) -> None:
    """Stacked bars, one per cluster, over a width of 1; with their sizes if there is room."""
    shares = lines.pivot(index="cluster", columns="group", values="share")[names].to_numpy()
    starts = np.cumsum(shares, axis=1) - shares
    centers = left + (np.arange(len(shares)) + 0.5) / len(shares)
    for group, name in enumerate(names):
        style = {"width": 0.88 / len(shares), "color": hues[group], "lw": 0, "label": name}
        axes.bar(centers, shares[:, group], bottom=starts[:, group], **style)
    if len(shares) <= _MAX_LABELLED:
        for center, size in zip(centers, lines.drop_duplicates("cluster")["size"], strict=True):
            axes.text(center, 0.03, f"{size:,}", rotation=90, ha="center", va="bottom", fontsize=6.5, path_effects=[_OUTLINE])


def _describe_run(lines: pd.DataFrame, method: str) -> str:
    """Name of the run, its number of clusters, and their sizes."""
    if lines.empty:
        return f"{method}\nno such run\n"
    first, sizes = lines.iloc[0], lines["size"]
    name = method if pd.isna(first["matcher"]) else f"{method}, {selection.PAPER_NAMES.get(first['matcher'], first['matcher'])}"
    return f"{name}\n{lines['cluster'].nunique()} clusters of\n{sizes.min():,} to {sizes.max():,}"


def _name_groups(axes: Axes, names: list[str], hues: Sequence) -> None:
    """The names of the groups above the panel, each with its hue; only their number if there are too many."""
    labels = [(cut(name, _MAX_NAME), hue) for name, hue in zip(names, hues, strict=False)]
    labels = labels if len(names) <= _MAX_NAMED else [(f"{len(names)} groups", "0.3")]
    style = {"va": "bottom", "fontsize": 7}
    text = axes.annotate("", (0, 1.03), xycoords="axes fraction", **style)
    for name, hue in labels:
        square = axes.annotate("■ ", (1, 0), xycoords=text, color=hue, **style)
        text = axes.annotate(f"{name}   ", (1, 0), xycoords=square, **style)
