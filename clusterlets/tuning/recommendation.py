"""The recommendation of ``tune``, written in sentences."""

from typing import TYPE_CHECKING

import pandas as pd

from clusterlets.algorithms.plain_costs import number_of_starts
from clusterlets.metrics.prices import BELOW_ONE
from clusterlets.text import counted
from clusterlets.tuning.requirement import FAIR_LIMIT
from clusterlets.tuning.trials import NOT_TRIED, REFERENCE

if TYPE_CHECKING:
    from clusterlets.tuning import Tuned

_MAX_BOUND = 1.5  # times the cost of plain k-means; a looser bound says too little to be worth printing


def sentences(tuned: "Tuned") -> str:
    """Which run to use and how good it is, what other limits cost, and which methods gave no result.

    Raises InvalidInput if no run has a price.
    """
    best, task = tuned.best(), tuned.task
    size = f" and at least {task.min_cluster_size} rows in each" if task.min_cluster_size > 1 else ""
    request = f"{counted(task.n_clusters, 'cluster')} {task.requirement}{size}"
    starts = number_of_starts(len(task.X))
    scores = (
        f"{best['price']:.3f} times the cost of the best plain k-means found ({starts} starts), "
        f"largest deviation {best['deviation_max']:.3f}, "
        f"smallest cluster {counted(int(best['smallest']), 'row')}"
    )
    name = f"{_name(best)}, seed {best['seed']}"
    if best["keeps"]:
        parts = [f"Use {name}: the cheapest known with {request}.", f"{scores[0].upper()}{scores[1:]}."]
        parts += _cost_sentences(best)
        kmeans = tuned.runs[(tuned.runs["method"] == REFERENCE) & tuned.runs["keeps"]]
        if len(kmeans):
            parts.append(
                f"Plain k-means, which does not know the groups, keeps the limit too, at {kmeans['price'].min():.3f} times "
                "that cost: on this table you need no fair method."
            )
        other_methods = tuned[tuned["keeps"] & (tuned["method"] != best["method"])]
        if len(other_methods):
            parts.append(f"Next method: {_name(other_methods.iloc[0])}, {other_methods.iloc[0]['price']:.3f} times that cost.")
    else:
        parts = [f"No run gives {request}.", f"The nearest is {name}: {scores}, {counted(int(best['n_clusters']), 'cluster')}."]
        infeasible = tuned[(tuned["method"] == FAIR_LIMIT) & tuned["statuses"].str.contains("infeasible")]
        parts += [f"{_name(row)}: {row['note']}" for row in infeasible.to_dict("records")]
        parts.append("Allow a larger deviation, fewer clusters or more minutes.")
    if (tuned.runs["price"].round(3) < 1).any():
        parts.append(f"A price {BELOW_ONE}.")
    return "\n".join(filter(None, (" ".join(parts), _comparison(tuned), _without_result(tuned))))


def _cost_sentences(best) -> list[str]:
    """A sentence on how near the cost is to plain k-means, and to the least cost at the same centres; none above _MAX_BOUND."""
    if best["price"] > _MAX_BOUND:
        return []
    price, gap = round(best["price"], 3), best["assignment_gap"]
    difference = f"At most {price - 1:.1%} above" if price >= 1 else f"{1 - price:.1%} below"
    certificate = f"; certificate at these centres: {gap:.2%}" if gap < _MAX_BOUND - 1 else ""
    return [f"{difference} the best plain k-means found{certificate}."]


def _comparison(tuned: "Tuned") -> str:
    """A table of the lowest known prices: within the limits, within multiples of them, and without a limit."""
    task, runs = tuned.task, tuned.runs

    def table_row(name: str, runs_within: pd.DataFrame, default: tuple[str, str, str]) -> tuple[str, ...]:
        if runs_within.empty:
            return name, *default
        run = runs_within.loc[runs_within["price"].idxmin()]
        return name, f"{run['price']:.3f}", f"{run['deviation_max']:.3f}", _name(run)

    table_rows = []
    for name, multiple in task.requirement.compared_multiples().items():
        runs_within = runs[[task.keeps(run, multiple) for run in runs.to_dict("records")]]
        table_rows.append(table_row(name, runs_within, ("none known", "", "")))
    # Of the runs without a limit, only those cheaper than plain k-means matter.
    plain = f"{REFERENCE}, the best of {number_of_starts(len(task.X))} starts"
    table_rows.append(table_row("no limit", runs[runs["price"] < 1], ("1.000", "", plain)))
    frame = pd.DataFrame(table_rows, columns=["", "price", "deviation", "method"])
    return f"\n{frame.to_string(index=False)}\n"


def _without_result(tuned: "Tuned") -> str:
    is_untried = tuned["statuses"].str.startswith(NOT_TRIED)
    failed = tuned[~tuned["statuses"].str.contains("ok") & ~is_untried]
    parts = []
    if is_untried.any():
        reason = "Interrupted before these were tried" if tuned.interrupted else "Time ran out before these were tried"
        parts.append(f"{reason}: {', '.join(dict.fromkeys(tuned.loc[is_untried, 'method']))}.")
    if len(failed):
        names = ", ".join(dict.fromkeys(failed["method"]))
        parts.append(f"{counted(len(failed), 'configuration')} without a result (the column note says why): {names}.")
    return " ".join(parts)


def _name(run) -> str:
    return " with ".join(filter(None, (run["method"], run["parameters"])))
