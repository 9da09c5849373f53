"""Quantities that the paper's text, captions and formulas define differently, each read in every way that the paper allows.

Every reading is judged by the same rule: how many of the paper's numbers are inside the ranges of our repetitions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.grid.variants import SEEDS_OF_PAPER
from clusterlets.benchmark.paper import cells, reported, tables
from clusterlets.benchmark.paper.ranges import INSIDE, UNKNOWN, judge
from clusterlets.benchmark.paper.repetitions import repeat

COLUMNS = ["quantity", "reading", "named_by", "numbers", "inside"]

_TABLE1, _TABLE2, _TABLE3, _TABLE4, _TABLE5 = reported.TABLES
_ALL_OF_SELECTIONS = {"table": [_TABLE2, _TABLE3, _TABLE4]}


@dataclass(frozen=True)
class Reading:
    """One reading of a quantity.

    ``cells`` selects the paper's numbers (column -> values). Their values are computed from runs in which ``columns`` stand for
    others (column -> the one to take), and ``instead`` names the quantity of our table that is compared, if it is another one.
    """

    quantity: str
    reading: str
    named_by: str
    cells: Mapping[str, list]
    columns: Mapping[str, str] = field(default_factory=dict)
    instead: str = ""


_WITH_S = {"table": [_TABLE5], "pair": ["silhouette omega", "silhouette deviation"]}
_WITH_DEVIATION = {"table": [_TABLE5], "pair": ["silhouette deviation", "omega deviation"]}
_COHESION_OF_C = {"table": [_TABLE1], "matcher": ["C"], "quantity": ["cohesion", "cohesion_std"]}
_COHESION_OF_GB = {"table": [_TABLE1, _TABLE2], "matcher": ["G-B"], "quantity": ["cohesion", "cohesion_std"]}
_COHESION_OF_FRAC = {"table": [_TABLE4], "method": ["FRAC"], "quantity": ["cohesion"]}
_SPREAD = {"table": [_TABLE1], "quantity": ["deviation_mean_std"]}
_RATHER = "the settings: cohesion only for pinball matchers, “rather than silhouette”"
_TITLE = "the column's title"
#: For each quantity, first the reading that our tables take.
READINGS = (
    Reading("s in table 5", "silhouette", "the text: “silhouette score of the resulting clustering”", _WITH_S),
    Reading("s in table 5", "cohesion", "the caption", _WITH_S, {"silhouette": "cohesion"}),
    Reading(
        "s in table 5",
        "silhouette of centroids",
        "equation 1, as C maximises it",
        _WITH_S,
        {"silhouette": "centroid_silhouette"},
    ),
    Reading("deviation in table 5", "mean", "the text: “mean deviation”", _WITH_DEVIATION),
    Reading("deviation in table 5", "largest", "equation 1", _WITH_DEVIATION, {"deviation_mean": "deviation_max"}),
    Reading("cohesion of C in table 1", "cohesion", _TITLE, _COHESION_OF_C),
    Reading("cohesion of C in table 1", "silhouette", _RATHER, _COHESION_OF_C, {"cohesion": "silhouette"}),
    Reading(
        "cohesion of C in table 1", "silhouette of centroids", "equation 1", _COHESION_OF_C, {"cohesion": "centroid_silhouette"}
    ),
    Reading("cohesion of G-B in tables 1 and 2", "cohesion", _TITLE, _COHESION_OF_GB),
    Reading("cohesion of G-B in tables 1 and 2", "silhouette", _RATHER, _COHESION_OF_GB, {"cohesion": "silhouette"}),
    Reading("cohesion of FRAC in table 4", "cohesion", _TITLE, _COHESION_OF_FRAC),
    Reading("cohesion of FRAC in table 4", "silhouette", _RATHER, _COHESION_OF_FRAC, {"cohesion": "silhouette"}),
    Reading("± of the deviation in table 1", "spread over runs", "the caption: “averaged over”", _SPREAD),
    Reading(
        "± of the deviation in table 1",
        "mean spread within a clustering",
        "tables 2 to 4",
        _SPREAD,
        {"deviation_mean": "deviation_std"},
        "deviation_mean",
    ),
    Reading("overlap left out in tables 2 to 4", "0.5 or more", "the captions", _ALL_OF_SELECTIONS),
    Reading(
        "overlap left out in tables 2 to 4", "more than 0.5", "the text", _ALL_OF_SELECTIONS, {"overlap": "overlap_up_to_half"}
    ),
    Reading("FRAC in table 4", "nearest centre", "the printed numbers", {"table": [_TABLE4]}),
    Reading(
        "FRAC in table 4", "fair assignment", "FRAC as its authors define it", {"table": [_TABLE4]}, {"method": "other_output"}
    ),
)


def measure(runs: pd.DataFrame) -> pd.DataFrame:
    """The table ``results/readings.csv``: of each reading's numbers, how many are inside, with :data:`COLUMNS`.

    ``runs`` are those on the paper's datasets. Unless they have more seeds than the paper, the committed table is returned.
    """
    if runs["seed"].nunique() <= SEEDS_OF_PAPER:
        return reported.readings()
    printed = cells.paper_cells()
    printed = printed[[not cells.why_not_counted(cell) for cell in printed.to_dict("records")]]
    printed = printed.assign(pair=printed["row"].str.partition(" ")[2])
    half = selection.OVERLAP_LIMIT
    runs = runs.assign(
        overlap_up_to_half=runs["overlap"].mask(runs["overlap"] == half, half - 1e-9),
        other_output=selection.swap_frac_outputs(runs)["method"],
    )
    return pd.DataFrame([_judge(reading, runs, printed) for reading in READINGS], columns=COLUMNS)


def _judge(reading: Reading, runs: pd.DataFrame, printed: pd.DataFrame) -> tuple:
    selected = printed[printed[list(reading.cells)].isin(reading.cells).all(axis=1)]
    if reading.instead:
        selected = selected.assign(quantity=reading.instead)
    runs = runs.assign(**{column: runs[other] for column, other in reading.columns.items()})
    inside = judge(selected, repeat(runs, reading.cells["table"], pairs=tables.CORRELATED_BY_TEXT))["inside"]
    return reading.quantity, reading.reading, reading.named_by, (inside != UNKNOWN).sum(), (inside == INSIDE).sum()
