"""Forecasts of the single runs that the paper shows in its tables 2 to 4, made from the best run of each of our seeds."""

from collections.abc import Iterable, Mapping
from math import comb

import numpy as np
import pandas as pd

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.paper.prediction import Forecast, Key, Mixture, Options, Prediction

_QUANTITIES = ("size", "deviation_mean", "deviation_std", "deviation_max", "cohesion", "overlap")
_COLUMNS = ["dataset", "method", "matcher", "k", "hops", "omega", "seed", *_QUANTITIES]
# For each table of single runs: the quantity that selects them, and the method for each suffix of the rows' names.
_SELECTED_BY = {
    "table2_best_by_deviation": ("deviation_mean", {"": "Clusterlets"}),
    "table3_best_by_cohesion": ("cohesion", {"": "Clusterlets"}),
    "table4_frac_vs_clusterlets": ("deviation_mean", {" Clusterlets": "Clusterlets", " FRAC": "FRAC (nearest)"}),
}
_OPTION_PRIOR = 0.5  # in seeds: half a seed's weight is spread over all options, so that none is impossible
_MIN_SCALE = 0.001  # spreads of deviations and sizes are divided by the best value, or by this if the value is smaller


def forecasts(runs: pd.DataFrame) -> dict[Key, Forecast]:
    """A forecast for each cell of tables 2 to 4 that our runs have, by table, row and quantity. O(n log n) for n runs.

    ``runs`` are rows of ``runs.csv`` on datasets of the paper, of which only the first ten seeds are used. With fewer than two
    seeds there are no forecasts, because one seed does not show how much the results of other seeds would differ.
    """
    runs = selection.seeds_of_paper(runs[runs["method"].isin(selection.METHODS)])
    if runs["seed"].nunique() < 2:
        return {}
    options = {"matcher": list(selection.PAPER_NAMES.values()), "k": [f"{k:g}" for k in np.sort(runs["k"].unique())]}
    n_seeds, result = runs["seed"].nunique(), {}
    for table, (by, methods) in _SELECTED_BY.items():
        winners = _winners(runs, by)
        numbers = {name: _predict_numbers(by_dataset, by) for name, by_dataset in winners.items()}
        for suffix, method in methods.items():
            predictions: dict[str, Mapping[str, Prediction]] = dict(numbers.get(method, {}))
            if method == "Clusterlets":
                predictions |= {
                    choice: _predict_options(winners[method], choice, options[choice], n_seeds) for choice in options
                }
            for quantity, by_dataset in predictions.items():
                for dataset, prediction in by_dataset.items():
                    other_datasets = tuple(other for name, other in by_dataset.items() if name != dataset)
                    alternatives: list[Prediction]
                    if quantity in options:
                        alternatives = [Options(dict.fromkeys(options[quantity], 1 / len(options[quantity])))]
                    else:
                        rivals = _rivals(method, winners[method][dataset], numbers)
                        alternatives = [
                            numbers[name][quantity][dataset] for name in rivals if dataset in numbers[name][quantity]
                        ]
                    forecast = Forecast(quantity, prediction, (other_datasets, tuple(alternatives)))
                    result[table, f"{dataset}{suffix}", quantity] = forecast
    return result


def _winners(runs: pd.DataFrame, by: str) -> dict[str, dict[str, pd.DataFrame]]:
    """For each method and matcher, and each dataset: the best run of each seed, with its weight. The best run comes first.

    The weight is the probability that the run is the best one in a random half of the n seeds. For the j-th best run it is
    C(n - j, n/2 - 1) / C(n, n/2).
    """
    candidates = selection.without_degenerate(selection.ok(runs)).rename(columns={"n_clusters": "size"})[_COLUMNS]
    runs_by_name = dict(iter(candidates.groupby(selection.names(candidates))))
    runs_by_name["Clusterlets"] = candidates[candidates["method"] == "Clusterlets"]
    n_seeds = runs["seed"].nunique()
    half = max(n_seeds // 2, 1)
    result: dict[str, dict[str, pd.DataFrame]] = {}
    for name, named_runs in runs_by_name.items():
        result[name] = {}
        for dataset, ranked in selection.best(named_runs, by, ["dataset", "seed"]).groupby("dataset", sort=False):
            weights = np.array([comb(n_seeds - rank, half - 1) for rank in range(1, len(ranked) + 1)], dtype=float)
            result[name][str(dataset)] = ranked.assign(weight=weights / weights.sum())[weights > 0]
    return result


def _rivals(method: str, ranked: pd.DataFrame, names: Iterable[str]) -> list[str]:
    """The other methods, and the matchers that have no run in ``ranked``. They are the alternatives to ``method``."""
    best_matchers = set(selection.paper_names(ranked["matcher"])) if method == "Clusterlets" else set()
    return [name for name in names if name not in {method, "Clusterlets", *best_matchers}]


def _predict_numbers(by_dataset: Mapping[str, pd.DataFrame], by: str) -> dict[str, dict[str, Mixture]]:
    """For each quantity, the prediction for the best run on each dataset.

    The width of a kernel is a spread over seeds. The square of the width is the mean of two variances: that of the dataset, and
    the square of the median spread over datasets. In the quantity ``by``, none of our runs is better than the best one, but the
    paper's run may be. So the values are also reflected at the best one.
    """
    result: dict[str, dict[str, Mixture]] = {}
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
        result[quantity] = {name: Mixture(*sample, float(np.sqrt(variances[name]))) for name, sample in samples.items()}
    return result


def _predict_options(by_dataset: Mapping[str, pd.DataFrame], choice: str, names: list[str], n_seeds: int) -> dict[str, Options]:
    """For each dataset, the prediction of the best run's ``choice`` (its matcher or its k); ``names`` are the options."""
    result = {}
    for dataset, ranked in by_dataset.items():
        option_of_run = selection.paper_names(ranked["matcher"]) if choice == "matcher" else ranked["k"].map("{:g}".format)
        weights = n_seeds * ranked["weight"].groupby(option_of_run).sum()
        total, prior = n_seeds + _OPTION_PRIOR, _OPTION_PRIOR / len(names)
        result[dataset] = Options({name: (weights.get(name, 0.0) + prior) / total for name in names})
    return result
