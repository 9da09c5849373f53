"""The effect of omega, the weight of the silhouette, on C."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from clusterlets.analysis import selection
from clusterlets.analysis.statistics import CONTROLS
from clusterlets.report.drawing.style import COLORS, add_legend, empty_figure, panels
from clusterlets.report.figures import Declaration

FIGURES = [
    Declaration(
        name="omega_effect",
        title="The effect of omega, the weight of the silhouette, on C",
        caption="Each grey line is a dataset, averaged over k and seeds, the blue line their mean. At 0 only the largest "
        "deviation counts. Dashed: the same means of random partitions and of plain k-means, which have no omega.",
        reads=("runs.csv",),
        sections=("report.html#figures",),
        position=60,
    )
]

_SHOWN = {
    "centroid_silhouette": "centroid silhouette\n(up is better)",
    "deviation_mean": "mean deviation\n(share; down is fairer)",
    "deviation_max": "largest deviation\n(share; down is fairer)",
    "cohesion": "cohesion\n(up is better)",
}


def draw(runs: pd.DataFrame) -> Figure:
    """One panel per quantity, over omega: a faint line per dataset, and their mean; dashed, the mean of each control."""
    runs = selection.ok(runs)
    runs_of_c = runs[runs["matcher"] == "C"]
    lines = runs_of_c.groupby(["dataset", "omega"])[list(_SHOWN)].mean().dropna(how="all")
    if lines.empty:
        return empty_figure("Nothing to show: no run of C has a result.")
    runs_of_controls = runs[runs["method"].isin(CONTROLS) & runs["dataset"].isin(runs_of_c["dataset"])]
    controls = runs_of_controls.groupby(["method", "dataset"])[list(_SHOWN)].mean().groupby("method").mean()
    figure, all_axes = panels(len(_SHOWN), height=1.7)
    color = COLORS["C"]
    for axes, (quantity, title) in zip(all_axes, _SHOWN.items(), strict=True):
        by_dataset = lines[quantity].unstack("dataset")
        axes.plot(by_dataset.index, by_dataset, color="0.7", lw=0.8, marker="o", markersize=2)
        axes.plot(by_dataset.index, by_dataset.mean(axis=1), color=color, lw=2, marker="o", markersize=4)
        for name, mean_of_control in controls[quantity].dropna().items():
            axes.axhline(mean_of_control, color=COLORS[name], lw=1.2, ls="--")
        axes.set_title(title, fontsize=8)
        axes.set_xlabel("omega")
        axes.set_xticks(by_dataset.index, [f"{omega:g}" for omega in by_dataset.index])
    mean = Line2D([], [], color=color, lw=2, marker="o", markersize=4, label="mean over datasets")
    each = Line2D([], [], color="0.7", lw=0.8, marker="o", markersize=2, label="a dataset, mean over k and seeds")
    dashed = [Line2D([], [], color=COLORS[name], lw=1.2, ls="--", label=name) for name in controls.index]
    add_legend(figure, [mean, each, *dashed])
    return figure
