"""The step that draws the figures of one module."""

from importlib import import_module
from pathlib import Path

import pandas as pd

from clusterlets.benchmark.grid.runs_frame import read_results_table, read_runs
from clusterlets.benchmark.report.figures import by_module
from clusterlets.pages.style import save


def plot(module: str, results: str) -> None:
    """Draw the figures that a file of clusterlets.benchmark.report.figures declares, as PDF and PNG.

    module: name of the file, without ending
    """
    # Imported by name, so that a change to one module redraws only its own figures.
    draw = import_module(f"clusterlets.benchmark.report.figures.{module}").draw
    for figure in by_module()[module]:
        frames = [_read_table(Path(results, path)) for path in figure.reads]
        save(draw(*frames, **figure.options), Path(results, "figures", figure.name))


def _read_table(path: Path) -> pd.DataFrame:
    return read_runs(path) if path.name == "runs.csv" else read_results_table(path)
