"""Every number of the paper's five tables beside ours, with a verdict that bands and data decide."""

from collections.abc import Collection, Iterable, Mapping
from functools import cache, reduce
from pathlib import Path

import pandas as pd

from clusterlets.analysis import selection
from clusterlets.paper import reported, tables

VERDICTS = ("reproduced", "close", "differs", "not comparable")
COLUMNS = [
    *("table", "row", "dataset", "method", "matcher", "quantity", "reported", "reproduced", "difference"),
    *("counted", "verdict", "reason", "within_selection_noise"),
]

# Half-widths (reproduced, close), each the larger of an absolute number and a share of the reported one.
# Correlations live on a scale twice as long as cohesion's, hence bands twice as wide.
BANDS = {
    "deviation": ((0.002, 0.15), (0.005, 0.40)),
    "cohesion": ((0.01, 0.0), (0.03, 0.0)),
    "centroid": ((0.01, 0.0), (0.03, 0.0)),
    "overlap": ((0.01, 0.0), (0.03, 0.0)),
    "size": ((1.0, 0.05), (1.0, 0.10)),
    "correlation": ((0.02, 0.0), (0.06, 0.0)),
}
_CHOICES = ("matcher", "k")
# Decimals such as .83 - .82 miss .01 by a last bit; no band is that fine.
_LAST_BIT = 1e-9

_CRISP = ("C", "G-B", "G-D-PB")
_SELECTIONS = reported.TABLES[1:4]
_AVERAGES = (reported.TABLES[0], reported.TABLES[4])
_ROW = {
    "table1_matchers": ["matcher"],
    "table2_best_by_deviation": ["dataset"],
    "table3_best_by_cohesion": ["dataset"],
    "table4_frac_vs_clusterlets": ["dataset", "method"],
    "table5_correlations": ["coefficient", "x", "y"],
}
_CELL = ["table", "row", "quantity"]
_ENDS = ("", "_std")


def verdict(quantity: str, printed: str, ours: str | float | None) -> str:
    """``reproduced``, ``close`` or ``differs`` for one cell; ``not comparable`` where we have no value.

    Numbers are held against bands around the printed one; the matcher and k that were chosen are equal or not.
    """
    if ours is None or pd.isna(ours):
        return "not comparable"
    if quantity in _CHOICES:
        return "reproduced" if printed == ours else "differs"
    distance = abs(float(ours) - float(printed))
    for word, width in zip(VERDICTS, half_widths(quantity, float(printed)), strict=False):
        if distance <= width + _LAST_BIT:
            return word
    return "differs"


def half_widths(quantity: str, printed: float) -> tuple[float, float]:
    """How far from the printed number of a quantity ours may be: to be reproduced, to be close."""
    reproduced, close = (max(absolute, share * abs(printed)) for absolute, share in BANDS[_kind(quantity)])
    return reproduced, close


def compare(runs: pd.DataFrame, made: Mapping[str, tables.Table]) -> pd.DataFrame:
    """One row for every cell of the paper's tables: ``results/comparison.csv``.

    ``runs`` are those on the paper's datasets, so that a user's table does not change the verdicts; ``made`` are their
    tables. Averages over datasets are compared where more than half of the paper's are among the runs: less is an average
    of something else.
    """
    present = set(runs["dataset"])
    cells = _reported_cells().merge(_reproduced_cells(made), on=_CELL, how="left")
    cells = cells.merge(_selection_noise(runs), on=_CELL, how="left")
    judged = [_judge(cell, present) for cell in cells.to_dict("records")]
    cells = cells.join(pd.DataFrame(judged, columns=["counted", "verdict", "reason"]))
    numbers = cells[["reported", "reproduced"]].where(cells["quantity"] != "matcher").astype(float)
    cells["difference"] = numbers["reproduced"] - numbers["reported"]
    cells["within_selection_noise"] = _within(cells)
    return cells[COLUMNS]


def _judge(cell: dict, present: set[str]) -> tuple[bool, str, str]:
    """Counted, verdict and reason of one cell."""
    obstacle, only_shown = _obstacle(cell, present), _only_shown(cell)
    word = "not comparable" if obstacle else verdict(cell["quantity"], cell["reported"], cell["reproduced"])
    explanation = _entry(reported.explanations(), cell) if word == "differs" and not only_shown else None
    said = [obstacle, only_shown, explanation["explanation"] if explanation else None, _remark(cell, present)]
    return not only_shown, word, " ".join(filter(None, said))


def read(path: Path) -> pd.DataFrame:
    """The rows of ``results/comparison.csv``, numbers of the paper as it prints them."""
    as_text = dict.fromkeys(("row", "matcher", "reported", "reproduced"), object)
    cells = pd.read_csv(path, dtype=as_text, float_precision="round_trip", keep_default_na=False, na_values=[""])
    return cells.fillna({"reason": ""})


def counts(comparison: pd.DataFrame) -> pd.DataFrame:
    """Cells of each table by verdict, and how many are only shown: ``results/comparison_counts.csv``."""
    counted = comparison[comparison["counted"]]
    frame = pd.crosstab(counted["table"], counted["verdict"]).reindex(
        index=list(reported.TABLES), columns=list(VERDICTS), fill_value=0
    )
    frame["counted"] = frame.sum(axis=1)
    frame["only_shown"] = comparison.groupby("table")["counted"].agg(lambda column: int((~column).sum()))
    frame.loc["all"] = frame.sum()
    return frame.rename_axis(columns=None, index="table").reset_index()


def closer_reading(comparison: pd.DataFrame) -> tuple[str, float] | None:
    """Which s of table 5 lies nearer to the paper: its name and mean absolute difference, or None without comparable values."""
    cells = comparison[(comparison["table"] == "table5_correlations") & (comparison["verdict"] != "not comparable")]
    s = cells["row"].str.split().str[1]
    distances = cells["difference"].abs().groupby(s).mean().drop("omega", errors="ignore")
    return None if distances.empty else (str(distances.idxmin()), float(distances.min()))


# ---- cells -----------------------------------------------------------------------------------------------------------


def _kind(quantity: str) -> str:
    return quantity.removesuffix("_std").split("_")[0]


def _cells(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """A table as one row a cell, the same for the paper's and for ours: text, to keep digits as they were printed."""
    quantities = [column for column in _printed()[name].columns if column not in _ROW[name]]
    table = table.rename(columns={"value": "correlation"})
    quantities = ["correlation" if quantity == "value" else quantity for quantity in quantities]
    labels = {column: table.get(column) for column in ("dataset", "method", "matcher")}
    row = reduce(lambda left, right: left + " " + right, (table[column].astype(str) for column in _ROW[name]))
    wide = pd.DataFrame({"table": name, "row": row, **labels})
    parts = [wide.assign(quantity=quantity, value=table[quantity].map(_text)) for quantity in quantities]
    cells = pd.concat(parts).sort_index(kind="stable").astype(object)
    return cells[cells["value"] != ""]


def _text(value: object) -> str:
    if pd.isna(value):
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)


@cache
def _printed() -> dict[str, pd.DataFrame]:
    """The paper's tables; what may be cohesion or the silhouette (table 5's s, C's cohesion in table 1) as both."""
    matchers, *selections, correlations = (reported.table(name) for name in reported.TABLES)
    of_c = {f"centroid_silhouette{end}": matchers[f"cohesion{end}"].where(matchers["matcher"] == "C") for end in _ENDS}
    silhouette = correlations[correlations["x"] == "cohesion"].assign(x="centroid_silhouette")
    both = (matchers.assign(**of_c), *selections, pd.concat([correlations, silhouette], ignore_index=True))
    return dict(zip(reported.TABLES, both, strict=True))


def _reported_cells() -> pd.DataFrame:
    cells = pd.concat([_cells(name, table) for name, table in _printed().items()], ignore_index=True)
    return cells.rename(columns={"value": "reported"})


def _reproduced_cells(made: Mapping[str, tables.Table], names: Collection[str] = reported.TABLES) -> pd.DataFrame:
    """Our tables' cells. The paper's FRAC is FRAC (nearest)."""
    parts = [_cells(name, made[name].frame.replace("FRAC (nearest)", "FRAC")) for name in names]
    return pd.concat(parts).rename(columns={"value": "reproduced"})[[*_CELL, "reproduced"]]


# ---- what is not compared, or not counted, and why -------------------------------------------------------------------


def _obstacle(cell: dict, present: set[str]) -> str:
    too_few = reported.too_few(len(present))
    if cell["table"] in _AVERAGES and too_few:
        return f"{too_few} Averages over datasets are compared where more than half are."
    if cell["table"] not in _AVERAGES and cell["dataset"] not in present:
        return f"Dataset {cell['dataset']} is not among the runs."
    entry = _entry(reported.not_comparable(), cell)
    if entry:
        return entry["reason"]
    return "No run of ours gives this value." if pd.isna(cell["reproduced"]) else ""


def _entry(entries: Iterable[dict], cell: dict) -> dict | None:
    """The first entry whose ``cells`` fit."""
    fitting = (entry for entry in entries if all(cell[column] in _as_list(values) for column, values in entry["cells"].items()))
    return next(fitting, None)


def _as_list(values: str | list[str]) -> list[str]:
    return values if isinstance(values, list) else [values]


def _only_shown(cell: dict) -> str:
    if cell["quantity"].startswith("overlap") and (cell["matcher"] in _CRISP or cell["method"] == "FRAC"):
        return "Not counted: a structural zero, the method cannot overlap."
    if cell["table"] == "table4_frac_vs_clusterlets" and cell["method"] == "Clusterlets":
        return "Not counted: repeats table 2."
    if "centroid_silhouette" in cell["row"] + cell["quantity"]:
        return "Not counted: the same number, read as the silhouette of equation 1."
    return ""


def _remark(cell: dict, present: set[str]) -> str:
    missing = [name for name in reported.datasets() if name not in present]
    if cell["table"] not in _AVERAGES or not missing or reported.too_few(len(present)):
        return ""
    total = len(reported.datasets())
    return f"Ours is over {len(present)} of the paper's {total} datasets, without {', '.join(missing)}."


# ---- selection noise -------------------------------------------------------------------------------------------------


def _selection_noise(runs: pd.DataFrame) -> pd.DataFrame:
    """Range of each number of tables 2 to 4 over disjoint groups of ten seeds; empty while there is one group only."""
    groups = selection.groups_of_seeds(runs)
    if len(groups) < 2:
        return pd.DataFrame(columns=[*_CELL, "low", "high"], dtype=object)
    cells = pd.concat([_reproduced_cells(tables.make(group, _SELECTIONS), _SELECTIONS) for group in groups])
    cells = cells[~cells["quantity"].isin(_CHOICES)].astype({"reproduced": float})
    return cells.groupby(_CELL)["reproduced"].agg(low="min", high="max").reset_index()


def _within(cells: pd.DataFrame) -> pd.Series:
    low, high = cells["low"].astype(float), cells["high"].astype(float)
    printed = cells["reported"].where(low.notna()).astype(float)
    return printed.between(low, high).astype(object).where(low.notna())
