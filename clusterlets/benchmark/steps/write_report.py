"""The step that writes the report and its summary."""

import json
from pathlib import Path

from clusterlets.benchmark.grid.runs_frame import read_results_table_if_any
from clusterlets.benchmark.paper.results import Results
from clusterlets.benchmark.report import answers, page, standings
from clusterlets.benchmark.report.figures import images
from clusterlets.benchmark.report.standings import Standings
from clusterlets.benchmark.steps import Output
from clusterlets.storage import load_json, write_text


def write_report(config: str, results: str, output: Output, summary: Output) -> None:
    """Write the report as one HTML page, and its summary as text.

    The page says which files of other steps are missing.

    output: the page (.html)
    summary: the paper beside ours, and the answers (.txt)
    """
    folder, accounts = Path(results), Path(results, "accounts")
    provenance_file = accounts / "provenance.json"
    all_results = Results.read(folder, json.loads(config))
    board_tables = [read_results_table_if_any(folder / name) for name in standings.FILES]
    from_other_steps = page.StepOutputs(
        images=images(folder),
        standings=Standings(*board_tables) if len(board_tables[0]) else Standings.none(),
        datasets=read_results_table_if_any(folder / "datasets.csv"),
        sensitivity=read_results_table_if_any(folder / "sensitivity.csv"),
        statistics={name: read_results_table_if_any(folder / "statistics" / f"{name}.csv") for name in page.STATISTICS},
        methods=read_results_table_if_any(folder / "methods.csv"),
        fits=read_results_table_if_any(accounts / "fits.csv"),
        steps=read_results_table_if_any(accounts / "steps.csv"),
        provenance=load_json(provenance_file) if provenance_file.is_file() else {},
    )
    write_text(output, page.render(all_results, from_other_steps))
    write_text(summary, answers.summary(all_results, answers.answers(all_results, from_other_steps.standings), output))
