"""The picture of ``clusterlets cluster --plot``: what each cluster is made of, and where the clusters lie."""

import io
from math import ceil
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import PercentFormatter

from clusterlets.report.figures.names import cut
from clusterlets.storage import write_bytes

# Both palettes are told apart with every common colour blindness. Clusters: Okabe and Ito's without its black and pale
# yellow; further clusters repeat the hues with another marker. Shares: another one, as they are of other things.
_HUES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999")
_SHARES = colormaps["viridis"]
_MARKERS = "o^sDvP*X"
_POINTS = 4_000  # more only cover each other
_NAMED = 40  # clusters with a number on the map, rows with a number on the axis
_LISTED, _LONGEST = 18, 18  # colours in the legend, and letters of a name there, so that six have room beside each other
_NUMBER = np.array([0.05, 0.05])  # width and height of such a number, as parts of the map's


def draw(path: str, X: np.ndarray, labels: np.ndarray, composition: pd.DataFrame, colour_counts: np.ndarray) -> None:
    """Write the picture, whole or not at all, in the format that the end of its name says.

    Parameters
    ----------
    path : str
        Ends in .png, .pdf or .svg.
    X : float array (n, d)
        Instances, as they were clustered.
    labels : int array (n,)
        Cluster of each.
    composition : DataFrame (C, K)
        Instances of each colour in each cluster.
    colour_counts : int array (K,)
        Instances of each colour in the table.
    """
    height = float(np.clip(1.2 + 0.2 * len(composition), 4.8, 11))
    figure = Figure(figsize=(12.5, height), layout="constrained")
    bars, points = figure.subplots(1, 2, width_ratios=(1, 1.15))
    _draw_composition(bars, composition, colour_counts / colour_counts.sum())
    _draw_projection(points, X, labels)
    if composition.shape[1] <= _LISTED:
        names = [cut(name, _LONGEST) for name in composition.columns]  # by hand, as matplotlib leaves out "_name"
        figure.legend(bars.containers, names, loc="outside upper left", ncols=min(len(names), 6), frameon=False)
    content = io.BytesIO()
    metadata = {".png": {"Software": None}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}[Path(path).suffix]
    with rc_context({"svg.hashsalt": "clusterlets"}):  # names of parts, which would be random
        figure.savefig(content, format=Path(path).suffix[1:], dpi=150, metadata=metadata)
    write_bytes(path, content.getvalue())


def _draw_composition(axes: Axes, composition: pd.DataFrame, expected: np.ndarray) -> None:
    """A stacked bar a cluster, below one for the whole table, whose shares run down as lines."""
    sizes = composition.sum(axis=1).to_numpy()
    shares = np.vstack([expected, composition.to_numpy() / sizes[:, None]])
    places = np.arange(len(shares)) + np.append(-0.6, np.zeros(len(sizes)))  # the table's own bar stands apart
    starts = np.cumsum(shares, axis=1) - shares
    for colour in range(composition.shape[1]):
        axes.barh(
            places,
            shares[:, colour],
            left=starts[:, colour],
            height=0.86,
            color=_SHARES(0.1 + 0.85 * colour / (composition.shape[1] - 1)),
            edgecolor="white",
            linewidth=0.4,
        )
    for edge in starts[0, 1:]:
        axes.axvline(edge, color="black", linewidth=1, path_effects=[withStroke(linewidth=2, foreground="white")])
    step = ceil(len(sizes) / _NAMED)
    named = range(0, len(sizes), step)
    names = [f"{composition.index[row]}  (n = {sizes[row]:,})" for row in named]
    axes.set_yticks([places[0], *(places[1:][::step])], ["whole table", *names], fontsize=8)
    colours = composition.shape[1]
    key = "" if colours <= _LISTED else f"\n({colours} colours, from left to right in the order of their names)"
    axes.set(title=f"Composition of each cluster{key}", ylabel="cluster")
    axes.set(xlim=(0, 1), ylim=(places[-1] + 0.6, places[0] - 0.6))
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _draw_projection(axes: Axes, X: np.ndarray, labels: np.ndarray) -> None:
    """The instances on their two principal components, each cluster with its hue, marker and number."""
    places, explained = _principal_components(X)
    shown = np.arange(len(X))
    if len(X) > _POINTS:
        shown = np.sort(np.random.default_rng(0).choice(len(X), _POINTS, replace=False))
    clusters, sizes = np.unique(labels, return_counts=True)
    for cluster in clusters:
        of_cluster = shown[labels[shown] == cluster]
        axes.scatter(
            *places[of_cluster].T,
            s=11,
            alpha=0.55,
            linewidth=0,
            color=_HUES[cluster % len(_HUES)],
            marker=_MARKERS[cluster // len(_HUES) % len(_MARKERS)],
        )
    named = clusters[np.argsort(-sizes, kind="stable")[:_NAMED]]
    centres = np.array([np.median(places[labels == cluster], axis=0) for cluster in named])
    extent = np.ptp(places, axis=0)
    extent[extent == 0] = 0.1  # about what matplotlib gives to points on a line
    for cluster, place in zip(named, _apart(centres, _NUMBER * extent), strict=True):
        axes.annotate(
            str(cluster),
            place,
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


def _apart(centres: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Places (m, 2), each the nearest to its centre where a number of that width and height covers none before it."""
    steps = np.array([(x, y) for x in range(-6, 7) for y in range(-6, 7)])
    nearest_first = steps[np.argsort(np.square(steps).sum(axis=1), kind="stable")] * room
    found = np.empty((0, 2))
    for centre in centres:
        places = centre + nearest_first
        is_free = (np.abs(places[:, None] - found) > 0.99 * room).any(axis=2).all(axis=1)
        found = np.vstack([found, places[is_free.argmax()]])
    return found


def _principal_components(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Instances on two principal components (n, 2), and their shares of the variance (2,); 0 where there is none."""
    centred = X - X.mean(axis=0)
    variances, directions = np.linalg.eigh(centred.T @ centred)
    first = directions[:, ::-1][:, :2]
    missing = 2 - first.shape[1]
    shares = np.pad(variances[::-1][:2], (0, missing)) / (variances.sum() or 1)
    return np.pad(centred @ first, ((0, 0), (0, missing))), shares
