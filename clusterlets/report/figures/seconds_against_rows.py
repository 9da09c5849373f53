"""The seconds that a fit takes against the number of rows of its table."""

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
        caption="One line per method: medians over k and parameters. The seconds differ from machine to machine.",
        reads=("accounts/leaderboard_costs.csv", "datasets.csv"),
        sections=("leaderboard.html#costs",),
    )
]

_N_TICKS = 3
_MAX_PANELS = 3  # a single panel would be too crowded


def draw(costs: pd.DataFrame, datasets: pd.DataFrame) -> Figure:
    """Draw a line per method: medians over k, parameters and tables of the same size. The fastest are in the first panel."""
    rows_by_dataset = datasets.set_index("dataset")["rows"]
    costs_with_rows = costs.assign(rows=costs["dataset"].map(rows_by_dataset)).dropna(subset="rows")
    if costs_with_rows.empty:
        return empty_figure("Nothing to show: no fit has been timed.")
    medians = costs_with_rows.groupby(["method", "rows"])["seconds"].median().reset_index()
    medians["seconds"] = medians["seconds"].clip(lower=1e-4)  # a logarithmic axis cannot show 0
    methods = medians.groupby("method")["seconds"].max().sort_values(kind="stable").index  # the fastest first
    styles = method_styles(selection.in_order(medians["method"], COLORS))
    n_panels = min(_MAX_PANELS, len(methods))
    figure, all_axes = panels(n_panels, per_row=_MAX_PANELS, height=2.9)
    for panel, axes in enumerate(all_axes):
        panel_methods = methods[panel * len(methods) // n_panels : (panel + 1) * len(methods) // n_panels]
        _draw_lines(axes, medians[medians["method"].isin(panel_methods)], styles, medians["rows"])
        axes.set_ylim(medians["seconds"].min() / 1.5, medians["seconds"].max() * 1.5)
    legend_note = "panels: fast, medium, slow; a matcher's time is that of the matching, without extracting the clusterlets"
    add_method_legend(figure, styles, "rows of the table (logarithmic)", "seconds of a fit (logarithmic)", legend_note)
    return figure


def _draw_lines(axes: Axes, medians: pd.DataFrame, styles: dict[str, tuple[str, str]], row_counts: pd.Series) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    for name, method_medians in medians.groupby("method"):
        color, marker = styles[str(name)]
        axes.plot(method_medians["rows"], method_medians["seconds"], color=color, marker=marker, markersize=4, lw=1)
    ticks = sorted({round(tick) for tick in np.geomspace(row_counts.min(), row_counts.max(), _N_TICKS)})
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_xlim(row_counts.min() / 1.4, row_counts.max() * 1.4)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.minorticks_off()
