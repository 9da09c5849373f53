"""Mean deviation and cohesion over the grid of each matcher's parameters."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.pyplot import subplots

from clusterlets.analysis import selection
from clusterlets.report.figures.style import WIDTH, nothing

# A quantity's title, and its colours: dark is better in both.
_SHOWN = {
    "deviation_mean": ("mean deviation\n(share; darker is fairer)", "cividis"),
    "cohesion": ("cohesion\n(darker is better)", "cividis_r"),
}
_WRITTEN = 5  # columns in which a number has room
_LOWEST = 1.15  # inches of a row, beside which the name of its quantity has room


def from_runs(runs: pd.DataFrame) -> dict[str, Figure]:
    """The figure by its file name."""
    return {"heatmaps": draw(runs)}


def draw(runs: pd.DataFrame) -> Figure:
    """A row a quantity, a column a matcher: k upwards, hops (of C omega) to the right."""
    runs = selection.ok(runs[runs["method"] == "Clusterlets"]).dropna(subset=list(_SHOWN))
    runs = runs[runs["hops"].notna() | runs["omega"].notna()]
    matchers = selection.in_order(runs["matcher"].dropna(), selection.PAPER_NAMES)
    if not matchers:
        return nothing("Nothing to show: no run of Clusterlets has a result.")
    over = {matcher: _parameter(runs[runs["matcher"] == matcher]) for matcher in matchers}
    widths = [runs.loc[runs["matcher"] == matcher, over[matcher]].nunique() for matcher in matchers]
    height = 0.9 + 2 * max(_LOWEST, 0.22 * runs["k"].nunique())
    figure, places = subplots(
        *(len(_SHOWN), len(matchers)), figsize=(WIDTH, height), squeeze=False, layout="constrained", width_ratios=widths
    )
    for row, (quantity, (title, colours)) in zip(places, _SHOWN.items(), strict=True):
        maps = [means(runs[runs["matcher"] == matcher], quantity, over[matcher]) for matcher in matchers]
        maps = [map_.reindex(np.sort(runs["k"].unique())[::-1]) for map_ in maps]  # the same rows in all
        limits = {"vmin": min(np.nanmin(map_) for map_ in maps), "vmax": max(np.nanmax(map_) for map_ in maps)}
        for axes, map_ in zip(row, maps, strict=True):
            _draw_map(axes, map_, {"cmap": colours, **limits})
            axes.set(xlabel="", ylabel="")
        for axes in row[1:]:
            axes.set_yticklabels([])
        row[0].set_ylabel("k")
        bar = figure.colorbar(row[-1].collections[0], ax=list(row), pad=0.01, aspect=12)
        bar.set_label(title, fontsize=7.5)
        bar.outline.set_visible(False)
    for matcher, top, bottom in zip(matchers, places[0], places[-1], strict=True):
        top.set_title(selection.PAPER_NAMES.get(matcher, matcher))
        top.set_xticklabels([])
        bottom.set_xlabel(over[matcher])
    return figure


def means(runs: pd.DataFrame, quantity: str, parameter: str) -> pd.DataFrame:
    """k (rows, largest first) by parameter: the mean over datasets of each dataset's mean over its seeds."""
    of_dataset = runs.groupby(["dataset", "k", parameter])[quantity].mean()
    return of_dataset.groupby(["k", parameter]).mean().unstack().sort_index(ascending=False)


def _parameter(runs: pd.DataFrame) -> str:
    """What a matcher's columns are: omega of C and of its like, hops of the others."""
    return "hops" if runs["hops"].notna().any() else "omega"


def _draw_map(axes: Axes, map_: pd.DataFrame, colours: dict) -> None:
    """Cells with their numbers, where these have room; grey where no run has a result."""
    written = map_.map(lambda value: "" if pd.isna(value) else f"{value:.3f}".lstrip("0"))
    show = {"annot": written, "fmt": "", "annot_kws": {"fontsize": 7}} if map_.shape[1] <= _WRITTEN else {}
    axes.set_facecolor("0.9")
    sns.heatmap(map_, ax=axes, cbar=False, linewidths=0.5, **show, **colours)
    axes.set_xticklabels([f"{value:g}".replace("0.", ".") for value in map_.columns], rotation=0)
    axes.set_yticklabels([f"{value:g}" for value in map_.index], rotation=0)
    axes.tick_params(length=0)
