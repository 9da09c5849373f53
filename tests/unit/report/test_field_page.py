"""docs/field.md follows from the committed leaderboard of the field, and the leaderboard from its committed points."""

from pathlib import Path

import pandas as pd
import pytest

from clusterlets.analysis import leaderboard
from clusterlets.grid.runs_frame import read_results_table
from clusterlets.report.standings import FILES, Standings, to_markdown

ROOT = Path(__file__).resolve().parents[3]
PAGE, REFERENCE = ROOT / "docs/field.md", ROOT / "reference/field"
TABLES = [REFERENCE / name for name in (*FILES, "leaderboard_points.csv")]

needs_committed_field = pytest.mark.skipif(
    not all(path.is_file() for path in (PAGE, *TABLES)), reason="no results of the field are committed"
)


@needs_committed_field
def test_the_page_follows_from_the_committed_tables():
    *tables, _ = map(read_results_table, TABLES)
    settings = {"results": "results/field", "scaling": "standard"}
    assert PAGE.read_text(encoding="utf-8") == to_markdown(Standings(*tables), "workflow/configs/field.yaml", settings)


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
