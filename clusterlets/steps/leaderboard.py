"""The step that writes the leaderboard's page, its summary, and the page of the fronts."""

import json
from pathlib import Path

from clusterlets.grid.runs_frame import read_results_table, read_results_table_if_any
from clusterlets.report import fronts_page, leaderboard_page, standings
from clusterlets.report.figures import images_of
from clusterlets.steps import Input, Output
from clusterlets.storage import write_text


def write_leaderboard(
    board: Input,
    overall: Input,
    pairs: Input,
    points: Input,
    config: str,
    configfile: str,
    results: str,
    output: Output,
    summary: Output,
    fronts: Output,
) -> None:
    """Write the leaderboard as an HTML page, its summary, and the page of the fronts.

    board: every method in every case under every limit (.csv)
    overall: every method over all cases (.csv)
    pairs: every pair of methods (.csv)
    points: every run (.csv)
    configfile: the file that the configuration was read from besides config.yaml, or empty
    output: the leaderboard (.html)
    summary: the findings and the main tables (.md)
    fronts: price against deviation in every case (.html)
    """
    settings, results_folder = json.loads(config), Path(results)
    leaderboard = standings.Standings(*map(read_results_table, (board, overall, pairs)))
    costs = read_results_table_if_any(results_folder / "accounts" / "leaderboard_costs.csv")
    images = images_of("leaderboard.html", results_folder)
    write_text(output, leaderboard_page.render(leaderboard, settings, configfile, images, costs))
    write_text(summary, standings.to_markdown(leaderboard, configfile, settings))
    write_text(fronts, fronts_page.render(read_results_table(points)))
