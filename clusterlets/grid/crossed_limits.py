"""Which cells crossed a limit of time or memory: they alone run again when the limits change.

Beside the file of such a cell lies another one with the limits. Snakemake runs a job again when its parameters change, so a
cell's parameter is the limits that it has to meet yet, and nothing for the many cells that never crossed one.
"""

import json
from pathlib import Path

from clusterlets.storage import write_text


def exceeded_limits(cell: str, limits: str) -> str:
    """The parameter of a cell, by the configured limits (JSON): these, if it crossed others; else as it was."""
    noted = _file(cell)
    if not noted.is_file():
        return ""
    known = json.loads(noted.read_text(encoding="utf-8"))
    return limits if known["crossed"] and known["limits"] != limits else known["parameter"]


def note(cell: str, crossed: bool, limits: str, parameter: str) -> None:
    """Note what a cell ran with, if a fit of it crossed a limit now or before."""
    if crossed or parameter:
        write_text(_file(cell), json.dumps({"crossed": crossed, "limits": limits, "parameter": parameter}))
    else:
        _file(cell).unlink(missing_ok=True)


def _file(cell: str) -> Path:
    return Path(f"{cell}.limits")
