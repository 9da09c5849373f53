"""Mean deviation and cohesion over the grid of each matcher's parameters."""

import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.report.figures import Declaration
from clusterlets.pages.style import WIDTH, empty_figure, plt
from clusterlets.text import decimal

FIGURES = [
    Declaration(
        name="heatmaps",
        title="Mean deviation and cohesion over the grid of each matcher's parameters",
        caption="Rows of a map: k. Columns: hops, or omega for C. A cell is the mean over seeds, then over datasets, of all "
        "runs with a result. FRAC and the controls, which have only k, are in the last map. Darker is better, so a matcher "
        "that is dark above and pale below trades cohesion for fairness.",
        reads=("runs.csv",),
        sections=("report.html#figures",),
        position=50,
    )
]

# For each quantity: its title and its color map. In both maps, dark is better.
_QUANTITIES = {
    "deviation_mean": ("mean deviation\n(share; darker is fairer)", "cividis"),
    "cohesion": ("cohesion\n(darker is better)", "cividis_r"),
}
_MAX_NUMBERED_COLUMNS = 5  # the cells of wider maps have no room for numbers
_OTHERS_TITLE = "FRAC, controls"
_NAMES_HEIGHT = 0.5  # inches for the names of the methods below the last map
_HEIGHT_PER_K = 0.22  # inches
_MIN_ROW_HEIGHT = 1.15  # inches for the title of a quantity


def draw(runs: pd.DataFrame) -> Figure:
    """Draw a row of maps for each quantity: a map for each matcher, and one for FRAC and the controls."""
    runs = selection.ok(runs).dropna(subset=list(_QUANTITIES))
    columns = _figure_columns(runs)
    if not columns:
        return empty_figure("Nothing to show: no run of Clusterlets has a result.")
    runs = pd.concat([column_runs for _, column_runs, _ in columns])
    widths = [column_runs[parameter].nunique() for _, column_runs, parameter in columns]
    row_height = max(_MIN_ROW_HEIGHT, _HEIGHT_PER_K * runs["k"].nunique())
    height = 0.9 + _NAMES_HEIGHT * (columns[-1][0] == _OTHERS_TITLE) + 2 * row_height
    grid_shape, size = (len(_QUANTITIES), len(columns)), (WIDTH, height)
    figure, axes_grid = plt.subplots(*grid_shape, figsize=size, squeeze=False, layout="constrained", width_ratios=widths)
    for row, (quantity, (title, color_map)) in zip(axes_grid, _QUANTITIES.items(), strict=True):
        all_k = np.sort(runs["k"].unique())[::-1]
        maps = [means(column_runs, quantity, parameter).reindex(all_k) for _, column_runs, parameter in columns]
        limits = {"vmin": min(np.nanmin(grid_map) for grid_map in maps), "vmax": max(np.nanmax(grid_map) for grid_map in maps)}
        for axes, grid_map in zip(row, maps, strict=True):
            _draw_map(axes, grid_map, {"cmap": color_map, **limits})
        for axes in row[1:]:
            axes.set_yticklabels([])
        row[0].set_ylabel("k")
        color_bar = figure.colorbar(row[-1].collections[0], ax=list(row), pad=0.01, aspect=12)
        color_bar.set_label(title, fontsize=7.5)
        color_bar.outline.set_visible(False)
    for (title, _, parameter), top, bottom in zip(columns, axes_grid[0], axes_grid[-1], strict=True):
        top.set_title(title)
        top.set_xticklabels([])
        if parameter == "method":
            bottom.tick_params(axis="x", rotation=90)
        else:
            bottom.set_xlabel(parameter)
    return figure


def _figure_columns(runs: pd.DataFrame) -> list[tuple[str, pd.DataFrame, str]]:
    """The columns of the figure, as (title, runs, parameter on the horizontal axis)."""
    matcher_runs = runs[(runs["method"] == "Clusterlets") & (runs["hops"].notna() | runs["omega"].notna())]
    columns = []
    for name in selection.in_order(matcher_runs["matcher"], selection.PAPER_NAMES):
        column_runs = matcher_runs[matcher_runs["matcher"] == name]
        parameter = "hops" if column_runs["hops"].notna().any() else "omega"
        columns.append((selection.PAPER_NAMES.get(name, name), column_runs, parameter))
    other_runs = runs[runs["method"].isin(selection.METHODS[1:])]
    return [*columns, (_OTHERS_TITLE, other_runs, "method")] if columns and len(other_runs) else columns


def means(runs: pd.DataFrame, quantity: str, parameter: str) -> pd.DataFrame:
    """A table of k (rows, largest first) by parameter (columns): means over seeds, averaged over datasets."""
    dataset_means = runs.groupby(["dataset", "k", parameter])[quantity].mean()
    return dataset_means.groupby(["k", parameter]).mean().unstack().sort_index(ascending=False)


def _format_value(value: float) -> str:
    """The number in a cell: ``0.032``, or ``4e−4`` for a number that would be rounded to 0.000."""
    if float(f"{value:.3f}") or round(value, 12) == 0:
        return decimal(value)
    digit, exponent = f"{value:.0e}".split("e")
    return f"{digit}e{int(exponent)}".replace("-", "−")


def _draw_map(axes: Axes, grid_map: pd.DataFrame, color_options: dict) -> None:
    """Draw the cells, with their numbers if there is room. A cell without a result is grey."""
    axes.set_facecolor("0.9")
    seaborn.heatmap(
        grid_map,
        ax=axes,
        cbar=False,
        linewidths=0.5,
        annot=grid_map.map(_format_value) if grid_map.shape[1] <= _MAX_NUMBERED_COLUMNS else None,
        fmt="",
        annot_kws={"fontsize": 5},
        xticklabels=[value if isinstance(value, str) else f"{value:g}" for value in grid_map.columns],
        yticklabels=[f"{value:g}" for value in grid_map.index],
        **color_options,
    )
    axes.set(xlabel="", ylabel="")
    axes.tick_params(length=0, rotation=0)
