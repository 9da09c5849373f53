"""The recommendation in sentences."""

from typing import TYPE_CHECKING

import pandas as pd

from clusterlets.algorithms.plain_costs import number_of_starts
from clusterlets.metrics.prices import BELOW_ONE
from clusterlets.text import counted
from clusterlets.tuning.requirement import LIMITED
from clusterlets.tuning.trials import NOT_TRIED, REFERENCE

if TYPE_CHECKING:
    from clusterlets.tuning import Tuned

_MAX_BOUND = 1.5  # times plain k-means: a looser bound tells nothing


def sentences(tuned: "Tuned") -> str:
    """What to take and how good it is, what other limits cost, and what was not tried; InvalidInput if there is nothing."""
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
        lines = [f"Take {name}: the cheapest known of {request}.", f"{scores[0].upper()}{scores[1:]}.", *_quality(best)]
        plain = tuned.runs[(tuned.runs["method"] == REFERENCE) & tuned.runs["keeps"]]
        if len(plain):
            lines.append(
                f"Plain k-means, which does not know the groups, keeps the limit too, at {plain['price'].min():.3f} times: on "
                "this table you need no fair method."
            )
        rest = tuned[tuned["keeps"] & (tuned["method"] != best["method"])]
        if len(rest):
            lines.append(f"Next method: {_name(rest.iloc[0])}, {rest.iloc[0]['price']:.3f} times.")
    else:
        lines = [f"No run gives {request}.", f"The nearest is {name}: {scores}, {counted(int(best['n_clusters']), 'cluster')}."]
        infeasible = tuned[(tuned["method"] == LIMITED) & tuned["statuses"].str.contains("infeasible")]
        lines += [f"{_name(row)}: {row['note']}" for row in infeasible.to_dict("records")]
        lines.append("Allow a larger deviation, fewer clusters or more minutes.")
    if (tuned.runs["price"].round(3) < 1).any():
        lines.append(f"A price {BELOW_ONE}.")
    return "\n".join(filter(None, (" ".join(lines), _comparison(tuned), _without_result(tuned))))


def _quality(best) -> list[str]:
    if best["price"] > _MAX_BOUND:
        return []
    price = round(best["price"], 3)
    above = f"At most {price - 1:.1%} above" if price >= 1 else f"{1 - price:.1%} below"
    above += " the best plain k-means found"
    gap = best["assignment_gap"]
    return [f"{above}{f'; certificate at these centres: {gap:.2%}' if gap < _MAX_BOUND - 1 else ''}."]


def _comparison(tuned: "Tuned") -> str:
    """A line for half the limits, the limits, twice the limits, and no limit: the lowest price known for each."""
    task, runs = tuned.task, tuned.runs

    def line(name: str, within: pd.DataFrame, otherwise: tuple[str, str, str]) -> tuple[str, ...]:
        if within.empty:
            return name, *otherwise
        run = within.loc[within["price"].idxmin()]
        return name, f"{run['price']:.3f}", f"{run['deviation_max']:.3f}", _name(run)

    lines = []
    for name, multiple in task.requirement.compared().items():
        within = runs[[task.keeps(run, multiple) for run in runs.to_dict("records")]]
        lines.append(line(name, within, ("none known", "", "")))
    plain = f"{REFERENCE}, the best of {number_of_starts(len(task.X))} starts"
    lines.append(line("no limit", runs[runs["price"] < 1], ("1.000", "", plain)))
    frame = pd.DataFrame(lines, columns=["", "price", "deviation", "method"])
    return f"\n{frame.to_string(index=False)}\n"


def _without_result(tuned: "Tuned") -> str:
    untried = tuned["statuses"].str.startswith(NOT_TRIED)
    failed = tuned[~tuned["statuses"].str.contains("ok") & ~untried]
    lines = []
    if untried.any():
        reason = "Interrupted before these were tried" if tuned.interrupted else "The time was over before these were tried"
        lines.append(f"{reason}: {', '.join(dict.fromkeys(tuned.loc[untried, 'method']))}.")
    if len(failed):
        names = ", ".join(dict.fromkeys(failed["method"]))
        lines.append(f"{counted(len(failed), 'configuration')} without a result, the table says why: {names}.")
    return " ".join(lines)


def _name(run) -> str:
    return " with ".join(filter(None, (run["method"], run["parameters"])))
