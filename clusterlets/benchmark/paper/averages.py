"""Forecasts of tables 1 and 5, which average over the paper's datasets. Our runs may lack some of these datasets."""

import numpy as np
import pandas as pd

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.paper import cells, reported
from clusterlets.benchmark.paper.prediction import Forecast, Key, Mixture, last_digit_unit


def forecasts(runs: pd.DataFrame, n_datasets: int = len(reported.datasets())) -> dict[Key, Forecast]:
    """A forecast for each cell of tables 1 and 5, by table, row and quantity; empty if there is only one seed.

    ``runs`` are rows of ``runs.csv`` on datasets of the paper, of which only the first ten seeds are used. The paper averages
    over ``n_datasets``. Missing datasets are assumed to equal one of ours, and each of ours is tried in turn.
    Computes the two tables once for each seed and once for each dataset.
    """
    runs = selection.seeds_of_paper(runs)
    if runs["seed"].nunique() < 2:
        return {}
    n_missing = n_datasets - runs["dataset"].nunique()
    seeds, datasets = np.sort(runs["seed"].unique()), runs["dataset"].unique()
    averages = _averages(runs)
    without_seed = pd.concat([_averages(runs[runs["seed"] != seed]) for seed in seeds], axis=1).reindex(averages.index)
    # Twice, because the paper's averages vary with the seeds as ours do.
    variance = 2 * jackknife(without_seed.to_numpy().T)
    completions = (
        [pd.concat([runs, *[runs[runs["dataset"] == name]] * n_missing]) for name in datasets] if n_missing else [runs]
    )
    # The centres of the kernels: one average per way to fill in the missing datasets.
    centres = pd.concat(list(map(_averages, completions)), axis=1).reindex(averages.index).to_numpy()
    widths = np.sqrt(variance + centres.var(axis=1))
    equal_weights = np.full(centres.shape[1], 1 / centres.shape[1])
    predictions = {
        key: Mixture(row_centres, equal_weights, width)
        for key, row_centres, width in zip(averages.index, centres, widths, strict=True)
        if np.isfinite(row_centres).all() and np.isfinite(width)
    }
    result = {}
    for key, prediction in predictions.items():
        table, row, quantity = key
        other_keys = [other for other in predictions if (other[0], other[2]) == (table, quantity) and other[1] != row]
        result[key] = Forecast(
            quantity,
            prediction,
            (tuple(predictions[other] for other in other_keys if not cells.is_second_reading(*other[1:])),),
        )
    return result


def _averages(runs: pd.DataFrame) -> pd.Series:
    """The numbers of tables 1 and 5, by table, row and quantity."""
    return cells.values(runs, cells.AVERAGES).astype(float)


def jackknife(without_seed: np.ndarray) -> np.ndarray:
    """The squared standard errors (q,) of q numbers; row i of ``without_seed`` (n, q) is computed without seed i.

    The result is (n - 1) / n times the sum of squared distances to the mean. Efron, "The Jackknife, the Bootstrap and Other
    Resampling Plans", chapter 3.
    """
    distances = without_seed - without_seed.mean(axis=0)
    return (distances * distances).sum(axis=0) * ((len(without_seed) - 1) / len(without_seed))


# ---- which values a missing dataset would need -----------------------------------------------------------------------

# The range that a mean over runs can have on any dataset.
_RANGES = {"deviation_mean": (0, 1), "deviation_max": (0, 1), "cohesion": (0, 1), "overlap": (0, 1), "size": (1, np.inf)}
_STANDARD_ERRORS = 2.0  # apart from rounding, numbers within this distance agree


def describe_needed_values(runs: pd.DataFrame, compared: pd.DataFrame) -> list[str]:
    """For each mean of table 1, a sentence on which values of the missing dataset would make ours agree with the paper's.

    ``compared`` has a row for each cell, and the result a string for each row. The string is empty for spreads and
    correlations, which are not means. All strings are empty unless exactly one of the paper's datasets is missing.
    """
    runs = selection.seeds_of_paper(runs)
    missing = [name for name in reported.datasets() if name not in set(runs["dataset"])]
    are_means = compared["quantity"].isin(_RANGES) & (compared["table"] == "table1_matchers") & compared["tail"].notna()
    if len(missing) != 1 or not are_means.any():
        return [""] * len(compared)
    by_dataset = pd.concat([_averages(runs[runs["dataset"] == name]) for name in runs["dataset"].unique()], axis=1)
    without_seed = pd.concat([_averages(runs[runs["seed"] != seed]) for seed in runs["seed"].unique()], axis=1)
    return [
        _range_sentence(cell, by_dataset.loc[key].to_numpy(), without_seed.loc[key].to_numpy(), missing[0]) if is_mean else ""
        for cell, key, is_mean in zip(
            compared.to_dict("records"), map(tuple, compared[cells.KEY].to_numpy()), are_means, strict=True
        )
    ]


def _range_sentence(cell: dict, ours: np.ndarray, without_seed: np.ndarray, missing: str) -> str:
    """The sentence for one mean of table 1, from ours on each dataset and from our averages without each seed."""
    tolerance = last_digit_unit(cell["reported"]) / 2 + _STANDARD_ERRORS * np.sqrt(2 * jackknife(without_seed[:, None])[0])
    n_datasets, paper_mean = len(ours) + 1, float(cell["reported"])
    low, high = (n_datasets * (paper_mean + sign * tolerance) - ours.sum() for sign in (-1, 1))
    smallest, largest = _RANGES[cell["quantity"]]
    if high < smallest or low > largest:
        conclusion = f"which is impossible: the averages differ whatever {missing} gives"
    elif high < ours.min() or low > ours.max():
        conclusion = f"outside the range of all {len(ours)} of ours ({ours.min():.3f} to {ours.max():.3f})"
    else:
        conclusion = f"which overlaps with the range of ours ({ours.min():.3f} to {ours.max():.3f})"
    return f"To agree, the value on {missing} would have to be {low:.3f} to {high:.3f}, {conclusion}."
