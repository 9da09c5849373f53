"""The results in sentences that are derived from the data: the verdict, and what a reader must know first."""

from collections.abc import Iterable, Mapping

import pandas as pd

from clusterlets.analysis import paired, selection, statistics
from clusterlets.paper import claims, comparison, reported, verdict
from clusterlets.paper.claims.findings import INCONCLUSIVE
from clusterlets.paper.results import Results
from clusterlets.text import counted, decimal

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
# What Clusterlets is compared with, and how each was clustered.
_RIVALS = {
    "FRAC (nearest)": "FRAC as the paper scored it (every instance to its nearest centre)",
    "FRAC (fair)": "FRAC as defined (its fair assignment)",
}


# ---- before any number -----------------------------------------------------------------------------------------------


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
    lines += _differences_from_paper(results.runs) + _other_settings(_SETTINGS_OF_PAPER, results.settings)
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
        absent, added = (
            [f"{value:g}" for value in sorted(difference)]
            for difference in (set(values) - values_run, values_run - set(values))
        )
        if absent:
            lines.append(f"Values of {parameter} in the paper's grid that were not run: {', '.join(absent)}.")
        if added:
            lines.append(f"Values of {parameter} that the paper's grid does not have: {', '.join(added)}. {_INCLUDED}")
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


def _other_settings(paper: Mapping, ours: Mapping, prefix: str = "") -> list[str]:
    """Settings that change what a number means and differ from the paper's."""
    lines = []
    for key, value in paper.items():
        if isinstance(value, Mapping):
            lines += _other_settings(value, ours[key], f"{key}.")
        elif ours[key] != value:
            lines.append(f"Setting {prefix}{key}: {ours[key]} instead of {value}.")
    scaled = [name for name, table in ours.get("tables", {}).items() if table["scaling"] != ours["scaling"]]
    return lines + [f"Dataset {name}: scaling {ours['tables'][name]['scaling']}." for name in scaled]


# ---- the verdict in five sentences -----------------------------------------------------------------------------------


def verdict_sentences(results: Results) -> list[str]:
    """The verdict in five sentences; on the paper's datasets only, if any of them was run."""
    return [
        _numbers_sentence(results),
        _claims_sentence(results.claims),
        _matcher_sentence(results),
        _frac_sentence(results),
        _significance_sentence(results),
    ]


def summary(results: Results, answers: Iterable[tuple[str, str]], report: str) -> str:
    """The verdict, its numbers if the paper is judged, and what they rest on: ``results/summary.txt``."""
    lines = [f"{question}: {answer}" for question, answer in answers]
    if results.has_paper_data:
        lines += ["", *verdict_sentences(results)]
    return "\n".join([*lines, "", f"{basis_sentence(results)} Report: {report}", ""])


def basis_sentence(results: Results) -> str:
    """The number of runs with a result, and of those without one by status."""
    counts = results.runs["status"].value_counts().sort_index()
    left_out = ", ".join(f"{count:,} {status}" for status, count in counts.drop("ok", errors="ignore").items())
    return (
        f"This rests on {counted(counts.get('ok', 0), 'run')} on {_datasets(len(results.datasets))} "
        f"({', '.join(results.datasets) or 'none'}); left out for their status: {left_out or 'none'}."
    )


def _numbers_sentence(results: Results) -> str:
    if not results.has_paper_data:
        return "None of the paper's numbers can be compared with ours, as none of its datasets is among these runs."
    total = results.counts.iloc[-1]
    groups = verdict.of_several(comparison.counted(results.comparison))
    tables = groups[groups["kind"] == "table"]
    as_wholes = [
        f"{', '.join(name[5] for name in names)} {word}" for word, names in tables.groupby("verdict", sort=False)["table"]
    ]
    return (
        f"Of the {total['counted'] - total[comparison.NOT_COMPARABLE]} numbers and choices in the paper's tables that can be "
        f"compared, {counted(total['reproduced'], 'is', 'are')} reproduced, {total['undecided']} undecided, and "
        f"{counted(total['differs'], 'differs', 'differ')}; another {total[comparison.NOT_COMPARABLE]} cannot be compared, "
        f"each for a reason that is given. Tables as wholes: {'; '.join(as_wholes) or 'none'}."
    )


def _claims_sentence(assessed: pd.DataFrame) -> str:
    sentences = claims.by_sentence(assessed)
    subject = f"Of the {len(sentences)} sentences of the paper about its experiments"
    paper = f"by its own numbers {claims.describe_counts(sentences['paper'])}"
    if (sentences["ours"] == INCONCLUSIVE).all():
        return f"{subject}, {paper}; by ours all are inconclusive, because these runs lack what the sentences are about."
    ours, stricter = (claims.describe_counts(sentences[column]) for column in ("ours", "stricter"))
    return f"{subject}, {paper}; by our numbers {ours}; and by our numbers with FRAC as it is defined, {stricter}."


def _matcher_sentence(results: Results) -> str:
    ours = results.on_paper_data.tables["table1_matchers"].frame.dropna(subset=["deviation_mean"])
    if ours.empty:
        return "Which matcher is the fairest cannot be said, as no run of Clusterlets has a result."
    printed = reported.table("table1_matchers")
    printed = printed.loc[printed["deviation_mean"].astype(float).idxmin()]
    best = ours.loc[ours["deviation_mean"].idxmin()]
    agreement = "as in the paper" if best["matcher"] == printed["matcher"] else f"where the paper has {printed['matcher']}"
    aside = "" if results.has_paper_data else " (none of them the paper's)"
    return (
        f"The fairest matcher by mean deviation over all runs is {best['matcher']}, {agreement}: "
        f"{decimal(best['deviation_mean'])} on {_datasets(len(results.on_paper_data.datasets), results.has_both)} here{aside}, "
        f"{decimal(float(printed['deviation_mean']))} on {len(reported.datasets())} there."
    )


def _frac_sentence(results: Results) -> str:
    """Averages are over the datasets on which every method has a best run, so that they cover the same data."""
    table4 = results.on_paper_data.tables["table4_frac_vs_clusterlets"].frame
    best = table4.pivot(index="dataset", columns="method", values="deviation_mean").dropna(axis=1, how="all").dropna()
    rivals = [method for method in _RIVALS if method in best]
    if best.empty or "Clusterlets" not in best or not rivals:
        return (
            "Clusterlets cannot be compared with FRAC: not both have a run with at least 3 clusters and an overlap below 0.5."
        )
    ours, total = best["Clusterlets"], len(best)
    parts = [
        f"on {int((ours < best[rival]).sum())} of {_datasets(total)} against {_RIVALS[rival]}, "
        f"with a mean of {decimal(ours.mean(), 4)} against {decimal(best[rival].mean(), 4)}"
        for rival in rivals
    ]
    where = " on the paper's datasets" if results.has_both else ""
    return f"Of the best runs{where}, Clusterlets' deviates less than FRAC's {'; and '.join(parts)}."


def _significance_sentence(results: Results) -> str:
    ranking = results.on_paper_data.rankings[0]
    if ranking.obstacle:
        return f"Whether the matchers differ by more than chance was not computed: {ranking.obstacle}"
    pairs = paired.describe_pairs_apart(ranking, "pair of matchers")
    return (
        f"Over {_datasets(len(ranking.complete), results.has_both)}, {pairs}. "
        f"Friedman's p {statistics.format_p(ranking.p_value)}, Nemenyi's critical difference "
        f"{ranking.critical_difference:.2f} ranks."
    )


def _datasets(number: int, of_paper: bool = False) -> str:
    """A number of datasets; ``of_paper`` says that only the paper's are counted."""
    return f"{number} of the paper's datasets" if of_paper else counted(number, "dataset")


# ---- remarks ---------------------------------------------------------------------------------------------------------


def remarks_on_numbers(results: Results) -> list[str]:
    """Remarks on the counts of verdicts: what is not counted, and how close the rest is."""
    if not results.has_paper_data:
        return []
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
