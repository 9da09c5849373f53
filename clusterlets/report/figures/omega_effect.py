"""What the weight of the silhouette does to C."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from clusterlets.analysis import selection
from clusterlets.report.figures.style import COLOURS, explain_with, nothing, panels

_SHOWN = {
    "centroid_silhouette": "centroid silhouette\n(up is better)",
    "deviation_mean": "mean deviation\n(share; down is fairer)",
    "deviation_max": "largest deviation\n(share; down is fairer)",
    "cohesion": "cohesion\n(up is better)",
}


def from_runs(runs: pd.DataFrame) -> dict[str, Figure]:
    """The figure by its file name."""
    return {"omega_effect": draw(runs)}


def draw(runs: pd.DataFrame) -> Figure:
    """A panel a quantity over omega: a faint line a dataset, and their mean."""
    lines = means(runs)
    if lines.empty:
        return nothing("Nothing to show: no run of C has a result.")
    figure, places = panels(len(_SHOWN), height=1.7)
    colour = COLOURS["C"]
    for axes, (quantity, title) in zip(places, _SHOWN.items(), strict=True):
        of_dataset = lines[quantity].unstack("dataset")
        axes.plot(of_dataset.index, of_dataset, color="0.7", lw=0.8, marker="o", markersize=2)
        axes.plot(of_dataset.index, of_dataset.mean(axis=1), color=colour, lw=2, marker="o", markersize=4)
        axes.set_title(title, fontsize=8)
        axes.set_xlabel("omega")
        axes.set_xticks(of_dataset.index, [f"{omega:g}" for omega in of_dataset.index])
    mean = Line2D([], [], color=colour, lw=2, marker="o", markersize=4, label="mean over datasets")
    each = Line2D([], [], color="0.7", lw=0.8, marker="o", markersize=2, label="a dataset, mean over k and seeds")
    explain_with(figure, [mean, each])
    return figure


def means(runs: pd.DataFrame) -> pd.DataFrame:
    """Quantities by dataset and omega: means over k and seeds of the runs of C."""
    runs = selection.ok(runs[runs["matcher"] == "C"])
    return runs.groupby(["dataset", "omega"])[list(_SHOWN)].mean().dropna(how="all")
