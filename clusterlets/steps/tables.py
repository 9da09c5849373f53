"""The step that makes the paper's tables from the runs."""

from pathlib import Path

from clusterlets.grid.runs_frame import read_runs, write_csv
from clusterlets.paper import tables
from clusterlets.storage import write_text


def make_tables(runs: str, output: str) -> None:
    """The paper's tables 1 to 5, and 2 and 3 by configuration means, each as CSV, Markdown and LaTeX; all_tables.tex takes in
    the latter.

    runs: every run (.csv)
    output: folder of the tables
    """
    write_text(Path(output) / "all_tables.tex", tables.document(tables.NAMES))
    for table in tables.make(read_runs(runs)):
        stem = Path(output) / table.name
        write_csv(stem.with_suffix(".csv"), table.frame)
        write_text(stem.with_suffix(".md"), tables.to_markdown(table))
        write_text(stem.with_suffix(".tex"), tables.to_latex(table))
