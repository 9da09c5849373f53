"""The paper's numbers against ours, a panel a quantity."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from clusterlets.benchmark import selection
from clusterlets.benchmark.comparison import compare
from clusterlets.benchmark.figures.style import explain, panels

_VERDICT_LOOK = {
    "reproduced": ("#0072B2", "o"),
    "close": ("#E69F00", "D"),
    "differs": ("#D55E00", "X"),
    "not comparable": ("#999999", "P"),
}
_PANELS = {
    "deviation_mean": "Deviation, mean",
    "deviation_std": "Deviation, spread",
    "deviation_max": "Deviation, max",
    "cohesion": "Cohesion",
    "overlap": "Overlap (fuzzy only)",
    "size": "Size (clusters)",
    "correlation": "Correlation",
}


def from_runs(runs: pd.DataFrame) -> dict[str, Figure]:
    """The figure by its file name."""
    return {"reported_vs_reproduced": draw(compare(runs))}


def draw(cells: pd.DataFrame) -> Figure:
    """A panel a quantity: the paper's number against ours, by verdict; on the diagonal they are equal."""
    cells = cells[cells["counted"] & cells["difference"].notna()]
    cells = cells.assign(panel=cells["quantity"].replace({"deviation_mean_std": "deviation_std"}))
    shown = selection.in_order(set(cells["panel"]) & set(_PANELS), _PANELS)
    figure, places = panels(len(shown))
    for axes, quantity in zip(places, shown, strict=True):
        numbers = cells[cells["panel"] == quantity].astype({"reported": float, "reproduced": float})
        for verdict, (colour, marker) in _VERDICT_LOOK.items():
            points = numbers[numbers["verdict"] == verdict]
            axes.scatter(points["reported"], points["reproduced"], color=colour, marker=marker, s=32, alpha=0.8, lw=0)
        axes.axline((0, 0), slope=1, color="0.6", lw=0.8, zorder=0)
        _same_scale(axes, numbers[["reported", "reproduced"]].to_numpy())
        axes.set_title(_PANELS[quantity], fontsize=10)
    if shown:
        explain(figure, _VERDICT_LOOK, "in the paper", "ours")
    return figure


def _same_scale(axes: Axes, values: np.ndarray) -> None:
    low, high = values.min(), values.max()
    margin = 0.06 * (high - low) or 0.05
    axes.set(xlim=(low - margin, high + margin), ylim=(low - margin, high + margin), aspect="equal")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(4))
