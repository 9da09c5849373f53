"""Records of the cells in which a fit exceeded a limit on time or memory: only these rerun when the limits change.

The record of such a cell is a second file, next to the cell's own, with the limits. Snakemake reruns a job when its parameters
change. So each cell has a parameter: the limits to rerun it with, or "" for the many cells that never exceeded a limit.
"""

import csv
import json
from pathlib import Path

from clusterlets.grid.artifacts import FAILED, OUT_OF_MEMORY, TIMEOUT, SeedBlock
from clusterlets.storage import is_intact, load_text, save_text

#: This module decides when a cell runs and changes no result: see clusterlets.grid.fingerprints.
IN_FINGERPRINTS = False


def exceeded_limits(cell: str, limits: str) -> str:
    """The limits (JSON) that this cell must be rerun with, or "" if none of its fits ever exceeded one.

    If the record is damaged, the cell must be rerun with the current ``limits``.
    """
    file = _record_path(cell)
    if not file.is_file():
        return ""
    if not is_intact(file):
        return limits
    last_run = json.loads(load_text(file))
    # Snakemake reruns the cell if this value is not that of the last run.
    return limits if last_run["crossed"] and last_run["limits"] != limits else last_run["parameter"]


def record(cell: str, has_exceeded: bool, limits: str, parameter: str) -> None:
    """Record the ``limits`` that a cell ran with if one of its fits exceeded a limit, in this run or an earlier one.

    ``parameter`` is the value of :func:`exceeded_limits` that this run was started with. If no fit ever exceeded a limit, the
    cell gets no record.
    """
    if has_exceeded or parameter:
        save_text(_record_path(cell), json.dumps({"crossed": has_exceeded, "limits": limits, "parameter": parameter}))
    else:
        _record_path(cell).unlink(missing_ok=True)


def is_reproducible(file: str) -> bool:
    """Whether no run in a file of clusters or a cell could end differently on another machine or under other limits."""
    if file.endswith(".npz"):
        block = SeedBlock.load(file)
        statuses = {block.status, *(status for status, _ in block.failures.values())}
    else:
        statuses = {row["status"] for row in csv.DictReader(load_text(file).splitlines())}
    return statuses.isdisjoint({TIMEOUT, OUT_OF_MEMORY, FAILED})


def _record_path(cell: str) -> Path:
    return Path(f"{cell}.limits")
