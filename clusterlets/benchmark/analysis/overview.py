"""Every method of a grid in one table: its source, the statuses of its runs, and their mean deviation, cohesion and price."""

from collections.abc import Mapping

import pandas as pd

from clusterlets import methods
from clusterlets.benchmark.analysis import selection

_AVERAGED_COLUMNS = ("deviation_mean", "deviation_max", "cohesion", "price_of_fairness")


def by_method(runs: pd.DataFrame, method_settings: Mapping[str, Mapping]) -> pd.DataFrame:
    """One row per method: ``results/methods.csv``.

    ``runs`` are all runs, and ``method_settings`` those of the resolved configuration, with labels, roles and citations. The
    columns are method, label, role, citation, configurations (number of values of k, times that of settings of the
    parameters), runs, a count for each status that occurs, and means over the runs that are ok.
    """
    runs = runs.assign(name=selection.names(runs))
    order = selection.in_order(runs["name"], selection.WITH_MATCHERS)
    by_name = runs.groupby("name")
    statuses = pd.crosstab(runs["name"], runs["status"])
    means = selection.ok(runs).groupby("name")[list(_AVERAGED_COLUMNS)].mean()
    configurations = by_name[["k", "parameters"]].agg(lambda column: column.fillna("").nunique())
    entry_by_name = {
        name: (method, entry)
        for method, entry in method_settings.items()
        for name in selection.paper_names(pd.Series(entry["names"]))
    }
    table = pd.DataFrame(
        {
            "method": pd.Series(order, dtype=object),
            **{key: [entry_by_name.get(name, ("", {}))[1].get(key, "") for name in order] for key in ("label", "role")},
            "citation": [_citation(*entry_by_name[name]) if name in entry_by_name else "" for name in order],
            "configurations": configurations.prod(axis=1).reindex(order).to_numpy(),
            "runs": by_name.size().reindex(order).to_numpy(),
        }
    )
    return table.join(statuses.rename_axis(columns=None), on="method").join(means, on="method")


def _citation(method: str, entry: Mapping) -> str:
    """The publication of a method. Only entries of the user's own methods hold it, so that another citation reruns nothing."""
    return entry["citation"] if "citation" in entry else methods.get(method).citation
