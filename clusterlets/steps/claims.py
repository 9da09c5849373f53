"""The step that holds the paper's sentences against its numbers and ours."""

from clusterlets.grid.runs_frame import read_runs, write_csv
from clusterlets.paper import claims
from clusterlets.storage import write_text


def check_claims(runs: str, output: str, words: str) -> None:
    """Every claim of the paper with a verdict by its own numbers and one by ours.

    runs: every run (.csv)
    output: one row a claim (.csv)
    words: the same to read (.md)
    """
    assessed = claims.assess(read_runs(runs))
    write_csv(output, assessed)
    write_text(words, claims.to_markdown(assessed))
