"""Repetitions of the paper's experiment: its five tables, made again and again from ten seeds drawn from all that were run.

The numbers of a repetition are those of :mod:`clusterlets.benchmark.paper.tables` for the drawn runs. They are computed for all
repetitions at once, because making the tables two hundred times takes minutes.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.analysis.descriptive import COEFFICIENTS, correlation
from clusterlets.benchmark.grid.variants import SEEDS_OF_PAPER
from clusterlets.benchmark.paper import reported, tables

#: How often the tables are made.
N_REPETITIONS = 200

#: A cell of the paper's tables, by table, row and quantity.
Key = tuple[str, str, str]

_TABLE1, *_, _TABLE5 = reported.TABLES
_QUANTITIES = ("size", "deviation_mean", "deviation_std", "deviation_max", "cohesion", "overlap")
# For each table of single runs: the quantity that selects them, and the method for each suffix of the rows' names.
_SELECTED_BY = {
    "table2_best_by_deviation": ("deviation_mean", {"": "Clusterlets"}),
    "table3_best_by_cohesion": ("cohesion", {"": "Clusterlets"}),
    "table4_frac_vs_clusterlets": ("deviation_mean", {" Clusterlets": "Clusterlets", " FRAC": "FRAC (nearest)"}),
}


@dataclass(frozen=True)
class Draws:
    """What each of r repetitions draws: ``seeds`` (r, 10), and ``copies`` (r, d), how often each of d datasets counts."""

    seeds: np.ndarray
    copies: np.ndarray

    @classmethod
    def of(cls, n_seeds: int, n_datasets: int, n_missing: int) -> "Draws":
        """Draw with replacement: ten of ``n_seeds``, and one of ``n_datasets`` in the place of each missing dataset.

        Repetition i takes its numbers from ``SeedSequence(i)``, whose output numpy never changes.
        """
        numbers = np.array(
            [np.random.SeedSequence(i).generate_state(SEEDS_OF_PAPER + n_missing) for i in range(N_REPETITIONS)], dtype=np.int64
        )
        copies = np.ones((N_REPETITIONS, n_datasets), dtype=np.int64)
        np.add.at(copies, (np.arange(N_REPETITIONS)[:, None], numbers[:, SEEDS_OF_PAPER:] % n_datasets), 1)
        return cls(numbers[:, :SEEDS_OF_PAPER] % n_seeds, copies)


def repeat(
    runs: pd.DataFrame,
    names: Collection[str] = reported.TABLES,
    n_datasets: int = len(reported.datasets()),
    pairs: Collection[tuple[str, str]] = tables.CORRELATED,
) -> dict[Key, np.ndarray]:
    """The numbers (r,) that r repetitions give for each cell of the tables with these names. O(r n log n) for n runs.

    ``runs`` are rows of ``runs.csv`` on datasets of the paper, and ``pairs`` those of the variables of table 5. Tables 1 and 5
    of the paper average over ``n_datasets``: if the runs have fewer, each repetition counts datasets of ours, drawn, once more
    in their place. Numbers are floats, NaN in a repetition that has none; matchers and k are text.
    """
    runs = selection.ok(runs)
    if runs.empty:
        return {}
    seeds, datasets = np.unique(runs["seed"]), runs["dataset"].unique()
    draws = Draws.of(len(seeds), len(datasets), max(n_datasets - len(datasets), 0))
    runs = runs.assign(seed_index=np.searchsorted(seeds, runs["seed"]), dataset_index=pd.factorize(runs["dataset"])[0])
    numbers = {key: values for name in _SELECTED_BY if name in names for key, values in _selected_runs(runs, name, draws)}
    if _TABLE1 in names:
        numbers |= dict(_means_and_spreads(runs, draws))
    if _TABLE5 in names:
        numbers |= dict(_correlations(runs, draws, pairs))
    return numbers


def _selected_runs(runs: pd.DataFrame, table: str, draws: Draws) -> Iterator[tuple[Key, np.ndarray]]:
    """The cells of a table of single runs. The best of the drawn runs is the best of the winners of the drawn seeds."""
    by, methods = _SELECTED_BY[table]
    suffixes = {method: suffix for suffix, method in methods.items()}
    candidates = selection.without_degenerate(runs[runs["method"].isin(suffixes)])
    winners = selection.best(candidates, by, ["dataset", "method", "seed"]).rename(columns={"n_clusters": "size"})
    winners = winners.assign(matcher=selection.paper_names(winners["matcher"]))
    for (dataset, method), rows in winners.groupby(["dataset", "method"], sort=False):  # a method's best winner comes first
        places = np.full(runs["seed_index"].max() + 1, len(rows))
        places[rows["seed_index"]] = np.arange(len(rows))
        best = places[draws.seeds].min(axis=1)  # len(rows) if no drawn seed has a winner
        for quantity in _QUANTITIES:
            yield (table, f"{dataset}{suffixes[method]}", quantity), np.append(rows[quantity], np.nan)[best]
        if method == "Clusterlets":
            for choice, texts in (("matcher", rows["matcher"]), ("k", rows["k"].map("{:g}".format))):
                yield (table, f"{dataset}{suffixes[method]}", choice), np.append(texts, "")[best]


def _means_and_spreads(runs: pd.DataFrame, draws: Draws) -> Iterator[tuple[Key, np.ndarray]]:
    """The cells of table 1, from the sums of each dataset and seed."""
    n_datasets, n_seeds = draws.copies.shape[1], runs["seed_index"].max() + 1
    weights = draws.copies[:, :, None] * _times_drawn(draws, n_seeds)[:, None, :]
    weights = weights.reshape(len(weights), -1).astype(float)
    runs = runs[runs["method"] == "Clusterlets"].rename(columns={"n_clusters": "size"})
    for matcher, rows in runs.groupby(selection.paper_names(runs["matcher"]), sort=False):
        for quantity in tables.QUANTITIES_OF_MATCHERS:
            present = rows[rows[quantity].notna()]
            if present.empty:
                continue
            centre = present[quantity].mean()  # spreads are computed around it, because squares of large numbers lose digits
            distances = present[quantity].to_numpy(float) - centre
            places = (present["dataset_index"] * n_seeds + present["seed_index"]).to_numpy()
            n, total, squares = (
                (weights * np.bincount(places, values, n_datasets * n_seeds)).sum(axis=1)
                for values in (np.ones(len(places)), distances, distances * distances)
            )
            with np.errstate(invalid="ignore", divide="ignore"):  # a repetition without a run has no number
                mean = total / n
                spread = np.sqrt(np.maximum(squares / n - mean * mean, 0))
            yield (_TABLE1, str(matcher), quantity), centre + mean
            yield (_TABLE1, str(matcher), f"{quantity}_std"), spread


def _times_drawn(draws: Draws, n_seeds: int) -> np.ndarray:
    """How often each repetition draws each seed (r, n_seeds)."""
    return (draws.seeds[:, :, None] == np.arange(n_seeds)).sum(axis=1)


def _correlations(runs: pd.DataFrame, draws: Draws, pairs: Collection[tuple[str, str]]) -> Iterator[tuple[Key, np.ndarray]]:
    """The cells of table 5."""
    times = _times_drawn(draws, runs["seed_index"].max() + 1)
    runs = runs[runs["matcher"] == "C"].rename(columns={"deviation_mean": "deviation"})
    for x, y in pairs:
        present = runs[runs[x].notna() & runs[y].notna()]
        if present.empty:
            continue
        counts = draws.copies[:, present["dataset_index"]] * times[:, present["seed_index"]]
        drawn = [(present[x].repeat(count), present[y].repeat(count)) for count in counts]
        for coefficient in COEFFICIENTS:
            values = np.array([correlation(*variables, coefficient) for variables in drawn])
            yield (_TABLE5, f"{coefficient} {x} {y}", "correlation"), values
