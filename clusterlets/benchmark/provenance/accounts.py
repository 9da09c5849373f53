"""What the jobs cost and wrote. A job ends its log with the hashes of the files that it wrote, and a line of JSON: its account.

Only the standard library is imported, because many jobs take little longer than the start of Python.
"""

import json
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from clusterlets.supervision.measures import cpu_seconds, peak_memory

COLUMNS = ("step", "jobs", "cpu_seconds", "wall_seconds", "largest_memory_mb")

FIT_COLUMNS = ("dataset", "method", "k", "parameters", "seed", "status", "seconds", "memory_mb")

_ACCOUNT_PREFIX = "account: "
_FIT_PREFIX = "fit: "
_WRITTEN_PREFIX = "wrote: "
# Steps that run only for methods that need their output, and the entry by which a method's ``needs`` ask for it.
_NEED_OF_STEP = {"extract_clusterlets": "clusterlets", "sum_distances": "clusterlets", "sample_partitions": "partitions"}


# ---- one job ---------------------------------------------------------------------------------------------------------


def format_account(step: str, wall: float) -> str:
    """The line of the log with the account of this process's job, which took ``wall`` seconds so far."""
    seconds = {"cpu_seconds": round(cpu_seconds(), 3), "wall_seconds": round(wall, 3)}
    memory = round(peak_memory() / 1e6, 1)
    return _ACCOUNT_PREFIX + json.dumps({"step": step, **seconds, "memory_mb": memory, "ended": round(time.time(), 1)})


def log_files(written: Mapping[str, str]) -> None:
    """Write the SHA-256 of each file that a job wrote, by its path, to the job's log, as ``sha256sum`` prints them."""
    for path, digest in written.items():
        print(f"{_WRITTEN_PREFIX}{digest}  {path}", file=sys.stderr)


def log_fit(dataset: str, method: str, k: int, parameters: str, seed: int, fit: Any) -> None:
    """Write the status, time and memory of a :class:`clusterlets.supervision.fits.Fit` to the job's log."""
    row = {"dataset": dataset, "method": method, "k": k, "parameters": parameters, "seed": seed, "status": fit.status}
    row |= {"seconds": round(fit.seconds, 4), "memory_mb": round(fit.memory_mb, 1)}
    print(_FIT_PREFIX + json.dumps(row), file=sys.stderr)


# ---- all jobs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Accounts:
    """The accounts of a grid's jobs and of their fits."""

    jobs: list[dict]
    fits: list[dict]

    @property
    def span(self) -> dict[str, str | None]:
        """When the first job began and the last one ended (UTC), perhaps in different runs of the workflow."""
        if not self.jobs:
            return {"first_job_began": None, "last_job_ended": None}
        began = min(job["ended"] - job["wall_seconds"] for job in self.jobs)
        return {"first_job_began": _utc(began), "last_job_ended": _utc(max(job["ended"] for job in self.jobs))}

    def by_step(self) -> list[dict]:
        """A row for each step, with the keys :data:`COLUMNS`. Steps with the most CPU seconds come first."""
        jobs_by_step: dict[str, list[dict]] = {}
        for job in self.jobs:
            jobs_by_step.setdefault(job["step"], []).append(job)
        rows = [
            {
                "step": step,
                "jobs": len(jobs),
                "cpu_seconds": round(sum(job["cpu_seconds"] for job in jobs), 2),
                "wall_seconds": round(sum(job["wall_seconds"] for job in jobs), 2),
                "largest_memory_mb": max(job["memory_mb"] for job in jobs),
            }
            for step, jobs in jobs_by_step.items()
        ]
        return sorted(rows, key=lambda row: (-row["cpu_seconds"], row["step"]))


def read(folders: Iterable[Path], config: Mapping, ignored_rules: Iterable[str] = ()) -> Accounts:
    """Read the accounts of the configured grid's jobs from folders of logs.

    The jobs may have run in earlier runs of the workflow. Logs of other datasets, configurations and batches of seeds are left
    out. So are logs without an account, whose jobs did not end. Fits are read from the first folder only, which has the logs of
    the grid itself. The rules in ``ignored_rules`` have not ended when the accounts are read, so any logs of these rules are
    left from an earlier run.
    """
    names, ignored_rules = _names_in_grid(config), set(ignored_rules)
    jobs, fits = [], []
    logs = [(index, folder, log) for index, folder in enumerate(folders) for log in sorted(folder.rglob("*.log"))]
    for index, folder, log in logs:
        rule, *parts = log.relative_to(folder).with_suffix("").parts
        is_needed = _NEED_OF_STEP.get(rule, "") in {"", *names}  # names include the needs
        if rule in ignored_rules or not set(parts) <= names or not is_needed:
            continue
        text = log.read_text(encoding="utf-8", errors="replace")
        if account := parse(text):
            jobs.append(account)
            fits += parse_fits(text) if index == 0 else []
    return Accounts(jobs, fits)


def files_written(folder: Path) -> dict[PurePath, str]:
    """The SHA-256 of each file that a job with a log at the top of this folder wrote. The last job to write a file counts."""
    logs = [log.read_text(encoding="utf-8", errors="replace") for log in folder.glob("*.log")]
    ended_logs = [(account["ended"], log) for log in logs if (account := parse(log))]
    files = {}
    for _, log in sorted(ended_logs):
        for line in log.splitlines():
            if line.startswith(_WRITTEN_PREFIX):
                digest, _, path = line.removeprefix(_WRITTEN_PREFIX).partition("  ")
                files[PurePath(path)] = digest
    return files


def parse(log: str) -> dict | None:
    """The account in a job's log, or None. Of several, from retries, the last one counts."""
    accounts = [entry.removeprefix(_ACCOUNT_PREFIX) for entry in log.splitlines() if entry.startswith(_ACCOUNT_PREFIX)]
    try:
        return json.loads(accounts[-1]) if accounts else None
    except json.JSONDecodeError:
        return None


def parse_fits(log: str) -> list[dict]:
    """The fits in a job's log, with the keys :data:`FIT_COLUMNS`. Of several equal fits, from retries, the last counts."""
    rows = {}
    for entry in log.splitlines():
        with suppress(json.JSONDecodeError, KeyError, TypeError):  # a method may print a line that looks like a fit
            if entry.startswith(_FIT_PREFIX):
                row = json.loads(entry.removeprefix(_FIT_PREFIX))
                rows[row["parameters"], row["seed"]] = {column: row[column] for column in FIT_COLUMNS}
    return list(rows.values())


def _names_in_grid(config: Mapping) -> set[str]:
    """The names that the paths of this grid's logs may contain below the folder of the rule, and what they share."""
    from clusterlets.benchmark.grid.cells import cells
    from clusterlets.parameter_text import configuration  # imported late: writing an account must not load NumPy

    tables, entries = config["tables"].values(), config["method_settings"]
    fitted = [cell for cell in cells(config) if not entries[cell.method]["is_matcher"]]
    return {table["name"] for table in tables}.union(
        *({cell.dataset, cell.method, f"k{cell.k}", f"seeds{cell.seeds}"} for cell in cells(config)),
        *({f"k{cell.k}{configuration(parameters)}" for parameters in cell.configurations} for cell in fitted),
        {"clusterlets" for entry in entries.values() if entry["is_matcher"]},
        {"partitions" for entry in entries.values() if entry["needs_partitions"]},
    )


def _utc(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
