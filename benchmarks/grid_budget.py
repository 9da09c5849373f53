"""Run the workflow, and hold the CPU time of each kind of job against its budget on the ten-dataset grid.

    python benchmarks/grid_budget.py --directory FRESH_FOLDER --config exclude=nbfi

What follows is given to Snakemake; in a folder without results everything runs. Every Python process of the run notes
its CPU time and its peak memory as it ends (a ``sitecustomize`` on its path; the workflow is as it always is).
Snakemake's ``benchmark:`` files would not do: they sample, so a job below half a second is missed and others cut short.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from measuring import Bars, cpu_of_children

ROOT = Path(__file__).resolve().parents[1]
CORES = 2
NOTES = "CLUSTERLETS_CPU_NOTES"
NOTE_AT_EXIT = f"""
import atexit, json, os, resource, sys

def note(path=os.environ["{NOTES}"]):
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu = usage.ru_utime + usage.ru_stime
    line = json.dumps({{"words": sys.orig_argv[1:4], "seconds": cpu, "megabytes": usage.ru_maxrss / 1024}})
    with open(path, "a") as notes:
        notes.write(line + "\\n")

atexit.register(note)
"""
#: Kind, budget in seconds of CPU, and the processes that belong to it; what is in none goes by "the rest".
BUDGETS = {
    "cells": (500, {"match-pinball", "match-centroid", "score-groups"}),
    "C": (400, {"sample-partitions"}),
    "k-means": (200, {"extract-clusterlets", "cluster-baselines"}),
    "distances": (700, {"measure-geometry", "sum-distances"}),
    "FRAC": (450, {"cluster-frac"}),
    "Snakemake": (150, {"snakemake"}),
}
TOTAL, MINUTES = 2400, 20


def run_workflow(arguments: list[str], notes: Path) -> float:
    """Run Snakemake with notes taken, and return the minutes that it took."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sitecustomize.py").write_text(NOTE_AT_EXIT, encoding="utf-8")
        path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
        command = ["snakemake", "--cores", str(CORES), "--snakefile", str(ROOT / "Snakefile"), *arguments]
        start = time.monotonic()
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": path, NOTES: str(notes)})
        return (time.monotonic() - start) / 60


def processes(notes: Path) -> Iterator[tuple[str, float, float]]:
    """Name, CPU seconds and megabytes of each process: the step of the package, or the program."""
    for line in notes.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        words = found["words"]
        name = words[2] if words[:2] == ["-P", str(ROOT / "workflow" / "step.py")] else Path(words[0]).name
        yield name, found["seconds"], found["megabytes"]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        minutes = run_workflow(sys.argv[1:], notes)
        jobs = list(processes(notes))
    bars = Bars()
    for kind, (budget, names) in BUDGETS.items():
        mine = [(seconds, megabytes) for name, seconds, megabytes in jobs if name in names]
        what = f"{kind}, {len(mine)} processes, {max((megabytes for _, megabytes in mine), default=0):.0f} MB at most"
        bars.at_most(what, sum(seconds for seconds, _ in mine), budget, "s of CPU")
    known = set().union(*(names for _, names in BUDGETS.values()))
    rest = cpu_of_children() - sum(seconds for name, seconds, _ in jobs if name in known)
    print(f"      the rest (data, tables, figures, report, shells): {rest:.3g} s of CPU")
    bars.at_most("the whole run", cpu_of_children(), TOTAL, "s of CPU")
    bars.at_most(f"the whole run on {CORES} cores", minutes, MINUTES, "minutes")
    return bars.missed


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
    else:
        sys.exit(main())
