"""docs/field.md says exactly what the committed leaderboard of the field holds."""

from pathlib import Path

import pandas as pd
import pytest

from clusterlets.analysis import leaderboard
from clusterlets.grid.runs_frame import read_lines
from clusterlets.report.standings import Standings, to_markdown

ROOT = Path(__file__).resolve().parents[3]
PAGE, REFERENCE = ROOT / "docs/field.md", ROOT / "reference/field"
TABLES = [REFERENCE / f"leaderboard{name}.csv" for name in ("", "_overall", "_points")]

committed = pytest.mark.skipif(not any(path.is_file() for path in (PAGE, *TABLES)), reason="no run of the field is committed")


@committed
def test_every_sentence_and_number_of_the_page_comes_from_the_committed_tables():
    committed_standings = Standings(*map(read_lines, TABLES))
    assert PAGE.read_text(encoding="utf-8") == to_markdown(committed_standings, "workflow/configs/field.yaml", "results/field")


@committed
def test_the_summary_follows_from_the_committed_blocks():
    board, overall, points = map(read_lines, TABLES)
    recomputed = leaderboard.overall(board, points)
    pd.testing.assert_frame_equal(recomputed, overall, check_dtype=False, rtol=0, atol=1e-9)
