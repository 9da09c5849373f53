"""The page ``fronts.html``: price against deviation in every case, drawn in the browser from data in the page."""

import json

import pandas as pd
from markupsafe import Markup

from clusterlets.analysis import leaderboard
from clusterlets.analysis.leaderboard import CASE, CONFIGURATIONS, LIMITS, TOLERANCE
from clusterlets.report import SHOWN_LIMIT, standings
from clusterlets.report.templating import render_template

_GLOSSARY_WORDS = ("price", "seeds", "starts", "matchers of Clusterlets", "controls", "outputs without a claim")
#: The fields of each point in the data of the page, in this order.
FIELDS = tuple(name for name in CONFIGURATIONS if name not in (*CASE, "kind"))


def render(points: pd.DataFrame, leaderboard_address: str = "leaderboard.html") -> str:
    """The page as HTML, from ``leaderboard_points.csv``. ``leaderboard_address`` is that of the leaderboard's page."""
    data = page_data(points)
    return render_template(
        "fronts.html",
        script="fronts.js",
        data=_as_json(data),
        has_cases=bool(data["cases"]),
        empty=standings.NO_LEADERBOARD,
        leaderboard=leaderboard_address,
        introduction=standings.INTRODUCTION,
        glossary=[(word, standings.GLOSSARY[word]) for word in _GLOSSARY_WORDS],
    )


def page_data(points: pd.DataFrame) -> dict:
    """The data that the page draws. Each case has its ``table``, ``groups`` and ``k``, and these keys:

    - ``points``: the configurations, each as a list of its :data:`FIELDS`, with its method as an index into ``methods``
    - ``unpriced``: number of configurations without a price, because clusters overlap or no scoring run has a result
    - ``infeasible``: the limits that no clustering of the case can keep
    """
    configurations = leaderboard.configurations(points)
    methods = configurations[["method", "kind"]].drop_duplicates().to_numpy().tolist()
    configurations["method"] = configurations["method"].map([name for name, _ in methods].index)
    infeasible_cases = {limit: leaderboard.infeasible_cases(points.fillna({"parameters": ""}), limit) for limit in LIMITS}
    cases = []
    for (dataset, k), rows in configurations.groupby(CASE, sort=False):
        table, _, groups = str(dataset).partition(".")
        rows_with_price = rows[rows["price"].notna()]
        cases.append(
            {
                "table": table,
                "groups": groups,
                "k": int(k),
                "infeasible": [limit for limit, proved_cases in infeasible_cases.items() if (dataset, k) in proved_cases],
                "unpriced": len(rows) - len(rows_with_price),
                "points": rows_with_price[list(FIELDS)].astype(object).to_numpy().tolist(),
            }
        )
    limit_data = {"limits": LIMITS, "shown": SHOWN_LIMIT, "tolerance": TOLERANCE}
    return {**limit_data, "methods": methods, "fields": FIELDS, "cases": cases}


def _as_json(data: dict) -> Markup:
    """The data as JSON for a script element. ``<`` is escaped, so that no name in it can end the element."""
    return Markup(json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"))
