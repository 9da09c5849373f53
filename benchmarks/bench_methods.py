"""Measure time and memory of every method as tables grow from 1,000 rows to a million.

    python benchmarks/bench_methods.py --csv docs/figures/speed.csv --plot docs/figures/speed.png
    python benchmarks/bench_methods.py --rows 300 1000 --csv /tmp/speed.csv    # quick, to try a change
    python benchmarks/bench_methods.py --adult                                 # also adult, k = 20, whose fits have bars

The tables are random: eight features, two groups, k = 10. Methods have their default parameters and one start. The time of a
matcher includes the clusterlets. Seconds are CPU time of a fit; up to 10,000 rows, they are the median of three. Memory is the
peak of the fit's process, with libraries and table. All tables are standardised. The workflow must have prepared adult.

Each method has a process, which compiles it on a few rows and forks for each fit. It stops at the first size without a result:
the fit exceeded its budget of CPU time or memory, or the method does not accept so many rows.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from measuring import Bars, random_table, prepared, standardised  # isort: skip; before numpy, whose threads it limits

import numpy as np
import pandas as pd

from clusterlets import methods
from clusterlets.algorithms.compiled import compile_here
from clusterlets.supervision.fits import Budget, fits

SIZES = (1_000, 10_000, 100_000, 1_000_000)
FEATURES, K = 8, 10
MAX_REPEATED_ROWS = 10_000  # up to this number of rows, a fit is measured three times
MIN_DRAWN_SECONDS = 1e-3  # shorter times are drawn hollow at this height
ADULT_K = 20
HELD_TO_BARS = ("fair-flow", "tree-fairlets", "coreset", "fairkm", "fair-lloyd", "FRAC")


def measure(name: str, X: np.ndarray, groups: np.ndarray, k: int, budget: Budget) -> dict:
    """Return status, CPU seconds and peak megabytes of a fit; up to 10,000 rows, the median and the maximum of three fits."""
    method, X = methods.get(name)(), standardised(X)
    if method.unsupported(len(X), int(groups.max()) + 1):
        return {"status": "unsupported"}
    one_start = {"n_init": 1} if "n_init" in method.parameters else {}

    def fit(seed: int) -> None:
        method.fit(X, groups, k, np.random.default_rng(seed), **one_start)

    outcomes = [outcome for _, outcome in fits(fit, range(3 if len(X) <= MAX_REPEATED_ROWS else 1), budget)]
    worst = next((outcome for outcome in outcomes if outcome.status != "ok"), outcomes[0])
    seconds = statistics.median(outcome.seconds for outcome in outcomes)
    return {"status": worst.status, "seconds": round(seconds, 5), "memory_mb": round(max(o.memory_mb for o in outcomes), 1)}


def grow(name: str, sizes: list[int], with_adult: bool, budget: Budget) -> None:
    """Print the measurement of each size as JSON, up to the first size without a result, and on request that of adult."""
    X, groups = random_table(200, FEATURES)
    compile_here(methods.get(name).kernels)  # a small table does not reach them all
    methods.get(name)().fit(X, groups, 2, np.random.default_rng(0))  # compiles the method
    for rows in sizes:
        row = {"method": name, "table": "made", "rows": rows, **measure(name, *random_table(rows, FEATURES), K, budget)}
        print(json.dumps(row), flush=True)
        if row["status"] != "ok":
            break
    if with_adult:
        X, groups = prepared("adult")
        print(json.dumps({"method": name, "table": "adult", "rows": len(X), **measure(name, X, groups, ADULT_K, budget)}))


def plot(measurements: pd.DataFrame, budget: Budget, path: Path) -> None:
    """Draw seconds and memory against rows, with a line for each method, which ends at the method's name."""
    from matplotlib.ticker import LogLocator

    from clusterlets.pages.style import plt

    names = sorted(measurements["method"].unique())  # at most 20, so that each has a colour of its own
    styles = {name: (plt.get_cmap("tab20")(number), "os^Dv"[number % 5]) for number, name in enumerate(names)}
    is_short = measurements["seconds"] < MIN_DRAWN_SECONDS
    figure, both_axes = plt.subplots(1, 2, figsize=(10, 6), layout="constrained")
    panels = (
        ("seconds", f"CPU seconds of a fit (hollow: less than {MIN_DRAWN_SECONDS:g})", "timeout", budget.seconds),
        ("memory_mb", "peak memory (MB)", "out_of_memory", budget.memory_mb),
    )
    measurements = measurements.assign(seconds=measurements["seconds"].clip(lower=MIN_DRAWN_SECONDS))
    for axes, (column, label, limit_status, limit) in zip(both_axes, panels, strict=True):
        axes.set(xscale="log", yscale="log", xlabel="rows", ylabel=label)
        if (measurements["status"] == limit_status).any():
            axes.axhline(limit, color="0.5", ls=":", lw=1)
        ends: dict[int, list[tuple[float, str]]] = {}
        for name, rows in measurements[measurements["table"] == "made"].groupby("method", sort=False):
            color, marker = styles[str(name)]
            finished_rows, stopped_rows = rows[rows["status"] == "ok"], rows[rows["status"] == limit_status]
            axes.plot(finished_rows["rows"], finished_rows[column], color=color, marker=marker, markersize=4, lw=1)
            if column == "seconds":
                short = finished_rows[is_short[finished_rows.index]]
                axes.plot(
                    short["rows"], short[column], color=color, marker=marker, ls="", markersize=4, markerfacecolor="white"
                )
            x, y = [*finished_rows["rows"], *stopped_rows["rows"]], [*finished_rows[column], *(len(stopped_rows) * [limit])]
            if len(stopped_rows):
                axes.plot(x[-2:], y[-2:], color=color, lw=1, ls=":", marker="^", markevery=[-1], markerfacecolor="white")
            if x:
                ends.setdefault(x[-1], []).append((y[-1], str(name)))
        axes.set_xlim(measurements["rows"].min() / 1.3, measurements["rows"].max() * 8)  # room for the names
        ticks = sorted(set(measurements.loc[measurements["table"] == "made", "rows"]))
        axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=30))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.minorticks_off()
        axes.grid(alpha=0.25)
        axes.set_ylim(axes.get_ylim())
        for x, line_ends in ends.items():
            label_line_ends(axes, x, sorted(line_ends), {name: styles[name][0] for _, name in line_ends})
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, metadata={"Software": None})


def label_line_ends(axes, x: float, line_ends: list[tuple[float, str]], colors: dict[str, str]) -> None:
    """Write the names of the lines that end at x next to their ends, without overlaps."""
    from matplotlib.patheffects import withStroke

    low, high = np.log(axes.get_ylim())
    gap = (high - low) / 45  # about the height of a name
    heights = np.log([value for value, _ in line_ends])
    for _ in range(500):  # enough to push all names apart
        for index in range(len(heights) - 1):
            overlap = max(0.0, gap - (heights[index + 1] - heights[index]))
            heights[index : index + 2] += (-overlap / 2, overlap / 2)
        heights = np.minimum(heights, high - gap)
    for (value, name), height in zip(line_ends, np.exp(heights), strict=True):
        line = {"arrowstyle": "-", "color": colors[name], "lw": 0.5, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 2}
        text = axes.annotate(name, (x, value), (1.6 * x, height), va="center", fontsize=7, color=colors[name], arrowprops=line)
        text.set_path_effects([withStroke(linewidth=2, foreground="white")])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--methods", nargs="*", default=methods.names())
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--memory", type=float, default=4000, help="megabytes")
    parser.add_argument("--adult", action="store_true")
    parser.add_argument("--csv", type=Path, help="where to write the measurements")
    parser.add_argument("--plot", type=Path, help="where to draw them")
    parser.add_argument("--one", help="measure this method alone, in this process, and print JSON")
    arguments = parser.parse_args()
    budget = Budget(arguments.seconds, arguments.memory)
    if arguments.one:
        grow(arguments.one, arguments.rows, arguments.adult, budget)
        return 0
    options = ["--seconds", str(budget.seconds), "--memory", str(budget.memory_mb), *(["--adult"] if arguments.adult else [])]
    options += ["--rows", *map(str, arguments.rows)]
    measurements, bars = [], Bars()
    for name in arguments.methods:
        command = [sys.executable, __file__, "--one", name, *options]
        lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        measurements += map(json.loads, lines)
        for row in measurements[-len(lines) :]:
            seconds, memory = row.get("seconds", np.inf), row.get("memory_mb", np.inf)
            print(
                f"{name:14} {row['table']:6} {row['rows']:>9,} {seconds:9.3f} s {memory:8.0f} MB  {row['status']}", flush=True
            )
            if row["table"] == "adult" and name in HELD_TO_BARS:
                bars.at_most(f"{name} on adult", seconds if row["status"] == "ok" else np.inf, 15, "s")
                bars.at_most(f"{name} on adult", memory if row["status"] == "ok" else np.inf, 2000, "MB")
        if arguments.csv:  # written after each method, so that an interruption loses one method at most
            pd.DataFrame(measurements).to_csv(arguments.csv, index=False)
    if arguments.plot:
        plot(pd.DataFrame(measurements), budget, arguments.plot)
    return bars.missed


if __name__ == "__main__":
    sys.exit(main())
