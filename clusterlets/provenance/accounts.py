"""What the jobs cost: the line that ends the log of every step, and what the lines of a grid add up to.

Imports only the standard library, because a cell's job takes little longer than Python takes to start.
"""

import json
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clusterlets.grid.measures import cpu_seconds, peak_memory

#: Only logs and accounts read what it measures: see clusterlets.grid.fingerprints.
IN_FINGERPRINTS = False

COLUMNS = ("step", "jobs", "cpu_seconds", "wall_seconds", "largest_memory_mb")

FIT_COLUMNS = ("dataset", "method", "k", "parameters", "seed", "status", "seconds", "memory_mb")

_MARK = "account: "
_FIT_MARK = "fit: "
# Steps that run only if a method needs what they make, with the name of that need.
_SERVES = {"extract_clusterlets": "clusterlets", "sum_distances": "clusterlets", "sample_partitions": "partitions"}


# ---- one job ---------------------------------------------------------------------------------------------------------


def line(step: str, wall: float) -> str:
    """The last line of a job's log: CPU seconds of this process and those it waited for, ``wall`` seconds, memory, the time."""
    seconds = {"cpu_seconds": round(cpu_seconds(), 3), "wall_seconds": round(wall, 3)}
    memory = round(peak_memory() / 1e6, 1)
    return _MARK + json.dumps({"step": step, **seconds, "memory_mb": memory, "ended": round(time.time(), 1)})


def log_fit(dataset: str, method: str, k: int, parameters: str, seed: int, fit: Any) -> None:
    """Write a line to a job's log: what a :class:`clusterlets.grid.fitting.Fit` took."""
    row = {"dataset": dataset, "method": method, "k": k, "parameters": parameters, "seed": seed, "status": fit.status}
    row |= {"seconds": round(fit.seconds, 4), "memory_mb": round(fit.memory_mb, 1)}
    print(_FIT_MARK + json.dumps(row), file=sys.stderr)


# ---- all jobs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Accounts:
    """The lines of the jobs that count and of their fits, and how many logs were left out, by reason."""

    jobs: list[dict]
    fits: list[dict]
    left_out: dict[str, int]

    @property
    def span(self) -> dict[str, str | None]:
        """When the first job began and the last one ended (UTC); they may belong to different runs of the workflow."""
        if not self.jobs:
            return {"first_job_began": None, "last_job_ended": None}
        began = min(job["ended"] - job["wall_seconds"] for job in self.jobs)
        return {"first_job_began": _utc(began), "last_job_ended": _utc(max(job["ended"] for job in self.jobs))}

    def by_step(self) -> list[dict]:
        """Rows of :data:`COLUMNS`, one for each step, the costliest first."""
        steps: dict[str, list[dict]] = {}
        for job in self.jobs:
            steps.setdefault(job["step"], []).append(job)
        rows = [
            {
                "step": step,
                "jobs": len(jobs),
                "cpu_seconds": round(sum(job["cpu_seconds"] for job in jobs), 2),
                "wall_seconds": round(sum(job["wall_seconds"] for job in jobs), 2),
                "largest_memory_mb": max(job["memory_mb"] for job in jobs),
            }
            for step, jobs in steps.items()
        ]
        return sorted(rows, key=lambda row: (-row["cpu_seconds"], row["step"]))


def read(folders: Iterable[Path], config: Mapping, ignored_rules: Iterable[str] = ()) -> Accounts:
    """Read the accounts in folders of logs, for the jobs of the configured grid, whenever they ran.

    A log of another dataset, configuration or block of seeds is left out, and so is one without an account: its job was cut
    off, or ran before there were accounts. Fits are read from the first folder only, which is the grid's own.
    ``ignored_rules`` write the accounts or run after them, so that their logs are from an earlier run.
    """
    path_parts, ignored_rules = _path_parts(config), set(ignored_rules)
    jobs, fits, left_out = [], [], {"not of this grid": 0, "without an account": 0}
    logs = [
        (index, log, log.relative_to(folder)) for index, folder in enumerate(folders) for log in sorted(folder.rglob("*.log"))
    ]
    for index, log, name in logs:
        rule, *parts = name.with_suffix("").parts
        if rule in ignored_rules:
            continue
        if not (set(parts) <= path_parts and _SERVES.get(rule, "") in {"", *path_parts}):
            left_out["not of this grid"] += 1
            continue
        text = log.read_text(encoding="utf-8", errors="replace")
        account = parse(text)
        if account:
            jobs.append(account)
            fits += parse_fits(text) if index == 0 else []
        else:
            left_out["without an account"] += 1
    return Accounts(jobs, fits, left_out)


def parse(log: str) -> dict | None:
    """The account of one job, or None; the last one if a retry wrote below the first try."""
    lines = [text.removeprefix(_MARK) for text in log.splitlines() if text.startswith(_MARK)]
    try:
        return json.loads(lines[-1]) if lines else None
    except json.JSONDecodeError:
        return None


def parse_fits(log: str) -> list[dict]:
    """The fits in a job's log, as rows of :data:`FIT_COLUMNS`; the last for each seed, if a retry wrote below the first try."""
    rows = {}
    for text in log.splitlines():
        with suppress(json.JSONDecodeError, KeyError, TypeError):  # a method may print what it likes
            if text.startswith(_FIT_MARK):
                row = json.loads(text.removeprefix(_FIT_MARK))
                rows[row["seed"]] = {column: row[column] for column in FIT_COLUMNS}
    return list(rows.values())


def _path_parts(config: Mapping) -> set[str]:
    """Every part that the path of one of this grid's logs may have below its rule."""
    from clusterlets.grid.cells import cells  # imported late: a job's line must not load numpy

    tables = config["tables"].values()
    return {table["name"] for table in tables}.union(
        *({cell.dataset, cell.method, cell.configuration, f"k{cell.k}", f"seeds{cell.seeds}"} for cell in cells(config)),
        *(grid["needs"] for grid in config["grids"].values()),
    )


def _utc(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
