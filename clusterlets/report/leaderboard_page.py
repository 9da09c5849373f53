"""The leaderboard's page: the findings, every method under every limit, the figures, and what the fits cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from clusterlets.report import standings
from clusterlets.report.page import figures, view
from clusterlets.report.standings import Standings
from clusterlets.report.templating import render_template

_COLUMNS = [
    *("dataset", "k", "method", "kind", "outcome", "parameters", "price", "price_low", "price_high", "kept", "runs", "starts"),
    *("deviation_max", "smallest", "tried", "statuses"),
]


@dataclass(frozen=True)
class Extras:
    """What the page shows beside the numbers: PNG figures by name, and the fits' costs, which differ between runs.

    Either may be empty.
    """

    images: Mapping[str, bytes] = field(default_factory=dict)
    costs: pd.DataFrame = field(default_factory=pd.DataFrame)


def render(leaderboard: Standings, extras: Extras, settings: Mapping, configfile: str) -> str:
    """The page as HTML; ``configfile`` is the one the run was started with, empty for the defaults."""
    return render_template(
        "leaderboard.html",
        introduction=standings.introduction(settings),
        sentences=standings.findings(leaderboard),
        limits=[_limit_section(leaderboard, limit, settings) for limit in leaderboard.limits],
        figures=figures("leaderboard.html", extras.images),
        command=standings.command(configfile),
        glossary=list(standings.GLOSSARY.items()),
        costs=view(extras.costs) if len(extras.costs) else None,
    )


def _limit_section(leaderboard: Standings, limit: float, settings: Mapping) -> dict:
    """Title, all methods over all blocks, the pairs, and the methods of each block with the files that repeat a row."""
    rows = leaderboard.board[leaderboard.board["limit"] == limit]
    with_files = rows[_COLUMNS].assign(files=[standings.cells_of(row, settings) for row in rows.to_dict("records")])
    title = standings.describe_limit(limit).capitalize()
    return {
        "title": title,
        "is_shown": limit == standings.SHOWN_LIMIT,
        "overall": {heading: view(table) for heading, table in standings.all_methods(leaderboard, limit).items()},
        "pairs": view(standings.all_pairs(leaderboard, limit)),
        "outcomes": view(standings.all_outcomes(leaderboard, limit)),
        "blocks": view(with_files),
    }
