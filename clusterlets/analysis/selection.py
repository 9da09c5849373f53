"""Which runs enter, and which run is the best: the rules behind the paper's tables 2 to 4."""

from collections.abc import Iterable, Mapping

import pandas as pd

from clusterlets.analysis.descriptive import std
from clusterlets.grid.runs_frame import NUMBERS
from clusterlets.grid.variants import SEEDS_OF_PAPER

# The paper's names of our matchers, in the order of its table 1.
PAPER_NAMES = {"C": "C", "G-B": "G-B", "D": "D-PB", "B": "B-PB", "G-D": "G-D-PB"}
METHODS = ("Clusterlets", "FRAC (nearest)", "FRAC (fair)", "k-means", "random")
COMPARED = METHODS[:3]
#: The paper's methods and the controls, matcher by matcher.
WITH_MATCHERS = (*PAPER_NAMES.values(), *METHODS[1:])
CONFIGURATION = ["dataset", "method", "matcher", "k", "hops", "omega", "parameters"]

FEWEST_CLUSTERS = 3
OVERLAP_LIMIT = 0.5

# 1: lower is better, -1: higher is better. In the order of the tie rules; omega and matcher only make the order total.
_PREFERENCE = {"deviation_max": 1, "cohesion": -1, "k": 1, "hops": 1, "seed": 1, "omega": 1, "matcher": 1}


def in_order(values: Iterable[str], first: Iterable[str]) -> list[str]:
    """The distinct values: those in ``first`` in its order, then the others by name."""
    values, first = set(values), list(first)
    return [value for value in first if value in values] + sorted(values.difference(first))


def paper_names(matchers: pd.Series) -> pd.Series:
    """Matchers by the paper's names; one that is not in the paper keeps its own."""
    return matchers.map(lambda matcher: PAPER_NAMES.get(matcher, matcher), na_action="ignore")


def names(runs: pd.DataFrame) -> pd.Series:
    """Displayed method of each run: the paper's name of the matcher, or the method if there is no matcher."""
    return paper_names(runs["matcher"]).where(runs["matcher"].notna(), runs["method"])


def without_other_methods(runs: pd.DataFrame, grids: Mapping[str, Mapping]) -> pd.DataFrame:
    """The runs without the package's methods that the paper lacks; matchers and methods of the user's own remain.

    Such a method is given a limit, so a mean deviation shows what was asked for, and in some blocks it is infeasible. The
    leaderboard compares it. ``grids`` are those of the resolved configuration.
    """
    packaged = {name for grid in grids.values() if not {"path", "command"} & grid.keys() for name in grid["names"]}
    return runs[runs["method"].isin(METHODS) | ~runs["method"].isin(packaged)]


def ok(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that have metrics."""
    return runs[runs["status"] == "ok"]


def seeds_of_paper(runs: pd.DataFrame) -> pd.DataFrame:
    """The first ten seeds: choosing the best single run among more seeds would be easier than in the paper."""
    return runs[runs["seed"] < SEEDS_OF_PAPER]


def swap_frac_outputs(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with FRAC (fair) in place of FRAC (nearest), which the paper scored, and the other way round."""
    nearest, fair = "FRAC (nearest)", "FRAC (fair)"
    return runs.replace({"method": {nearest: fair, fair: nearest}})


def groups_of_seeds(runs: pd.DataFrame) -> list[pd.DataFrame]:
    """Disjoint groups of ten seeds, renumbered 0 to 9 in each; a group that lacks a seed is left out."""
    groups = [group for _, group in runs.groupby(runs["seed"] // SEEDS_OF_PAPER)]
    whole = [group for group in groups if group["seed"].nunique() == SEEDS_OF_PAPER]
    return [group.assign(seed=group["seed"] % SEEDS_OF_PAPER) for group in whole]


def without_limit_cases(runs: pd.DataFrame) -> pd.DataFrame:
    """Drop fewer than 3 clusters and an overlap of .5 or more (captions of tables 2 to 4)."""
    return runs[(runs["n_clusters"] >= FEWEST_CLUSTERS) & (runs["overlap"] < OVERLAP_LIMIT)]


def configuration_means(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per configuration: means over its seeds, the spread of the mean deviation, and the number of seeds."""
    metrics = [column for column in NUMBERS if column not in (*CONFIGURATION, "seed")]
    grouped = runs.groupby(CONFIGURATION, dropna=False, sort=False)
    spreads = grouped["deviation_mean"].agg(std)
    return grouped[metrics].mean().assign(deviation_mean_std=spreads, seeds=grouped.size()).reset_index()


def best(candidates: pd.DataFrame, by: str, per: list[str]) -> pd.DataFrame:
    """The best candidate of each group by ``deviation_mean`` (lowest) or ``cohesion`` (highest).

    Ties: lower max deviation, higher cohesion, smaller k, hops, seed; then smaller omega, then the
    matcher's position in table 1. Values that agree to 12 decimals are ties: the last bits of a sum are
    no reason to prefer a run. Candidates without a value are ignored.
    """
    candidates = candidates[candidates[by].notna()]
    preference = {by: -1 if by == "cohesion" else 1} | {
        column: sign for column, sign in _PREFERENCE.items() if column in candidates and column != by
    }
    matcher_order = {matcher: position for position, matcher in enumerate(PAPER_NAMES)}
    keys = candidates.assign(matcher=candidates["matcher"].map(matcher_order))[list(preference)].astype(float)
    order = (keys.round(12) * pd.Series(preference)).sort_values(list(preference), kind="stable").index
    return candidates.loc[order].drop_duplicates(per)


def best_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """The best run of each dataset and method by mean deviation: those of tables 2 (Clusterlets) and 4, and the controls'."""
    runs = ok(seeds_of_paper(runs[runs["method"].isin(METHODS)]))
    return best(without_limit_cases(runs), "deviation_mean", ["dataset", "method"]).sort_index()
