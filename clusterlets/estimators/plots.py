"""Pictures of clusterings, on given or new axes: composition, projection, and what fairness costs."""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from clusterlets.algorithms.checks import check_same_index
from clusterlets.estimators.inputs import InvalidInput
from clusterlets.estimators.memberships import as_memberships, cluster_means, nearest_own_cluster
from clusterlets.estimators.report import Composition, composition_of
from clusterlets.extras import optional
from clusterlets.metrics.table import SCORES

with optional("plots"):
    from matplotlib import colormaps
    from matplotlib.axes import Axes
    from matplotlib.patheffects import withStroke
    from matplotlib.ticker import PercentFormatter

# Both palettes are readable with every common form of color blindness. Clusters: Okabe and Ito's without its black and pale
# yellow; further clusters repeat the hues with another marker. Shares have a different palette, as they show something else.
_HUES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999")
_SHARES = colormaps["viridis"]
_MARKERS = "o^sDvP*X"
_POINTS = 4_000  # more would only cover each other
_NAMED = 40  # clusters with a number on the map, rows with a number on the axis
_NUMBER_SIZE = np.array([0.05, 0.05])  # width and height of a cluster's number, as shares of the map's
LISTED = 18  # groups in a legend
_MORE_IS_BETTER = {score.name for score in SCORES if score.better == "higher"}


def plot_composition(clustering, sensitive_features, *, ax=None) -> Axes:
    """One stacked bar per cluster with its share of each group, below a bar for the whole table.

    Parameters
    ----------
    clustering : int array-like (n,), or bool array or sparse matrix (n, C)
        Labels or memberships, as in :func:`clusterlets.fairness_report`.
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        As in ``fit``.
    ax : matplotlib.axes.Axes or None
        Where to draw; None for a new figure of :mod:`matplotlib.pyplot`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        For input that does not fit together.
    """
    composition = composition_of(clustering, sensitive_features)
    ax = _axes(ax)
    draw_composition(ax, composition)
    if len(composition.names) <= LISTED:
        legend = ax.legend(
            ax.containers[-len(composition.names) :], composition.names, loc="upper left", bbox_to_anchor=(1, 1), frameon=False
        )
        for text in legend.get_texts():
            text.set_parse_math(False)  # "$0-$20k" is a name, not a formula
    return ax


def plot_projection(X, clustering, *, ax=None) -> Axes:
    """The instances on their two principal components, each cluster with its hue, marker and number.

    Parameters
    ----------
    X : array-like or DataFrame (n, d)
        Instances, as they were clustered; of more than 4,000 a sample is drawn.
    clustering : int array-like (n,), or bool array or sparse matrix (n, C)
        Labels or memberships; an instance in several clusters has the hue of the one whose centre is nearest.
    ax : matplotlib.axes.Axes or None
        Where to draw; None for a new figure of :mod:`matplotlib.pyplot`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        For input that does not fit together.
    """
    check_same_index(X=X, clustering=clustering)
    X = check_array(X, dtype=np.float64, order="C")
    memberships, clusters = as_memberships(clustering)
    if memberships.shape[0] != len(X):
        raise InvalidInput(f"The clustering is of {memberships.shape[0]} instances, and X has {len(X)}.")
    ax = _axes(ax)
    draw_projection(ax, X, clusters[nearest_own_cluster(X, memberships, cluster_means(X, memberships))])
    return ax


def plot_tradeoff(
    reports: Mapping[str, Mapping[str, Any]], *, unfairness="deviation_mean", cost="price_of_fairness", ax=None
) -> Axes:
    """What each clustering's fairness costs: one point per report, and a line through those that no other beats in both.

    Parameters
    ----------
    reports : mapping of str to reports
        By the name that the point gets, what :func:`clusterlets.fairness_report` returned for each clustering.
    unfairness, cost : str
        Scores of the reports, on the horizontal and the vertical axis; also those of which more is better, such as
        ``cohesion``.
    ax : matplotlib.axes.Axes or None
        Where to draw; None for a new figure of :mod:`matplotlib.pyplot`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        Without reports, and for a score that a report lacks or that is NaN there.
    """
    points = np.array([[_score(name, report, score) for score in (unfairness, cost)] for name, report in reports.items()])
    if not len(points):
        raise InvalidInput("reports is empty: give at least one report, by the name of its clustering.")
    ax = _axes(ax)
    ax.scatter(*points.T, s=36, color=_HUES[0], zorder=3)
    for name, point in zip(reports, points, strict=True):
        ax.annotate(str(name), point, xytext=(5, 4), textcoords="offset points", fontsize=9, parse_math=False)
    front = _front(points * [-1 if score in _MORE_IS_BETTER else 1 for score in (unfairness, cost)])
    ax.plot(*points[front].T, color=_HUES[-1], linewidth=1, zorder=2)
    ax.set(xlabel=unfairness.replace("_", " "), ylabel=cost.replace("_", " "))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _score(name: str, report: Mapping[str, Any], score: str) -> float:
    if not isinstance(report.get(score), int | float | np.number):
        raise InvalidInput(f"the report of {name!r} has no score {score!r}; its scores are {', '.join(report)}.")
    if np.isnan(report[score]):
        raise InvalidInput(f"{score} is not defined for {name!r}: leave it out, or plot another score.")
    return float(report[score])


def _front(points: np.ndarray) -> np.ndarray:
    """Indices of the points (m, 2), less being better, that no other beats, by the first coordinate. O(m log m)."""
    order = np.lexsort((points[:, 1], points[:, 0]))
    least = np.minimum.accumulate(points[order, 1])
    return order[np.append(True, points[order[1:], 1] < least[:-1])]


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib import pyplot  # imported late: given axes need no window

    return pyplot.subplots(layout="constrained")[1]


def draw_composition(axes: Axes, composition: Composition) -> None:
    """One stacked bar per cluster, below a bar for the whole table, whose shares run down as lines."""
    sizes, groups = composition.counts.sum(axis=1), len(composition.group_counts)
    expected = composition.group_counts / composition.group_counts.sum()
    shares = np.vstack([expected, composition.counts / sizes[:, None]])
    positions = np.arange(len(shares)) + np.append(-0.6, np.zeros(len(sizes)))  # a gap below the bar of the whole table
    starts = np.cumsum(shares, axis=1) - shares
    for group in range(groups):
        axes.barh(
            positions,
            shares[:, group],
            left=starts[:, group],
            height=0.86,
            color=_SHARES(0.1 + 0.85 * group / max(1, groups - 1)),
            edgecolor="white",
            linewidth=0.4,
        )
    for edge in starts[0, 1:]:
        axes.axvline(edge, color="black", linewidth=1, path_effects=[withStroke(linewidth=2, foreground="white")])
    step = ceil(len(sizes) / _NAMED)
    named = range(0, len(sizes), step)
    names = [f"{composition.clusters[row]}  (n = {sizes[row]:,})" for row in named]
    axes.set_yticks([positions[0], *(positions[1:][::step])], ["whole table", *names], fontsize=8)
    key = "" if groups <= LISTED else f"\n({groups} groups, from left to right in the order of their names)"
    axes.set(title=f"Composition of each cluster{key}", ylabel="cluster")
    axes.set(xlim=(0, 1), ylim=(positions[-1] + 0.6, positions[0] - 0.6))
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def draw_projection(axes: Axes, X: np.ndarray, labels: np.ndarray) -> None:
    """The instances (n, d) on their two principal components, each cluster with its hue, marker and number. O(n d^2)."""
    positions, explained = _principal_components(X)
    shown = np.arange(len(X))
    if len(X) > _POINTS:
        shown = np.sort(np.random.default_rng(0).choice(len(X), _POINTS, replace=False))
    clusters, sizes = np.unique(labels, return_counts=True)
    for cluster in clusters:
        rows = shown[labels[shown] == cluster]
        axes.scatter(
            *positions[rows].T,
            s=11,
            alpha=0.55,
            linewidth=0,
            color=_HUES[cluster % len(_HUES)],
            marker=_MARKERS[cluster // len(_HUES) % len(_MARKERS)],
        )
    numbered = clusters[np.argsort(-sizes, kind="stable")[:_NAMED]]
    centres = np.array([np.median(positions[labels == cluster], axis=0) for cluster in numbered])
    extent = np.ptp(positions, axis=0)
    extent[extent == 0] = 0.1  # about what matplotlib gives to points on a line
    for cluster, position in zip(numbered, _place_numbers(centres, _NUMBER_SIZE * extent), strict=True):
        axes.annotate(
            str(cluster),
            position,
            ha="center",
            va="center",
            fontsize=10,
            weight="bold",
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
    notes = [f"{_POINTS:,} of {len(X):,} rows"] if len(X) > _POINTS else []
    notes += [f"the {_NAMED} largest have numbers"] if len(clusters) > _NAMED else []
    axes.set_title("Clusters on the two principal components" + (f"\n({', '.join(notes)})" if notes else ""))
    axes.set_xlabel(f"first component ({explained[0]:.0%} of the variance)")
    axes.set_ylabel(f"second component ({explained[1]:.0%})")
    axes.spines[["top", "right"]].set_visible(False)


def _place_numbers(centres: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Positions (m, 2), each the nearest to its centre where a number of that width and height covers no earlier one."""
    steps = np.array([(x, y) for x in range(-6, 7) for y in range(-6, 7)])
    nearest_first = steps[np.argsort(np.square(steps).sum(axis=1), kind="stable")] * size
    placed = np.empty((0, 2))
    for centre in centres:
        positions = centre + nearest_first
        is_free = (np.abs(positions[:, None] - placed) > 0.99 * size).any(axis=2).all(axis=1)
        placed = np.vstack([placed, positions[is_free.argmax()]])
    return placed


def _principal_components(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Instances on two principal components (n, 2), and their shares of the variance (2,); 0 where there is none."""
    centred = X - X.mean(axis=0)
    variances, directions = np.linalg.eigh(centred.T @ centred)
    first = directions[:, ::-1][:, :2]
    missing = 2 - first.shape[1]
    shares = np.pad(variances[::-1][:2], (0, missing)) / (variances.sum() or 1)
    return np.pad(centred @ first, ((0, 0), (0, missing))), shares
