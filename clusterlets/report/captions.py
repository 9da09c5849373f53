"""Category and caption of each result in Snakemake's own report. The captions of figures are in the figures' files."""

import re
from functools import cache
from pathlib import Path

from clusterlets.report.figures import declarations
from clusterlets.storage import write_text

#: The introduction above all results.
OVERVIEW = """\
What the paper *Fair Clustering with Clusterlets* reports, computed again from raw data: Clusterlets with five matchers and
FRAC, on every dataset, setting and seed of the grid in ``config.yaml``.

Read ``report.html`` (below *Report*) first: it gives the verdict in short sentences, and says what is missing, which numbers
and claims are reproduced, and why others are not. ``runs.csv`` holds every run; all tables and figures here follow from it.
"""
#: Caption (reStructuredText) of each result, by category and by path below the results folder, without extension.
RESULTS = {
    "Report": {
        "report": "Everything on one page that opens offline: the verdict, tables, claims, figures, provenance.",
        "summary": "The verdict as text.",
    },
    "Data": {
        "runs": "Every run of the grid, one row each. ``docs/results-format.md`` describes every column.",
        "datasets": "The datasets as they were prepared: source, rows, features, groups, licence, citation, fingerprint.",
    },
    "Tables": {
        "tables/table1_matchers": "Table 1 of the paper: means and population standard deviations over all runs of each "
        "matcher, including those with fewer than 3 clusters or an overlap of 0.5 or more.",
        "tables/table2_best_by_deviation": "Table 2 of the paper: the run of each dataset with the least mean deviation, "
        "among those with at least 3 clusters and an overlap below 0.5.",
        "tables/table2_by_configuration_mean": "Table 2 with a sounder choice: the configuration with the least mean "
        "deviation, averaged over its seeds.",
        "tables/table2_with_controls": "Table 2 with FRAC and the controls k-means and random.",
        "tables/table3_best_by_cohesion": "Table 3 of the paper: the run of each dataset with the highest cohesion, chosen as "
        "in table 2.",
        "tables/table3_by_configuration_mean": "Table 3 with a sounder choice: the configuration with the highest cohesion, "
        "averaged over its seeds.",
        "tables/table3_with_controls": "Table 3 with FRAC and the controls k-means and random.",
        "tables/table4_frac_vs_clusterlets": "Table 4 of the paper: the best run of Clusterlets beside those of FRAC, as the "
        "paper scored it (nearest) and as it is defined (fair).",
        "tables/table5_correlations": "Table 5 of the paper: correlations between s (cohesion, or the silhouette), omega and "
        "mean deviation, over the runs of the matcher C.",
        "tables/all_tables": "A LaTeX document with all tables, which compiles as it stands.",
    },
    "Reported against reproduced": {
        "comparison": "Every number of the paper's five tables beside ours, with its verdict and the reason. ``counted`` is "
        "false for structural zeros and for rows that repeat another table's.",
        "comparison_counts": "For each table, how many of its numbers received each verdict.",
        "comparison_groups": "The verdict on each row, column and table as a whole.",
        "comparison_controls": "How many numbers received each verdict in copies of the paper's tables, filled from our "
        "own runs: faithful copies, and copies with errors that we put in.",
    },
    "Claims": {
        "claims": "Every claim that the paper makes about its experiments: how it is tested, and the verdicts by the paper's "
        "own numbers, by ours, and on controls in the place of Clusterlets.",
    },
    "Sensitivity analysis": {
        "sensitivity": "Numbers of tables 1 to 4 with the usual choices, and with one choice changed.",
    },
    "Paper against code": {
        "as_published": "The paper's numbers and claims beside two runs: one follows its text, the other the published code.",
    },
    "Tests": {
        "methods": "Every method: its role, how many of its runs ended with each status, and means over those that are ok.",
        "at_given_fairness": "The highest cohesion of each method within limits on a configuration's mean deviation.",
        "statistics/statistics": "Do the methods differ by more than chance? Friedman's test for every ranking; "
        "``statistics.md`` has all tests in sentences, and says how to read them.",
        "statistics/blocks": "The value of every method in every block of each ranking.",
        "statistics/mean_ranks": "The mean rank of every method in each ranking; 1 is best.",
        "statistics/nemenyi": "Nemenyi's test for every pair of methods in each ranking.",
        "statistics/wilcoxon": "Pairs of methods by Wilcoxon's test with Holm's correction, and effect sizes.",
    },
    "Leaderboard": {
        "leaderboard": "Every method under the same limits on the largest deviation, by block: a dataset with a k.",
        "leaderboard_overall": "Every method under each limit on the largest deviation, over all blocks.",
        "leaderboard_pairs": "Every pair of methods: which one costs less where both keep the limit, and by how much.",
        "leaderboard_points": "Every run with its seed, deviation and price: all of the leaderboard follows from it.",
        "fronts": "Price against the largest deviation of every method and value of its parameters, block by block.",
    },
    "Figures": {
        "clusterings/composition": "The groups of every cluster in the best clusterings, as the figure shows them.",
        "clusterings/projection": "Rows of one dataset with their clusters and coordinates, as the figure shows them.",
    },
    "Accounts": {
        "accounts/steps": "CPU and wall time, number of jobs and largest memory of every step.",
        "accounts/fits": "Status, wall time and peak memory of every fit of a method.",
        "accounts/leaderboard_costs": "Median seconds of a fit and the largest memory of its process, by configuration.",
        "accounts/provenance": "What this run was made with: versions, commit, machine, settings, fingerprints of the steps.",
        "manifest": "The SHA-256 of every result, which ``clusterlets verify`` checks.",
    },
}


@cache
def by_result() -> dict[str, tuple[str, str]]:
    """Category and caption of every result: :data:`RESULTS` and the figures."""
    results = {path: (category, caption) for category, captions in RESULTS.items() for path, caption in captions.items()}
    for figure in declarations():
        caption = re.sub(r"([\\*`|_])", r"\\\1", f"{figure.title}. {figure.caption}")  # escape markup
        results[f"{figure.folder}/{figure.name}"] = (figure.folder.capitalize(), caption)
    return results


def report_arguments(path: str, results: str, folder: str) -> dict:
    """Arguments of Snakemake's ``report`` for a result: the caption's file below ``folder``, the category, and the labels.

    ``path`` begins with the folder ``results``, or with ``{place}`` if every variant has such a file. Labels then contain the
    variant's folder.
    """
    result, _, suffix = path.removeprefix("{place}/").removeprefix(f"{results}/").rpartition(".")
    category, _ = by_result()[result]
    name = Path(result).name.replace("_", " ") + (" of {place}" if "{place}" in path else "")
    file_format = {"md": "Markdown", "tex": "LaTeX", "txt": "text"}.get(suffix, suffix.upper())
    return {
        "caption": f"{folder}/{caption_file(result)}",
        "category": category,
        "labels": {"result": name, "format": file_format},
    }


def caption_file(result: str) -> str:
    """The file of a result's caption, relative to the folder that :func:`write` writes to."""
    return f"{result.replace('/', '.')}.rst"


def write(folder: str) -> None:
    """Write the overview and each caption to its own file, because Snakemake only reads captions from files."""
    texts = {caption_file(result): caption for result, (_, caption) in by_result().items()}
    for name, text in {**texts, "workflow.rst": OVERVIEW}.items():
        path = Path(folder, name)
        if not path.is_file() or path.read_text(encoding="utf-8", errors="replace") != text:
            write_text(path, text)
