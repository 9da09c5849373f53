"""Measure the CPU time of jobs of the workflow, including their start.

    python benchmarks/bench_jobs.py

Each step runs in a process, as the workflow runs it. The jobs are those of the largest cells of the paper's grid (k = 30, ten
seeds). Their inputs are made first, from breast_cancer, which comes with scikit-learn.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import Bars, cpu_of_children

ROOT = Path(__file__).resolve().parents[1]
DATASET_OPTIONS = "--dataset breast_cancer --base-seed 0"
BLOCK_OPTIONS = f"{DATASET_OPTIONS} --k 30 --seeds 0-9"
ONE_SEED_OPTIONS = f"{DATASET_OPTIONS} --k 2 --seeds 0-0"
PREPARED, GEOMETRY = "tables/prepared/breast_cancer.npz", "tables/geometry/breast_cancer.json"
PIECES, LABELS, DISTANCES, PARTITIONS = (
    f"tables/{kind}/breast_cancer/clusterlets/k30/seeds0-9.npz" for kind in ("pieces", "labels", "distances", "partitions")
)
# The steps that make the files that a matching job reads.
INPUT_COMMANDS = (
    "fetch-dataset --dataset breast_cancer --raw-dir . --receipt-path receipt.json",
    "prepare-dataset --dataset breast_cancer --raw-dir . --receipt-path receipt.json --scaling none"
    f" --npz-path {PREPARED} --json-path data.json",
    f"measure-geometry --data {PREPARED} {DATASET_OPTIONS} --output {GEOMETRY}",
    f"extract-clusterlets --data {PREPARED} --pieces {PIECES} --labels {LABELS} {BLOCK_OPTIONS}",
    f"sum-distances --data {PREPARED} {DATASET_OPTIONS} --labels {LABELS} --output {DISTANCES}",
    f"sample-partitions --pieces {PIECES} --sample-size 20000 --output {PARTITIONS} {BLOCK_OPTIONS}",
)
MATCH_COMMAND = f"score-method {BLOCK_OPTIONS} --tables-of tables --deviation absolute --budget {{}} --output cell.csv"


def run_step(command: str) -> None:
    """Run a step as the workflow does."""
    arguments = [sys.executable, "-m", "clusterlets.benchmark.steps", *command.split()]
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)


def cpu_of_job(command: str) -> float:
    """Run a step five times, and return the least CPU time."""
    times = []
    for _ in range(5):
        before = cpu_of_children()
        run_step(command)
        times.append(cpu_of_children() - before)
    return min(times)


def main() -> int:
    bars = Bars()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for command in INPUT_COMMANDS:
            run_step(command)
        for matcher, scope in (("D", "last"), ("B", "last"), ("G-D", "cluster"), ("G-B", "cluster")):
            method = f'--method {{"name":"{matcher}"}} --parameters {{"hops":[1,2,3,4]}} --settings {{"scope":"{scope}"}}'
            cpu = cpu_of_job(f"{MATCH_COMMAND} {method}")
            bars.at_most(f"job of matcher {matcher}, k = 30, 1 to 4 hops, ten seeds", cpu, 0.5, "s of CPU")
        method = '--method {"name":"C"} --parameters {"omega":[0,0.25,0.5,0.75]} --settings {"equation":"corrected"}'
        cpu = cpu_of_job(f"{MATCH_COMMAND} {method}")
        bars.at_most("job of matcher C, k = 30, four omegas, ten seeds", cpu, 0.5, "s of CPU")
        cpu = cpu_of_job(f"extract-clusterlets --data {PREPARED} --pieces one.npz --labels one_labels.npz {ONE_SEED_OPTIONS}")
        bars.at_most("job of an extraction, k = 2, one seed", cpu, 0.5, "s of CPU")
        cpu = cpu_of_job(f"sum-distances --data {PREPARED} {DATASET_OPTIONS} --labels one_labels.npz --output one_sums.npz")
        bars.at_most("job of distance sums, k = 2, one seed", cpu, 0.5, "s of CPU")
        os.chdir(ROOT)
    return bars.missed


if __name__ == "__main__":
    sys.exit(main())
