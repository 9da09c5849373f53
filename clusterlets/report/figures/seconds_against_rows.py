"""Seconds per fit against the rows of its table. Differs from machine to machine."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlets.analysis import selection
from clusterlets.report.drawing.style import COLORS, add_method_legend, empty_figure, method_styles, panels
from clusterlets.report.figures import Declaration

FIGURES = [
    Declaration(
        name="seconds_against_rows",
        title="Seconds of a fit against the rows of its table",
        caption="One line per method: medians over k and parameters. Differs from machine to machine.",
        reads=("accounts/leaderboard_costs.csv", "datasets.csv"),
        sections=("leaderboard.html#costs",),
    )
]

_TICKS = 3
_PANELS = 3  # because the lines of all methods are too many for one


def draw(costs: pd.DataFrame, datasets: pd.DataFrame) -> Figure:
    """One line per method: the median over k, parameters and tables of equal size; the fastest are in the first panel."""
    rows = datasets.set_index("dataset")["rows"]
    timed = costs.assign(rows=costs["dataset"].map(rows)).dropna(subset="rows")
    if timed.empty:
        return empty_figure("Nothing to show: no fit has been timed.")
    lines = timed.groupby(["method", "rows"])["seconds"].median().clip(lower=1e-4).reset_index()
    by_speed = lines.groupby("method")["seconds"].max().sort_values(kind="stable").index
    look = method_styles(selection.in_order(lines["method"], COLORS))
    n_panels = min(_PANELS, len(by_speed))
    figure, all_axes = panels(n_panels, per_row=_PANELS, height=2.9)
    for panel, axes in enumerate(all_axes):
        names = by_speed[panel * len(by_speed) // n_panels : (panel + 1) * len(by_speed) // n_panels]
        _draw_lines(axes, lines[lines["method"].isin(names)], look, lines["rows"])
        axes.set_ylim(lines["seconds"].min() / 1.5, lines["seconds"].max() * 1.5)
    key = "panels: fast, medium, slow; of a matcher the matching alone, without the clusterlets"
    add_method_legend(figure, look, "rows of the table (logarithmic)", "seconds of a fit (logarithmic)", key)
    return figure


def _draw_lines(axes: Axes, lines: pd.DataFrame, look: dict[str, tuple[str, str]], rows: pd.Series) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    for name, line in lines.groupby("method"):
        color, marker = look[str(name)]
        axes.plot(line["rows"], line["seconds"], color=color, marker=marker, markersize=4, lw=1)
    ticks = sorted({round(tick) for tick in np.geomspace(rows.min(), rows.max(), _TICKS)})
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_xlim(rows.min() / 1.4, rows.max() * 1.4)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.minorticks_off()
