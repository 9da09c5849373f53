"""The plot of the configurations that ``tune`` tried: price against largest deviation."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox, BboxBase

from clusterlets.report.drawing.style import (
    add_legend,
    empty_figure,
    method_styles,
    panels,
    set_round_ticks,
    set_square_root_axis,
)
from clusterlets.text import cut

if TYPE_CHECKING:
    from clusterlets.tuning import Tuned

_TICKS = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1)
_MAX_LABEL_LENGTH = 40  # characters
_PADDING = 1.0  # pixels kept free around a label, because its measured width varies with the resolution
_MARKER_RADIUS = 3.0  # typographic points
_HALO = withStroke(linewidth=1.8, foreground="white")


def draw(tuned: "Tuned") -> Figure:
    """Draw a labelled point for each configuration with a price, and their front as a line. Labels on the front are bold."""
    priced = tuned[tuned["price"].notna()]
    if priced.empty:
        return empty_figure("Nothing to show: no fit has a result with a price.")
    styles = method_styles(sorted(set(tuned["method"])))
    figure, (axes,) = panels(1, per_row=1, height=5.2)
    max_deviation = tuned.task.requirement.bounds.get("max_deviation")
    limit = None if max_deviation is None or isinstance(max_deviation, Mapping) else float(max_deviation)
    set_square_root_axis(axes, 1.15 * max(priced["deviation_max"].max(), limit or 0, 0.01), _TICKS)
    highest = 1.08 * max(1.2, priced["price"].max())
    axes.set_yscale("log")
    # The axis starts about 4 % of its length below a price of 1, or just below the lowest price.
    axes.set_ylim(min(highest**-0.04, 0.99 * priced["price"].min()), highest)
    set_round_ticks(axes.yaxis, 8)
    if limit is not None:
        axes.axvline(limit, color="0.35", lw=0.8, ls="--", zorder=1)
    for name, points in priced.groupby("method", sort=False):
        color, marker = styles[str(name)]
        axes.scatter(points["deviation_max"], points["price"], color=color, marker=marker, s=22, lw=0, zorder=3)
    front = priced[priced["on_front"]].sort_values(["deviation_max", "price"])
    axes.plot(front["deviation_max"], front["price"], color="0.35", lw=0.8, drawstyle="steps-post", zorder=2)
    n_without_price = len(tuned) - len(priced)
    note = f" ({n_without_price} without a price)" if n_without_price else ""
    axes.set_title(f"What fairness costs: {tuned.task.n_clusters} clusters{note}")
    axes.set_xlabel("largest deviation of a cluster, on a square-root scale (left is fairer)")
    axes.set_ylabel("price: cost over that of plain k-means (logarithmic; down is better)")
    names = sorted(set(priced["method"]))
    handles = [Line2D([], [], color=styles[name][0], marker=styles[name][1], ls="", markersize=5, label=name) for name in names]
    add_legend(figure, handles, f"line: best trade-offs{'' if limit is None else '; dashed: the limit'}", 6)
    _label(axes, pd.concat([front, priced[~priced["on_front"]]]))
    return figure


def _label(axes: Axes, points: pd.DataFrame) -> None:
    """Label each point, in the order of the rows, where the label covers no point and no earlier label.

    If a label is not beside its point, a line joins the two.
    """
    axes.figure.draw_without_rendering()
    radius = _MARKER_RADIUS * axes.figure.dpi / 72
    positions = axes.transData.transform(points[["deviation_max", "price"]].to_numpy(float))
    occupied = [Bbox([position - radius, position + radius]) for position in positions]
    line_style = {"arrowstyle": "-", "lw": 0.4, "color": "0.5", "shrinkA": 0, "shrinkB": 2}
    for row in points.to_dict("records"):
        label = cut(" ".join(filter(None, (row["method"], row["parameters"]))), _MAX_LABEL_LENGTH)
        point = (row["deviation_max"], row["price"])
        weight = "bold" if row["on_front"] else "normal"
        style = {"fontsize": 5.5, "weight": weight, "va": "center", "zorder": 4, "path_effects": [_HALO]}
        style |= {"textcoords": "offset points", "annotation_clip": False}
        text = axes.annotate(label, point, (0, 0), **style)
        offset = _move_to_free_offset(text, axes.bbox, occupied)
        occupied.append(text.get_window_extent().padded(_PADDING))
        # Only a new annotation can get a line, so the label is drawn again.
        text.remove()
        arrow = line_style if abs(offset[1]) > _MARKER_RADIUS else None
        axes.annotate(label, point, offset, ha=text.get_ha(), arrowprops=arrow, **style)


def _move_to_free_offset(text: Annotation, area: BboxBase, occupied: Sequence[Bbox]) -> tuple[float, float]:
    """Move the text to the nearest offset at which it lies inside ``area`` and overlaps no occupied box. Return the offset.

    Offsets are in typographic points. If none is free, the last one is used.
    """
    height = text.figure.get_size_inches()[1] * 72
    vertical_offsets = [step * sign for step in range(0, int(height / 4), 3) for sign in (1, -1)]
    for vertical, horizontal in product(vertical_offsets, (5, -5)):
        text.set_position((horizontal, vertical))
        text.set_ha("left" if horizontal > 0 else "right")
        box = text.get_window_extent().padded(_PADDING)
        is_inside = area.x0 <= box.x0 and box.x1 <= area.x1 and area.y0 <= box.y0 and box.y1 <= area.y1
        if is_inside and not any(box.overlaps(occupied_box) for occupied_box in occupied):
            break
    return horizontal, vertical
