"""Measure how long Snakemake takes to find that a grid is finished, for the paper's grid and for the grid with all variants.

    python benchmarks/bench_nothing.py

All files of the grid are created empty, and ``snakemake --touch`` records every job as finished, as a real run does. So the
measured time includes the comparison of these records with the rules.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import Bars, cpu_of_children

ROOT = Path(__file__).resolve().parents[1]
GRIDS = {"the paper's grid": [], "with all variants": [str(ROOT / "workflow/configs/extended.yaml")]}
BAR = 15  # seconds of CPU
# Snakemake's command line, without the wait of a tenth of a second before it touches the files of a job.
SNAKEMAKE = """
import sys
from snakemake import cli
from snakemake.executors.touch import Executor

Executor.SLEEPING_TIME = 0
cli.main(sys.argv[1:])
"""


def snakemake(folder: str, configs: list[str], *options: str) -> str:
    """Run Snakemake on a grid, and return what it prints."""
    command = [sys.executable, "-c", SNAKEMAKE, "--snakefile", str(ROOT / "Snakefile"), "--cores", "2", *options]
    process = subprocess.run(
        [*command, *(["--configfile", *configs] if configs else [])], cwd=folder, check=True, capture_output=True, text=True
    )
    return process.stdout + process.stderr


def finish(folder: str, configs: list[str]) -> int:
    """Create all files of a grid, empty, and record them as finished. Return the number of files."""
    lines = snakemake(folder, configs, "--summary").splitlines()
    header = next(number for number, line in enumerate(lines) if line.startswith("output_file"))
    paths = [Path(folder) / line.split("\t")[0] for line in lines[header + 1 :] if "\t" in line]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    snakemake(folder, configs, "--touch", "--forceall")
    return len(paths)


def main() -> int:
    bars = Bars()
    for name, configs in GRIDS.items():
        with tempfile.TemporaryDirectory() as folder:
            count = finish(folder, configs)
            cpu_before, start = cpu_of_children(), time.perf_counter()
            output = snakemake(folder, configs)
            wall, cpu = time.perf_counter() - start, cpu_of_children() - cpu_before
            if "Nothing to be done" not in output:
                raise SystemExit(f"{name}: the grid was not finished:\n{output}")
            bars.at_most(f"{name}, {count:,} files: nothing to do ({wall:.1f} s by the clock)", cpu, BAR, "s of CPU")
    return bars.missed


if __name__ == "__main__":
    sys.exit(main())
