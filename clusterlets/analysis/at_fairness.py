"""The highest cohesion of each method under the same limits on the mean deviation."""

from itertools import product

import pandas as pd

from clusterlets.analysis import selection
from clusterlets.text import counted, markdown_table

LIMITS = (0.01, 0.02, 0.05, 0.1)
_KEYS = ["limit_cases", "dataset", "limit", "method"]
COLUMNS = [
    *_KEYS,
    *("matcher", "k", "hops", "omega", "parameters", "seeds"),
    *("n_clusters", "deviation_mean", "cohesion", "overlap", "best"),
]
LEFT_OUT, KEPT = "left out", "kept"


def at_given_fairness(runs: pd.DataFrame) -> pd.DataFrame:
    """Each method's highest cohesion within each limit on the mean deviation, by dataset: ``at_given_fairness.csv``.

    Configurations are compared by their means over the first ten seeds. Limit cases, judged by these means as in the tables by
    configuration mean, are once left out and once kept, because the rule leaves out nearly all of C. Ties are broken as in
    those tables. The frame has ``COLUMNS``, and one row for each rule on limit cases, dataset, limit and method, without
    numbers if no configuration of the method keeps the limit. ``best`` marks the highest cohesion of all, to 12 decimals.
    """
    runs = selection.seeds_of_paper(runs)
    means = selection.configuration_means(selection.ok(runs))
    by_rule = {LEFT_OUT: selection.without_limit_cases(means), KEPT: means}
    highest = pd.concat([_highest(rows, limit).assign(limit_cases=rule) for rule, rows in by_rule.items() for limit in LIMITS])
    datasets, methods = sorted(set(runs["dataset"])), selection.in_order(runs["method"], selection.METHODS)
    combinations = pd.DataFrame(product(by_rule, datasets, LIMITS, methods), columns=_KEYS).astype({"limit": float})
    expected = combinations.merge(runs[["dataset", "method"]].drop_duplicates())
    frame = expected.merge(highest, on=_KEYS, how="left")
    frame = frame.assign(cohesion=frame["cohesion"].astype(float).round(12))
    frame["best"] = frame["cohesion"] == frame.groupby(_KEYS[:3])["cohesion"].transform("max")
    return frame.astype(dict.fromkeys(("k", "hops", "seeds"), "Int64"))[COLUMNS]


def _highest(means: pd.DataFrame, limit: float) -> pd.DataFrame:
    fair_enough = means[means["deviation_mean"].round(12) <= limit]
    return selection.best(fair_enough, "cohesion", ["dataset", "method"]).assign(limit=limit)


def counts(frame: pd.DataFrame) -> pd.DataFrame:
    """On how many datasets each method keeps each limit, and on how many it has the highest cohesion of all.

    Columns ``limit_cases``, ``limit``, ``method``, ``datasets``, ``reached`` and ``best``.
    """
    grouped = frame.assign(reached=frame["cohesion"].notna()).groupby(["limit_cases", "limit", "method"], sort=False)
    return grouped.agg(datasets=("dataset", "nunique"), reached=("reached", "sum"), best=("best", "sum")).reset_index()


def sentences(frame: pd.DataFrame) -> list[str]:
    """A sentence per limit: which method has the highest cohesion, and on how many datasets each method keeps the limit."""
    lines = []
    for (rule, limit), group in counts(frame).groupby(["limit_cases", "limit"], sort=False):
        winners = group[group["best"] > 0].sort_values("best", ascending=False, kind="stable").to_dict("records")
        datasets = counted(group["datasets"].max(), "dataset")
        highest = ", ".join(f"{row['method']} has it on {row['best']}" for row in winners) or "no method keeps the limit"
        reached = ", ".join(f"{row['method']} {row['reached']}" for row in group.to_dict("records"))
        lines.append(
            f"Highest cohesion at a mean deviation of at most {limit:g}, limit cases {rule}, on {datasets}: {highest}. "
            f"On how many each keeps the limit: {reached}."
        )
    return lines


def to_markdown(frame: pd.DataFrame) -> str:
    """The sentences and the counts."""
    titles = {"limit_cases": "limit cases", "reached": "keeps the limit", "best": "highest cohesion"}
    rule = "Configurations by their means over ten seeds. Limit cases: fewer than 3 clusters, or an overlap of 0.5 or more."
    table = markdown_table(counts(frame).rename(columns=titles))
    return "\n".join(
        ["# Cohesion at a given fairness\n", f"{rule}\n", *(f"- {line}" for line in sentences(frame)), "", *table, ""]
    )
