"""Mean deviation and cohesion over the grid of each matcher's parameters."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlets.analysis import selection
from clusterlets.report.drawing.style import WIDTH, empty_figure, plt
from clusterlets.report.figures import Declaration
from clusterlets.text import decimal

FIGURES = [
    Declaration(
        name="heatmaps",
        title="Mean deviation and cohesion over the grid of each matcher's parameters",
        caption="k by hops, of C k by omega: averaged over seeds, then over datasets; all runs with a result, limit cases "
        "too. Beside the matchers FRAC and the controls, which have k alone. Darker is better in both rows, so a matcher "
        "whose column is dark above and pale below buys fairness with cohesion.",
        reads=("runs.csv",),
        sections=("report.html#figures",),
        position=50,
    )
]

# A quantity's title, and its colors: dark is better in both.
_SHOWN = {
    "deviation_mean": ("mean deviation\n(share; darker is fairer)", "cividis"),
    "cohesion": ("cohesion\n(darker is better)", "cividis_r"),
}
_MAX_NUMBERED = 5  # most columns of a map that leave room for numbers in its cells
_PALE = 0.408  # luminance above which a cell has a dark number
_OTHERS = "FRAC, controls"
_NAMES_HEIGHT = 0.5  # inches for the column names below the last map
_MIN_ROW_HEIGHT = 1.15  # inches that leave room for the name of a row's quantity


def draw(runs: pd.DataFrame) -> Figure:
    """One row per quantity, one column per matcher: k upwards, hops (for C omega) to the right; then FRAC and the controls."""
    runs = selection.ok(runs).dropna(subset=list(_SHOWN))
    parts = _parts(runs)
    if not parts:
        return empty_figure("Nothing to show: no run of Clusterlets has a result.")
    runs = pd.concat([part for _, part, _ in parts])
    widths = [part[parameter].nunique() for _, part, parameter in parts]
    height = 0.9 + _NAMES_HEIGHT * (parts[-1][0] == _OTHERS) + 2 * max(_MIN_ROW_HEIGHT, 0.22 * runs["k"].nunique())
    shape, size = (len(_SHOWN), len(parts)), (WIDTH, height)
    figure, axes_grid = plt.subplots(*shape, figsize=size, squeeze=False, layout="constrained", width_ratios=widths)
    for row, (quantity, (title, colors)) in zip(axes_grid, _SHOWN.items(), strict=True):
        maps = [means(part, quantity, parameter) for _, part, parameter in parts]
        maps = [grid_map.reindex(np.sort(runs["k"].unique())[::-1]) for grid_map in maps]  # the same rows in all
        limits = {"vmin": min(np.nanmin(grid_map) for grid_map in maps), "vmax": max(np.nanmax(grid_map) for grid_map in maps)}
        for axes, grid_map in zip(row, maps, strict=True):
            _draw_map(axes, grid_map, {"cmap": colors, **limits})
        for axes in row[1:]:
            axes.set_yticklabels([])
        row[0].set_ylabel("k")
        bar = figure.colorbar(row[-1].collections[0], ax=list(row), pad=0.01, aspect=12)
        bar.set_label(title, fontsize=7.5)
        bar.outline.set_visible(False)
    for (title, _, parameter), top, bottom in zip(parts, axes_grid[0], axes_grid[-1], strict=True):
        top.set_title(title)
        top.set_xticklabels([])
        if parameter == "method":
            bottom.tick_params(axis="x", rotation=90)
        else:
            bottom.set_xlabel(parameter)
    return figure


def _parts(runs: pd.DataFrame) -> list[tuple[str, pd.DataFrame, str]]:
    """(title, runs, column of the runs that makes the map's columns): one for each matcher, one for FRAC and the controls."""
    own = runs[(runs["method"] == "Clusterlets") & (runs["hops"].notna() | runs["omega"].notna())]
    parts = []
    for name in selection.in_order(own["matcher"], selection.PAPER_NAMES):
        part = own[own["matcher"] == name]
        parts.append((selection.PAPER_NAMES.get(name, name), part, "hops" if part["hops"].notna().any() else "omega"))
    others = runs[runs["method"].isin(selection.METHODS[1:])]
    return [*parts, (_OTHERS, others, "method")] if parts and len(others) else parts


def means(runs: pd.DataFrame, quantity: str, parameter: str) -> pd.DataFrame:
    """k (rows, largest first) by parameter: the mean over datasets of each dataset's mean over its seeds."""
    dataset_means = runs.groupby(["dataset", "k", parameter])[quantity].mean()
    return dataset_means.groupby(["k", parameter]).mean().unstack().sort_index(ascending=False)


def _format_value(value: float) -> str:
    """Three decimals; one digit and an exponent (``4e−4``) if these would show a nonzero number as 0."""
    if float(f"{value:.3f}") or round(value, 12) == 0:
        return decimal(value)
    digit, exponent = f"{value:.0e}".split("e")
    return f"{digit}e{int(exponent)}".replace("-", "−")


def _draw_map(axes: Axes, grid_map: pd.DataFrame, colors: dict) -> None:
    """Cells with their numbers, if there is room; grey where no run has a result."""
    rows, columns = (np.arange(size) + 0.5 for size in grid_map.shape)
    axes.set_facecolor("0.9")
    axes.spines[:].set_visible(False)
    mesh = axes.pcolormesh(np.ma.masked_invalid(grid_map), linewidths=0.5, edgecolor="white", **colors)
    axes.set(xlim=(0, grid_map.shape[1]), ylim=(grid_map.shape[0], 0))
    axes.set_xticks(columns, [value if isinstance(value, str) else f"{value:g}" for value in grid_map.columns])
    axes.set_yticks(rows, [f"{value:g}" for value in grid_map.index])
    axes.tick_params(length=0)
    if grid_map.shape[1] > _MAX_NUMBERED:
        return
    luminance = _luminance(mesh.to_rgba(grid_map.to_numpy()))
    for (row, column), value in np.ndenumerate(grid_map):
        if np.isfinite(value):
            color = "0.15" if luminance[row, column] > _PALE else "white"
            axes.text(column + 0.5, row + 0.5, _format_value(value), color=color, ha="center", va="center", fontsize=5)


def _luminance(colors: np.ndarray) -> np.ndarray:
    """Relative luminance of sRGB colors, from 0 to 1, as the WCAG defines it."""
    linear = np.where(colors <= 0.03928, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    return linear[..., :3] @ [0.2126, 0.7152, 0.0722]
