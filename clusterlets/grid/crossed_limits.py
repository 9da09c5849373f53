"""Cells in which a fit exceeded a limit of time or memory: only they run again when the limits change.

Such a cell has a second file, next to its own, with the limits. Snakemake reruns a job when its parameters change, so a cell's
parameter is the limits to rerun it with, or empty for the many cells that never exceeded any.
"""

import csv
import json
from pathlib import Path

from clusterlets.grid.artifacts import FAILED, OUT_OF_MEMORY, TIMEOUT, SeedBlock
from clusterlets.storage import is_intact, load_text, save_text

#: It decides when a cell runs, not its results: see clusterlets.grid.fingerprints.
IN_FINGERPRINTS = False


def exceeded_limits(cell: str, limits: str) -> str:
    """The limits (JSON) that this cell must be rerun with, or "" if none of its fits ever exceeded one.

    A damaged record counts as one with different limits.
    """
    file = _file(cell)
    if not file.is_file():
        return ""
    if not is_intact(file):
        return limits
    record = json.loads(load_text(file))
    return limits if record["crossed"] and record["limits"] != limits else record["parameter"]


def record(cell: str, has_exceeded: bool, limits: str, parameter: str) -> None:
    """Record the limits that a cell ran with, if one of its fits exceeded a limit now or in an earlier run."""
    if has_exceeded or parameter:
        save_text(_file(cell), json.dumps({"crossed": has_exceeded, "limits": limits, "parameter": parameter}))
    else:
        _file(cell).unlink(missing_ok=True)


def is_reproducible(file: str) -> bool:
    """Whether a file of clusters, or a cell, has no run that could end differently on another machine or under other limits."""
    if file.endswith(".npz"):
        block = SeedBlock.load(file)
        statuses = {block.status, *(status for status, _ in block.failures.values())}
    else:
        statuses = {row["status"] for row in csv.DictReader(load_text(file).splitlines())}
    return statuses.isdisjoint({TIMEOUT, OUT_OF_MEMORY, FAILED})


def _file(cell: str) -> Path:
    return Path(f"{cell}.limits")
