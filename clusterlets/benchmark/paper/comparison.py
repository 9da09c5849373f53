"""Every number of the paper's five tables beside ours, with verdicts computed from our runs."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets.benchmark.paper import averages, best_runs, cells, reported, tables, verdict

NOT_COMPARABLE = "not comparable"
VERDICTS = (*verdict.VERDICTS, NOT_COMPARABLE)
COLUMNS = [
    *("table", "row", "dataset", "method", "matcher", "quantity", "reported", "reproduced", "difference", "counted"),
    *("tail", "evidence", "verdict", "reason"),
]

_CRISP_MATCHERS = ("C", "G-B", "G-D-PB")  # their clusters never overlap


def compare(runs: pd.DataFrame, our_tables: Mapping[str, tables.Table], skip_code_numbers: bool = True) -> pd.DataFrame:
    """The table ``results/comparison.csv``, with a row for every cell of the paper's tables.

    ``runs`` are the runs on the paper's datasets, so that a user's table does not change the verdicts, and ``our_tables`` were
    made from these runs. Averages over datasets are compared only if more than half of the paper's datasets were run.
    ``skip_code_numbers`` skips numbers that only the published code can give.
    """
    our_datasets = set(runs["dataset"])
    frame = cells.paper_cells().merge(cells.table_cells(our_tables), on=cells.KEY, how="left")
    has_averages = not reported.why_too_few(len(our_datasets))
    forecasts = best_runs.forecasts(runs) | (averages.forecasts(runs) if has_averages else {})
    frame = frame.join(verdict.judge(frame, forecasts))
    rows = frame.to_dict("records")
    not_comparable = [entry for entry in reported.not_comparable() if skip_code_numbers or not entry.get("of_code")]
    obstacles = [_obstacle(row, our_datasets, not_comparable) for row in rows]
    exclusions = [_why_not_counted(row) for row in rows]
    frame["counted"] = [not exclusion for exclusion in exclusions]
    frame.loc[[bool(obstacle) for obstacle in obstacles], ["tail", "evidence", "verdict"]] = [np.nan, np.nan, NOT_COMPARABLE]
    needed_values = averages.describe_needed_values(runs, frame)
    missing = [name for name in reported.datasets() if name not in our_datasets]
    total = len(reported.datasets())
    datasets_remark = f"Our number is over {len(our_datasets)} of the paper's {total} datasets, without {', '.join(missing)}."
    is_incomplete = frame["table"].isin(cells.AVERAGES) & bool(missing and has_averages)
    explanations = map(_explanation_of_verdict, frame.to_dict("records"))
    reasons = zip(obstacles, exclusions, explanations, np.where(is_incomplete, datasets_remark, ""), needed_values, strict=True)
    frame["reason"] = [" ".join(filter(None, parts)) for parts in reasons]
    numbers = frame[["reported", "reproduced"]].where(frame["quantity"] != "matcher").astype(float)
    frame["difference"] = numbers["reproduced"] - numbers["reported"]
    return frame[COLUMNS]


def _explanation_of_verdict(cell: dict) -> str:
    """Why a number that counts has its verdict; "" if there is nothing to explain."""
    if not cell["counted"]:
        return ""
    if cell["verdict"] == verdict.UNDECIDED and pd.isna(cell["tail"]):
        return "How much our number varies between seeds is unknown, because this needs two seeds."
    entry = _matching_entry(reported.explanations(), cell) if cell["verdict"] == verdict.DIFFERS else None
    return entry["explanation"] if entry else ""


def read(path: Path) -> pd.DataFrame:
    """The rows of ``results/comparison.csv``, with the paper's numbers as printed."""
    text_columns = dict.fromkeys(("row", "matcher", "reported", "reproduced"), object)
    frame = pd.read_csv(path, dtype=text_columns, float_precision="round_trip", keep_default_na=False, na_values=[""])
    return frame.fillna({"reason": ""})


def counted_cells(comparison: pd.DataFrame) -> pd.DataFrame:
    """The cells that count and could be compared."""
    return comparison[comparison["counted"] & (comparison["verdict"] != NOT_COMPARABLE)]


def counts(comparison: pd.DataFrame) -> pd.DataFrame:
    """The table ``results/comparison_counts.csv``: how many cells of each table have each verdict."""
    frame = pd.crosstab(comparison["table"], comparison["verdict"].where(comparison["counted"], "only_shown"))
    frame = frame.reindex(index=list(reported.TABLES), columns=[*VERDICTS, "only_shown"], fill_value=0)
    frame.insert(len(VERDICTS), "counted", frame[list(VERDICTS)].sum(axis=1))
    frame.loc["all"] = frame.sum()
    return frame.rename_axis(columns=None, index="table").reset_index()


def closer_reading(comparison: pd.DataFrame) -> tuple[str, float] | None:
    """The meaning of s in table 5 that is closer to the paper, and its mean absolute difference; None without numbers."""
    frame = comparison[(comparison["table"] == "table5_correlations") & (comparison["verdict"] != NOT_COMPARABLE)]
    meanings = frame["row"].str.split().str[1]  # a row is named "coefficient x y", where x is a meaning of s or omega
    distances = frame["difference"].abs().groupby(meanings).mean().drop("omega", errors="ignore")
    return None if distances.empty else (str(distances.idxmin()), float(distances.min()))


# ---- reasons not to compare or count ---------------------------------------------------------------------------------


def _obstacle(cell: dict, our_datasets: set[str], not_comparable: Iterable[dict]) -> str:
    """Why a cell cannot be compared; "" if it can."""
    if cell["table"] not in cells.AVERAGES and cell["dataset"] not in our_datasets:
        return f"Dataset {cell['dataset']} is not among the runs."
    if cell["table"] in cells.AVERAGES and (too_few := reported.why_too_few(len(our_datasets))):
        return f"{too_few} Averages are compared only over more than half of them."
    if entry := _matching_entry(not_comparable, cell):
        return entry["reason"]
    return "No run of ours gives this value." if pd.isna(cell["reproduced"]) else ""


def _matching_entry(entries: Iterable[dict], cell: dict) -> dict | None:
    """The first entry whose conditions in ``cells`` are all met by this cell."""
    for entry in entries:
        accepted = {column: values if isinstance(values, list) else [values] for column, values in entry["cells"].items()}
        if all(cell[column] in values for column, values in accepted.items()):
            return entry
    return None


def _why_not_counted(cell: dict) -> str:
    if cell["quantity"].startswith("overlap") and (cell["matcher"] in _CRISP_MATCHERS or cell["method"] == "FRAC"):
        return "Not counted: a structural zero, because the method cannot overlap."
    if cell["table"] == "table4_frac_vs_clusterlets" and cell["method"] == "Clusterlets":
        return "Not counted: repeats table 2."
    if cells.is_second_reading(cell["row"], cell["quantity"]):
        return "Not counted: the same number, read as the silhouette of equation 1."
    return ""
