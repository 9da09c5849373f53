"""Measure how the cost of planning grows with datasets and seeds, by dry runs of the paper's grid on small tables.

    python benchmarks/bench_scale.py [--sizes 10x10 100x50] [--batch 10] [--no-profiles]

For each size: jobs, CPU and wall-clock seconds, peak memory, and the exponent by which CPU time grows with the jobs. Then the
same with jobs grouped as in each cluster profile, with the number of submissions and the jobs of the largest one. Snakemake's
own options, such as --batch collect_runs=1/10, go after "--".
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from math import log
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
SIZES = ("10x10", "25x10", "50x20", "100x10", "100x50")
PROFILES = ("slurm", "cluster-generic")
# Runs Snakemake's command line, patched to print the number of submissions and the size of the largest one.
PLANNER = """
import json, sys
from snakemake import cli, dag

def update_and_print(self, update=dag.DAG._update_group_components):
    update(self)
    # _group maps every job to its group, so the same group occurs once per job.
    sizes = [len(group) for group in {id(group): group for group in self._group.values()}.values()]
    if sizes:
        print(json.dumps({"submissions": len(sizes), "largest": max(sizes)}), flush=True)

dag.DAG._update_group_components = update_and_print
cli.main(sys.argv[1:])
"""


@dataclass(frozen=True)
class Plan:
    """The number of jobs that a dry run plans, what the dry run costs, and, if jobs are grouped, their submissions."""

    jobs: int
    cpu_seconds: float
    wall_seconds: float
    megabytes: float
    submissions: int
    largest: int  # jobs of the largest submission


def write_tables(folder: Path, count: int) -> list[dict]:
    """Write small tables of two groups. Return their entries in a configuration."""
    rows = "".join(f"{number},{number % 7},{number % 2}\n" for number in range(100))
    names = [f"table{number}" for number in range(count)]
    for name in names:
        (folder / f"{name}.csv").write_text("length,width,group\n" + rows, encoding="utf-8")
    return [{"name": name, "path": f"{name}.csv", "sensitive": "group"} for name in names]


def grouping_options(profile: str) -> list[str]:
    """Return options that group jobs as a cluster profile does. The profile itself would need its executor."""
    settings = yaml.safe_load((ROOT / "profiles" / profile / "config.yaml").read_text(encoding="utf-8"))
    groups = [f"{rule}={group}" for rule, group in settings["groups"].items()]
    components = [f"{group}={count}" for group, count in settings["group-components"].items()]
    return ["--groups", *groups, "--group-components", *components]


def dry_run(folder: Path, settings: dict, options: list[str]) -> Plan:
    (folder / "settings.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    command = ["--snakefile", str(ROOT / "Snakefile"), "--cores", "2", "-n", "--quiet", "rules", *options]
    with (folder / "output").open("w+", encoding="utf-8") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-c", PLANNER, *command, "--configfile", "settings.yaml"], cwd=folder, stdout=output, stderr=output
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_seconds = time.perf_counter() - start
        output.seek(0)
        text = output.read()
    if status:
        raise SystemExit(f"The dry run failed:\n{text[-2000:]}")
    jobs = int(re.findall(r"^total\s+(\d+)", text, re.MULTILINE)[-1])
    lines = re.findall(r'^\{"submissions".*\}$', text, re.MULTILINE)
    grouping = json.loads(lines[-1]) if lines else {"submissions": 0, "largest": 0}
    return Plan(jobs, usage.ru_utime + usage.ru_stime, wall_seconds, usage.ru_maxrss / 1024, **grouping)


def describe(plan: Plan, previous: Plan | None) -> str:
    """Describe a dry run, and how its CPU time grew since the previous size."""
    seconds = plan.cpu_seconds
    growth = f", exponent {log(seconds / previous.cpu_seconds) / log(plan.jobs / previous.jobs):.2f}" if previous else ""
    cpu_time = f"{seconds:.1f} s of CPU ({1000 * seconds / plan.jobs:.2f} ms a job{growth})"
    submissions = f"; {plan.submissions:,} submissions of at most {plan.largest} jobs" if plan.submissions else ""
    return f"{plan.jobs:,} jobs, {cpu_time}, {plan.wall_seconds:.1f} s wall time, {plan.megabytes:.0f} MB{submissions}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="DATASETSxSEEDS")
    parser.add_argument("--batch", type=int, default=10, help="number of seeds per job")
    parser.add_argument("--no-profiles", action="store_true", help="leave out the cluster profiles")
    parser.add_argument("options", nargs="*", metavar="-- OPTIONS", help="options passed on to Snakemake")
    arguments = parser.parse_args()
    profiles = () if arguments.no_profiles else PROFILES
    modes = {"on one machine": arguments.options} | {
        f"grouped as in profile {name}": [*arguments.options, *grouping_options(name)] for name in profiles
    }
    previous: dict[str, Plan] = {}
    for size in arguments.sizes:
        datasets, seeds = map(int, size.split("x"))
        for mode, options in modes.items():
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary)
                settings = {"datasets": write_tables(folder, datasets), "seeds": {"count": seeds, "batch": arguments.batch}}
                plan = dry_run(folder, settings, options)
            print(f"{datasets} datasets, {seeds} seeds, {mode}: {describe(plan, previous.get(mode))}", flush=True)
            previous[mode] = plan


if __name__ == "__main__":
    main()
