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
        caption="Grey: a line per dataset, averaged over k and seeds. Blue: their mean. At omega = 0 only the largest "
        "deviation counts. Dashed: the same means of random partitions and of plain k-means, which have no omega.",
        reads=("runs.csv",),
        sections=("report.html#figures",),
        position=60,
    )
]

_TITLES = {
    "centroid_silhouette": "centroid silhouette\n(up is better)",
    "deviation_mean": "mean deviation\n(share; down is fairer)",
    "deviation_max": "largest deviation\n(share; down is fairer)",
    "cohesion": "cohesion\n(up is better)",
}


def draw(runs: pd.DataFrame) -> Figure:
    """Draw a panel per quantity, over omega: a thin line per dataset, a thick one for their mean, a dashed one per control."""
    runs = selection.ok(runs)
    runs_of_c = runs[runs["matcher"] == "C"]
    dataset_means = runs_of_c.groupby(["dataset", "omega"])[list(_TITLES)].mean().dropna(how="all")
    if dataset_means.empty:
        return empty_figure("Nothing to show: no run of C has a result.")
    runs_of_controls = runs[runs["method"].isin(CONTROLS) & runs["dataset"].isin(runs_of_c["dataset"])]
    control_means = runs_of_controls.groupby(["method", "dataset"])[list(_TITLES)].mean().groupby("method").mean()
    figure, all_axes = panels(len(_TITLES), height=1.7)
    color = COLORS["C"]
    for axes, (quantity, title) in zip(all_axes, _TITLES.items(), strict=True):
        dataset_columns = dataset_means[quantity].unstack("dataset")
        axes.plot(dataset_columns.index, dataset_columns, color="0.7", lw=0.8, marker="o", markersize=2)
        axes.plot(dataset_columns.index, dataset_columns.mean(axis=1), color=color, lw=2, marker="o", markersize=4)
        for name, control_mean in control_means[quantity].dropna().items():
            axes.axhline(control_mean, color=COLORS[name], lw=1.2, ls="--")
        axes.set_title(title, fontsize=8)
        axes.set_xlabel("omega")
        axes.set_xticks(dataset_columns.index, [f"{omega:g}" for omega in dataset_columns.index])
    mean_line = Line2D([], [], color=color, lw=2, marker="o", markersize=4, label="mean over datasets")
    dataset_line = Line2D([], [], color="0.7", lw=0.8, marker="o", markersize=2, label="a dataset, mean over k and seeds")
    control_lines = [Line2D([], [], color=COLORS[name], lw=1.2, ls="--", label=name) for name in control_means.index]
    add_legend(figure, [mean_line, dataset_line, *control_lines])
    return figure
