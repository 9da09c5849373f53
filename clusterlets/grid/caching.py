"""Which results Snakemake's cache between workflows may keep: those that follow from their parameters and inputs alone."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

from clusterlets.grid.artifacts import FAILED, OUT_OF_MEMORY, TIMEOUT, SeedBlock
from clusterlets.storage import load_text

# These depend on the machine, its load or the limits.
_MACHINE_DEPENDENT = {TIMEOUT, OUT_OF_MEMORY, FAILED}


def is_reproducible(file: str) -> bool:
    """Whether a file of clusters, or a cell, has no run that could end differently on another machine or under other limits."""
    if file.endswith(".npz"):
        block = SeedBlock.load(file)
        statuses = {block.status, *(status for status, _ in block.failures.values())}
    else:
        statuses = {row["status"] for row in csv.DictReader(load_text(file).splitlines())}
    return not statuses & _MACHINE_DEPENDENT


def has_known_sources(table: Mapping, method: Mapping, receipt: str) -> bool:
    """Whether a job's parameters describe its data and its method.

    A user's table is described by its hash, and other raw files if their SHA-256 is the known one. The programs that a command
    line starts are not described.
    """
    if "command" in method:
        return False
    return "path" in table or json.loads(Path(receipt).read_text(encoding="utf-8"))["sha256_matches"]
