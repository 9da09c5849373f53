"""The recommendation in sentences."""

from typing import TYPE_CHECKING

from clusterlets.text import counted
from clusterlets.tuning.trials import NOT_TRIED, TIME_OVER

if TYPE_CHECKING:
    import pandas as pd

    from clusterlets.tuning import Tuned


def sentences(tuned: "Tuned") -> str:
    """What to use, its price, the runner-up, and what could not be tried; InvalidInput if there is nothing to recommend."""
    tuned.best()
    first = tuned.iloc[0]
    limit, clusters = f"{tuned.max_deviation:g}", counted(tuned.n_clusters, "cluster")
    name = " with ".join(filter(None, (first["method"], first["parameters"])))
    scores = (
        f"it costs {first['price']:.2f} times the least known k-means cost, and its largest deviation is "
        f"{first['deviation_max']:.3f} (medians over seeds that chose nothing)"
    )
    if tuned.keeps_limit:
        ranked = tuned[tuned["rank"].notna()]
        cheapest = f"it is the cheapest of the {len(ranked)} methods that keep a largest deviation of {limit}"
        lines = [f"Take {name}: {cheapest if len(ranked) > 1 else f'no other method keeps a largest deviation of {limit}'}."]
        lines.append(f"With {clusters} asked for, {scores}.")
        if first["role"] == "baseline":
            lines.append("It is a control that does not know the groups: on this table the limit takes no fair method.")
        if len(ranked) > 1:
            second = ranked.iloc[1]
            second_name = " with ".join(filter(None, (second["method"], second["parameters"])))
            lines.append(f"Next is {second_name}, at {second['price']:.2f} times.")
    else:
        lines = [f"No method keeps a largest deviation of {limit}.", f"The nearest to it is {name}: {scores}."]
        lines.append("Allow a larger deviation, fewer clusters or more minutes.")
    if abs(first["n_clusters"] - tuned.n_clusters) >= 1:
        lines.append(f"It gives {first['n_clusters']:g} clusters in place of {tuned.n_clusters}.")
    out_of_time = tuned["statuses"].str.fullmatch(rf"{NOT_TRIED} \d+") & (tuned["note"] == TIME_OVER)
    failed = tuned[(tuned["ok"] == 0) & ~out_of_time]
    if out_of_time.any():
        lines.append(f"The time was over before these were tried: {_names(tuned[out_of_time])}. More minutes would try them.")
    if len(failed):
        lines.append(f"{counted(len(failed), 'configuration')} without a result on those seeds: {_names(failed)}.")
        lines.append("The table says why.")
    return " ".join(lines)


def _names(configurations: "pd.DataFrame") -> str:
    return ", ".join(dict.fromkeys(configurations["method"]))
