"""What one job of the workflow costs, start-up included: the real steps, each in a process of its own.

    python benchmarks/bench_jobs.py

The files that a job reads are made first, from breast_cancer, which comes with scikit-learn: k = 30, ten seeds, the
largest cell of the paper's grid.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import Bars, cpu_of_children

ROOT = Path(__file__).resolve().parents[1]
DATASET, K, SEEDS = "breast_cancer", "30", "0-9"
RUNS = 5


def step(command: str, **options: str) -> None:
    """Run a step as the rules do."""
    arguments = [argument for name, value in options.items() for argument in (f"--{name.replace('_', '-')}", value)]
    job = [sys.executable, "-P", str(ROOT / "workflow" / "step.py"), command, *arguments]
    subprocess.run(job, check=True, stdout=subprocess.DEVNULL)


def cpu_of_job(command: str, **options: str) -> float:
    """Least CPU time of several runs of a step."""
    times = []
    for _ in range(RUNS):
        before = cpu_of_children()
        step(command, **options)
        times.append(cpu_of_children() - before)
    return min(times)


def make_inputs() -> dict[str, str]:
    """Everything that a matching job reads, by option."""
    block = {"dataset": DATASET, "k": K, "seeds": SEEDS, "base_seed": "0"}
    step("fetch-dataset", dataset=DATASET, raw_dir=".", receipt_path="receipt.json")
    step(
        "prepare-dataset",
        dataset=DATASET,
        raw_dir=".",
        receipt_path="receipt.json",
        scaling="none",
        npz_path="data.npz",
        json_path="data.json",
    )
    step("measure-geometry", data="data.npz", dataset=DATASET, base_seed="0", output="geometry.json")
    step("extract-clusterlets", data="data.npz", pieces="pieces.npz", labels="labels.npz", **block)
    step("sum-distances", data="data.npz", dataset=DATASET, labels="labels.npz", base_seed="0", output="distances.npz")
    step("sample-partitions", pieces="pieces.npz", sample_size="20000", output="partitions.npz", **block)
    inputs = {"pieces": "pieces.npz", "distances": "distances.npz", "geometry": "geometry.json"}
    return {
        **inputs,
        "data": "data.npz",
        "labels": "labels.npz",
        "dataset": DATASET,
        "k": K,
        "seeds": SEEDS,
        "deviation": "absolute",
        "output": "cell.csv",
        "base_seed": "0",
        "limits": "{}",
    }


def main() -> int:
    bars = Bars()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        inputs = make_inputs()
        for matcher, scope in (("D", "last"), ("B", "last"), ("G-D", "cluster"), ("G-B", "cluster")):
            options = {"method": json.dumps({"name": matcher}), "parameters": '{"hops": 4}'}
            cpu = cpu_of_job("score-method", **options, settings=json.dumps({"scope": scope}), **inputs)
            bars.at_most(f"job of matcher {matcher}, k = {K}, 4 hops, ten seeds", cpu, 0.5, "s of CPU")
        options = {"method": '{"name": "C"}', "parameters": '{"omega": 0.5}', "settings": '{"equation": "corrected"}'}
        cpu = cpu_of_job("score-method", partitions="partitions.npz", **options, **inputs)
        bars.at_most(f"job of matcher C, k = {K}, ten seeds", cpu, 0.5, "s of CPU")
        one = {"data": "data.npz", "dataset": DATASET, "k": "2", "seeds": "0-0", "base_seed": "0"}
        cpu = cpu_of_job("extract-clusterlets", pieces="one.npz", labels="one_labels.npz", **one)
        bars.at_most("job of an extraction, k = 2, one seed", cpu, 0.5, "s of CPU")
        sums = {"data": "data.npz", "dataset": DATASET, "labels": "one_labels.npz", "base_seed": "0"}
        cpu = cpu_of_job("sum-distances", **sums, output="one_sums.npz")
        bars.at_most("job of distance sums, k = 2, one seed", cpu, 0.5, "s of CPU")
        os.chdir(ROOT)
    return bars.missed


if __name__ == "__main__":
    sys.exit(main())
