"""The committed leaderboard of the field follows from its committed points. `make generated` makes docs/field.md from it."""

from pathlib import Path

import pandas as pd
import pytest

from clusterlets.benchmark.analysis import leaderboard
from clusterlets.benchmark.grid.runs_frame import read_results_table
from clusterlets.benchmark.report.standings import FILES

ROOT = Path(__file__).resolve().parents[4]
REFERENCE = ROOT / "reference/field"
TABLES = [REFERENCE / name for name in (*FILES, "leaderboard_points.csv")]

needs_committed_field = pytest.mark.skipif(
    not all(path.is_file() for path in TABLES), reason="no results of the field are committed"
)


def without_missing_values(table):
    return table.astype(object).where(table.notna(), "")


@needs_committed_field
def test_the_committed_tables_follow_from_the_committed_points():
    *tables, points = map(read_results_table, TABLES)
    board = leaderboard.leaderboard(points)
    for table, recomputed in zip(tables, (board, leaderboard.overall(board), leaderboard.pairs(board)), strict=True):
        pd.testing.assert_frame_equal(
            without_missing_values(recomputed), without_missing_values(table), check_dtype=False, rtol=0, atol=1e-5
        )
