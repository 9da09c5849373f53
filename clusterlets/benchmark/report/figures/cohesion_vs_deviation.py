"""Cohesion against mean deviation, one panel per dataset, with the Pareto front of the runs."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.paper import reported
from clusterlets.benchmark.report.figures import Declaration
from clusterlets.pages.style import COLORS, add_method_legend, method_styles, panels
from clusterlets.text import cut

FIGURES = [
    Declaration(
        name="cohesion_vs_deviation",
        title="Cohesion against mean deviation, one panel per dataset; best is top left",
        caption="Small: every run. Large: the best run of each method by mean deviation. Degenerate runs (with fewer than 3 "
        "clusters or an overlap of 0.5 or more) are left out, but shown hollow if a method has no other run. Line: the "
        "Pareto front without degenerate runs. If one method is at the lower left end of the front and another at the upper "
        "right end, fairness costs cohesion.",
        reads=("runs.csv",),
        sections=("report.html#figures",),
        position=40,
    )
]

_MAX_NAME_LENGTH = 20  # characters of a dataset's name
_LEGEND_TITLE = (
    "small: every run; large: a method's best by mean deviation (hollow: all its runs have fewer than 3 clusters\n"
    "or an overlap of 0.5 or more); line: the Pareto front without such runs"
)


def draw(runs: pd.DataFrame) -> Figure:
    """Draw a panel per dataset: every run (faint), the best run of each method by mean deviation, and the Pareto front.

    Degenerate clusterings are not on the front. A method's best run is only degenerate, drawn hollow, if all its runs are.
    """
    runs = selection.ok(runs).dropna(subset=["deviation_mean", "cohesion"])
    runs = runs.assign(name=selection.names(runs))
    marked_runs, regular_runs = _runs_to_mark(runs), selection.without_degenerate(runs)
    datasets = selection.in_order(runs["dataset"], reported.datasets())
    styles = method_styles(selection.in_order(runs["name"], COLORS))
    figure, all_axes = panels(len(datasets))
    for axes, dataset in zip(all_axes, datasets, strict=True):
        for name, (color, marker) in styles.items():
            cloud, mark = (frame[(frame["dataset"] == dataset) & (frame["name"] == name)] for frame in (runs, marked_runs))
            alpha = min(0.35, 40 / max(len(cloud), 1))  # the more runs, the fainter
            cloud_style = {"s": 4, "alpha": alpha, "lw": 0, "rasterized": True, "marker": marker, "zorder": 3}
            axes.scatter(cloud["deviation_mean"], cloud["cohesion"], color=color, **cloud_style)
            fill_color = mark["is_degenerate"].map({True: "white", False: color})
            mark_style = {"s": 24, "color": fill_color, "edgecolor": color, "lw": 1.2, "zorder": 4, "marker": marker}
            axes.scatter(mark["deviation_mean"], mark["cohesion"], **mark_style)
        front = pareto_front(regular_runs[regular_runs["dataset"] == dataset])
        axes.plot(*front.T, color="0.45", lw=1, drawstyle="steps-post", zorder=2)  # below all marks
        axes.set_title(cut(dataset, _MAX_NAME_LENGTH))
        axes.set_xlim(left=-0.01)
    if datasets:
        add_method_legend(figure, styles, "mean deviation (share; left is fairer)", "cohesion (up is better)", _LEGEND_TITLE)
    return figure


def pareto_front(runs: pd.DataFrame) -> np.ndarray:
    """Mean deviation and cohesion (m, 2) of the runs that no other run beats in both values, sorted by deviation."""
    ordered = runs.sort_values(["deviation_mean", "cohesion"], ascending=[True, False])[["deviation_mean", "cohesion"]]
    highest_before = ordered["cohesion"].cummax().shift(fill_value=-np.inf)
    return ordered[ordered["cohesion"] > highest_before].to_numpy()


def _runs_to_mark(runs: pd.DataFrame) -> pd.DataFrame:
    """The best run of each method on each dataset. The column ``is_degenerate`` says whether it is one."""
    regular_runs = selection.without_degenerate(runs)
    runs = runs.assign(is_degenerate=~runs.index.isin(regular_runs.index))
    keys = ["dataset", "name"]
    best_regular = selection.best(runs[~runs["is_degenerate"]], "deviation_mean", keys)
    return pd.concat([best_regular, selection.best(runs, "deviation_mean", keys)]).drop_duplicates(keys)
