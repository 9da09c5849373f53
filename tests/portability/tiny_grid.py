"""A tiny grid with every method: list its jobs, run them with any settings, and check the bytes of the results.

After a change that alters numbers on purpose, renew ``expected.json``, and say in the commit why they changed:

    .venv/bin/python tests/portability/tiny_grid.py
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from difflib import unified_diff
from itertools import islice
from pathlib import Path

import numpy as np

from clusterlets.benchmark.provenance import manifest
from clusterlets.storage import load_arrays

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXPECTED = HERE / "expected.json"
SETTINGS = {
    "results": "results",
    "datasets": ["iris", "breast_cancer", {"name": "people", "path": "people.csv", "sensitive": ["city", "sex"]}],
    "seeds": {"count": 2, "batch": 2},
    "k": [2, 6],
    "hops": [2],
    "omega": [0, 0.75],
    "sample_size": 2000,
    "methods": [
        *("C", "G-B", "D", "B", "G-D", "FRAC", "k-means", "random", "fairlets", "fair-lloyd"),
        *({"name": name, "parameters": {"delta": [0.1]}} for name in ("fair-flow", "fair-lp", "coreset")),
        {"name": "fair-limit", "parameters": {"max_deviation": [0.1]}},
        {"name": "tree-fairlets", "parameters": {"largest_q": [4]}},
        {"name": "fairkm", "parameters": {"penalty": [3]}},
        {"name": "vfc", "parameters": {"fairness_weight": [0.3]}},
        {"name": "antidote", "parameters": {"rho": [0.05], "n_evaluations": [20]}},
        {"name": "scaff-tree", "parameters": {"theta": [0.5]}},
    ],
    "budget": {"seconds": 600, "memory_mb": None},
}
TARGETS = [f"results/{file}" for file in ("tables/all_tables.tex", "leaderboard.csv", "statistics/mean_ranks.csv")]
# Folders and files of the results, in the order in which they are made. The first that differs shows which step went wrong.
ORDER = [
    *("prepared", "geometry", "plain_costs", "labels", "pieces", "distances", "partitions", "runs"),
    *("runs.csv", "runs.csv.sha256"),
]
# Prefixes of the environment variables that change how numeric libraries compute.
STEERING_PREFIXES = ("OPENBLAS", "GOTO", "OMP_", "MKL_", "BLIS_", "NPY_", "NUMBA_", "GLIBC_", "QEMU_")
MAX_LINES = 5  # the most lines that are shown of the difference between two text files
# A table with two sensitive columns.
PEOPLE = "age,income,city,sex\n" + "".join(
    f"{20 + row * row % 47},{row * 7919 % 101 / 10},{('Bonn', 'Cork', 'Lyon')[row % 5 % 3]},{'wm'[row // 2 % 2]}\n"
    for row in range(120)
)


def environment(**variables):
    """The given environment variables and those of this process, except those that steer numeric libraries."""
    other_variables = {name: value for name, value in os.environ.items() if not name.startswith(STEERING_PREFIXES)}
    return {**other_variables, "PYTHONPATH": str(ROOT), **variables}


def snakemake(folder, *arguments, variables=None, settings=SETTINGS, targets=TARGETS):
    """Run the workflow in a folder, for this grid or a given one. Returns what Snakemake printed."""
    (folder / "settings.json").write_text(json.dumps(settings))  # JSON is YAML
    if not (folder / "people.csv").exists():
        (folder / "people.csv").write_text(PEOPLE)
    process_env = environment(**(variables or {}))
    process_env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), process_env["PATH"]])
    command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--workflow-profile", "none"]
    return _run([*command, "--cores", "2", *arguments, "--configfile", "settings.json", "--", *targets], folder, process_env)


def plan(folder, settings=SETTINGS, targets=TARGETS):
    """The command lines of all jobs of a grid, taken from a dry run, in an order in which the jobs can run."""
    text = snakemake(folder, "--dry-run", "--printshellcmds", settings=settings, targets=targets)
    lines = re.findall(r"^Shell command: python -m clusterlets.benchmark.steps (.*) > \S+ 2>&1$", text, re.MULTILINE)
    jobs = [shlex.split(line) for line in lines]
    total_line = re.search(r"^total +(\d+)$", text, re.MULTILINE)
    assert total_line and len(jobs) == int(total_line[1]), text
    return jobs


def run_steps(folder, jobs, *options, python=sys.executable, variables=None):
    """Run jobs in a folder, all in one process of ``python``. Returns the facts that run_steps.py writes."""
    (folder / "plan.json").write_text(json.dumps(jobs))
    (folder / "people.csv").write_text(PEOPLE)
    command = [python, HERE / "run_steps.py", "plan.json", "facts.json", *options]
    _run(command, folder, environment(**(variables or {})))
    return json.loads((folder / "facts.json").read_text())


def _run(command, folder, variables):
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.run(command, cwd=folder, env=variables, **streams, text=True)
    message = process.stdout.partition("\nExtension modules: ")[0]  # cut off the very long line at the end of a crash report
    assert process.returncode == 0, f"exit {process.returncode}: {message[-4000:]}"
    return process.stdout


def hashes(folder):
    """SHA-256 of every file that must be equal on all machines, intermediate files included. They are sorted by ORDER."""
    results = folder / "results"
    files = (path.relative_to(results) for path in results.rglob("*") if path.is_file())
    promised = (file for file in files if file.parts[0] != "logs" and manifest.group_of(file.as_posix()) == manifest.NUMBERS)
    return {file.as_posix(): hashlib.sha256((results / file).read_bytes()).hexdigest() for file in sorted(promised, key=_rank)}


def _rank(file):
    """Sort key of a file by ORDER; all other files come last."""
    return ORDER.index(file.parts[0]) if file.parts[0] in ORDER else len(ORDER), file.as_posix()


def expected():
    """The hashes that every machine must reproduce."""
    return json.loads(EXPECTED.read_text(encoding="utf-8"))


def cells_of(dataset, *methods):
    """The targets that run these methods, or every one, on one dataset of the grid."""
    paths = (file.split("/") for file in expected() if file.startswith(f"runs/{dataset}/"))
    return ["/".join(["results", *parts]) for parts in paths if parts[2] in methods or not methods]


def mismatch(folder, native=None, targets=TARGETS):
    """Say which results of a run are wrong, and how the first one differs from that in the folder ``native``; "" if none."""
    actual, correct = hashes(folder), expected()
    if targets is not TARGETS:  # the run made only these and what they need
        correct = {file: correct[file] for file in correct if file in actual or f"results/{file}" in targets}
    wrong = [file for file in actual | correct if actual.get(file) != correct.get(file)]
    if not wrong:
        return ""
    wrong.sort(key=lambda file: _rank(Path(file)))
    lines = [f"{len(wrong)} of {len(correct)} files differ from {EXPECTED.relative_to(ROOT)}; the first is {wrong[0]}."]
    if native:
        lines.append(_difference(native / "results" / wrong[0], folder / "results" / wrong[0]))
    return "\n".join([*lines, "All: " + " ".join(wrong)])


def _difference(native, other):
    """Describe the first lines, or the first array, in which a file differs from that of a native run."""
    if not (native.is_file() and other.is_file()):
        return f"It is missing {'here' if native.is_file() else 'natively'}."
    if native.read_bytes() == other.read_bytes():
        return "A native run on this machine gives the same bytes."
    if native.suffix == ".npz":
        first, second = load_arrays(native), load_arrays(other)
        for name in {**first, **second}:
            if not np.array_equal(first.get(name), second.get(name)):
                return f"{name}: natively {first.get(name)}, here {second.get(name)}"
        return ""
    line_lists = (path.read_text(encoding="utf-8").splitlines() for path in (native, other))
    return "\n".join(islice(unified_diff(*line_lists, "natively", "here", lineterm="", n=0), MAX_LINES))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        run_steps(Path(name), plan(Path(name)))
        EXPECTED.write_text(json.dumps(hashes(Path(name)), indent=1) + "\n", encoding="utf-8")
    print(f"{EXPECTED.relative_to(ROOT)}: {len(expected())} files")
