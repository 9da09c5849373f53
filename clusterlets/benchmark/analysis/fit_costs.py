"""Time and memory of the fits of each configuration. They differ between machines, so they are not among the results."""

from collections.abc import Mapping

import pandas as pd

from clusterlets.benchmark.analysis import selection

COLUMNS = ["dataset", "k", "method", "parameters", "fits", "seconds", "memory_mb"]
_CONFIGURATION = COLUMNS[:4]


def by_configuration(fits: pd.DataFrame, method_settings: Mapping[str, Mapping]) -> pd.DataFrame:
    """Median time and largest memory of the fits of each configuration: ``accounts/leaderboard_costs.csv``, :data:`COLUMNS`.

    ``fits`` has one row per fit, like ``accounts/fits.csv``; a fit that was stopped counts with the time until it was stopped.
    ``method_settings`` are those of the resolved configuration. The names of methods are those of the leaderboard, so a fit
    with several outputs counts under the name of each output.
    """
    outputs = {
        method: list(selection.paper_names(pd.Series(entry["names"], dtype=object)))
        for method, entry in method_settings.items()
    }
    costs = fits.assign(method=fits["method"].map(outputs), parameters=fits["parameters"].fillna("")).explode("method")
    costs = costs.groupby(_CONFIGURATION, sort=False).agg(
        fits=("seconds", "size"), seconds=("seconds", "median"), memory_mb=("memory_mb", "max")
    )
    return costs.reset_index()
