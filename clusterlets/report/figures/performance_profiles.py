"""Performance profiles: how often a method costs at most so many times as much as the cheapest (Dolan and More, 2002)."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlets.analysis import selection
from clusterlets.analysis.leaderboard import FACTORS, price_ratios
from clusterlets.report.drawing.style import COLORS, add_method_legend, empty_figure, method_styles, panels
from clusterlets.report.figures import Declaration

FIGURES = [
    Declaration(
        name="performance_profiles",
        title="Performance profiles, a panel for each limit on the largest deviation",
        caption="Over a factor, the share of the blocks in which a method keeps the limit at no more than this factor of the "
        "least price. At 1 it is how often a method is the cheapest.",
        reads=("runs.csv", "leaderboard.csv"),
        sections=("leaderboard.html#figures",),
        position=20,
    )
]

_TICKS = (1, 1.25, 1.5, 2, 3)
_MARKS = 2  # on each line


def draw(runs: pd.DataFrame, board: pd.DataFrame) -> Figure:
    """One panel per limit: the share of blocks in which a method is ranked and within a factor of the lowest price.

    All methods of the runs decide the look of each, so that it is the same in other figures.
    """
    board = board[board["rank"].notna()]
    if board.empty:
        return empty_figure("Nothing to show: no method keeps any limit.")
    look = method_styles(selection.in_order(selection.names(runs), COLORS))
    figure, all_axes = panels(board["limit"].nunique(), per_row=2, height=2.5)
    for axes, (limit, rows) in zip(all_axes, board.groupby("limit"), strict=True):
        ratios = price_ratios(rows)
        _draw_profiles(axes, ratios, look)
        title = f"largest deviation ≤ {limit:g}" if np.isfinite(limit) else "no limit"
        axes.set_title(f"{title}: {len(ratios)} blocks")
    shown_looks = {name: look[name] for name in look if name in set(board["method"])}
    add_method_legend(
        figure, shown_looks, "factor of the least price in the block (logarithmic)", "share of the blocks (up is better)"
    )
    return figure


def _draw_profiles(axes: Axes, ratios: pd.DataFrame, look: dict[str, tuple[str, str]]) -> None:
    """Steps through every ratio; the marks of each method are shifted, so that no two cover each other."""
    axes.set_xscale("log")
    axes.set_xlim(1, FACTORS[-1])
    axes.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
    axes.minorticks_off()
    axes.set_ylim(-0.02, 1.03)
    starts = np.geomspace(1, FACTORS[-1], _MARKS + 1)
    shifts = np.linspace(0.05, 0.95, len(ratios.columns)) * np.log(starts[1])
    for name, shift in zip(sorted(ratios.columns, key=list(look).index), shifts, strict=True):
        color, marker = look[name]
        reached = np.sort(ratios[name].dropna().to_numpy())
        x = np.concatenate([[1.0], reached, [FACTORS[-1]]])
        y = np.concatenate([[(reached <= 1).sum()], np.arange(1, len(reached) + 1), [len(reached)]]) / len(ratios)
        axes.plot(x, y, color=color, lw=1, drawstyle="steps-post", zorder=2)
        mark_factors = starts[:-1] * np.exp(shift)
        heights = (reached[:, None] <= mark_factors).sum(axis=0) / len(ratios)
        axes.plot(mark_factors, heights, color=color, marker=marker, markersize=4, ls="", zorder=3)
