"""What a reader must know besides the verdict: what is missing, what differs from the paper, what is not counted."""

from collections.abc import Mapping

import pandas as pd

from clusterlets.analysis import selection
from clusterlets.paper import comparison, reported
from clusterlets.paper.results import Results
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
_INCLUDED = "Their runs enter tables, claims and tests like all others."


def missing_lines(results: Results) -> list[str]:
    """What a reader must know before any number: datasets, settings and runs that are missing."""
    run_lines = _without_result(results.runs) + _estimated(results.runs)
    if not results.has_paper_data:
        return run_lines
    missing = [name for name in reported.datasets() if name not in results.datasets]
    extra = [name for name in results.datasets if name not in reported.datasets()]
    lines = []
    if missing:
        total = len(reported.datasets())
        present = counted(total - len(missing), "is", "are")
        lines.append(f"Of the paper's {total} datasets, {present} here; missing: {', '.join(missing)}.")
    if extra:
        lines.append(f"Datasets that the paper does not have, shown but not compared: {', '.join(extra)}.")
    lines += _differences_from_paper(results.runs) + _other_settings(results.settings)
    lines += _other_parameters(results.settings["grids"]) + run_lines
    return lines or ["Nothing is missing: all of the paper's datasets, settings and seeds, every run with a result."]


def _without_result(runs: pd.DataFrame) -> list[str]:
    """Counts of the runs that are not ok by status and method, and of the notes that runs with status ok carry."""
    lines = []
    failed = runs[runs["status"] != "ok"]
    for (status, method), group in failed.groupby(["status", selection.names(failed)]):
        by_dataset = ", ".join(f"{name} ({count})" for name, count in group["dataset"].value_counts(sort=False).items())
        subject = counted(len(group), f"run of {method} has", f"runs of {method} have")
        lines.append(f"{subject} no result, status {status}: {by_dataset}.")
    for note, count in selection.ok(runs)["note"].value_counts().sort_index().items():
        lines.append(f"{counted(count, 'run carries', 'runs carry')} the note: {note}")
    return lines


def _estimated(runs: pd.DataFrame) -> list[str]:
    """Large datasets whose cohesion is estimated from samples, with its largest standard error."""
    largest = runs.dropna(subset="cohesion_error").groupby("dataset", sort=False)["cohesion_error"].max()
    return [
        f"Cohesion on {dataset} is estimated from samples of its rows; the largest standard error of a run is {error:.2g} "
        "(column cohesion_error of runs.csv)."
        for dataset, error in largest.items()
    ]


def _differences_from_paper(runs: pd.DataFrame) -> list[str]:
    lines = []
    methods = [name for name in _METHODS_OF_PAPER if name not in set(selection.names(runs))]
    if methods:
        lines.append(f"Methods of the paper without runs: {', '.join(methods)}.")
    matchers = selection.in_order(set(selection.paper_names(runs["matcher"].dropna())) - set(_METHODS_OF_PAPER), ())
    if matchers:
        lines.append(f"Matchers that the paper does not have: {', '.join(matchers)}. {_INCLUDED}")
    for parameter, values in _GRID_OF_PAPER.items():
        values_run = set(runs[parameter].dropna())
        absent = ", ".join(f"{value:g}" for value in sorted(set(values) - values_run))
        added = ", ".join(f"{value:g}" for value in sorted(values_run - set(values)))
        if absent:
            lines.append(f"Values of {parameter} in the paper's grid that were not run: {absent}.")
        if added:
            lines.append(f"Values of {parameter} that the paper's grid does not have: {added}. {_INCLUDED}")
    seeds = runs["seed"].nunique()
    if seeds < selection.SEEDS_OF_PAPER:
        lines.append(f"Seeds: {seeds} instead of the paper's {selection.SEEDS_OF_PAPER}.")
    if seeds > selection.SEEDS_OF_PAPER:
        lines.append(
            f"Tables are made from the first {selection.SEEDS_OF_PAPER} of {seeds} seeds, as in the paper; "
            "the others show how noisy choosing a single run is."
        )
    return lines


def _other_parameters(grids: Mapping[str, Mapping]) -> list[str]:
    """Parameters of the paper's methods, other than hops and omega, that the configuration sets."""
    return [
        f"Parameter {parameter} of {method}: {', '.join(map(str, values))}; the paper sets none. {_INCLUDED}"
        for method, grid in grids.items()
        for parameter, values in grid["parameters"].items()
        if set(grid["names"]) & {*selection.PAPER_NAMES, *_METHODS_OF_PAPER} and parameter not in _GRID_OF_PAPER
    ]


def _other_settings(settings: Mapping) -> list[str]:
    """Settings that change what a number means and differ from the paper's."""
    different = [(key, value) for key, value in _SETTINGS_OF_PAPER.items() if settings[key] != value]
    tables = {name: table["scaling"] for name, table in settings["tables"].items()}
    return [
        *(f"Setting {key}: {settings[key]} instead of {value}." for key, value in different),
        *(f"Dataset {name}: scaling {scaling}." for name, scaling in tables.items() if scaling != settings["scaling"]),
    ]


def remarks_on_numbers(results: Results) -> list[str]:
    """Remarks on the counts of verdicts: what is not counted, and how close the rest is."""
    lines = [
        f"{results.counts.iloc[-1]['only_shown']} more numbers are shown but not counted: structural zeros, and rows that "
        "repeat another."
    ]
    reading = comparison.closer_reading(results.comparison)
    if reading:
        lines.append(
            f"Table 5 is nearer to the paper with s read as {reading[0].replace('_', ' ')} "
            f"(off by {reading[1]:.3f} on average)."
        )
    return lines
