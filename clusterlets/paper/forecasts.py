"""From our runs, a forecast of every number in the paper's tables, and of what wrong numbers would look like.

docs/reproduction.md gives the rule and the rates of error that were measured.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import comb

import numpy as np
import pandas as pd

from clusterlets.analysis import selection
from clusterlets.paper import cells, reported, tables
from clusterlets.paper.prediction import Numbers, Options, Prediction

# Half-widths within which a reader would call two numbers close: the larger of an absolute number and a share of the first.
_CLOSE = {
    "deviation": (0.005, 0.40),
    "cohesion": (0.03, 0.0),
    "centroid": (0.03, 0.0),
    "overlap": (0.03, 0.0),
    "size": (1.0, 0.10),
    "correlation": (0.06, 0.0),
}
_QUANTITIES = ("size", "deviation_mean", "deviation_std", "deviation_max", "cohesion", "overlap")
# For each table that shows single runs: the quantity that chooses them, and the methods of its rows.
_CHOSEN_BY = {
    "table2_best_by_deviation": ("deviation_mean", {"": "Clusterlets"}),
    "table3_best_by_cohesion": ("cohesion", {"": "Clusterlets"}),
    "table4_frac_vs_clusterlets": ("deviation_mean", {" Clusterlets": "Clusterlets", " FRAC": "FRAC (nearest)"}),
}
_OPTION_PRIOR = 0.5  # seeds spread over all options, so that none is impossible
_LEAST_SCALE = 0.001  # of a deviation or a size, when spreads are compared between datasets

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Forecast:
    """What a number of ours would be on other seeds, and groups of alternatives: what it would be if it were wrong."""

    quantity: str
    own: Prediction
    alternatives: tuple[tuple[Prediction, ...], ...]

    def evidence(self, printed: str) -> float:
        """How many times likelier the printed number is as ours than as an alternative; all groups count the same."""
        groups = [*self.alternatives, *self._shifted(printed)]
        alternative = np.mean([np.mean([other.probability(printed) for other in group]) for group in groups if group])
        return float(self.own.probability(printed) / max(alternative, np.finfo(float).tiny))

    def _shifted(self, printed: str) -> list[tuple[Numbers, Numbers]]:
        """Ours, moved by what a reader would still call close."""
        if not isinstance(self.own, Numbers):
            return []
        distance = close(self.quantity, float(printed))
        return [(self.own.shifted(distance), self.own.shifted(-distance))]


def close(quantity: str, printed: float) -> float:
    """How far a number may be from a printed one to count as close."""
    absolute, share = _CLOSE[quantity.split("_")[0]]
    return max(absolute, share * abs(printed))


def forecasts(runs: pd.DataFrame, n_datasets: int = len(reported.datasets())) -> dict[Key, Forecast]:
    """A forecast for each cell of the paper's tables that our runs have.

    Parameters
    ----------
    runs : DataFrame
        As in ``runs.csv``, on datasets of the paper; the first ten seeds enter, or those of them that were run.
    n_datasets : int
        How many datasets the averages of tables 1 and 5 are over.

    Returns
    -------
    dict
        By table, row and quantity, as :mod:`clusterlets.paper.cells` names them. Tables 1 and 5 are made once for each seed
        and each dataset; the rest takes O(n log n) for n runs.
    """
    runs = selection.seeds_of_paper(runs)
    if runs.empty:
        return {}
    return _of_best_runs(runs) | _of_averages(runs, n_datasets)


# ---- tables 2 to 4: single runs --------------------------------------------------------------------------------------


def _of_best_runs(runs: pd.DataFrame) -> dict[Key, Forecast]:
    runs = runs[runs["method"].isin(selection.METHODS)]
    names = {"matcher": list(selection.PAPER_NAMES.values()), "k": [f"{k:g}" for k in np.sort(runs["k"].unique())]}
    n_seeds, result = runs["seed"].nunique(), {}
    for table, (by, methods) in _CHOSEN_BY.items():
        winners = _winners(runs, by)
        numbers = {name: _numbers(of_datasets, by) for name, of_datasets in winners.items()}
        for suffix, method in methods.items():
            predictions: dict[str, Mapping[str, Prediction]] = dict(numbers.get(method, {}))
            if method == "Clusterlets":
                predictions |= {choice: _options(winners[method], choice, names[choice], n_seeds) for choice in names}
            for quantity, of_datasets in predictions.items():
                for dataset, own in of_datasets.items():
                    elsewhere = tuple(other for name, other in of_datasets.items() if name != dataset)
                    if quantity in names:
                        others: tuple[Prediction, ...] = (Options(dict.fromkeys(names[quantity], 1 / len(names[quantity]))),)
                    else:
                        rivals = _rivals(method, winners[method][dataset], numbers)
                        others = tuple(
                            numbers[name][quantity][dataset] for name in rivals if dataset in numbers[name][quantity]
                        )
                    result[table, f"{dataset}{suffix}", quantity] = Forecast(quantity, own, (elsewhere, others))
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
    for name, part in contestants.items():
        result[name] = {}
        for dataset, ranked in selection.best(part, by, ["dataset", "seed"]).groupby("dataset", sort=False):
            weights = np.array([comb(n_seeds - place, half - 1) for place in range(1, len(ranked) + 1)], dtype=float)
            result[name][str(dataset)] = ranked.assign(weight=weights / weights.sum())[weights > 0]
    return result


def _rivals(method: str, ranked: pd.DataFrame, names: Iterable[str]) -> list[str]:
    """The other methods, and the matchers that do not win."""
    winning = set(selection.paper_names(ranked["matcher"])) if method == "Clusterlets" else set()
    return [name for name in names if name not in {method, "Clusterlets", *winning}]


def _numbers(of_datasets: Mapping[str, pd.DataFrame], by: str) -> dict[str, dict[str, Numbers]]:
    """For each quantity, the prediction of each dataset's best run.

    The width of a kernel is the seeds' spread: half of its variance is this dataset's, half the median dataset's. The quantity
    that chooses can only be worse than that of the best run; reflected, it may be better too.
    """
    result: dict[str, dict[str, Numbers]] = {}
    for quantity in _QUANTITIES:
        is_relative = quantity == "size" or quantity.startswith("deviation")
        samples, spreads, scales = {}, {}, {}
        for dataset, ranked in of_datasets.items():
            atoms, weights = ranked[quantity].to_numpy(float), ranked["weight"].to_numpy()
            scales[dataset] = max(abs(atoms[0]), _LEAST_SCALE) if is_relative else 1.0
            if quantity == by:
                atoms, weights = np.concatenate([atoms, 2 * atoms[0] - atoms]), np.concatenate([weights, weights]) / 2
            samples[dataset] = atoms, weights
            spreads[dataset] = float(np.sqrt(weights @ (atoms - weights @ atoms) ** 2))
        usual = np.median([spreads[dataset] / scales[dataset] for dataset in samples]) if samples else 0.0
        widths = {name: float(np.sqrt((spreads[name] ** 2 + (usual * scales[name]) ** 2) / 2)) for name in samples}
        result[quantity] = {name: Numbers(*sample, widths[name]) for name, sample in samples.items()}
    return result


def _options(of_datasets: Mapping[str, pd.DataFrame], choice: str, names: list[str], n_seeds: int) -> dict[str, Options]:
    """The prediction of a choice, the matcher or the k of the best run, for each dataset."""
    result = {}
    for dataset, ranked in of_datasets.items():
        chosen = selection.paper_names(ranked["matcher"]) if choice == "matcher" else ranked["k"].map("{:g}".format)
        seeds = n_seeds * ranked["weight"].groupby(chosen).sum()
        total, prior = n_seeds + _OPTION_PRIOR, _OPTION_PRIOR / len(names)
        result[dataset] = Options({name: (seeds.get(name, 0.0) + prior) / total for name in names})
    return result


# ---- tables 1 and 5: averages over datasets --------------------------------------------------------------------------


def _of_averages(runs: pd.DataFrame, n_datasets: int) -> dict[Key, Forecast]:
    """Forecasts of averages over datasets; those that we lack are taken to be like any one that we have."""
    n_missing = n_datasets - runs["dataset"].nunique()
    seeds, datasets = np.sort(runs["seed"].unique()), runs["dataset"].unique()
    value = _averages(runs)
    without_seed = pd.concat([_averages(runs[runs["seed"] != seed]) for seed in seeds], axis=1).reindex(value.index)
    variance = 2 * jackknife(without_seed.to_numpy().T)
    completed = [pd.concat([runs, *[runs[runs["dataset"] == name]] * n_missing]) for name in datasets] if n_missing else [runs]
    atoms = pd.concat(list(map(_averages, completed)), axis=1).reindex(value.index).to_numpy()
    widths = np.sqrt(variance + atoms.var(axis=1))
    equal = np.full(atoms.shape[1], 1 / atoms.shape[1])
    numbers = {
        key: Numbers(centres, equal, width)
        for key, centres, width in zip(value.index, atoms, widths, strict=True)
        if np.isfinite(centres).all() and np.isfinite(width)
    }
    result = {}
    for key, own in numbers.items():
        table, row, quantity = key
        others = [name for name in numbers if (name[0], name[2]) == (table, quantity) and name[1] != row]
        result[key] = Forecast(
            quantity, own, (tuple(numbers[name] for name in others if not cells.is_second_reading(*name[1:])),)
        )
    return result


def _averages(runs: pd.DataFrame) -> pd.Series:
    """The cells of tables 1 and 5, by table, row and quantity."""
    numbers = cells.of_tables(tables.make(runs, cells.AVERAGES), cells.AVERAGES)
    return numbers.set_index(cells.KEY)["reproduced"].astype(float)


def jackknife(left_out: np.ndarray) -> np.ndarray:
    """The squared standard error of a number.

    Parameters
    ----------
    left_out : float array (n, q)
        Each number, computed without one of the n seeds.

    Returns
    -------
    float array (q,)
        (n - 1) / n times the sum of squared distances to the mean; NaN for fewer than two seeds. Efron, "The Jackknife, the
        Bootstrap and Other Resampling Plans", chapter 3.
    """
    if len(left_out) < 2:
        return np.full(left_out.shape[1], np.nan)
    distances = left_out - left_out.mean(axis=0)
    return (distances * distances).sum(axis=0) * ((len(left_out) - 1) / len(left_out))
