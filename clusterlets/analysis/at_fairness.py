"""The highest cohesion of each method under the same limits on the mean deviation."""

from itertools import product

import pandas as pd

from clusterlets.analysis import selection
from clusterlets.text import counted, markdown_table

#: Limits on the mean deviation.
LIMITS = (0.01, 0.02, 0.05, 0.1)
_KEYS = ["degenerate", "dataset", "limit", "method"]
COLUMNS = [
    *_KEYS,
    *("matcher", "k", "hops", "omega", "parameters", "seeds"),
    *("n_clusters", "deviation_mean", "cohesion", "overlap", "best"),
]
LEFT_OUT, KEPT = "left out", "kept"  # the degenerate clusterings


def at_given_fairness(runs: pd.DataFrame) -> pd.DataFrame:
    """The highest cohesion of each method on each dataset within each limit: ``at_given_fairness.csv``, columns ``COLUMNS``.

    Configurations are compared by their means over the first ten seeds. These means also decide what is degenerate.
    :func:`selection.best` says how ties are broken. Each dataset, limit and method has two rows, without and with degenerate
    clusterings, because nearly all configurations of the matcher C are degenerate. A row has no numbers if no configuration
    of the method keeps the limit. ``best`` marks the highest cohesion of all methods, to 12 decimals.
    """
    runs = selection.seeds_of_paper(runs)
    means = selection.configuration_means(selection.ok(runs))
    means_by_degenerate = {LEFT_OUT: selection.without_degenerate(means), KEPT: means}
    best = pd.concat(
        [
            _best_within(rows, limit).assign(degenerate=degenerate)
            for degenerate, rows in means_by_degenerate.items()
            for limit in LIMITS
        ]
    )
    datasets, methods = sorted(set(runs["dataset"])), selection.in_order(runs["method"], selection.METHODS)
    all_keys = pd.DataFrame(product(means_by_degenerate, datasets, LIMITS, methods), columns=_KEYS).astype({"limit": float})
    keys = all_keys.merge(runs[["dataset", "method"]].drop_duplicates())
    frame = keys.merge(best, on=_KEYS, how="left")
    frame = frame.assign(cohesion=frame["cohesion"].astype(float).round(12))
    frame["best"] = frame["cohesion"] == frame.groupby(_KEYS[:3])["cohesion"].transform("max")
    return frame.astype(dict.fromkeys(("k", "hops", "seeds"), "Int64"))[COLUMNS]


def _best_within(means: pd.DataFrame, limit: float) -> pd.DataFrame:
    fair_enough = means[means["deviation_mean"].round(12) <= limit]
    return selection.best(fair_enough, "cohesion", ["dataset", "method"]).assign(limit=limit)


def counts(frame: pd.DataFrame) -> pd.DataFrame:
    """Counts of datasets for each limit and method, without and with the degenerate clusterings.

    ``datasets`` counts all datasets of the method, ``reached`` those on which it keeps the limit, and ``best`` those on which
    it has the highest cohesion.
    """
    grouped = frame.assign(reached=frame["cohesion"].notna()).groupby(["degenerate", "limit", "method"], sort=False)
    return grouped.agg(datasets=("dataset", "nunique"), reached=("reached", "sum"), best=("best", "sum")).reset_index()


def sentences(frame: pd.DataFrame) -> list[str]:
    """How often each method has the highest cohesion and keeps a limit, without and with degenerate clusterings."""
    lines = []
    for (degenerate, limit), rows in counts(frame).groupby(["degenerate", "limit"], sort=False):
        winners = rows[rows["best"] > 0].sort_values("best", ascending=False, kind="stable").to_dict("records")
        datasets = counted(rows["datasets"].max(), "dataset")
        best = ", ".join(f"{row['method']} on {row['best']}" for row in winners) or "no method keeps the limit"
        keeping = ", ".join(f"{row['method']} {row['reached']}" for row in rows.to_dict("records"))
        lines.append(
            f"Highest cohesion at a mean deviation of at most {limit:g}, degenerate clusterings {degenerate}, on {datasets}: "
            f"{best}. Datasets on which each method keeps the limit: {keeping}."
        )
    return lines


def to_markdown(frame: pd.DataFrame) -> str:
    """The page ``at_given_fairness.md``: the sentences as a list, and the counts as a table."""
    titles = {"degenerate": "degenerate ones", "reached": "keeps the limit", "best": "highest cohesion"}
    note = "Means of configurations over ten seeds. Degenerate ones have fewer than 3 clusters, or an overlap of 0.5 or more."
    table = markdown_table(counts(frame).rename(columns=titles))
    return "\n".join(
        ["# Cohesion at a given fairness\n", f"{note}\n", *(f"- {line}" for line in sentences(frame)), "", *table, ""]
    )
