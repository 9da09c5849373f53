"""What the figures share: colours, panels, legend, and files without dates."""

import io
import os
from math import ceil

import matplotlib

matplotlib.use("Agg")  # before pyplot comes in: there is no screen on a cluster

import matplotlib.pyplot as plt  # noqa: E402
import seaborn as sns  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402

from clusterlets.storage import write_bytes  # noqa: E402

# Okabe and Ito's palette: told apart with every common colour blindness. Grey is in the place of its yellow, too pale.
COLOURS = {
    "C": "#0072B2",
    "G-B": "#D55E00",
    "D-PB": "#009E73",
    "B-PB": "#CC79A7",
    "G-D-PB": "#E69F00",
    "FRAC (nearest)": "#56B4E9",
    "FRAC (fair)": "#000000",
    "k-means": "#999999",
}
_PLUGGED_IN = "#7F5539"
_PANELS_A_ROW = 4


def colour_of(method: str) -> str:
    """Colour of a method by the name that the report gives it."""
    return COLOURS.get(method, _PLUGGED_IN)


def save(figure: Figure, stem: str | os.PathLike) -> None:
    """Write ``stem``.pdf and ``stem``.png, whole or not at all, and close the figure."""
    for suffix, metadata in (("pdf", {"CreationDate": None}), ("png", {"Software": None})):
        content = io.BytesIO()
        figure.savefig(content, format=suffix, dpi=150, bbox_inches="tight", metadata=metadata)
        write_bytes(f"{stem}.{suffix}", content.getvalue())
    plt.close(figure)


def single(height: float) -> tuple[Figure, Axes]:
    """A figure of one panel and of the width of a page."""
    return plt.subplots(figsize=(7.5, height))


def panels(number: int) -> tuple[Figure, list[Axes]]:
    """Panels in rows of four; without any, a figure that says so."""
    columns, rows = min(_PANELS_A_ROW, max(number, 1)), ceil(max(number, 1) / _PANELS_A_ROW)
    with sns.axes_style("whitegrid", rc={"axes.edgecolor": "0.7", "grid.color": "0.9"}):
        size = (1.2 + 2.5 * columns, 0.9 + 2.4 * rows)
        figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for unused in axes.flat[number:]:
        unused.axis("off")
    if not number:
        axes[0, 0].text(0.5, 0.5, "Nothing to show: no values.", ha="center", va="center")
    for used in axes.flat[:number]:
        used.tick_params(labelsize=8)
    return figure, list(axes.flat[:number])


def explain(figure: Figure, look: dict[str, tuple[str, str]], x: str, y: str, key: str | None = None) -> None:
    """What all panels share: a legend of colours and markers with ``key`` as its title, and the names of the axes."""
    handles = [
        Line2D([], [], color=colour, marker=marker, ls="", markersize=7, label=name)
        for name, (colour, marker) in look.items()
    ]
    place = {"loc": "outside upper center", "ncols": 4, "frameon": False}
    figure.legend(handles=handles, title=key, fontsize=9, title_fontsize=8, **place)
    figure.supxlabel(x, fontsize=10)
    figure.supylabel(y, fontsize=10)
