"""Plots of clusterings: the groups in each cluster, the instances on a plane, and the trade-off of fairness against cost."""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from clusterlets.algorithms.checks import check_same_index
from clusterlets.estimators.fairness import Composition, composition_of
from clusterlets.estimators.inputs import InvalidInput, check_numbers
from clusterlets.estimators.memberships import as_memberships, cluster_means, nearest_own_cluster
from clusterlets.extras import optional
from clusterlets.metrics.all_scores import SCORES

with optional("plots"):
    from matplotlib import colormaps
    from matplotlib.axes import Axes
    from matplotlib.patheffects import withStroke
    from matplotlib.ticker import PercentFormatter

# Both palettes are readable with every common form of color blindness. The first is that of Okabe and Ito, without yellow and
# with gray for black. If there are more clusters than colors, the colors repeat with another marker.
_CLUSTER_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999")
_GROUP_COLORS = colormaps["viridis"]
_MARKERS = "o^sDvP*X"
_MAX_POINTS = 4_000  # more instances would only cover each other
_MAX_NUMBERED = 40  # clusters that get a number
_NUMBER_SIZE = np.array([0.05, 0.05])  # width and height of a cluster's number, as fractions of the plot's
MAX_GROUPS_IN_LEGEND = 18  # with more groups, there is no legend
_MORE_IS_BETTER = {score.name for score in SCORES if score.better == "higher"}


def plot_composition(clustering, sensitive_features, *, ax=None) -> Axes:
    """Draw the shares of the groups as stacked bars: one bar per cluster, below a bar for the whole table.

    Parameters
    ----------
    clustering : int array-like (n,), or bool array or sparse matrix (n, C)
        Labels or memberships, as in :func:`clusterlets.fairness_report`.
    sensitive_features : array-like, Series or DataFrame, (n,) or (n, S)
        The sensitive features, as in ``fit``.
    ax : matplotlib.axes.Axes or None
        Axes to draw on; None creates a new figure with :mod:`matplotlib.pyplot`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If an input is invalid, or if the inputs have different rows.
    """
    composition = composition_of(clustering, sensitive_features)
    ax = _axes(ax)
    draw_composition(ax, composition)
    if len(composition.names) <= MAX_GROUPS_IN_LEGEND:
        legend = ax.legend(
            ax.containers[-len(composition.names) :], composition.names, loc="upper left", bbox_to_anchor=(1, 1), frameon=False
        )
        for text in legend.get_texts():
            text.set_parse_math(False)  # "$0-$20k" is a name, not a formula
    return ax


def plot_projection(X, clustering, *, ax=None) -> Axes:
    """Draw the instances on their first two principal components; each cluster has a color, a marker and a number.

    Parameters
    ----------
    X : array-like or DataFrame (n, d)
        The features that were clustered. If there are more than 4,000 instances, only a random sample is shown.
    clustering : int array-like (n,), or bool array or sparse matrix (n, C)
        Labels or memberships. An instance in several clusters is drawn in the color of the one with the nearest centre.
    ax : matplotlib.axes.Axes or None
        Axes to draw on; None creates a new figure with :mod:`matplotlib.pyplot`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If an input is invalid, or if the inputs have different rows.
    """
    check_same_index(X=X, clustering=clustering)
    check_numbers(X)
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
    """Plot the cost of clusterings against their unfairness, with a line through the best trade-offs.

    Parameters
    ----------
    reports : mapping of str to reports
        The result of :func:`clusterlets.fairness_report` for each clustering. The key is written next to its point.
    unfairness, cost : str
        Names of the scores on the horizontal and on the vertical axis. Scores where more is better, such as ``cohesion``, are
        allowed too.
    ax : matplotlib.axes.Axes or None
        Axes to draw on; None creates a new figure with :mod:`matplotlib.pyplot`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If ``reports`` is empty, or if a report lacks one of the two scores or has NaN for it.
    """
    scores = (unfairness, cost)
    points = np.array([[_score_of(name, report, score) for score in scores] for name, report in reports.items()])
    if not len(points):
        raise InvalidInput("reports is empty: give at least one report, by the name of its clustering.")
    ax = _axes(ax)
    ax.scatter(*points.T, s=36, color=_CLUSTER_COLORS[0], zorder=3)
    for name, point in zip(reports, points, strict=True):
        ax.annotate(str(name), point, xytext=(5, 4), textcoords="offset points", fontsize=9, parse_math=False)
    front = _front(points * [-1 if score in _MORE_IS_BETTER else 1 for score in scores])
    ax.plot(*points[front].T, color=_CLUSTER_COLORS[-1], linewidth=1, zorder=2)
    ax.set(xlabel=unfairness.replace("_", " "), ylabel=cost.replace("_", " "))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _score_of(name: str, report: Mapping[str, Any], score: str) -> float:
    if not isinstance(report.get(score), int | float | np.number):
        raise InvalidInput(f"the report of {name!r} has no score {score!r}; its scores are {', '.join(report)}.")
    if np.isnan(report[score]):
        raise InvalidInput(f"{score} is not defined for {name!r}: leave out this clustering, or plot another score.")
    return float(report[score])


def _front(points: np.ndarray) -> np.ndarray:
    """Indices of the best trade-offs among points (m, 2), sorted by the first coordinate; less is better in both."""
    order = np.lexsort((points[:, 1], points[:, 0]))
    least_so_far = np.minimum.accumulate(points[order, 1])
    return order[np.append(True, points[order[1:], 1] < least_so_far[:-1])]


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib import pyplot  # imported late: it may set up a display, which the caller's own axes may not need

    return pyplot.subplots(layout="constrained")[1]


def draw_composition(axes: Axes, composition: Composition) -> None:
    """Draw the bars of :func:`plot_composition`. Lines continue the table's shares downwards."""
    sizes, n_groups = composition.counts.sum(axis=1), len(composition.group_counts)
    table_shares = composition.group_counts / composition.group_counts.sum()
    shares = np.vstack([table_shares, composition.counts / sizes[:, None]])
    positions = np.arange(len(shares)) + np.append(-0.6, np.zeros(len(sizes)))  # a gap below the bar of the whole table
    left_edges = np.cumsum(shares, axis=1) - shares
    for group in range(n_groups):
        axes.barh(
            positions,
            shares[:, group],
            left=left_edges[:, group],
            height=0.86,
            color=_GROUP_COLORS(0.1 + 0.85 * group / max(1, n_groups - 1)),
            edgecolor="white",
            linewidth=0.4,
        )
    for edge in left_edges[0, 1:]:
        axes.axvline(edge, color="black", linewidth=1, path_effects=[withStroke(linewidth=2, foreground="white")])
    step = ceil(len(sizes) / _MAX_NUMBERED)
    named_clusters = range(0, len(sizes), step)
    names = [f"{composition.clusters[index]}  (n = {sizes[index]:,})" for index in named_clusters]
    axes.set_yticks([positions[0], *(positions[1:][::step])], ["whole table", *names], fontsize=8)
    note = "" if n_groups <= MAX_GROUPS_IN_LEGEND else f"\n({n_groups} groups, from left to right in the order of their names)"
    axes.set(title=f"Composition of each cluster{note}", ylabel="cluster")
    axes.set(xlim=(0, 1), ylim=(positions[-1] + 0.6, positions[0] - 0.6))
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def draw_projection(axes: Axes, X: np.ndarray, labels: np.ndarray) -> None:
    """Draw the instances (n, d) in the colors of their labels (n,), as :func:`plot_projection` does. O(n d^2)."""
    positions, variance_shares = _principal_components(X)
    sample = np.arange(len(X))
    if len(X) > _MAX_POINTS:
        sample = np.sort(np.random.default_rng(0).choice(len(X), _MAX_POINTS, replace=False))
    clusters, sizes = np.unique(labels, return_counts=True)
    for cluster in clusters:
        rows = sample[labels[sample] == cluster]
        axes.scatter(
            *positions[rows].T,
            s=11,
            alpha=0.55,
            linewidth=0,
            color=_CLUSTER_COLORS[cluster % len(_CLUSTER_COLORS)],
            marker=_MARKERS[cluster // len(_CLUSTER_COLORS) % len(_MARKERS)],
        )
    largest_clusters = clusters[np.argsort(-sizes, kind="stable")[:_MAX_NUMBERED]]
    centres = np.array([np.median(positions[labels == cluster], axis=0) for cluster in largest_clusters])
    extent = np.ptp(positions, axis=0)
    extent[extent == 0] = 0.1  # about the range of an axis on which matplotlib draws equal values
    for cluster, position in zip(largest_clusters, _place_numbers(centres, _NUMBER_SIZE * extent), strict=True):
        axes.annotate(
            str(cluster),
            position,
            ha="center",
            va="center",
            fontsize=10,
            weight="bold",
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
    notes = [f"{_MAX_POINTS:,} of {len(X):,} rows"] if len(X) > _MAX_POINTS else []
    notes += [f"the {_MAX_NUMBERED} largest have numbers"] if len(clusters) > _MAX_NUMBERED else []
    axes.set_title("Clusters on the first two principal components" + (f"\n({', '.join(notes)})" if notes else ""))
    axes.set_xlabel(f"first component ({variance_shares[0]:.0%} of the variance)")
    axes.set_ylabel(f"second component ({variance_shares[1]:.0%})")
    axes.spines[["top", "right"]].set_visible(False)


def _place_numbers(centres: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Positions (m, 2) of the clusters' numbers: as near to their centres as possible without covering an earlier number."""
    # One of these 169 offsets is always free, because each of at most 39 earlier numbers covers at most four of them.
    offsets = np.array([(x, y) for x in range(-6, 7) for y in range(-6, 7)])
    nearest_first = offsets[np.argsort(np.square(offsets).sum(axis=1), kind="stable")] * size
    positions = np.empty((0, 2))
    for centre in centres:
        candidates = centre + nearest_first
        min_distance = 0.99 * size  # numbers may touch
        is_free = (np.abs(candidates[:, None] - positions) > min_distance).any(axis=2).all(axis=1)
        positions = np.vstack([positions, candidates[is_free.argmax()]])
    return positions


def _principal_components(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First two principal components (n, 2), and their shares (2,) of the variance. With one feature, the second is 0."""
    centred = X - X.mean(axis=0)
    variances, directions = np.linalg.eigh(centred.T @ centred)
    components = directions[:, ::-1][:, :2]
    n_missing = 2 - components.shape[1]
    shares = np.pad(variances[::-1][:2], (0, n_missing)) / (variances.sum() or 1)
    return np.pad(centred @ components, ((0, 0), (0, n_missing))), shares
