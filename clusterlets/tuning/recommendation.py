"""The recommendation of ``tune``, written in sentences."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clusterlets.estimators.fairness import Composition
from clusterlets.metrics.prices import BELOW_ONE
from clusterlets.text import counted
from clusterlets.tuning.hints import bend
from clusterlets.tuning.path import NOT_TRIED, REFERENCE

if TYPE_CHECKING:
    from clusterlets.tuning import Tuned
    from clusterlets.tuning.path import Run


def sentences(tuned: "Tuned") -> str:
    """What to use and how good it is, a table of prices, hints on the choice, and warnings."""
    paragraphs = [" ".join(_use(tuned)), _prices(tuned), "\n".join(_hints(tuned)), "\n".join(_warnings(tuned))]
    return "\n\n".join(filter(None, paragraphs))


def _use(tuned: "Tuned") -> list[str]:
    task, best, reference = tuned.task, tuned.best, tuned.reference(tuned.best.n_clusters)
    clusters = counted(best.n_clusters, "cluster")
    sizes = np.bincount(tuned.labels)
    scores = f"largest deviation {best.deviation:.3f}, smallest cluster {counted(int(sizes.min()), 'row')}"
    price = tuned.price(best)
    if not np.isnan(price):
        remark = f" ({BELOW_ONE})" if round(price, 3) < 1 else ""
        scores = f"{price:.3f} times the cost of plain k-means ({reference.note}){remark}, {scores}"
    if best.is_asked(task):
        parts = [f"Use {best} with {clusters}: {scores}."]
        if reference.keeps(task, task.asked):
            parts.append("Plain k-means, which does not know the groups, keeps the limit too: you need no fair method here.")
        others = [run for run in tuned.runs if not run.step and run.method != REFERENCE and run.keeps(task, task.asked)]
        cheaper = min((run for run in others if run.sse < best.sse), key=lambda run: tuned.price(run), default=None)
        if cheaper:
            clusters = counted(cheaper.n_clusters, "cluster")
            parts.append(f"{cheaper} with {clusters} keeps it by chance, at the price {tuned.price(cheaper):.3f}.")
    else:
        asked = format_limit(task.asked.limit)
        parts = [f"No fit with {asked} has a result. The nearest is {best} with {clusters}: {scores}."]
        if best.keeps(task, task.asked):
            parts.append("It keeps this limit, but only by chance.")
        failed = [run for run in tuned.runs if run.step is task.asked and run.counts is None and run.note]
        parts += [f"{counted(run.n_clusters, 'cluster')}: {run.note}" for run in failed]
    if best.is_cut:
        parts.append(f"Its search ended after {best.parameters['max_seconds']:g} s; more minutes may lower the cost.")
    return parts


def format_limit(limit: float | str) -> str:
    """``limit 0.02``, or a text that names another kind of limit."""
    return limit if isinstance(limit, str) else f"limit {limit:g}"


def _prices(tuned: "Tuned") -> str:
    """A table: the price for each limit (a row) and number of clusters (a column), and the deviation of plain k-means.

    A star marks a search that the time ended.
    """
    ks = tuned.numbers_of_clusters
    cheapest = {step.limit: [tuned.cheapest(k, step) for k in ks] for step in tuned.task.path}
    has_cut = _any_cut(run for runs in cheapest.values() for run in runs)
    rows = {
        format_limit(limit): [
            "-" if run is None else f"{tuned.price(run):.3f}{'*' if run.is_cut else ' ' * has_cut}" for run in runs
        ]
        for limit, runs in cheapest.items()
    }
    deviations = [tuned.reference(k).deviation for k in ks]
    rows["plain k-means"] = ["-" if np.isnan(deviation) else f"dev {deviation:.2f}" for deviation in deviations]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=[f"k = {k}" for k in ks])
    footnote = "\n* The time ended this search: more minutes may lower the price." if has_cut else ""
    return f"Prices (cost over that of plain k-means):\n{table.to_string()}{footnote}"


def _hints(tuned: "Tuned") -> list[str]:
    lines, task, best = [], tuned.task, tuned.best
    if len(tuned.silhouettes) > 1:
        values = ", ".join(f"{k}: {value:.2f}" for k, value in tuned.silhouettes.items())
        highest = max(tuned.silhouettes, key=tuned.silhouettes.__getitem__)
        line = f"Hint for k: the silhouette is highest at {highest} ({values}"
        runs = {k: tuned.cheapest(k, task.asked) for k in tuned.numbers_of_clusters}
        costs = {k: run.sse for k, run in runs.items() if run is not None}
        position = None if _any_cut(runs.values()) else bend(list(costs.values()))
        lines.append(f"{line})" + (f"; the cost within the limit bends at {list(costs)[position]}." if position else "."))
        if highest == min(tuned.silhouettes):
            lines[-1] += " This is the least that was tried. The silhouette favours few clusters, so it says little here."
    cheapest = [(step.limit, tuned.cheapest(best.n_clusters, step)) for step in task.path]
    prices = [(limit, tuned.price(run)) for limit, run in cheapest if run is not None]
    position = None if _any_cut(run for _, run in cheapest) else bend([price for _, price in prices])
    if position:
        limit, price = prices[position]
        lines.append(f"Hint for the limit: with {best.n_clusters} clusters, the price bends at {limit:g} ({price:.3f}).")
    return lines


def _any_cut(runs: Iterable["Run | None"]) -> bool:
    """Whether the time ended a search, so that a bend in the costs may come from this alone."""
    return any(run is not None and run.is_cut for run in runs)


def _warnings(tuned: "Tuned") -> list[str]:
    best, lines = tuned.best, []
    assert best.counts is not None
    counts = best.counts
    lacking = Composition(counts.T, np.arange(best.n_clusters), counts.sum(axis=1), list(tuned.task.names)).lacking_groups()
    if lacking:
        lines.append(f"Warning: {lacking}. Ask for fewer clusters or a stricter limit.")
    untried = [run for run in tuned.runs if run.status == NOT_TRIED]
    if untried:
        reason = "Interrupted" if tuned.interrupted else "Time ran out"
        lines.append(f"{reason} before {counted(len(untried), 'fit')} of {len(tuned.runs)} (status {NOT_TRIED}).")
    without_price = [run for run in tuned.runs if run.method == REFERENCE and run.counts is None and run.status != NOT_TRIED]
    if without_price:
        lines.append("Prices are missing where the table has fewer distinct rows than clusters.")
    return lines
