"""The step that asks whether the methods differ by more than chance."""

from pathlib import Path

from clusterlets.benchmark import statistics
from clusterlets.benchmark.frames import read_runs, write_csv
from clusterlets.storage import write_text


def compare_methods(runs: str, output: str) -> None:
    """Friedman's and Nemenyi's tests: statistics.csv, mean_ranks.csv, nemenyi.csv and statistics.md.

    runs: every run (.csv)
    output: folder of the statistics
    """
    rankings = statistics.rank_all(read_runs(runs))
    write_csv(Path(output) / "statistics.csv", statistics.summary(rankings))
    write_csv(Path(output) / "mean_ranks.csv", statistics.mean_ranks(rankings))
    write_csv(Path(output) / "nemenyi.csv", statistics.pairs(rankings))
    write_text(Path(output) / "statistics.md", statistics.to_markdown(rankings))
