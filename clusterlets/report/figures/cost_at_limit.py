"""What each method costs under a limit on unfairness: one dot per method, with its range over the seeds."""

from statistics import median_low
from textwrap import fill

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clusterlets.analysis import selection
from clusterlets.analysis.leaderboard import KEEPS
from clusterlets.report import SHOWN_LIMIT
from clusterlets.report.drawing.style import COLORS, add_legend, empty_figure, method_styles, panels
from clusterlets.report.figures import Declaration
from clusterlets.text import cut

FIGURES = [
    Declaration(
        name="cost_at_limit",
        title="Price at a largest deviation of at most 0.05",
        caption="One panel per dataset, at the middle k of the grid; a dot is the median over the scoring seeds, a bar "
        "their range.",
        reads=("runs.csv", "leaderboard.csv"),
        sections=("leaderboard.html#figures",),
        position=30,
    )
]

_MAX_DATASET_LENGTH = 30  # characters of a dataset's name
_TICKS = (1, 1.25, 1.5, 2, 3, 5, 10, 30, 100, 300)
_ENDS = (2, 3, 5, 10, 30, 100, 300)  # the axis ends at the first of these that three quarters of the prices do not exceed
_ROW_HEIGHT = 0.125  # inches
_MIN_HEIGHT = 0.9  # inches of a panel with its title and the numbers below it
_KEY_WIDTH = 120  # characters of a line of the key


def draw(runs: pd.DataFrame, board: pd.DataFrame) -> Figure:
    """Draw a panel per dataset, at the middle k of the grid: median price under the limit, and its range over scoring seeds.

    The styles come from all methods in ``runs``, so that a method looks the same in every figure.
    """
    rows = board[board["limit"] == SHOWN_LIMIT]
    if not (rows["outcome"] == KEEPS).any():
        return empty_figure(f"Nothing to show: no method keeps a largest deviation of {SHOWN_LIMIT:g}.")
    k = median_low(set(rows["k"]))
    rows = rows[rows["k"] == k]
    without_price = sorted(set(rows["method"]) - set(rows.loc[rows["price"].notna(), "method"]))
    methods = _sort_methods(rows[~rows["method"].isin(without_price)])
    styles = method_styles(selection.in_order(selection.names(runs), COLORS))
    prices = rows.loc[rows["outcome"] == KEEPS, "price"]
    end = next((value for value in _ENDS if (prices <= value).mean() >= 0.75), _ENDS[-1])
    datasets = list(rows["dataset"].unique())
    figure, all_axes = panels(len(datasets), per_row=3, height=max(_MIN_HEIGHT, 0.35 + _ROW_HEIGHT * len(methods)))
    for number, (axes, dataset) in enumerate(zip(all_axes, datasets, strict=True)):
        _draw_prices(axes, rows[rows["dataset"] == dataset].set_index("method").reindex(methods), styles, end)
        axes.set_yticks(range(len(methods)), methods if number % 3 == 0 else [], fontsize=6)
        axes.set_title(cut(dataset, _MAX_DATASET_LENGTH))
    _add_key(figure, k, without_price)
    return figure


def _sort_methods(rows: pd.DataFrame) -> list[str]:
    """The methods, sorted by how often they keep the limit, then by median price."""
    price = rows["price"].where(rows["outcome"] == KEEPS)
    by_method = price.groupby(rows["method"]).agg(["count", "median"]).reset_index()
    return list(by_method.sort_values(["count", "median", "method"], ascending=[False, True, True], kind="stable")["method"])


def _draw_prices(axes: Axes, rows: pd.DataFrame, styles: dict[str, tuple[str, str]], end: float) -> None:
    axes.set_xscale("log")
    axes.set_xlim(end**-0.05, end**1.08)
    # On a long axis, the labels of 1.25 and 1.5 would run into those of 1 and 2.
    ticks = [tick for tick in _TICKS if tick <= end and (end <= 5 or tick not in (1.25, 1.5))]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks[:-1]] + [f"≥{end:g}"])
    axes.minorticks_off()
    axes.set_ylim(len(rows) - 0.4, -0.6)
    for y, (name, row) in enumerate(rows.iterrows()):
        if pd.isna(row["price"]):
            continue
        color, marker = styles[str(name)]
        low, price, high = (min(row[column], end) for column in ("price_low", "price", "price_high"))
        fill_color = color if row["outcome"] == KEEPS else "white"
        axes.plot([low, high], [y, y], color=color, lw=1.1, solid_capstyle="butt", zorder=2)
        axes.plot(price, y, marker=marker, markersize=3.6, color=color, markerfacecolor=fill_color, zorder=3)


def _add_key(figure: Figure, k: float, without_price: list[str]) -> None:
    key = (
        f"Largest deviation at most {SHOWN_LIMIT:g}, k = {k:g}. Bar: range over the scoring seeds; hollow: misses the limit "
        "on them; empty row: no configuration keeps the limit on the seeds that choose it."
    )
    key += f" No row, because they never keep the limit: {', '.join(without_price)}." if without_price else ""
    key = fill(key, _KEY_WIDTH, break_on_hyphens=False)
    add_legend(figure, [], key)
    figure.set_figheight(figure.get_figheight() + 0.13 * key.count("\n"))
    figure.supxlabel("price: cost over that of plain k-means (logarithmic; left is better)")
