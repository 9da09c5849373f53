"""Time, jobs and memory of the steps."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlets.report.drawing.style import COLORS, empty_figure, plt
from clusterlets.report.figures import Declaration

FIGURES = [
    Declaration(
        name="runtime",
        title="Time of each step",
        caption="By step: CPU time of all its jobs, their number, and the memory of the largest. Jobs of earlier runs are "
        "included; Snakemake's own time is not.",
        reads=("accounts/steps.csv",),
        sections=("report.html#provenance",),
    )
]

# Title, color, and whether the scale is logarithmic, by column of steps.csv.
_PANELS = {
    "cpu_seconds": ("CPU time\nof all jobs (s)", COLORS["C"], True),
    "jobs": ("jobs", COLORS["k-means"], True),
    "largest_memory_mb": ("memory of the\nlargest job (MB)", COLORS["G-D-PB"], False),
}


def draw(steps: pd.DataFrame) -> Figure:
    """Draw a row per step, the costliest on top."""
    if steps.empty:
        return empty_figure()
    size = (6.2, 1.1 + 0.24 * len(steps))
    figure, all_axes = plt.subplots(1, len(_PANELS), figsize=size, sharey=True, layout="constrained", width_ratios=[3, 2, 2])
    for axes, (column, (title, color, is_logarithmic)) in zip(all_axes, _PANELS.items(), strict=True):
        _draw_marks(axes, steps[column], color, is_logarithmic)
        axes.set_title(title, fontsize=10)
    all_axes[0].set_yticks(range(len(steps)), steps["step"], fontsize=10)
    all_axes[0].set_ylim(len(steps) - 0.4, -0.6)
    figure.supxlabel("dots: logarithmic scale; bars: from zero", fontsize=9)
    return figure


def _draw_marks(axes: Axes, values: pd.Series, color: str, is_logarithmic: bool) -> None:
    """Draw every step's number, with a dot on a logarithmic scale or a bar on a linear one."""
    if is_logarithmic:
        axes.set_xscale("log")
        # On the right, leave room for the number of the last dot.
        axes.set_xlim(values.min() / 2, values.max() * (values.max() / values.min() + 10) ** 0.45)
        axes.hlines(range(len(values)), values.min() / 2, values, color="0.88", lw=1)
        axes.plot(values, range(len(values)), "o", color=color, markersize=6)
    else:
        axes.barh(range(len(values)), values, color=color, height=0.62)
        axes.set_xlim(0, values.max() * 1.4)
    for row, value in enumerate(values):
        axes.annotate(_format_number(value), (value, row), (6, 0), textcoords="offset points", va="center", fontsize=9)
    axes.tick_params(axis="y", length=0)
    axes.set_xticks([])
    axes.minorticks_off()
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    axes.spines["left"].set_color("0.7")


def _format_number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2f}"
