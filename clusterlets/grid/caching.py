"""Which results Snakemake's cache between workflows may keep: those that follow from their parameters and inputs alone."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

from clusterlets.grid.artifacts import FAILED, OUT_OF_MEMORY, TIMEOUT, SeedBlock
from clusterlets.storage import load_text

# A machine, its load or the limits may decide on these.
_MACHINE_DEPENDENT = {TIMEOUT, OUT_OF_MEMORY, FAILED}


def is_reproducible(file: str) -> bool:
    """Whether the clusters of a method, or a cell, hold no run that could end differently elsewhere or under other limits."""
    if file.endswith(".npz"):
        block = SeedBlock.load(file)
        statuses = {block.status, *(status for status, _ in block.failures.values())}
    else:
        statuses = {row["status"] for row in csv.DictReader(load_text(file).splitlines())}
    return not statuses & _MACHINE_DEPENDENT


def has_known_sources(table: Mapping, method: Mapping, receipt: str) -> bool:
    """Whether a job's parameters describe its data and its method.

    They describe a user's table by its hash, and other raw files only if they are the known bytes; and never the programs that
    a command line starts.
    """
    if "command" in method:
        return False
    return "path" in table or json.loads(Path(receipt).read_text(encoding="utf-8"))["sha256_matches"]
