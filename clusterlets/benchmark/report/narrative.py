"""Sentences on what is missing, and what differs from the paper."""

from collections.abc import Mapping

import pandas as pd

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.paper import reported
from clusterlets.benchmark.paper.results import Results
from clusterlets.text import counted

_GRID_OF_PAPER = {"k": (2, 5, 10, 20, 30), "hops": (1, 2, 3, 4), "omega": (0, 0.25, 0.5, 0.75)}
_SETTINGS_OF_PAPER = {
    "scaling": "none",
    "sample_size": 250_000,
    "pinball_scope": "last",
    "greedy_scope": "cluster",
    "deviation": "absolute",
    "equation": "corrected",
}
_METHODS_OF_PAPER = (*selection.PAPER_NAMES.values(), "FRAC (nearest)")
_INCLUDED_REMARK = "These runs are included in tables, claims and tests like all others."


def describe_gaps(results: Results) -> list[str]:
    """Sentences on the datasets, settings and runs that are missing or differ from the paper's."""
    run_lines = _runs_without_result(results.runs) + _estimated_cohesion(results.runs)
    if not results.has_paper_data:
        return run_lines
    missing_datasets = [name for name in reported.datasets() if name not in results.datasets]
    extra_datasets = [name for name in results.datasets if name not in reported.datasets()]
    lines = []
    if missing_datasets:
        total = len(reported.datasets())
        present_text = counted(total - len(missing_datasets), "is", "are")
        lines.append(f"Of the paper's {total} datasets, {present_text} here; missing: {', '.join(missing_datasets)}.")
    if extra_datasets:
        lines.append(f"Datasets that the paper does not have, shown but not compared: {', '.join(extra_datasets)}.")
    lines += _differences_from_paper(results.runs) + _other_settings(results.settings)
    lines += _other_parameters(results.settings["method_settings"]) + run_lines
    return lines or ["Nothing is missing: all of the paper's datasets, settings and seeds, every run with a result."]


def _runs_without_result(runs: pd.DataFrame) -> list[str]:
    """Sentences that count the runs without a result, by status and method, and the notes on other runs."""
    lines = []
    failed = runs[runs["status"] != "ok"]
    for (status, method), rows in failed.groupby(["status", selection.names(failed)]):
        by_dataset = ", ".join(f"{name} ({count})" for name, count in rows["dataset"].value_counts(sort=False).items())
        subject = counted(len(rows), f"run of {method} has", f"runs of {method} have")
        lines.append(f"{subject} no result, status {status}: {by_dataset}.")
    for note, count in selection.ok(runs)["note"].value_counts().sort_index().items():
        lines.append(f"{counted(count, 'run carries', 'runs carry')} the note: {note}")
    return lines


def _estimated_cohesion(runs: pd.DataFrame) -> list[str]:
    """A sentence for each dataset whose cohesion is estimated from samples."""
    largest_errors = runs.dropna(subset="cohesion_error").groupby("dataset", sort=False)["cohesion_error"].max()
    return [
        f"Cohesion on {dataset} is estimated from samples of its rows; the largest standard error of a run is {error:.2g} "
        "(column cohesion_error of runs.csv)."
        for dataset, error in largest_errors.items()
    ]


def _differences_from_paper(runs: pd.DataFrame) -> list[str]:
    lines = []
    missing_methods = [name for name in _METHODS_OF_PAPER if name not in set(selection.names(runs))]
    if missing_methods:
        lines.append(f"Methods of the paper without runs: {', '.join(missing_methods)}.")
    other_matchers = selection.in_order(set(selection.paper_names(runs["matcher"].dropna())) - set(_METHODS_OF_PAPER), ())
    if other_matchers:
        lines.append(f"Matchers that the paper does not have: {', '.join(other_matchers)}. {_INCLUDED_REMARK}")
    for parameter, values in _GRID_OF_PAPER.items():
        run_values = set(runs[parameter].dropna())
        missing_values = ", ".join(f"{value:g}" for value in sorted(set(values) - run_values))
        added_values = ", ".join(f"{value:g}" for value in sorted(run_values - set(values)))
        if missing_values:
            lines.append(f"Values of {parameter} in the paper's grid that were not run: {missing_values}.")
        if added_values:
            lines.append(f"Values of {parameter} that the paper's grid does not have: {added_values}. {_INCLUDED_REMARK}")
    n_seeds = runs["seed"].nunique()
    if n_seeds < selection.SEEDS_OF_PAPER:
        lines.append(f"Seeds: {n_seeds} instead of the paper's {selection.SEEDS_OF_PAPER}.")
    if n_seeds > selection.SEEDS_OF_PAPER:
        lines.append(
            f"Tables are made from the first {selection.SEEDS_OF_PAPER} of {n_seeds} seeds, as many as in the paper; "
            "the ranges are drawn from all."
        )
    return lines


def _other_parameters(method_settings: Mapping[str, Mapping]) -> list[str]:
    """A sentence for each parameter of the paper's methods that is not in the paper's grid."""
    return [
        f"Parameter {parameter} of {method}: {', '.join(map(str, values))}; the paper sets none. {_INCLUDED_REMARK}"
        for method, entry in method_settings.items()
        for parameter, values in entry["parameters"].items()
        if set(entry["names"]) & {*selection.PAPER_NAMES, *_METHODS_OF_PAPER} and parameter not in _GRID_OF_PAPER
    ]


def _other_settings(settings: Mapping) -> list[str]:
    """A sentence for each setting that changes the meaning of numbers and differs from the paper's."""
    differences = [(key, value) for key, value in _SETTINGS_OF_PAPER.items() if settings[key] != value]
    scalings = {name: table["scaling"] for name, table in settings["tables"].items()}
    return [
        *(f"Setting {key}: {settings[key]} instead of {value}." for key, value in differences),
        *(f"Dataset {name}: scaling {scaling}." for name, scaling in scalings.items() if scaling != settings["scaling"]),
    ]
