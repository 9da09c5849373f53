"""Forecasts of the single runs that the paper's tables 2 to 4 show, from the best run of each of our seeds."""

from collections.abc import Iterable, Mapping
from math import comb

import numpy as np
import pandas as pd

from clusterlets.analysis import selection
from clusterlets.paper.prediction import Forecast, Key, Numbers, Options, Prediction

_QUANTITIES = ("size", "deviation_mean", "deviation_std", "deviation_max", "cohesion", "overlap")
# For each table that shows single runs: the quantity that chooses them, and the methods of its rows.
_CHOSEN_BY = {
    "table2_best_by_deviation": ("deviation_mean", {"": "Clusterlets"}),
    "table3_best_by_cohesion": ("cohesion", {"": "Clusterlets"}),
    "table4_frac_vs_clusterlets": ("deviation_mean", {" Clusterlets": "Clusterlets", " FRAC": "FRAC (nearest)"}),
}
_OPTION_PRIOR = 0.5  # half a seed is spread over all options, so that none is impossible
_MIN_SCALE = 0.001  # by which spreads of deviations and sizes are divided at least, to compare them between datasets


def forecasts(runs: pd.DataFrame) -> dict[Key, Forecast]:
    """A forecast for each cell of tables 2 to 4 that our runs have, by table, row and quantity. O(n log n) for n runs.

    ``runs`` are as in ``runs.csv``, on datasets of the paper; the first ten seeds enter, or those of them that were run. Fewer
    than two seeds tell nothing about others: then there is no forecast.
    """
    runs = selection.seeds_of_paper(runs[runs["method"].isin(selection.METHODS)])
    if runs["seed"].nunique() < 2:
        return {}
    names = {"matcher": list(selection.PAPER_NAMES.values()), "k": [f"{k:g}" for k in np.sort(runs["k"].unique())]}
    n_seeds, result = runs["seed"].nunique(), {}
    for table, (by, methods) in _CHOSEN_BY.items():
        winners = _winners(runs, by)
        numbers = {name: _numbers(by_dataset, by) for name, by_dataset in winners.items()}
        for suffix, method in methods.items():
            predictions: dict[str, Mapping[str, Prediction]] = dict(numbers.get(method, {}))
            if method == "Clusterlets":
                predictions |= {choice: _options(winners[method], choice, names[choice], n_seeds) for choice in names}
            for quantity, by_dataset in predictions.items():
                for dataset, own in by_dataset.items():
                    elsewhere = tuple(other for name, other in by_dataset.items() if name != dataset)
                    alternatives: list[Prediction]
                    if quantity in names:
                        alternatives = [Options(dict.fromkeys(names[quantity], 1 / len(names[quantity])))]
                    else:
                        rivals = _rivals(method, winners[method][dataset], numbers)
                        alternatives = [
                            numbers[name][quantity][dataset] for name in rivals if dataset in numbers[name][quantity]
                        ]
                    forecast = Forecast(quantity, own, (elsewhere, tuple(alternatives)))
                    result[table, f"{dataset}{suffix}", quantity] = forecast
    return result


def _winners(runs: pd.DataFrame, by: str) -> dict[str, dict[str, pd.DataFrame]]:
    """For each method and matcher, and each dataset: the best run of each seed with its weight, the most preferred first.

    The weight is the probability that a run is the best of a random half of the seeds: of n seeds, C(n - j, n/2 - 1) /
    C(n, n/2) for the j-th best run.
    """
    candidates = selection.without_limit_cases(selection.ok(runs)).rename(columns={"n_clusters": "size"})
    contestants = dict(iter(candidates.groupby(selection.names(candidates))))
    contestants["Clusterlets"] = candidates[candidates["method"] == "Clusterlets"]
    n_seeds = runs["seed"].nunique()
    half = max(n_seeds // 2, 1)
    result: dict[str, dict[str, pd.DataFrame]] = {}
    for name, own_runs in contestants.items():
        result[name] = {}
        for dataset, ranked in selection.best(own_runs, by, ["dataset", "seed"]).groupby("dataset", sort=False):
            weights = np.array([comb(n_seeds - rank, half - 1) for rank in range(1, len(ranked) + 1)], dtype=float)
            result[name][str(dataset)] = ranked.assign(weight=weights / weights.sum())[weights > 0]
    return result


def _rivals(method: str, ranked: pd.DataFrame, names: Iterable[str]) -> list[str]:
    """The other methods, and the matchers that do not win."""
    winning = set(selection.paper_names(ranked["matcher"])) if method == "Clusterlets" else set()
    return [name for name in names if name not in {method, "Clusterlets", *winning}]


def _numbers(by_dataset: Mapping[str, pd.DataFrame], by: str) -> dict[str, dict[str, Numbers]]:
    """For each quantity, the prediction of each dataset's best run.

    The width of a kernel is the seeds' spread: half of its variance is this dataset's, half the median dataset's. In the
    quantity ``by`` all other runs are worse than the best one, but the paper's run may be better: so the values are also
    reflected at the best.
    """
    result: dict[str, dict[str, Numbers]] = {}
    for quantity in _QUANTITIES:
        is_relative = quantity == "size" or quantity.startswith("deviation")
        samples, spreads, scales = {}, {}, {}
        for dataset, ranked in by_dataset.items():
            atoms, weights = ranked[quantity].to_numpy(float), ranked["weight"].to_numpy()
            scales[dataset] = max(abs(atoms[0]), _MIN_SCALE) if is_relative else 1.0
            if quantity == by:
                atoms, weights = np.concatenate([atoms, 2 * atoms[0] - atoms]), np.concatenate([weights, weights]) / 2
            samples[dataset] = atoms, weights
            mean = (weights * atoms).sum()
            spreads[dataset] = float(np.sqrt((weights * np.square(atoms - mean)).sum()))
        median_spread = np.median([spreads[dataset] / scales[dataset] for dataset in samples]) if samples else 0.0
        variances = {name: (np.square(spreads[name]) + np.square(median_spread * scales[name])) / 2 for name in samples}
        result[quantity] = {name: Numbers(*sample, float(np.sqrt(variances[name]))) for name, sample in samples.items()}
    return result


def _options(by_dataset: Mapping[str, pd.DataFrame], choice: str, names: list[str], n_seeds: int) -> dict[str, Options]:
    """The prediction of a choice, the matcher or the k of the best run, for each dataset."""
    result = {}
    for dataset, ranked in by_dataset.items():
        chosen = selection.paper_names(ranked["matcher"]) if choice == "matcher" else ranked["k"].map("{:g}".format)
        counts = n_seeds * ranked["weight"].groupby(chosen).sum()
        total, prior = n_seeds + _OPTION_PRIOR, _OPTION_PRIOR / len(names)
        result[dataset] = Options({name: (counts.get(name, 0.0) + prior) / total for name in names})
    return result
