"""The step that writes the report and its summary."""

import json
from pathlib import Path

import pandas as pd

from clusterlets.benchmark import report, telling
from clusterlets.benchmark.figures import CAPTIONS
from clusterlets.benchmark.frames import read_runs
from clusterlets.storage import write_text


def write_report(
    runs: str, pictures: str, config: str, output: str, summary: str,
    datasets: str = "", claims: str = "", sensitivity: str = "", statistics: str = "", accounts: str = "",
) -> None:  # fmt: skip
    """The report as one HTML page, and the verdict in five sentences as text.

    What is not there is said on the page.

    runs: every run (.csv)
    pictures: folder of the figures
    config: the workflow's configuration, as JSON
    output: the page (.html)
    summary: the sentences (.txt)
    datasets: the list of the data (.csv)
    claims: the paper's claims with their verdicts (.csv)
    sensitivity: what each choice changes (.csv)
    statistics: folder of the statistics
    accounts: folder of what the run cost and what it was made with
    """
    results = telling.Results(read_runs(runs), json.loads(config), _table(Path(claims)))
    folder, runtime, provenance = (Path(accounts, name) for name in ("", "runtime.png", "provenance.json"))
    findings = report.Findings(
        images={name: path.read_bytes() for name in CAPTIONS if (path := Path(pictures, f"{name}.png")).is_file()},
        datasets=_table(Path(datasets)),
        sensitivity=_table(Path(sensitivity)),
        statistics={name: _table(Path(statistics, f"{name}.csv")) for name in ("wilcoxon", "intervals")},
        steps=_table(folder / "steps.csv"),
        provenance=json.loads(provenance.read_text(encoding="utf-8")) if provenance.is_file() else {},
        runtime=runtime.read_bytes() if runtime.is_file() else b"",
    )
    write_text(output, report.render(results, findings))
    write_text(summary, telling.summary(results, output))


def _table(path: Path) -> pd.DataFrame:
    """A table as it was written; without rows where there is no such file or nothing in it."""
    return pd.read_csv(path) if path.is_file() and path.stat().st_size else pd.DataFrame()
