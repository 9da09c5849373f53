"""The page of the fronts: price against deviation in every block, drawn by the reader's browser from data on the page."""

import json

import pandas as pd
from markupsafe import Markup

from clusterlets.analysis import leaderboard
from clusterlets.analysis.leaderboard import BLOCK, CONFIGURATIONS, LIMITS, TOLERANCE
from clusterlets.report import SHOWN_LIMIT, standings
from clusterlets.report.templating import render_template

_GLOSSARY_WORDS = ("price", "seeds", "starts", "matchers of Clusterlets", "controls", "outputs without a claim")
#: What the page holds of each point, in this order.
FIELDS = tuple(name for name in CONFIGURATIONS if name not in (*BLOCK, "kind"))


def render(points: pd.DataFrame, board: str = "leaderboard.html") -> str:
    """The page as HTML, from ``leaderboard_points.csv``; ``board`` is the page with all tables, which it links to."""
    data = page_data(points)
    return render_template(
        "fronts.html",
        script="fronts.js",
        data=_as_json(data),
        has_blocks=bool(data["blocks"]),
        empty=standings.EMPTY,
        leaderboard=board,
        introduction=standings.INTRODUCTION,
        glossary=[(word, standings.GLOSSARY[word]) for word in _GLOSSARY_WORDS],
    )


def page_data(points: pd.DataFrame) -> dict:
    """What the page draws: the points of every block, each a list of :data:`FIELDS`; methods by index.

    A configuration without a price, because no scoring run has a result or because clusters overlap, is only counted, in
    ``unpriced``. ``infeasible`` lists the limits that no clustering of the block keeps.
    """
    frame = leaderboard.configurations(points)
    methods = frame[["method", "kind"]].drop_duplicates().to_numpy().tolist()
    frame["method"] = frame["method"].map([name for name, _ in methods].index)
    infeasible = {limit: leaderboard.infeasible_blocks(points.fillna({"parameters": ""}), limit) for limit in LIMITS}
    blocks = []
    for (dataset, k), rows in frame.groupby(BLOCK, sort=False):
        table, _, groups = str(dataset).partition(".")
        priced = rows[rows["price"].notna()]
        blocks.append(
            {
                **{"table": table, "groups": groups, "k": int(k)},
                "infeasible": [limit for limit, proved_blocks in infeasible.items() if (dataset, k) in proved_blocks],
                "unpriced": len(rows) - len(priced),
                "points": priced[list(FIELDS)].astype(object).to_numpy().tolist(),
            }
        )
    limits = {"limits": LIMITS, "shown": SHOWN_LIMIT, "tolerance": TOLERANCE}
    return {**limits, "methods": methods, "fields": FIELDS, "blocks": blocks}


def _as_json(data: dict) -> Markup:
    """JSON that cannot end the script element around it, whatever the names of tables and groups are."""
    return Markup(json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"))
