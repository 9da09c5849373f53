"""The picture of ``clusterlets cluster --plot``: what each cluster is made of, and where the clusters lie."""

import numpy as np
from matplotlib.figure import Figure

from clusterlets.estimators.plots import LISTED, draw_composition, draw_projection
from clusterlets.estimators.profiles import Profiles
from clusterlets.estimators.report import Composition
from clusterlets.report.drawing.names import cut

_MAX_FEATURES = 6  # in the picture of a cluster
_MAX_NAME = 18  # characters of a name in the legend, so that six fit side by side


def draw(X: np.ndarray, labels: np.ndarray, composition: Composition) -> Figure:
    """Composition and projection side by side, of instances (n, d) as they were clustered and the label (n,) of each."""
    height = float(np.clip(1.2 + 0.2 * len(composition.counts), 4.8, 11))
    figure = Figure(figsize=(12.5, height), layout="constrained")
    bars, points = figure.subplots(1, 2, width_ratios=(1, 1.15))
    draw_composition(bars, composition)
    draw_projection(points, X, labels)
    if len(composition.names) <= LISTED:
        names = [cut(name, _MAX_NAME) for name in composition.names]  # passed on, as matplotlib skips labels such as "_name"
        figure.legend(bars.containers, names, loc="outside upper left", ncols=min(len(names), 6), frameon=False)
    return figure


def draw_profile(profiles: Profiles, cluster: int) -> Figure:
    """The features of a cluster, by its index, that differ most from the table's, in standard deviations of the table."""
    differences = profiles.differences[cluster]
    shown = np.argsort(-np.abs(differences), kind="stable")[:_MAX_FEATURES]
    figure = Figure(figsize=(3.6, 0.5 + 0.22 * len(shown)), layout="constrained")
    axes = figure.subplots()
    axes.barh(range(len(shown)), differences[shown], color=np.where(differences[shown] < 0, "#0072B2", "#D55E00"), height=0.7)
    axes.set_yticks(range(len(shown)), [cut(profiles.names[feature], _MAX_NAME) for feature in shown], fontsize=7)
    widest = max(1.0, float(np.abs(profiles.differences).max()))
    axes.set_xlim(-widest, widest)  # the same for all clusters
    axes.tick_params(labelsize=7)
    axes.invert_yaxis()
    axes.axvline(0, color="0.3", lw=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
