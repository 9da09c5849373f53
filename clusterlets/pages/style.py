"""What the figures share: colors, sizes, panels, legends, and how they are saved.

Figures are drawn at the size at which they are printed, 7 inches wide, so that font sizes are those on paper.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from textwrap import fill

import matplotlib

matplotlib.use("Agg")  # before pyplot is imported: a cluster has no display

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.backends.backend_pdf import RendererPdf
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator

from clusterlets.pages import EMPTY
from clusterlets.pages.saving import as_bytes
from clusterlets.storage import write_bytes

# Okabe and Ito's palette for people with color blindness, with grey in place of yellow, which is too pale, and one more color.
COLORS = {
    "C": "#0072B2",
    "G-B": "#D55E00",
    "D-PB": "#009E73",
    "B-PB": "#CC79A7",
    "G-D-PB": "#E69F00",
    "FRAC (nearest)": "#56B4E9",
    "FRAC (fair)": "#000000",
    "k-means": "#999999",
    "random": "#882255",
}
_MARKERS = dict(zip(COLORS, ("o", "s", "^", "D", "v", "P", "X", "<", ">"), strict=True))
# Colors and markers that the other methods cycle through. The two lists have different lengths, so that methods with
# the same color have different markers.
_OTHER_COLORS = (
    *("#7F5539", "#44AA99", "#332288", "#999933", "#AA4499", "#117733"),
    *("#6699CC", "#CC6677", "#661100", "#EE3377", "#BBCC33"),
)
_OTHER_MARKERS = ("s", "^", "D", "v", "P", "X")
WIDTH = 7.0  # inches
_LETTER_WIDTH = 0.06  # of the labels that all panels share, in inches
_PANELS_PER_ROW = 4
#: Settings for ``rc_context``: axes with a pale grid behind the marks.
GRID = {
    "axes.axisbelow": True,
    "axes.edgecolor": "0.7",
    "axes.grid": True,
    "grid.color": "0.9",
    "xtick.bottom": False,
    "ytick.left": False,
    "lines.solid_capstyle": "round",
    **dict.fromkeys(("axes.labelcolor", "text.color", "xtick.color", "ytick.color"), "0.15"),
}

plt.rcParams.update(
    {
        "font.size": 8,
        "figure.labelsize": 8,
        "axes.titlesize": 8.5,
        "axes.labelsize": 8,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "legend.fontsize": 7.5,
        "legend.title_fontsize": 7.5,
        "axes.linewidth": 0.6,
        "pdf.fonttype": 42,  # TrueType, because some publishers refuse the default, Type 3
        "text.parse_math": False,  # a name such as "$0-$20k" is no formula
    }
)


def method_styles(methods: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Color and marker of each method, by its name in the report."""
    other_styles = {
        name: (_OTHER_COLORS[index % len(_OTHER_COLORS)], _OTHER_MARKERS[index % len(_OTHER_MARKERS)])
        for index, name in enumerate(sorted(set(methods) - set(COLORS)))
    }
    return {name: other_styles.get(name) or (COLORS[name], _MARKERS[name]) for name in methods}


def save(figure: Figure, stem: str | os.PathLike) -> None:
    """Write ``stem``.pdf and ``stem``.png, each atomically, and close the figure."""
    png_metadata = {"Comment": EMPTY} if figure.get_label() == EMPTY else {}
    for suffix, metadata in ((".pdf", {}), (".png", png_metadata)):
        with _copy_rasterized_pixels():
            content = as_bytes(figure, suffix, dpi=200, metadata=metadata, bbox_inches="tight")
        write_bytes(f"{stem}{suffix}", content)
    plt.close(figure)


@contextmanager
def _copy_rasterized_pixels() -> Iterator[None]:
    """Make Matplotlib copy the pixels of each rasterized part of a PDF, to save memory.

    Matplotlib keeps all parts until it writes the file. Each part is a view of an image of the whole page, so without copies
    100 panels would keep 100 such images, or 5 GB.
    """
    draw_image = RendererPdf.draw_image

    def draw_pixel_copy(self: RendererPdf, gc: GraphicsContextBase, x: float, y: float, im: np.ndarray, *rest: object) -> None:
        draw_image(self, gc, x, y, im.copy(), *rest)

    RendererPdf.draw_image = draw_pixel_copy
    try:
        yield
    finally:
        RendererPdf.draw_image = draw_image


def single_panel(height: float) -> tuple[Figure, Axes]:
    """A figure with one panel."""
    return plt.subplots(figsize=(WIDTH, height))


def empty_figure(reason: str = "Nothing to show: no values.") -> Figure:
    """A figure that says why it is empty."""
    figure, axes = single_panel(0.8)
    axes.axis("off")
    axes.text(0.5, 0.5, reason, ha="center", va="center", wrap=True)
    return mark_empty(figure)


def mark_empty(figure: Figure) -> Figure:
    """Mark a figure as empty. Its PNG gets a comment, so that pages can leave the figure out."""
    figure.set_label(EMPTY)
    return figure


def panels(number: int, per_row: int = _PANELS_PER_ROW, height: float = 1.62) -> tuple[Figure, list[Axes]]:
    """A figure with panels in rows, each ``height`` inches high. Without panels, it is an :func:`empty_figure`."""
    if not number:
        return empty_figure(), []
    columns, rows = min(per_row, number), ceil(number / per_row)
    # A figure with fewer panels is narrower, but has room for a legend.
    width = WIDTH * max(columns, 2) / per_row if columns < per_row else WIDTH
    with plt.rc_context(GRID):
        size = (width, 0.6 + height * rows)  # 0.6 inches for labels and a legend
        figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for unused in axes.flat[number:]:
        unused.axis("off")
    return figure, list(axes.flat[:number])


def set_square_root_axis(axes: Axes, upper_limit: float, ticks: Iterable[float]) -> None:
    """Give the horizontal axis a square-root scale from 0 to ``upper_limit``, on which small values have more room."""
    axes.set_xscale("function", functions=(lambda x: x.clip(0) ** 0.5, lambda x: x**2))
    axes.set_xlim(0, upper_limit)
    visible_ticks = [tick for tick in ticks if tick <= upper_limit]
    axes.set_xticks(visible_ticks, [f"{tick:g}" for tick in visible_ticks])


def set_round_ticks(axis: Axis, max_ticks: int) -> None:
    """Set at most ``max_ticks`` ticks at round numbers, on a logarithmic axis that spans few powers of ten."""
    axis.set(major_locator=MaxNLocator(max_ticks, steps=[1, 2, 5, 10]), minor_locator=NullLocator())
    axis.set_major_formatter(lambda value, _: f"{value:g}")


def add_method_legend(figure: Figure, styles: dict[str, tuple[str, str]], x: str, y: str, title: str | None = None) -> None:
    """Add a legend of the methods, and the axis labels ``x`` and ``y`` that all panels share."""
    handles = [
        Line2D([], [], color=color, marker=marker, ls="", markersize=5, label=name) for name, (color, marker) in styles.items()
    ]
    add_legend(figure, handles, title)
    figure.supxlabel(x)
    # A line longer than the figure is high would leave blank bands above and below the panels.
    figure.supylabel(fill(y, int(figure.get_figheight() / _LETTER_WIDTH)), multialignment="center")


def add_legend(figure: Figure, handles: Sequence[Artist], title: str | None = None, columns: int = 4) -> None:
    """Add a legend above all panels. From the third line on, the figure grows with the legend to leave room for the panels."""
    figure.set_figheight(figure.get_figheight() + 0.17 * max(0, ceil(len(handles) / columns) - 2))
    legend_style = {"ncols": columns, "frameon": False, "handletextpad": 0.4, "columnspacing": 1.2}
    figure.legend(handles=handles, title=title, loc="outside upper center", **legend_style)
