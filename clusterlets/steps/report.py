"""The step that writes the report and its summary."""

import json
from pathlib import Path

import pandas as pd

from clusterlets.grid.runs_frame import read_lines
from clusterlets.paper.results import Results
from clusterlets.report import page, verdict
from clusterlets.report.figures import images_of
from clusterlets.report.standings import FILES, Standings
from clusterlets.steps import Input, Output
from clusterlets.storage import load_json, write_text


def write_report(runs: Input, config: str, results: str, output: Output, summary: Output) -> None:
    """Write the report as one HTML page, and the verdict as text.

    What the other steps made is read from the folder of results; if something is missing, the page says so.

    output: the page (.html)
    summary: the sentences (.txt)
    """
    folder, accounts = Path(results), Path(results, "accounts")
    run = Results.read(folder, json.loads(config))
    boards = [_table(folder / name) for name in FILES]
    findings = page.Findings(
        images=images_of("report.html", folder),
        standings=Standings(*boards) if len(boards[0]) else Standings.none(),
        datasets=_table(folder / "datasets.csv"),
        sensitivity=_table(folder / "sensitivity.csv"),
        published=_table(folder / "as_published.csv"),
        statistics={name: _table(folder / "statistics" / f"{name}.csv") for name in page.STATISTICS},
        methods=_table(folder / "methods.csv"),
        fits=_table(accounts / "fits.csv"),
        steps=_table(accounts / "steps.csv"),
        provenance=load_json(origin) if (origin := accounts / "provenance.json").is_file() else {},
    )
    write_text(output, page.render(run, findings))
    write_text(summary, verdict.summary(run, verdict.answers(run, findings.standings), output))


def _table(path: Path) -> pd.DataFrame:
    """A table as it was written; without rows if the file is missing or empty."""
    return read_lines(path) if path.is_file() and path.stat().st_size else pd.DataFrame()
