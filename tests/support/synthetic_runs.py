"""Synthetic runs in the exact format of results/runs.csv, and the results that the workflow computes from runs."""

import functools
import zlib
from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd

from clusterlets.benchmark.grid.runs_columns import COLUMNS, parameter_columns
from clusterlets.benchmark.paper import claims, comparison, reported, tables
from clusterlets.benchmark.paper.claims.numbers import Numbers

PAPER_WITHOUT_NBFI = tuple(name for name in reported.datasets() if name != "nbfi")
_OVERLAPPING_MATCHERS = ("D", "B")
# The typical mean deviation of a matcher, or of a method without matchers.
_TYPICAL_DEVIATION = {
    "C": 0.03,
    "G-B": 0.06,
    "D": 0.11,
    "B": 0.12,
    "G-D": 0.2,
    "FRAC (fair)": 0.004,
    "FRAC (nearest)": 0.08,
    "k-means": 0.1,
    "random": 0.02,
}


def compared_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """The table in which the workflow compares the paper's numbers with those of these runs."""
    runs_on_paper_datasets = runs[runs["dataset"].isin(reported.datasets())]
    return comparison.compare(runs_on_paper_datasets, tables.make(runs_on_paper_datasets))


def assessed_claims(runs: pd.DataFrame, undivided_cohesion: Mapping[str, float] = {}) -> pd.DataFrame:
    """The paper's claims as the workflow judges them: by these runs, and by the cohesion of each dataset as one cluster."""
    runs_on_paper_datasets = runs[runs["dataset"].isin(reported.datasets())]
    return claims.assess(runs_on_paper_datasets, tables.make(runs_on_paper_datasets), undivided_cohesion)


def numbers_of(runs: pd.DataFrame) -> Numbers:
    """The numbers of these runs by which the workflow judges claims."""
    runs_on_paper_datasets = runs[runs["dataset"].isin(reported.datasets())]
    return Numbers.from_runs(runs_on_paper_datasets, tables.make(runs_on_paper_datasets))


def synthetic_runs(datasets=PAPER_WITHOUT_NBFI, seeds=4, ks=(2, 5, 10)) -> pd.DataFrame:
    """Runs of the paper's grid with plausible values. Every call with the same arguments returns the same runs."""
    return _runs(tuple(datasets), seeds, tuple(ks)).copy()


@functools.cache  # many tests ask for the same runs
def _runs(datasets, seeds, ks):
    rows = [
        _row(dataset, method, matcher, k, hops, omega, seed)
        for dataset, (method, matcher, hops, omega), k, seed in product(datasets, _configurations(), ks, range(seeds))
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))  # columns that _row does not fill stay empty


def _configurations():
    """Tuples (method, matcher, hops, omega)."""
    yield from (("Clusterlets", "C", None, omega) for omega in (0.0, 0.25, 0.5, 0.75))
    yield from (("Clusterlets", matcher, hops, None) for matcher in ("G-B", "D", "B", "G-D") for hops in (1, 2, 3, 4))
    yield from ((method, None, None, None) for method in ("FRAC (fair)", "FRAC (nearest)", "k-means", "random"))


def _row(dataset, method, matcher, k, hops, omega, seed):
    rng = np.random.default_rng(
        [zlib.crc32(f"{dataset} {method} {matcher}".encode()), k, hops or 0, int(4 * (omega or 0)), seed]
    )
    noise = rng.lognormal(0, 0.3, 4)
    deviation = min(0.5, _TYPICAL_DEVIATION[matcher or method] * noise[0] * (1 + (omega or 0)))
    has_no_result = (dataset, matcher, k, seed) == ("heart_failure", "C", 2, 3)  # as in a real grid, a run may have none
    n_clusters = {"C": 2, "D": 1.6 * k, "B": 1.7 * k}.get(matcher, k if matcher is None else max(1, k * 0.6))
    row = {
        "dataset": dataset,
        "method": method,
        "matcher": matcher,
        "k": k,
        "hops": hops,
        "omega": omega,
        "seed": seed,
        "status": "no_valid_partition" if has_no_result else "ok",
        "note": None,
        "n_clusterlets": 2 * k,
    }
    metrics = {
        "n_clusters": int(n_clusters),
        "deviation_mean": deviation,
        "deviation_std": 0.6 * deviation * noise[1],
        "deviation_max": deviation * (1 + noise[2]),
        "balance": 0.3,
        "balance_ratio": 0.8,
        "cohesion": 1 - 0.12 * noise[3] * (1 - 0.2 * (omega or 0)),
        "overlap": min(0.9, 0.12 * (hops or 1) * noise[1]) if matcher in _OVERLAPPING_MATCHERS else 0.0,
        "smallest": 5,
        "largest": 60,
        "centroid_silhouette": 0.2 + 0.3 * omega + 0.01 * noise[1] if matcher == "C" else None,
        "kmeans_cost": None if matcher in _OVERLAPPING_MATCHERS else 100.0 * noise[1],
        "price_of_fairness": None if matcher in _OVERLAPPING_MATCHERS else 1 + noise[2],
    }
    other_metrics = {
        "column_deviation": deviation * (1 + noise[2]),
        "delta_min": 1 - 1 / (1 + 4 * deviation),
        "additive_violation": 1 + int(100 * deviation),
        "weighted_deviation": 0.8 * deviation,
        "vfc_error": 0.5 * deviation * n_clusters,
        "social_cost": 2.0 * noise[1],
        "kmedian_cost": 40.0 * noise[1],
        "kcenter_cost": 5.0 * noise[1],
        "silhouette": None if matcher in _OVERLAPPING_MATCHERS else 0.3 - 0.05 * noise[2],
        "silhouette_error": None if matcher in _OVERLAPPING_MATCHERS else 0.0,
        "silhouette_least_group": None if matcher in _OVERLAPPING_MATCHERS else 0.25 - 0.05 * noise[2],
        "cohesion_error": None,
    }
    row |= metrics | _parameters(row) | other_metrics
    return row | dict.fromkeys([*metrics, *other_metrics]) if has_no_result else row


_USUAL_RUN = {
    "dataset": "pima",
    "method": "Clusterlets",
    "matcher": "G-B",
    "k": 5,
    "hops": 2,
    "omega": None,
    "seed": 1,
    "status": "ok",
    "n_clusters": 4,
    "deviation_mean": 0.1,
    "deviation_std": 0.05,
    "deviation_max": 0.2,
    "column_deviation": 0.2,
    "cohesion": 0.8,
    "overlap": 0.0,
}


def some_runs(*changes: dict) -> pd.DataFrame:
    """One run for each of ``changes``, which replace values of a usual run."""
    return pd.DataFrame([_USUAL_RUN | _parameters(_USUAL_RUN | change) | change for change in changes], columns=list(COLUMNS))


def _parameters(row: Mapping) -> dict:
    """The columns that hold the parameters of a run, computed from its hops and omega."""
    columns = parameter_columns({name: row[name] for name in ("hops", "omega") if row[name] is not None})
    return columns | {"parameters": columns["parameters"] or None}
