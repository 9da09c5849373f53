"""Cells in which a fit exceeded a limit of time or memory: only they run again when the limits change.

Such a cell has a second file with the limits beside its own. Snakemake reruns a job when its parameters change, so a cell's
parameter is the limits to rerun it with, or empty for the many cells that never exceeded any.
"""

import json
from pathlib import Path

from clusterlets.storage import write_text

#: It decides when a cell runs, not what it gives: see clusterlets.grid.fingerprints.
IN_FINGERPRINTS = False


def exceeded_limits(cell: str, limits: str) -> str:
    """Limits (JSON) that this cell must be rerun with, or "" if none of its fits ever exceeded one."""
    file = _file(cell)
    if not file.is_file():
        return ""
    record = json.loads(file.read_text(encoding="utf-8"))
    return limits if record["crossed"] and record["limits"] != limits else record["parameter"]


def note(cell: str, crossed: bool, limits: str, parameter: str) -> None:
    """Record the limits that a cell ran with, if one of its fits crossed a limit now or before."""
    if crossed or parameter:
        write_text(_file(cell), json.dumps({"crossed": crossed, "limits": limits, "parameter": parameter}))
    else:
        _file(cell).unlink(missing_ok=True)


def _file(cell: str) -> Path:
    return Path(f"{cell}.limits")
