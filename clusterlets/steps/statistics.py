"""The step that asks whether the methods differ by more than chance."""

from pathlib import Path

from clusterlets.analysis import paired, statistics
from clusterlets.grid.runs_frame import read_runs, write_csv
from clusterlets.paper import reported
from clusterlets.storage import write_text


def compare_methods(runs: str, output: str) -> None:
    """Friedman's, Nemenyi's and Wilcoxon's tests and bootstrap intervals: five tables, and statistics.md in words.

    runs: every run (.csv)
    output: folder of the statistics
    """
    table = read_runs(runs)
    rankings = statistics.rank_all(table)
    samples = paired.samples(table, rankings)
    tests, intervals = paired.wilcoxon(samples), paired.intervals(samples)
    write_csv(Path(output) / "statistics.csv", statistics.summary(rankings))
    write_csv(Path(output) / "mean_ranks.csv", statistics.mean_ranks(rankings))
    write_csv(Path(output) / "nemenyi.csv", statistics.pairs(rankings))
    write_csv(Path(output) / "wilcoxon.csv", tests)
    write_csv(Path(output) / "intervals.csv", intervals)
    words = [statistics.to_markdown(rankings, reported.datasets()), paired.to_markdown(tests, intervals)]
    write_text(Path(output) / "statistics.md", "\n".join(words))
