"""The step that draws a figure. Each figure is a module, loaded by name, so that editing one redraws one."""

from importlib import import_module
from pathlib import Path

from clusterlets.grid.runs_frame import read_lines, read_runs
from clusterlets.report.figures.style import save
from clusterlets.steps import Input


def plot(module: str, runs: Input, output: str, further: str = "") -> None:
    """Draw what one module of clusterlets.report.figures has to show, as PDF and PNG.

    module: name of the module
    runs: every run (.csv)
    output: folder of the figures
    further: what the module draws besides the runs (.csv), separated by commas, in the order that it takes them
    """
    frames = [read_runs(runs), *map(read_lines, filter(None, further.split(",")))]
    drawn = import_module(f"clusterlets.report.figures.{module}").from_runs(*frames)
    for name, figure in drawn.items():
        save(figure, Path(output) / name)
