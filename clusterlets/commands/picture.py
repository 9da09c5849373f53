"""The pictures of ``clusterlets cluster``: one of all clusters, and one with the profile of each."""

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from clusterlets.estimators.fairness import Composition
from clusterlets.estimators.plots import MAX_GROUPS_IN_LEGEND, draw_composition, draw_projection
from clusterlets.estimators.profiles import Profiles
from clusterlets.text import cut

matplotlib.rcParams["text.parse_math"] = False  # a name such as "$0-$20k" is no formula

_MAX_FEATURES = 6  # features in the profile of a cluster
_MAX_NAME_LENGTH = 18  # characters of a name, so that six names fit side by side in the legend


def draw(X: np.ndarray, labels: np.ndarray, composition: Composition, stacked: bool = False) -> Figure:
    """Draw the composition of the clusters next to a projection of the clustered features (n, d) with their labels (n,).

    If ``stacked``, the projection is below, so that both can be read on a narrow screen.
    """
    height = float(np.clip(1.2 + 0.2 * len(composition.counts), 4.8, 11))
    figure = Figure(figsize=(6.5, height + 5.6) if stacked else (12.5, height), layout="constrained")
    if stacked:
        bars, points = figure.subplots(2, 1, height_ratios=(height, 5.6))
    else:
        bars, points = figure.subplots(1, 2, width_ratios=(1, 1.15))
    draw_composition(bars, composition)
    draw_projection(points, X, labels)
    if len(composition.names) <= MAX_GROUPS_IN_LEGEND:
        # Names are passed on as an argument, because Matplotlib skips labels with a leading underscore.
        names = [cut(name, _MAX_NAME_LENGTH) for name in composition.names]
        columns = min(len(names), 3 if stacked else 6)
        figure.legend(bars.containers, names, loc="outside upper left", ncols=columns, frameon=False)
    return figure


def draw_profile(profiles: Profiles, cluster: int) -> Figure:
    """Draw the features in which a cluster, given by its index, differs most from the table, in standard deviations."""
    differences = profiles.differences[cluster]
    features = np.argsort(-np.abs(differences), kind="stable")[:_MAX_FEATURES]
    figure = Figure(figsize=(3.6, 0.5 + 0.22 * len(features)), layout="constrained")
    axes = figure.subplots()
    colors = np.where(differences[features] < 0, "#0072B2", "#D55E00")  # blue if below the table's mean, else orange
    axes.barh(range(len(features)), differences[features], color=colors, height=0.7)
    axes.set_yticks(range(len(features)), [cut(profiles.names[feature], _MAX_NAME_LENGTH) for feature in features], fontsize=7)
    limit = max(1.0, float(np.abs(profiles.differences).max()))
    axes.set_xlim(-limit, limit)  # the same limits for all clusters, so that their pictures can be compared
    axes.tick_params(labelsize=7)
    axes.locator_params(axis="x", nbins=4)
    axes.invert_yaxis()
    axes.axvline(0, color="0.3", lw=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
