"""Every number of the paper's five tables beside ours, with verdicts from the data: by a rule, and by bands."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from clusterlets.analysis import selection
from clusterlets.paper import bands, cells, chance, reported, seed_spread, tables
from clusterlets.text import percent

VERDICTS = ("reproduced", "close", "uninformative", "differs", "not comparable")
#: The verdicts of numbers that count as reproduced.
REPRODUCED = ["reproduced", "close"]
COLUMNS = [
    *("table", "row", "dataset", "method", "matcher", "quantity", "reported", "reproduced", "difference", "counted"),
    *("seed_spread", "tolerance", "chance", "chance_bands", "chance_rule", "verdict", "verdict_bands", "reason"),
    "within_selection_noise",
]

_CRISP = ("C", "G-B", "G-D-PB")
_ONE_SEED = "How far ours moves between seeds is not known, as that takes two seeds."


def compare(runs: pd.DataFrame, our_tables: Mapping[str, tables.Table]) -> pd.DataFrame:
    """One row for every cell of the paper's tables: ``results/comparison.csv``.

    ``runs`` are those on the paper's datasets, so that a user's table does not change the verdicts; ``our_tables`` are their
    tables. Averages over datasets are compared only if more than half of the paper's datasets were run: over fewer, they
    are averages of something else.
    """
    datasets = set(runs["dataset"])
    compared = cells.paper_cells().merge(cells.table_cells(our_tables), on=cells.KEY, how="left")
    for spreads in (seed_spread.seed_spreads(runs), _selection_noise(runs)):
        compared = compared.merge(spreads, on=cells.KEY, how="left")
    rows = compared.to_dict("records")
    obstacles, asides = ([reason(row) for row in rows] for reason in (lambda row: _obstacle(row, datasets), _is_only_shown))
    compared["counted"] = [not aside for aside in asides]
    compared["verdict_bands"] = [bands.verdict(row["quantity"], row["reported"], row["reproduced"]) for row in rows]
    compared = compared.join(chance.judge(compared))
    compared.loc[[bool(obstacle) for obstacle in obstacles], ["verdict", "verdict_bands"]] = "not comparable"
    compared["reason"] = [
        " ".join(filter(None, [obstacle, aside, _explanation(row), _remark(row, datasets)]))
        for obstacle, aside, row in zip(obstacles, asides, compared.to_dict("records"), strict=True)
    ]
    numbers = compared[["reported", "reproduced"]].where(compared["quantity"] != "matcher").astype(float)
    compared["difference"] = numbers["reproduced"] - numbers["reported"]
    compared["within_selection_noise"] = _within_tolerance(compared)
    return compared[COLUMNS]


def _explanation(cell: dict) -> str:
    """Why a counted number has its verdict, if there is something to explain."""
    if cell["verdict"] == "uninformative" and cell["counted"]:
        return _uninformative(cell)
    entry = _entry(reported.explanations(), cell) if cell["verdict"] == "differs" and cell["counted"] else None
    return entry["explanation"] if entry else ""


def _uninformative(cell: dict) -> str:
    if cell["quantity"] not in cells.CHOICES and pd.isna(cell["seed_spread"]):
        return _ONE_SEED
    if pd.isna(cell["chance"]):
        return "We have no other number to compare with the paper's."
    return f"Numbers of the paper agree as well with ours of something else, in {percent(cell['chance'])} of all such pairs."


def read(path: Path) -> pd.DataFrame:
    """The rows of ``results/comparison.csv``, with the paper's numbers as printed."""
    as_text = dict.fromkeys(("row", "matcher", "reported", "reproduced"), object)
    compared = pd.read_csv(path, dtype=as_text, float_precision="round_trip", keep_default_na=False, na_values=[""])
    return compared.fillna({"reason": ""})


def counts(comparison: pd.DataFrame) -> pd.DataFrame:
    """Cells of each table by verdict, and the shares that are reproduced: ``results/comparison_counts.csv``."""
    counted = comparison[comparison["counted"]]
    frame = pd.crosstab(counted["table"], counted["verdict"]).reindex(
        index=list(reported.TABLES), columns=list(VERDICTS), fill_value=0
    )
    frame["counted"] = frame.sum(axis=1)
    frame["only_shown"] = comparison.groupby("table")["counted"].agg(lambda column: int((~column).sum()))
    frame.loc["all"] = frame.sum()
    comparable = counted[counted["verdict"] != "not comparable"]
    shares = [_shares(comparable if name == "all" else comparable[comparable["table"] == name]) for name in frame.index]
    return frame.rename_axis(columns=None, index="table").reset_index().join(pd.DataFrame(shares))


def _shares(comparable: pd.DataFrame) -> dict[str, float]:
    """Shares of cells reproduced or close, by the rule and by bands, and within the tolerance; each beside its chance level."""
    is_judged = comparable["tolerance"].notna() | comparable["quantity"].isin(cells.CHOICES)
    return {
        "share": comparable["verdict"].isin(REPRODUCED).mean(),
        "share_by_chance": comparable["chance_rule"].mean(),
        "share_within_tolerance": comparable.loc[is_judged, "verdict"].isin(["reproduced", "uninformative"]).mean(),
        "share_within_tolerance_by_chance": comparable["chance"].mean(),
        "share_bands": comparable["verdict_bands"].isin(REPRODUCED).mean(),
        "share_bands_by_chance": comparable["chance_bands"].mean(),
    }


def closer_reading(comparison: pd.DataFrame) -> tuple[str, float] | None:
    """The s of table 5 that is nearer to the paper: its name and mean absolute difference; None without comparable values."""
    compared = comparison[(comparison["table"] == "table5_correlations") & (comparison["verdict"] != "not comparable")]
    s = compared["row"].str.split().str[1]
    distances = compared["difference"].abs().groupby(s).mean().drop("omega", errors="ignore")
    return None if distances.empty else (str(distances.idxmin()), float(distances.min()))


# ---- reasons not to compare or count ---------------------------------------------------------------------------------


def _obstacle(cell: dict, present: set[str]) -> str:
    too_few = reported.too_few(len(present))
    if cell["table"] in cells.AVERAGES and too_few:
        return f"{too_few} Averages over datasets are compared where more than half are."
    if cell["table"] not in cells.AVERAGES and cell["dataset"] not in present:
        return f"Dataset {cell['dataset']} is not among the runs."
    entry = _entry(reported.not_comparable(), cell)
    if entry:
        return entry["reason"]
    return "No run of ours gives this value." if pd.isna(cell["reproduced"]) else ""


def _entry(entries: Iterable[dict], cell: dict) -> dict | None:
    """The first entry whose ``cells`` match this cell."""
    fitting = (entry for entry in entries if all(cell[column] in _as_list(values) for column, values in entry["cells"].items()))
    return next(fitting, None)


def _as_list(values: str | list[str]) -> list[str]:
    return values if isinstance(values, list) else [values]


def _is_only_shown(cell: dict) -> str:
    if cell["quantity"].startswith("overlap") and (cell["matcher"] in _CRISP or cell["method"] == "FRAC"):
        return "Not counted: a structural zero, the method cannot overlap."
    if cell["table"] == "table4_frac_vs_clusterlets" and cell["method"] == "Clusterlets":
        return "Not counted: repeats table 2."
    if "centroid_silhouette" in cell["row"] + cell["quantity"]:
        return "Not counted: the same number, read as the silhouette of equation 1."
    return ""


def _remark(cell: dict, present: set[str]) -> str:
    missing = [name for name in reported.datasets() if name not in present]
    if cell["table"] not in cells.AVERAGES or not missing or reported.too_few(len(present)):
        return ""
    total = len(reported.datasets())
    return f"Ours is over {len(present)} of the paper's {total} datasets, without {', '.join(missing)}."


# ---- selection noise -------------------------------------------------------------------------------------------------


def _selection_noise(runs: pd.DataFrame) -> pd.DataFrame:
    """Range of each number of tables 2 to 4 over disjoint groups of ten seeds; empty if there is only one group."""
    groups = selection.groups_of_seeds(runs)
    if len(groups) < 2:
        return pd.DataFrame(columns=[*cells.KEY, "low", "high"], dtype=object)
    values = pd.concat([cells.table_cells(tables.make(group, cells.SELECTIONS), cells.SELECTIONS) for group in groups])
    values = values[~values["quantity"].isin(cells.CHOICES)].astype({"reproduced": float})
    return values.groupby(cells.KEY)["reproduced"].agg(low="min", high="max").reset_index()


def _within_tolerance(compared: pd.DataFrame) -> pd.Series:
    low, high = compared["low"].astype(float), compared["high"].astype(float)
    printed = compared["reported"].where(low.notna()).astype(float)
    return printed.between(low, high).astype(object).where(low.notna())
