"""The leaderboard's page: the findings, every method under every limit, the figures, and what the fits cost."""

from collections.abc import Mapping

import pandas as pd

from clusterlets.report import SHOWN_LIMIT, standings
from clusterlets.report.page import figures, page_table
from clusterlets.report.standings import Standings
from clusterlets.report.templating import render_template


def render(
    method_standings: Standings, settings: Mapping, configfile: str, images: Mapping[str, bytes], costs: pd.DataFrame
) -> str:
    """The page as HTML.

    ``configfile`` is the file that the run was started with, or empty. ``images`` are the PNG figures by name. ``costs`` are
    times and memory of the fits.
    """
    return render_template(
        "leaderboard.html",
        introduction=standings.introduction(settings),
        sentences=standings.findings(method_standings),
        limits=[_limit_section(method_standings, limit, settings) for limit in method_standings.limits],
        figures=figures("leaderboard.html", images),
        rerun_command=standings.rerun_command(configfile),
        glossary=list(standings.GLOSSARY.items()),
        costs=page_table(costs),
    )


def _limit_section(method_standings: Standings, limit: float, settings: Mapping) -> dict:
    rows = method_standings.board[method_standings.board["limit"] == limit].drop(columns="limit")
    files = [standings.quoted_paths(row, settings) for row in rows.to_dict("records")]
    return {
        "title": standings.describe_limit(limit).capitalize(),
        "is_open": limit == SHOWN_LIMIT,
        "overall": {heading: page_table(table) for heading, table in standings.all_methods(method_standings, limit).items()},
        "pairs": page_table(standings.all_pairs(method_standings, limit)),
        "outcomes": page_table(standings.all_outcomes(method_standings, limit)),
        "cases": page_table(rows.assign(files=files)),
    }
