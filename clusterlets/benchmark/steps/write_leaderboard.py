"""The step that writes the leaderboard for people."""

import json

from clusterlets.benchmark.grid.runs_frame import read_results_table
from clusterlets.benchmark.report import standings
from clusterlets.benchmark.steps import Input, Output
from clusterlets.storage import write_text


def write_leaderboard(board: Input, overall: Input, pairs: Input, config: str, configfile: str, output: Output) -> None:
    """Write the findings of the leaderboard and its main tables.

    board: every method in every case under every limit (.csv)
    overall: every method over all cases (.csv)
    pairs: every pair of methods (.csv)
    configfile: the file that the configuration was read from besides config.yaml, or empty
    output: the findings and the tables (.md)
    """
    leaderboard = standings.Standings(*map(read_results_table, (board, overall, pairs)))
    write_text(output, standings.to_markdown(leaderboard, configfile, json.loads(config)))
