"""The step that analyses the runs: the paper's tables, rankings and tests, and verdicts on its numbers and claims."""

import json
from pathlib import Path

from clusterlets.grid.runs_frame import read_runs, write_csv
from clusterlets.grid.variants import folder
from clusterlets.paper import sensitivity
from clusterlets.paper.results import Results
from clusterlets.steps import Input
from clusterlets.storage import write_text


def analyse(runs: Input, config: str, output: str) -> None:
    """Everything that figures and report rest on, each made once.

    runs: every run of the grid (.csv)
    config: the workflow's configuration, as JSON, whose variants have been collected
    output: folder of the results
    """
    settings, table = json.loads(config), read_runs(runs)
    for name, content in Results.of_runs(table, settings).files():
        if isinstance(content, str):
            write_text(Path(output) / name, content)
        else:
            write_csv(Path(output) / name, content)
    variants = {
        sensitivity.Choice.of_variant(settings, name): read_runs(f"{folder(settings['results'], name)}/runs.csv")
        for name in settings["variants"]
    }
    assessed = sensitivity.assess(table, variants)
    write_csv(Path(output) / "sensitivity.csv", assessed)
    write_text(Path(output) / "sensitivity.md", sensitivity.to_markdown(assessed))
