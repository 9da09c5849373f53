"""The step that writes the report and its summary."""

import json
from pathlib import Path

from clusterlets.benchmark import report
from clusterlets.benchmark.figures import CAPTIONS
from clusterlets.benchmark.frames import read_runs
from clusterlets.storage import write_text


def write_report(runs: str, pictures: str, config: str, output: str, summary: str) -> None:
    """The report as one HTML page, and its five most telling lines as text.

    runs: every run (.csv)
    pictures: folder of the figures
    config: the workflow's configuration, as JSON
    output: the page (.html)
    summary: the lines (.txt)
    """
    results = report.Results(read_runs(runs), json.loads(config))
    images = {name: (Path(pictures) / f"{name}.png").read_bytes() for name in CAPTIONS}
    write_text(output, report.render(results, images, output))
    write_text(summary, "\n".join([*report.telling_lines(results, output), ""]))
