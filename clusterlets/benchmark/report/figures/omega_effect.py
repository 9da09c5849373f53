"""The effect of omega, the weight of the silhouette, on C."""

import pandas as pd
import seaborn
from matplotlib.figure import Figure

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.analysis.statistics import CONTROLS
from clusterlets.benchmark.report.figures import Declaration
from clusterlets.pages.style import COLORS, add_legend, empty_figure, panels

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
    for axes, (quantity, title) in zip(all_axes, _TITLES.items(), strict=True):
        values = dataset_means[quantity].dropna().reset_index()
        if len(values):  # seaborn fails without any
            curves = {"data": values, "x": "omega", "y": quantity, "marker": "o", "mec": "none", "ax": axes, "legend": False}
            seaborn.lineplot(**curves, units="dataset", estimator=None, color="0.7", lw=0.8, markersize=3)
            axes.lines[0].set_label("a dataset, mean over k and seeds")
            seaborn.lineplot(**curves, errorbar=None, color=COLORS["C"], lw=2, markersize=5, label="mean over datasets")
        for name, control_mean in control_means[quantity].dropna().items():
            axes.axhline(control_mean, color=COLORS[name], lw=1.2, ls="--", label=name)
        axes.set_title(title, fontsize=8)
        omegas = dataset_means.index.unique("omega")
        axes.set_xticks(omegas, [f"{omega:g}" for omega in omegas])
        axes.set_ylabel("")
    add_legend(figure, all_axes[-1].get_legend_handles_labels()[0])
    return figure
