"""Every number of the paper's five tables beside ours, and whether it is inside the range of our repetitions."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets.benchmark.grid.runs_frame import fill_text, read_results_table
from clusterlets.benchmark.grid.variants import SEEDS_OF_PAPER
from clusterlets.benchmark.paper import cells, ranges, reported, tables

COLUMNS = [
    *("table", "row", "dataset", "method", "matcher", "quantity", "reported", "reproduced", "low", "high", "chosen"),
    *("inside", "reproduced_by_code", "inside_by_code", "counted", "seeds", "seeds_by_code", "reason"),
]


def compare(runs: pd.DataFrame, our_tables: Mapping[str, tables.Table], code_runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """The table ``results/comparison.csv``, with a row for every cell of the paper's tables.

    ``runs`` are the runs on the paper's datasets, so that a user's table does not change the comparison, and ``our_tables``
    were made from these runs. ``code_runs`` do what the authors' published code does. Without them, the columns on the code
    are those of the committed ranges. A number that cannot be compared is neither inside nor outside; ``reason`` says why.
    """
    our_datasets = set(runs["dataset"])
    frame = cells.paper_cells().merge(cells.table_cells(our_tables), on=cells.KEY, how="left")
    frame = frame.merge(ranges.of_runs(runs, code_runs), on=cells.KEY, how="left")
    if code_runs is not None:
        by_code = cells.values(code_runs, reported.TABLES)
        frame["reproduced_by_code"] = by_code.reindex(pd.MultiIndex.from_frame(frame[cells.KEY])).to_numpy()
    without_averages = _why_no_averages(runs)
    obstacles = [_obstacle(cell, our_datasets, without_averages) for cell in frame.to_dict("records")]
    are_compared = [not obstacle for obstacle in obstacles]
    frame[["low", "high", "chosen"]] = frame[["low", "high", "chosen"]].where(pd.Series(are_compared), np.nan, axis=0)
    frame[["inside", "inside_by_code"]] = frame[["inside", "inside_by_code"]].where(pd.Series(are_compared), "", axis=0)
    exclusions = [cells.why_not_counted(cell) for cell in frame.to_dict("records")]
    frame["counted"] = [not exclusion for exclusion in exclusions]
    remarks = map(_remark, frame.to_dict("records"))
    reasons = zip(obstacles, exclusions, remarks, strict=True)
    frame["reason"] = [" ".join(filter(None, parts)) for parts in reasons]
    return frame[COLUMNS]


def read(path: Path) -> pd.DataFrame:
    """The rows of ``results/comparison.csv``, with the paper's numbers as printed."""
    frame = read_results_table(path, reported.TEXT_COLUMNS)
    return fill_text(frame, "inside", "inside_by_code", "reason")


def counted_cells(comparison: pd.DataFrame) -> pd.DataFrame:
    """The cells that count and could be compared."""
    return comparison[comparison["counted"] & (comparison["inside"] != ranges.UNKNOWN)]


# ---- reasons ---------------------------------------------------------------------------------------------------------


def _why_no_averages(runs: pd.DataFrame) -> str:
    """Why tables 1 and 5 cannot be compared with those of these runs; "" if they can."""
    datasets = set(runs["dataset"])
    if too_few := reported.why_too_few(len(datasets)):
        return f"{too_few} Averages are compared only over more than half of them."
    ranges_by_dataset = reported.ranges()[lambda rows: (rows["table"] == reported.TABLES[1]) & (rows["inside"] != "")]
    measured = set(ranges_by_dataset["row"])
    missing = [name for name in reported.datasets() if name in measured - datasets]
    if missing and runs["seed"].nunique() <= SEEDS_OF_PAPER:
        return f"The committed ranges are those of averages with {', '.join(missing)}, which these runs lack."
    return ""


def _obstacle(cell: dict, our_datasets: set[str], without_averages: str) -> str:
    """Why a cell cannot be compared; "" if it can."""
    if cell["table"] in cells.AVERAGES:
        if without_averages:
            return without_averages
    elif cell["dataset"] not in our_datasets:
        return f"Dataset {cell['dataset']} is not among the runs."
    return "No run of ours gives this value." if pd.isna(cell["reproduced"]) else ""


def _remark(cell: dict) -> str:
    """How often a matcher or a k was chosen, and why a counted number is outside, as far as we know."""
    parts = [] if pd.isna(cell["chosen"]) else [f"{100 * cell['chosen']:g} % of our repetitions choose it."]
    if cell["counted"] and cell["inside"] == ranges.OUTSIDE:
        parts += [entry["explanation"] for entry in reported.explanations() if _applies(entry, cell)][:1]
    return " ".join(parts)


def _applies(entry: Mapping, cell: Mapping) -> bool:
    """Whether a cell meets all conditions of an entry of ``explanations.yaml``."""
    accepted = {column: values if isinstance(values, list) else [values] for column, values in entry["cells"].items()}
    return all(cell[column] in values for column, values in accepted.items())
