"""Records of the cells in which a fit exceeded its budget of time or memory, so that only these rerun when the budget changes.

The record is a file beside the cell's own. Snakemake reruns a job when one of its parameters changes, so the job of a cell has
the value of :func:`rerun_parameter` as a parameter.
"""

from pathlib import Path

from clusterlets.errors import UnusableFileError
from clusterlets.storage import load_json, save_json


def rerun_parameter(cell: str, budget: str) -> str:
    """The budget (JSON) that this cell must be rerun with, or "" if none of its fits ever exceeded one.

    If nothing must be rerun, the value is that of the last run. ``cell`` is the path of the cell's file, and ``budget`` is the
    current one. A change of the returned value makes Snakemake rerun the cell.
    """
    file = _record_path(cell)
    if not file.is_file():
        return ""
    try:
        last_run = load_json(file)
    except UnusableFileError:
        return budget  # rerun a cell whose record is damaged
    must_rerun = last_run["exceeded"] and last_run["budget"] != budget
    return budget if must_rerun else last_run["parameter"]


def record(cell: str, has_exceeded: bool, budget: str, parameter: str) -> None:
    """Record the ``budget`` that a cell ran with if one of its fits exceeded it, in this run or an earlier one.

    ``parameter`` is the value of :func:`rerun_parameter` that this run was started with.
    """
    if has_exceeded or parameter:
        save_json(_record_path(cell), {"exceeded": has_exceeded, "budget": budget, "parameter": parameter})
    else:
        _record_path(cell).unlink(missing_ok=True)


def _record_path(cell: str) -> Path:
    return Path(f"{cell}.budget")
