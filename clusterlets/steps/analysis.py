"""The step that analyses the runs: the paper's tables, rankings and tests, verdicts on its numbers and claims, leaderboards."""

import json
from collections.abc import Iterable
from pathlib import Path

from clusterlets.analysis import leaderboard
from clusterlets.grid.runs_frame import read_runs, write_csv
from clusterlets.grid.variants import folder
from clusterlets.paper import as_published, sensitivity
from clusterlets.paper.results import Results
from clusterlets.steps import Input
from clusterlets.storage import load_json, write_text


def analyse(runs: Input, config: str, output: str) -> None:
    """Make everything that figures and report are based on, each once.

    output: folder of the results, which also holds the measurements of each dataset
    """
    settings, table = json.loads(config), read_runs(runs)
    for name, content in Results.from_runs(
        table, settings, _undivided_cohesion(Path(output), table["dataset"].unique())
    ).files():
        if isinstance(content, str):
            write_text(Path(output) / name, content)
        else:
            write_csv(Path(output) / name, content)
    points = leaderboard.points(table, leaderboard.kinds_of(settings["grids"]), leaderboard.starts_of(settings["grids"]))
    board = leaderboard.leaderboard(points)
    boards = {"": board, "_overall": leaderboard.overall(board), "_pairs": leaderboard.pairs(board), "_points": points}
    for name, frame in boards.items():
        write_csv(Path(output) / f"leaderboard{name}.csv", frame)
    variants = {name: read_runs(f"{folder(settings['results'], name)}/runs.csv") for name in settings["variants"]}
    choices = {sensitivity.Choice.from_variant(settings, name): frame for name, frame in variants.items()}
    published = as_published.assess(table, variants.get(as_published.variant_of(settings)))
    for name, assessment, module in (
        ("sensitivity", sensitivity.assess(table, choices), sensitivity),
        ("as_published", published, as_published),
    ):
        write_csv(Path(output) / f"{name}.csv", assessment)
        write_text(Path(output) / f"{name}.md", module.to_markdown(assessment))


def _undivided_cohesion(results: Path, datasets: Iterable[str]) -> dict[str, float]:
    """The cohesion of each dataset as one cluster, if it was measured."""
    files = {name: results / f"geometry/{name}.json" for name in datasets}
    return {name: load_json(str(file))["cohesion"] for name, file in files.items() if file.is_file()}
