"""The recommendation in sentences."""

from typing import TYPE_CHECKING

from clusterlets.text import counted
from clusterlets.tuning.trials import NOT_TRIED, TIME_OVER

if TYPE_CHECKING:
    import pandas as pd

    from clusterlets.tuning import Tuned


def in_words(found: "Tuned") -> str:
    """What to take, at what price, beside what, and what could not be tried; InvalidInput if there is nothing to take."""
    found.best()
    first = found.iloc[0]
    limit, clusters = f"{found.max_deviation:g}", counted(found.n_clusters, "cluster")
    name = " with ".join(filter(None, (first["method"], first["parameters"])))
    scores = (
        f"it costs {first['price']:.2f} times the least known k-means cost, and its largest deviation is "
        f"{first['deviation_max']:.3f} (medians over seeds that chose nothing)"
    )
    if found.keeps_limit:
        ranked = found[found["rank"].notna()]
        cheapest = f"it is the cheapest of the {len(ranked)} methods that keep a largest deviation of {limit}"
        said = [f"Take {name}: {cheapest if len(ranked) > 1 else f'no other method keeps a largest deviation of {limit}'}."]
        said.append(f"With {clusters} asked for, {scores}.")
        if first["role"] == "baseline":
            said.append("It is a control that does not know the groups: on this table the limit takes no fair method.")
        if len(ranked) > 1:
            second = ranked.iloc[1]
            words = " with ".join(filter(None, (second["method"], second["parameters"])))
            said.append(f"Next is {words}, at {second['price']:.2f} times.")
    else:
        said = [f"No method keeps a largest deviation of {limit}.", f"The nearest to it is {name}: {scores}."]
        said.append("Allow a larger deviation, fewer clusters or more minutes.")
    if abs(first["n_clusters"] - found.n_clusters) >= 1:
        said.append(f"It gives {first['n_clusters']:g} clusters in place of {found.n_clusters}.")
    late = found["statuses"].str.fullmatch(rf"{NOT_TRIED} \d+") & (found["note"] == TIME_OVER)
    without = found[(found["ok"] == 0) & ~late]
    if late.any():
        said.append(f"The time was over before these were tried: {_names(found[late])}. More minutes would try them.")
    if len(without):
        said.append(f"{counted(len(without), 'configuration')} without a result on those seeds: {_names(without)}.")
        said.append("The table says why.")
    return " ".join(said)


def _names(configurations: "pd.DataFrame") -> str:
    return ", ".join(dict.fromkeys(configurations["method"]))
