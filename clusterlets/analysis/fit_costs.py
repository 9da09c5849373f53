"""Time and memory of the fits of each configuration. The table differs between machines, so it is kept apart from results."""

from collections.abc import Mapping

import pandas as pd

from clusterlets.analysis import selection

COLUMNS = ["dataset", "k", "method", "parameters", "fits", "seconds", "memory_mb"]
_CONFIGURATION = COLUMNS[:4]


def by_configuration(fits: pd.DataFrame, grids: Mapping[str, Mapping]) -> pd.DataFrame:
    """Median seconds and largest memory of each configuration: ``accounts/leaderboard_costs.csv``, :data:`COLUMNS`.

    ``fits`` has one row per fit, as ``accounts/fits.csv``; a fit that was stopped counts with its time until then. ``grids``
    are those of the resolved configuration. Methods are named as in the leaderboard, and each output of a fit has its own row.
    """
    names = {name: list(selection.paper_names(pd.Series(grid["names"], dtype=object))) for name, grid in grids.items()}
    costs = fits.assign(method=fits["method"].map(names), parameters=fits["parameters"].fillna("")).explode("method")
    costs = costs.groupby(_CONFIGURATION, sort=False).agg(
        fits=("seconds", "size"), seconds=("seconds", "median"), memory_mb=("memory_mb", "max")
    )
    return costs.reset_index()
