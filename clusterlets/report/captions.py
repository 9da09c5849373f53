"""Category and caption of each result in Snakemake's own report. Figures declare theirs in their own files."""

import re
from functools import cache
from pathlib import Path

from clusterlets.report.figures import declarations
from clusterlets.storage import write_text

_TABLES, _TESTS, _LEADERBOARD, _ACCOUNTS = "Tables", "Tests", "Leaderboard", "Accounts"

#: The introduction above all results.
OVERVIEW = """\
What the paper *Fair Clustering with Clusterlets* reports, computed again from raw data: Clusterlets with five matchers and
FRAC, on every dataset, setting and seed of the grid in ``config.yaml``.

Read ``report.html`` (below *Report*) first: it gives the verdict in short sentences, and says what is missing, which numbers
and claims are reproduced, and why others are not. ``runs.csv`` holds every run; all tables and figures here follow from it.
"""
#: Category and caption (reStructuredText) of each result, by its path below the results folder without extension.
RESULTS = {
    "report": (
        "Report",
        "Everything on one page that opens without a network: the verdict in short sentences, leaderboard, controls, tables "
        "with the paper's numbers beside ours, claims, figures, statistics, sensitivity, methods, data and provenance.",
    ),
    "summary": ("Report", "The verdict in short sentences, its numbers, and what it rests on."),
    "runs": (
        "Data",
        "Every run of the grid, one row each: dataset, method, parameters, seed, status, and its metrics. Runs without a "
        "result have a status other than ``ok``, and empty metrics. ``docs/results-format.md`` describes every column.",
    ),
    "datasets": (
        "Data",
        "The datasets as they were prepared: source, rows, features, rows of each group, licence and citation, and whether the "
        "table has its expected fingerprint.",
    ),
    "tables/table1_matchers": (
        _TABLES,
        "Table 1 of the paper. Mean and population standard deviation over all runs of each matcher, limit cases included; "
        "only runs with status ``ok`` enter, and ``dropped`` counts the others.",
    ),
    "tables/table2_best_by_deviation": (
        _TABLES,
        "Table 2 of the paper. The single run of each dataset with the least mean deviation, without runs of fewer than 3 "
        "clusters or an overlap of 0.5 or more. Ties: lower max deviation, higher cohesion, smaller k, hops, seed. Choosing "
        "one run among hundreds is noisy: see the table by configuration mean.",
    ),
    "tables/table2_by_configuration_mean": (
        _TABLES,
        "A sounder choice than table 2: the configuration with the least mean deviation on average over its seeds. The rule on "
        "limit cases applies to the configuration's means.",
    ),
    "tables/table2_with_controls": (
        _TABLES,
        "Table 2 with FRAC, as the paper scored it and as it is defined, and the controls k-means and random: the best run of "
        "each dataset and method by mean deviation.",
    ),
    "tables/table3_best_by_cohesion": (
        _TABLES,
        "Table 3 of the paper. The single run of each dataset with the highest cohesion, by the same rules as table 2.",
    ),
    "tables/table3_by_configuration_mean": (
        _TABLES,
        "A sounder choice than table 3: the configuration with the highest cohesion on average over its seeds.",
    ),
    "tables/table3_with_controls": (
        _TABLES,
        "Table 3 with FRAC, as the paper scored it and as it is defined, and the controls k-means and random: the best run of "
        "each dataset and method by cohesion.",
    ),
    "tables/table4_frac_vs_clusterlets": (
        _TABLES,
        "Table 4 of the paper. The best run of Clusterlets beside the best of FRAC, by mean deviation. The paper scored FRAC "
        "by assigning points to their nearest centre, which gives up the fair assignment: *FRAC (nearest)*. *FRAC (fair)* is "
        "the algorithm as defined, and changes the answer.",
    ),
    "tables/table5_correlations": (
        _TABLES,
        "Table 5 of the paper. Pearson, Spearman and Kendall (tau-b) correlations over the runs of C between s, omega and mean "
        "deviation. The caption calls s cohesion, equation 1 the silhouette; both are here.",
    ),
    "tables/all_tables": (
        _TABLES,
        "A LaTeX document with all tables, which compiles as it stands, with booktabs and multirow. Each table is also a "
        "``table`` environment in a file of its own.",
    ),
    "comparison": (
        "Reported against reproduced",
        "Every number of the paper's five tables beside ours: reported, reproduced, difference, verdict and reason. "
        "``counted`` is false for structural zeros and for rows that repeat another table's. A number differs if other seeds "
        "of ours would print one so far out with a probability (``tail``) below 0.05. It is reproduced if it is at least five "
        "times likelier as ours than as a number of something else, or one that is off (``evidence``). Otherwise it is "
        "undecided.",
    ),
    "comparison_counts": (
        "Reported against reproduced",
        "For each table, how many of its numbers have which verdict.",
    ),
    "comparison_groups": (
        "Reported against reproduced",
        "The verdict on each row, column and table as a whole.",
    ),
    "comparison_controls": (
        "Reported against reproduced",
        "The same counts for copies of the paper that we made: perfect ones, which print what other seeds of ours give, and "
        "wrong ones.",
    ),
    "claims": (
        "Claims",
        "Every claim that the paper makes of its experiments, with how it is tested, the verdict by the paper's own numbers "
        "and the verdict by ours: holds, holds in part, does not hold, inconclusive. The same test gives both, and says "
        "whether random partitions, plain k-means and the undivided data would satisfy the claim in the place of Clusterlets. "
        "Where the paper compares with FRAC there are two rows, against FRAC (nearest), as the paper scored it, and FRAC "
        "(fair), the algorithm as defined. Counts are of sentences, each once, with one of the two or the other.",
    ),
    "sensitivity": (
        "Sensitivity analysis",
        "Numbers of tables 1 to 4 with the usual choices, and with one choice taken the other way.",
    ),
    "as_published": (
        "As the code does",
        "The paper's numbers and claims beside two runs: as its text says, and as the authors' published code does where it "
        "departs from the text.",
    ),
    "methods": (_TESTS, "Every method: its role, how many of its runs have which status, and means over those that are ok."),
    "at_given_fairness": (
        _TESTS,
        "The highest cohesion of each method where a configuration's mean deviation, averaged over its seeds, keeps a limit: "
        "0.01, 0.02, 0.05, 0.1. On each dataset, with limit cases left out, as in the tables, and included.",
    ),
    "statistics/statistics": (
        _TESTS,
        "Do the methods differ by more than chance? Friedman's test and Nemenyi's critical difference for every ranking; "
        "``statistics.md`` has all tests in sentences, and their assumptions. Blocks of (dataset, k, seed) are "
        "pseudo-replication: they only show how much depends on the choice of blocks.",
    ),
    "statistics/blocks": (_TESTS, "The value of every method in every block of each ranking."),
    "statistics/mean_ranks": (_TESTS, "The mean rank of every method in each ranking; 1 is best."),
    "statistics/nemenyi": (_TESTS, "Nemenyi's test for every pair of methods in each ranking."),
    "statistics/wilcoxon": (_TESTS, "Pairs of methods by Wilcoxon's test with Holm's correction, and effect sizes."),
    "statistics/intervals": (_TESTS, "Ratios of mean deviations for pairs of methods, with intervals."),
    "statistics/bayes": (_TESTS, "Probabilities for pairs of methods by the Bayesian signed-rank test."),
    "statistics/held_out": (
        _TESTS,
        "Configurations chosen on some seeds and scored on others, and the best of equally many configurations.",
    ),
    "leaderboard": (
        _LEADERBOARD,
        "Every method under the same limits on the largest deviation, block by block (a dataset with a k) and over all blocks. "
        "The first half of the seeds chooses each method's parameters, the other half scores them.",
    ),
    "leaderboard_overall": (_LEADERBOARD, "Every method under each limit on the largest deviation, over all blocks."),
    "leaderboard_pairs": (_LEADERBOARD, "Every pair of methods: who costs less, and by how much, where both keep the limit."),
    "leaderboard_points": (
        _LEADERBOARD,
        "Every run with its seed, deviation and price: all of the leaderboard follows from it.",
    ),
    "fronts": (
        _LEADERBOARD,
        "Price against the largest deviation of every method and value of its parameters, one picture for each block, on a "
        "page that opens without a network.",
    ),
    "clusterings/composition": ("Figures", "The groups of every cluster in the best clusterings, as the figure shows them."),
    "clusterings/projection": ("Figures", "Rows of one dataset with their clusters and coordinates, as the figure shows them."),
    "accounts/steps": (
        _ACCOUNTS,
        "CPU and wall time, number of jobs and largest memory of every step, from the last line of each job's log.",
    ),
    "accounts/fits": (
        _ACCOUNTS,
        "Status, wall time and peak memory of every fit of a method, one row per run, from the jobs' logs.",
    ),
    "accounts/leaderboard_costs": (
        _ACCOUNTS,
        "Median seconds of a fit and the largest memory of its process, by configuration. Differs from machine to machine.",
    ),
    "accounts/provenance": (
        _ACCOUNTS,
        "What this run was made with: versions installed and locked, commit, machine, settings, and the fingerprint of every "
        "step. It may differ between two runs of equal results.",
    ),
    "manifest": (
        _ACCOUNTS,
        "The SHA-256 of every result, by what is guaranteed of it, with the settings, locked versions, data and processor that "
        "they follow from. ``clusterlets verify`` checks this folder against it.",
    ),
}


@cache
def by_result() -> dict[str, tuple[str, str]]:
    """Category and caption of every result: :data:`RESULTS` and the figures."""
    figures = {
        f"{figure.folder}/{figure.name}": (
            figure.folder.capitalize(),
            _as_restructured_text(f"{figure.title}. {figure.caption}"),
        )
        for figure in declarations()
    }
    return {**RESULTS, **figures}


def file_of(result: str) -> str:
    """Where :func:`write` puts the caption of a result, relative to its folder."""
    return f"{result.replace('/', '.')}.rst"


def write(folder: str) -> None:
    """Write the overview and each caption to a file of its own, because Snakemake reads captions from files only."""
    texts = {file_of(result): caption for result, (_, caption) in by_result().items()}
    for name, text in {**texts, "workflow.rst": OVERVIEW}.items():
        path = Path(folder, name)
        if not path.is_file() or path.read_text(encoding="utf-8", errors="replace") != text:
            write_text(path, text)


def _as_restructured_text(text: str) -> str:
    """Plain text with a backslash before each markup character."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)
