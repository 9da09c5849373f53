"""Cohesion against mean deviation, a panel a dataset."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlets.benchmark import reported, selection
from clusterlets.benchmark.figures.style import COLOURS, colour_of, explain, panels


def from_runs(runs: pd.DataFrame) -> dict[str, Figure]:
    """The figure by its file name."""
    return {"cohesion_vs_deviation": draw(runs)}


def draw(runs: pd.DataFrame) -> Figure:
    """A panel a dataset: every run faint, and of each method the best run by mean deviation marked.

    The mark obeys the rule on limit cases; it is hollow where all runs of a method are limit cases.
    """
    runs = selection.ok(runs).dropna(subset=["deviation_mean", "cohesion"])
    runs = runs.assign(name=selection.names(runs)).query("name != 'random'")
    marks = _marks(runs)
    datasets = selection.in_order(runs["dataset"], reported.datasets())
    look = {name: (colour_of(name), "o") for name in selection.in_order(runs["name"], COLOURS)}
    figure, places = panels(len(datasets))
    for axes, dataset in zip(places, datasets, strict=True):
        for name, (colour, _) in look.items():
            cloud, mark = (part[(part["dataset"] == dataset) & (part["name"] == name)] for part in (runs, marks))
            faint = {"s": 5, "alpha": min(0.35, 40 / max(len(cloud), 1)), "lw": 0, "rasterized": True}
            axes.scatter(cloud["deviation_mean"], cloud["cohesion"], color=colour, **faint)
            face = mark["limit_case"].map({True: "white", False: colour})
            axes.scatter(mark["deviation_mean"], mark["cohesion"], s=45, color=face, edgecolor=colour, lw=1.5, zorder=3)
        axes.set_title(dataset, fontsize=10)
        axes.set_xlim(left=-0.01)
    key = "large: best run by mean deviation; hollow: every run has\nfewer than 3 clusters or too much overlap"
    if datasets:
        explain(figure, look, "mean deviation (left is fairer)", "cohesion (up is better)", key)
    return figure


def _marks(runs: pd.DataFrame) -> pd.DataFrame:
    """The best run of each method on each dataset; a limit case where there is nothing else."""
    kept = selection.without_limit_cases(runs)
    runs = runs.assign(limit_case=~runs.index.isin(kept.index))
    per = ["dataset", "name"]
    proper = selection.best(runs[~runs["limit_case"]], "deviation_mean", per)
    return pd.concat([proper, selection.best(runs, "deviation_mean", per)]).drop_duplicates(per)
