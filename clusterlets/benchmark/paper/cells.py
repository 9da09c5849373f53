"""The paper's tables and ours in the same shape, with one row per cell. Values are text, to keep the printed digits."""

from collections.abc import Collection, Mapping
from functools import cache
from itertools import product

import pandas as pd

from clusterlets.benchmark.paper import reported, tables

#: Tables 2 to 4 select single runs; tables 1 and 5 average over runs.
SELECTIONS = reported.TABLES[1:4]
AVERAGES = (reported.TABLES[0], reported.TABLES[4])
#: The columns that identify a cell.
KEY = ["table", "row", "quantity"]
#: Quantities that a selection rule picks. They are not rounded: they equal the paper's or they do not.
CHOICES = ("matcher", "k")

_CRISP_MATCHERS = ("C", "G-B", "G-D-PB")  # their clusters never overlap
_COLUMNS = ["table", "row", "dataset", "method", "matcher", "quantity", "value"]
# The columns that name the rows of each table.
_ROW_COLUMNS = {
    "table1_matchers": ["matcher"],
    "table2_best_by_deviation": ["dataset"],
    "table3_best_by_cohesion": ["dataset"],
    "table4_frac_vs_clusterlets": ["dataset", "method"],
    "table5_correlations": ["coefficient", "x", "y"],
}


def paper_cells() -> pd.DataFrame:
    """The cells of the paper's five tables: columns :data:`KEY`, ``dataset``, ``method``, ``matcher`` and ``reported``."""
    cells = [frame_cells(name, table) for name, table in _printed_tables().items()]
    return pd.concat(cells, ignore_index=True).rename(columns={"value": "reported"})


def table_cells(our_tables: Mapping[str, tables.Table], names: Collection[str] = reported.TABLES) -> pd.DataFrame:
    """The cells of our tables with these names: columns :data:`KEY` and ``reproduced``."""
    cells = [frame_cells(name, our_tables[name].frame) for name in names]
    return pd.concat(cells).rename(columns={"value": "reproduced"})[[*KEY, "reproduced"]]


def values(runs: pd.DataFrame, names: Collection[str]) -> pd.Series:
    """The values of the cells in the tables with these names, made from ``runs``; as text, indexed by :data:`KEY`."""
    return table_cells(tables.make(runs, names), names).set_index(KEY)["reproduced"]


def frame_cells(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """The cells of a table, which has the columns of the paper's table ``name``. The paper's FRAC is FRAC (nearest).

    There are no cells for missing values or for columns that the table lacks.
    """
    quantities = [column for column in _printed_tables()[name].columns if column not in _ROW_COLUMNS[name] and column in table]
    cells = []
    for row in table.replace("FRAC (nearest)", "FRAC").to_dict("records"):
        labels = {"table": name, "row": " ".join(str(row[column]) for column in _ROW_COLUMNS[name])}
        labels |= {column: row.get(column) for column in ("dataset", "method", "matcher")}
        for quantity in quantities:
            if not pd.isna(row[quantity]):
                cell = {"quantity": "correlation" if quantity == "value" else quantity, "value": _text(row[quantity])}
                cells.append(labels | cell)
    return pd.DataFrame(cells, columns=_COLUMNS, dtype=object)


def why_not_counted(cell: Mapping) -> str:
    """Why a cell of :func:`paper_cells` says nothing of its own; "" if it counts."""
    if cell["quantity"].startswith("overlap") and (cell["matcher"] in _CRISP_MATCHERS or cell["method"] == "FRAC"):
        return "Not counted: a structural zero, because the method cannot overlap."
    if cell["table"] == "table4_frac_vs_clusterlets" and cell["method"] == "Clusterlets":
        return "Not counted: repeats table 2."
    if "silhouette" in cell["quantity"] or any(meaning in cell["row"].split() for meaning in tables.MEANINGS_OF_S[1:]):
        return "Not counted: a second reading of the same number."
    return ""


def _text(value: object) -> str:
    return repr(float(value)) if isinstance(value, float) else str(value)


@cache
def _printed_tables() -> dict[str, pd.DataFrame]:
    """The paper's tables. In two places, its cohesion may be a silhouette: s in table 5, and matcher C in table 1.

    Table 5 has the text's reading of s first, and repeats its numbers in the other readings. Table 1 repeats C's cohesion.
    """
    matchers, *selections, correlations = (reported.table(name) for name in reported.TABLES)
    for name, suffix in product(("silhouette", "centroid_silhouette"), ("", "_std")):
        cohesion_of_c = matchers[f"cohesion{suffix}"].where(matchers["matcher"] == "C")
        matchers = matchers.assign(**{f"{name}{suffix}": cohesion_of_c})
    meanings = [correlations.replace({"x": {"cohesion": meaning}}) for meaning in tables.MEANINGS_OF_S]
    correlations = pd.concat(meanings, ignore_index=True).drop_duplicates()
    return dict(zip(reported.TABLES, [matchers, *selections, correlations], strict=True))
