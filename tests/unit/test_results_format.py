"""docs/results-format.md describes every column of the result files, and no other."""

import re
from pathlib import Path

import pytest

from clusterlets.benchmark.analysis import leaderboard
from clusterlets.benchmark.grid import datasets_list
from clusterlets.benchmark.paper import claims, comparison, copies, readings, sensitivity
from clusterlets.benchmark.provenance import accounts

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "results-format.md").read_text(encoding="utf-8")
COLUMNS = {
    "leaderboard.csv": leaderboard.COLUMNS,
    "leaderboard_overall.csv": leaderboard.OVERALL,
    "leaderboard_pairs.csv": leaderboard.PAIRS,
    "leaderboard_points.csv": leaderboard.POINTS,
    "comparison.csv": comparison.COLUMNS,
    "shares.csv": copies.COLUMNS,
    "readings.csv": readings.COLUMNS,
    "claims.csv": claims.COLUMNS,
    "sensitivity.csv": sensitivity.COLUMNS,
    "datasets.csv": datasets_list.COLUMNS,
    "steps.csv": accounts.COLUMNS,
    "fits.csv": accounts.FIT_COLUMNS,
}


@pytest.mark.parametrize("file", COLUMNS)
def test_the_table_of_a_file_has_each_of_its_columns_once(file):
    section = PAGE.partition(f"### `{file}`")[2].partition("\n#")[0]
    first_cells = re.findall(r"^\| ([^|]+) \|", section, re.MULTILINE)[1:]  # without the header
    described = [name for cell in first_cells for name in cell.split(", ")]
    assert sorted(described) == sorted(COLUMNS[file])
