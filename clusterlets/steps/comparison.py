"""The step that holds our numbers against the paper's."""

from clusterlets.grid.runs_frame import read_runs, write_csv
from clusterlets.paper import comparison


def check_reported(runs: str, output: str, counts: str) -> None:
    """Every number of the paper's tables beside ours, with a verdict.

    runs: every run (.csv)
    output: one row a number (.csv)
    counts: verdicts counted by table (.csv)
    """
    compared = comparison.compare(read_runs(runs))
    write_csv(output, compared)
    write_csv(counts, comparison.counts(compared))
