"""The step that analyses the runs: tables, rankings and tests, the paper's numbers and claims beside ours, leaderboards."""

import json
from collections.abc import Iterable
from pathlib import Path

from clusterlets.benchmark.analysis import leaderboard
from clusterlets.benchmark.grid.runs_frame import read_runs, write_csv
from clusterlets.benchmark.grid.variants import folder, of_published_code
from clusterlets.benchmark.paper import sensitivity
from clusterlets.benchmark.paper.results import Results
from clusterlets.benchmark.steps import Input
from clusterlets.storage import load_json, write_text


def analyse(runs: Input, config: str, output: str) -> None:
    """Write all tables that the figures and the report are made from.

    output: folder of the results, which also holds the measurements of each dataset
    """
    settings, all_runs = json.loads(config), read_runs(runs)
    cohesions = _whole_table_cohesions(Path(output), all_runs["dataset"].unique())
    variant_runs = {name: read_runs(f"{folder(settings['results'], name)}/runs.csv") for name in settings["variants"]}
    code_runs = variant_runs.get(of_published_code(settings))
    results = Results.from_runs(all_runs, settings, cohesions, code_runs)
    results.write(Path(output))
    kinds = leaderboard.kinds_of(settings["method_settings"])
    points = leaderboard.points(all_runs, kinds, leaderboard.starts_of(settings))
    board = leaderboard.leaderboard(points)
    boards = {"": board, "_overall": leaderboard.overall(board), "_pairs": leaderboard.pairs(board), "_points": points}
    for name, frame in boards.items():
        write_csv(Path(output) / f"leaderboard{name}.csv", frame)
    if not results.has_paper_data:
        return
    runs_by_choice = {sensitivity.Choice.from_variant(settings, name): frame for name, frame in variant_runs.items()}
    assessment = sensitivity.assess(all_runs, runs_by_choice)
    write_csv(Path(output) / "sensitivity.csv", assessment)
    write_text(Path(output) / "sensitivity.md", sensitivity.to_markdown(assessment))


def _whole_table_cohesions(results: Path, datasets: Iterable[str]) -> dict[str, float]:
    """The cohesion of each dataset as a single cluster. Datasets whose geometry was not measured are left out."""
    files = {name: results / f"geometry/{name}.json" for name in datasets}
    return {name: load_json(str(file))["cohesion"] for name, file in files.items() if file.is_file()}
