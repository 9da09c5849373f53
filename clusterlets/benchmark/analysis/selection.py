"""Which runs a table includes, and which run is the best: the rules behind the paper's tables 2 to 4."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from clusterlets.benchmark.analysis.descriptive import std
from clusterlets.benchmark.grid.runs_frame import NUMBER_COLUMNS
from clusterlets.benchmark.grid.variants import SEEDS_OF_PAPER

# The paper's names for our matchers, in the order of its table 1.
PAPER_NAMES = {"C": "C", "G-B": "G-B", "D": "D-PB", "B": "B-PB", "G-D": "G-D-PB"}
METHODS = ("Clusterlets", "FRAC (nearest)", "FRAC (fair)", "k-means", "random")
COMPARED = METHODS[:3]  # without the controls
#: The paper's methods and the controls, matcher by matcher.
WITH_MATCHERS = (*PAPER_NAMES.values(), *METHODS[1:])
CONFIGURATION = ["dataset", "method", "matcher", "k", "hops", "omega", "parameters"]

FEWEST_CLUSTERS = 3
OVERLAP_LIMIT = 0.5

# The columns that break ties, in this order: 1 if a lower value is better, -1 if a higher one is.
_PREFERENCE = {"deviation_max": 1, "cohesion": -1, "k": 1, "hops": 1, "seed": 1, "omega": 1, "matcher": 1}


def in_order(values: Iterable[str], first: Iterable[str]) -> list[str]:
    """The distinct values: first those that are in ``first``, in the order of ``first``, then the others, sorted."""
    values, first = set(values), list(first)
    return [value for value in first if value in values] + sorted(values.difference(first))


def paper_names(matchers: pd.Series) -> pd.Series:
    """The paper's names of matchers; a matcher that is not in the paper keeps its own name."""
    return matchers.map(lambda matcher: PAPER_NAMES.get(matcher, matcher), na_action="ignore")


def names(runs: pd.DataFrame) -> pd.Series:
    """The name to display for each run: the paper's name of its matcher, or its method if it has no matcher."""
    return paper_names(runs["matcher"]).where(runs["matcher"].notna(), runs["method"])


def without_other_methods(runs: pd.DataFrame, method_settings: Mapping[str, Mapping]) -> pd.DataFrame:
    """Drop the runs of methods of this package that are not in the paper. Matchers and user-defined methods remain.

    The dropped methods are run with a limit on unfairness, which is infeasible in some cases: ranking them by mean deviation
    would rank their limits. The leaderboard compares them. ``method_settings`` are those of the resolved configuration.
    """
    packaged_names = {
        name for entry in method_settings.values() if not {"path", "command"} & entry.keys() for name in entry["names"]
    }
    return runs[runs["method"].isin(METHODS) | ~runs["method"].isin(packaged_names)]


def ok(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with status ok: only these have metrics."""
    return runs[runs["status"] == "ok"]


def seeds_of_paper(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with the first ten seeds, as many as in the paper: more seeds would make the best single run better."""
    return runs[runs["seed"] < SEEDS_OF_PAPER]


def swap_frac_outputs(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with the two outputs of FRAC swapped. The paper scored FRAC (nearest); swapped, FRAC (fair) is scored."""
    nearest, fair = "FRAC (nearest)", "FRAC (fair)"
    return runs.replace({"method": {nearest: fair, fair: nearest}})


def groups_of_seeds(runs: pd.DataFrame) -> list[pd.DataFrame]:
    """The runs, split by seed into groups of ten seeds that are renumbered 0 to 9. A group that lacks a seed is left out."""
    groups = [group for _, group in runs.groupby(runs["seed"] // SEEDS_OF_PAPER)]
    complete = [group for group in groups if group["seed"].nunique() == SEEDS_OF_PAPER]
    return [group.assign(seed=group["seed"] % SEEDS_OF_PAPER) for group in complete]


def without_degenerate(runs: pd.DataFrame) -> pd.DataFrame:
    """Drop runs with fewer than 3 clusters or an overlap of .5 or more, as the captions of tables 2 to 4 say."""
    return runs[(runs["n_clusters"] >= FEWEST_CLUSTERS) & (runs["overlap"] < OVERLAP_LIMIT)]


def configuration_means(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per configuration: means over its seeds, the spread of ``deviation_mean``, and the number of seeds."""
    metrics = [column for column in NUMBER_COLUMNS if column not in (*CONFIGURATION, "seed")]
    grouped = runs.groupby(CONFIGURATION, dropna=False, sort=False)
    spreads = grouped["deviation_mean"].agg(std)
    return grouped[metrics].mean().assign(deviation_mean_std=spreads, seeds=grouped.size()).reset_index()


def best(candidates: pd.DataFrame, by: str, per: list[str]) -> pd.DataFrame:
    """The best candidate for each combination of the columns ``per``, by ``deviation_mean`` (lowest) or ``cohesion`` (highest).

    Ties go to the lower maximum deviation, then to the higher cohesion, then to the smaller k, hops, seed and omega, and last
    to the matcher that comes first in table 1. Values that agree to 12 decimals are ties: the last bits of a sum are no reason
    to prefer a run. Candidates without a value are ignored.
    """
    candidates = candidates[candidates[by].notna()]
    preference = {by: -1 if by == "cohesion" else 1} | {
        column: sign for column, sign in _PREFERENCE.items() if column in candidates and column != by
    }
    matcher_order = {matcher: position for position, matcher in enumerate(PAPER_NAMES)}
    keys = [
        sign * (candidates[column].map(matcher_order) if column == "matcher" else candidates[column]).to_numpy(float).round(12)
        for column, sign in preference.items()
    ]
    return candidates.iloc[np.lexsort(keys[::-1])].drop_duplicates(per)  # the last key of lexsort counts most


def best_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """The best run by mean deviation for each dataset and each of METHODS. Tables 2 and 4 show those of the paper's methods."""
    runs = ok(seeds_of_paper(runs[runs["method"].isin(METHODS)]))
    return best(without_degenerate(runs), "deviation_mean", ["dataset", "method"]).sort_index()
