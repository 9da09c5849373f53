"""Measure how the cost of the workflow's steps grows with the number of rows.

    python benchmarks/bench_rows.py [--rows 10000 100000]

For each step: CPU seconds, peak memory (on Linux), bytes of the output, and the exponent by which the seconds grow with the
rows. The table is a CSV file with 10 features and two groups; k = 20, one seed. Above 100,000 rows, sums of distances come from
samples of rows. Steps that read only clusterlets are in bench_growth.py.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from math import log
from pathlib import Path

from measuring import random_table  # isort: skip; before numpy, whose threads it limits

import numpy as np

from clusterlets.benchmark.provenance import accounts

SIZES = (10_000, 100_000, 316_228, 1_000_000)
BLOCK_OPTIONS = "--data people.npz --dataset people --k 20 --seeds 0-0 --base-seed 0"
# Methods that cluster instances. Their step also sums the distances.
FITTED_METHODS = ("FRAC", "k-means", "random")
READING_OPTIONS = ["--settings", '{"sensitive": ["group"], "features": "numeric", "separator": null, "scaling": "none"}']


def steps(n: int) -> Iterator[tuple[str, list[str], str]]:
    """Yield the name, arguments and output file of every step that reads instances, in the order in which they run."""
    prepare = "prepare-user-table --name people --table people.csv --npz-path people.npz --json-path people.json"
    yield "prepare-user-table", [*prepare.split(), *READING_OPTIONS], "people.npz"
    extract = f"extract-clusterlets {BLOCK_OPTIONS} --pieces pieces.npz --labels labels.npz"
    yield "extract-clusterlets", extract.split(), "labels.npz"
    measure = "measure-geometry --data people.npz --dataset people --base-seed 0 --output geometry.json"
    yield "measure-geometry", measure.split(), "geometry.json"
    sum_distances = "sum-distances --data people.npz --dataset people --labels labels.npz --base-seed 0 --output sums.npz"
    yield "sum-distances", sum_distances.split(), "sums.npz"
    for method in FITTED_METHODS:
        fit_options = f"--parameters {{}} --budget {{}} --pieces pieces.{method}.npz --labels labels.{method}.npz"
        arguments = ["fit-method", "--method", json.dumps({"name": method}), *BLOCK_OPTIONS.split(), *fit_options.split()]
        yield f"fit-method ({method})", arguments, f"labels.{method}.npz"


def run_step(folder: Path, arguments: list[str]) -> dict:
    """Run a step, and return the resource use that it reports."""
    command = [sys.executable, "-m", "clusterlets", *arguments]
    process = subprocess.run(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    account = accounts.parse(process.stderr)
    if process.returncode or account is None:
        raise SystemExit(f"{arguments[0]} failed:\n{process.stderr}")
    return account


def write_table(path: Path, n: int) -> None:
    """Write a table of n rows as CSV, with four decimals."""
    X, groups = random_table(n, 10)
    names = ",".join([*(f"x{number}" for number in range(X.shape[1])), "group"])
    formats = ["%.4f"] * X.shape[1] + ["%d"]
    np.savetxt(path, np.column_stack([X, groups]), fmt=formats, delimiter=",", header=names, comments="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", type=int, default=SIZES)
    previous: dict[str, tuple[int, float]] = {}
    for n in parser.parse_args().rows:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            write_table(folder / "people.csv", n)
            for step, arguments, output in steps(n):
                account = run_step(folder, arguments)
                seconds, megabytes = account["cpu_seconds"], account["memory_mb"]
                growth = ""
                if step in previous and previous[step][0] != n:
                    previous_n, previous_seconds = previous[step]
                    growth = f" (exponent {log(seconds / previous_seconds) / log(n / previous_n):.2f})"
                previous[step] = n, seconds
                size = (folder / output).stat().st_size
                print(f"{n:,} rows, {step}: {seconds:.2f} s of CPU{growth}, {megabytes:.0f} MB, {size:,} bytes", flush=True)


if __name__ == "__main__":
    main()
