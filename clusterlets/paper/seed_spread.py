"""How far the numbers of our tables move between groups of seeds, estimated from one group.

The paper's numbers come from ten unknown seeds, ours from ten others. docs/reproduction.md gives the rule and its reasons.
"""

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from clusterlets.analysis import selection
from clusterlets.paper import cells, tables

_DECIMALS = 12
# For tables 2, 3 and 4: the quantity that selects runs, and the methods whose runs are candidates.
_CHOSEN_BY = (
    ("deviation_mean", selection.COMPARED[:1]),
    ("cohesion", selection.COMPARED[:1]),
    ("deviation_mean", selection.COMPARED),
)
_CONFIDENCE = 0.975  # quantile of Student's t: 95 %, two-sided
_QUANTITIES = ["size", "deviation_mean", "deviation_std", "deviation_max", "cohesion", "overlap"]


def seed_spreads(runs: pd.DataFrame) -> pd.DataFrame:
    """The seed spread of every measured number of our five tables.

    Parameters
    ----------
    runs : DataFrame
        As in ``runs.csv``; the first ten seeds enter, or those of them that were run.

    Returns
    -------
    DataFrame
        ``table``, ``row``, ``quantity`` and ``seed_spread``, in the units of the number, rounded to twelve decimals; NaN
        if no two groups of seeds both give the number. Takes O(n log n) for n runs, and tables 1 and 5 once per seed.
    """
    runs = selection.seeds_of_paper(runs)
    if runs.empty:
        return pd.DataFrame(columns=[*cells.KEY, "seed_spread"]).astype({"seed_spread": float})
    of_best_runs = [
        cells.frame_cells(name, _spreads_of_best_runs(runs[runs["method"].isin(methods)], by))
        for name, (by, methods) in zip(cells.SELECTIONS, _CHOSEN_BY, strict=True)
    ]
    types = dict.fromkeys(cells.KEY, object) | {"value": float}
    spreads = pd.concat(
        [part[list(types)].astype(types) for part in (*of_best_runs, _spreads_of_averages(runs))], ignore_index=True
    )
    return spreads.round(_DECIMALS).rename(columns={"value": "seed_spread"})


def _spreads_of_best_runs(runs: pd.DataFrame, by: str) -> pd.DataFrame:
    """One row for each dataset and method: the largest differences of its best run between halves of the seeds."""
    candidates = selection.without_limit_cases(selection.ok(runs)).rename(columns={"n_clusters": "size"})
    seeds = np.sort(runs["seed"].unique())
    winners = selection.best(candidates, by, ["dataset", "method", "seed"])
    rows = [
        dict(zip(("dataset", "method"), names, strict=True)) | dict(zip(_QUANTITIES, gaps, strict=True))
        for names, group in winners.groupby(["dataset", "method"])
        for gaps in [between_halves(group[_QUANTITIES].to_numpy(float), np.searchsorted(seeds, group["seed"]), len(seeds))]
    ]
    return pd.DataFrame(rows, columns=["dataset", "method", *_QUANTITIES])


def between_halves(values: np.ndarray, seeds: np.ndarray, n_seeds: int) -> np.ndarray:
    """The largest difference between the best run on one half of the seeds and the best run on the other half.

    Parameters
    ----------
    values : float array (n, q)
        Quantities of the best run of each seed, in the order of preference.
    seeds : int array (n,)
        The seed of each, from 0 to ``n_seeds`` - 1, without duplicates; some may be missing.
    n_seeds : int
        The seeds are split into halves in every way, 252 for ten; if their number is odd, one half has one more.

    Returns
    -------
    float array (q,)
        NaN if no split leaves a run in both halves. O(binomial(n_seeds, n_seeds / 2) q).
    """
    halves = np.array([np.isin(seeds, half) for half in combinations(range(n_seeds), n_seeds // 2)])
    halves = halves[halves.any(axis=1) & ~halves.all(axis=1)]
    if not len(halves):
        return np.full(values.shape[1], np.nan)
    return np.abs(values[halves.argmax(axis=1)] - values[(~halves).argmax(axis=1)]).max(axis=0)


def _spreads_of_averages(runs: pd.DataFrame) -> pd.DataFrame:
    """The cells of tables 1 and 5, each with Student's t times the standard error of a difference of two such numbers."""
    tables_without = [tables.make(runs[runs["seed"] != seed], cells.AVERAGES) for seed in np.sort(runs["seed"].unique())]
    numbers = [
        cells.table_cells(made_tables, cells.AVERAGES).set_index(cells.KEY)["reproduced"] for made_tables in tables_without
    ]
    by_seed_left_out = pd.concat(numbers, axis=1).astype(float)
    return by_seed_left_out.index.to_frame(index=False).assign(value=jackknife(by_seed_left_out.to_numpy().T))


def jackknife(estimates: np.ndarray) -> np.ndarray:
    """Half the width of the 95 % interval for the same number from as many other seeds.

    Parameters
    ----------
    left_out : float array (n, q)
        Each number, computed without one of the n seeds.

    Returns
    -------
    float array (q,)
        t * sqrt(2 (n - 1) / n * sum of squared distances to the mean), with Student's t of n - 1 degrees of freedom to two
        decimals; NaN for fewer than two seeds. Efron, "The Jackknife, the Bootstrap and Other Resampling Plans", chapter 3.
    """
    n_seeds = len(estimates)
    if n_seeds < 2:
        return np.full(estimates.shape[1], np.nan)
    distances = estimates - estimates.mean(axis=0)
    student = round(float(stats.t.ppf(_CONFIDENCE, n_seeds - 1)), 2)
    return student * np.sqrt((distances * distances).sum(axis=0) * (2 * (n_seeds - 1) / n_seeds))
