"""The step that writes the leaderboard's page and its summary."""

import json
from pathlib import Path

from clusterlets.grid.runs_frame import read_results_table, read_results_table_if_any
from clusterlets.report import leaderboard_page, standings
from clusterlets.report.figures import images_of
from clusterlets.steps import Input, Output
from clusterlets.storage import write_text


def write_leaderboard(
    board: Input,
    overall: Input,
    pairs: Input,
    config: str,
    configfile: str,
    results: str,
    output: Output,
    summary: Output,
) -> None:
    """Write the leaderboard as an HTML page, and its summary.

    board: every method in every case under every limit (.csv)
    overall: every method over all cases (.csv)
    pairs: every pair of methods (.csv)
    configfile: the file that the configuration was read from besides config.yaml, or empty
    output: the leaderboard (.html)
    summary: the findings and the main tables (.md)
    """
    settings, results_folder = json.loads(config), Path(results)
    leaderboard = standings.Standings(*map(read_results_table, (board, overall, pairs)))
    costs = read_results_table_if_any(results_folder / "accounts" / "leaderboard_costs.csv")
    images = images_of("leaderboard.html", results_folder)
    write_text(output, leaderboard_page.render(leaderboard, settings, configfile, images, costs))
    write_text(summary, standings.to_markdown(leaderboard, configfile, settings))
