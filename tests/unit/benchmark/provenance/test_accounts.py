"""The cost that each step logs, which logs count for a grid, and the recorded software and machine."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from clusterlets.benchmark.provenance import accounts, environment

ROOT = Path(__file__).resolve().parents[4]
CONFIG = {
    "datasets": ["iris", "people.city"],
    "tables": {"iris": {"name": "iris"}, "people.city": {"name": "people"}},
    "k": [2, 5],
    "methods": ["C", "D", "FRAC"],
    "method_settings": {
        "C": {"is_matcher": True, "needs_partitions": True, "parameters": {"omega": [0.5]}},
        "D": {"is_matcher": True, "needs_partitions": False, "parameters": {"hops": [1]}},
        "FRAC": {"is_matcher": False, "needs_partitions": False, "parameters": {}},
    },
    "seeds": {"count": 4, "batch": 2},
}


def write_log(folder, name, step="score-method", cpu=1.0, wall=2.0, memory=30.0, ended=1000.0):
    """Write the log of a job: ``cpu`` and ``wall`` are seconds, ``memory`` is in MB, ``ended`` is a Unix time."""
    job = {"step": step, "cpu_seconds": cpu, "wall_seconds": wall, "memory_mb": memory, "ended": ended}
    path = folder / f"{name}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"a warning\naccount: {json.dumps(job)}\n")


def test_the_log_of_a_step_ends_with_its_cost_even_if_it_fails(tmp_path):
    step_and_options = "measure-geometry --data no.npz --dataset no --base-seed 0 --output o.json"
    command = [sys.executable, "-m", "clusterlets.benchmark.steps", *step_and_options.split()]
    settings = {"cwd": tmp_path, "env": {"PYTHONPATH": str(ROOT)}}
    process = subprocess.run(command, **settings, capture_output=True, text=True, check=False)
    assert process.returncode == 1 and process.stdout == ""
    first, last = process.stderr.splitlines()
    assert "no.npz does not exist" in first
    account = accounts.parse(last)
    assert account.keys() == {"step", "cpu_seconds", "wall_seconds", "memory_mb", "ended"}
    assert account["step"] == "measure-geometry"
    assert 0.01 < account["cpu_seconds"] < 60 and 0.01 < account["wall_seconds"] < 600
    assert 10 < account["memory_mb"] < 1000


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a child process inherit the peak")
def test_peak_memory_leaves_out_the_parent_process():
    code = "from clusterlets.supervision.measures import peak_memory; print(peak_memory())"
    parent_memory = bytearray(300_000_000)
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert 5e6 < int(process.stdout) < len(parent_memory)


def test_writing_the_account_imports_almost_nothing():
    code = (
        "import sys, clusterlets.benchmark.steps.sample_partitions; before = set(sys.modules); "
        "import clusterlets.benchmark.provenance.accounts as a; a.format_account('x', 0.1); print(*(set(sys.modules) - before))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert set(process.stdout.split()) == {
        "clusterlets.benchmark.provenance",
        "clusterlets.benchmark.provenance.accounts",
        "clusterlets.supervision.measures",
        "resource",
    }


def test_costs_are_added_up_by_step_over_several_folders_of_logs(tmp_path):
    write_log(tmp_path / "grid", "score_method/iris/D/k2/seeds0-1", cpu=1, wall=2, memory=30, ended=1000)
    write_log(tmp_path / "grid", "score_method/iris/D/k5/seeds2-3", cpu=2, wall=5, memory=40, ended=1001)
    write_log(tmp_path / "more", "make_tables", step="make-tables", cpu=9, wall=9, memory=99, ended=2000)
    account = accounts.read([tmp_path / "grid", tmp_path / "more"], CONFIG)
    rows = [tuple(row[column] for column in accounts.COLUMNS) for row in account.by_step()]
    assert rows == [("make-tables", 1, 9, 9, 99), ("score-method", 2, 3, 7, 40)]
    assert account.span == {"first_job_began": "1970-01-01T00:16:36Z", "last_job_ended": "1970-01-01T00:33:20Z"}


@pytest.mark.parametrize(
    ("name", "methods_that_need_it"),
    [
        ("fetch_dataset/people", ["C", "D", "FRAC"]),
        ("prepare_user_table/people.city", ["C", "D", "FRAC"]),
        ("plot_anything", ["C", "D", "FRAC"]),
        ("fit_method/iris/FRAC/k2/seeds0-1", ["FRAC"]),
        ("score_method/iris/FRAC/k2/seeds0-1", ["FRAC"]),
        ("score_method/iris/C/k5/seeds0-1", ["C"]),
        ("sample_partitions/iris/k2/seeds0-1", ["C"]),
        ("extract_clusterlets/people.city/k5/seeds2-3", ["C", "D"]),
        ("sum_distances/iris/k2/seeds0-1", ["C", "D"]),
        ("fetch_dataset/wine", []),
        ("sum_distances/iris/k2/seeds0-3", []),
        ("score_method/iris/G-B/k2/seeds0-1", []),
        ("score_method/iris/D/k2_hops1/seeds0-1", []),
        ("score_method/iris/D/k3/seeds0-1", []),
        ("fit_method/iris/FRAC/k2_tau0.1/seeds0-1", []),
    ],
)
def test_a_log_counts_only_if_a_method_of_the_grid_needs_the_output_of_its_job(tmp_path, name, methods_that_need_it):
    write_log(tmp_path, name)
    assert len(accounts.read([tmp_path], CONFIG).jobs) == bool(methods_that_need_it)
    other_methods = [method for method in CONFIG["methods"] if method not in methods_that_need_it]
    if other_methods:
        without_them = {
            "methods": other_methods,
            "method_settings": {method: CONFIG["method_settings"][method] for method in other_methods},
        }
        assert accounts.read([tmp_path], CONFIG | without_them).jobs == []


def test_ignored_rules_and_logs_without_an_account_are_left_out(tmp_path):
    write_log(tmp_path, "write_report")
    (tmp_path / "make_tables.log").write_text("cut off")
    (tmp_path / "collect_runs.log").write_text('account: {"step": "collect-ru')
    account = accounts.read([tmp_path], CONFIG, ignored_rules=["write_report"])
    assert account.jobs == []
    assert account.span == {"first_job_began": None, "last_job_ended": None}


def test_a_step_logs_the_hashes_of_what_it_wrote_and_of_two_finished_jobs_the_last_one_counts(tmp_path):
    for name, digest, ended in (("b", "2", 2000), ("c", "1", 1000), ("a", "0", 500)):
        write_log(tmp_path, name, ended=ended)
        log = tmp_path / f"{name}.log"
        log.write_text(f"wrote: {digest}  results/a  table.csv\n{log.read_text()}")
    (tmp_path / "killed.log").write_text("wrote: 9  results/a  table.csv\n")
    assert accounts.files_written(tmp_path) == {Path("results/a  table.csv"): "2"}


def test_a_library_that_is_not_installed_is_listed_too(tmp_path):
    lock = tmp_path / "lock"
    lock.write_text("no-such-library==1.0\n")
    assert environment.software(lock, ["no-such-library"])["libraries"] == {
        "no-such-library": {"installed": None, "locked": "1.0"}
    }


def test_the_source_is_the_commit_of_the_checkout_marked_dirty_after_a_change(tmp_path):
    def git(*arguments):
        author = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        return subprocess.run(["git", *author, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    assert environment.source(tmp_path) is None
    git("init", "--quiet")
    (tmp_path / "file").write_text("a")
    git("add", "file")
    git("commit", "--quiet", "-m", "first")
    commit = git("rev-parse", "HEAD").strip()
    assert environment.source(tmp_path) == {"commit": commit, "dirty": False}
    (tmp_path / "file").write_text("b")
    assert environment.source(tmp_path) == {"commit": commit, "dirty": True}
    # The commit describes the whole checkout, not a folder inside it.
    (tmp_path / "inside").mkdir()
    assert environment.source(tmp_path / "inside") is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("processor\t: 0\nmodel name\t: Vendor Model 1\nprocessor\t: 1\nmodel name\t: Vendor Model 1\n", "Vendor Model 1"),
        (2 * "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "implementer 0x41, part 0xd0c"),
        ("\n", platform.processor() or platform.machine()),
        (None, platform.processor() or platform.machine()),
    ],
)
def test_the_name_of_the_processor_comes_from_cpuinfo_or_else_from_python(tmp_path, text, name):
    cpuinfo = tmp_path / "cpuinfo"
    if text is not None:
        cpuinfo.write_text(text)
    assert environment._processor_name(cpuinfo) == name


def test_the_kernels_that_libraries_choose_follow_the_environment_variables():
    def processor_under(**variables):
        code = (
            "import json; from clusterlets.benchmark.provenance import environment; print(json.dumps(environment.processor()))"
        )
        env = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
        process = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        return json.loads(process.stdout)

    default = processor_under()
    assert default == processor_under() and all(default.values())
    assert default["architecture"] == platform.machine()
    kernel = "Nehalem" if default["architecture"] == "x86_64" else "ARMV8"
    changed = processor_under(NUMBA_CPU_NAME="generic", OPENBLAS_CORETYPE=kernel)
    assert changed["numba_cpu"] == "generic" and changed["openblas_kernel"].upper() == kernel.upper()
    # One feature is enough. NumPy may have found none.
    for feature in np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])[-1:]:
        assert default["numpy_simd"].endswith(feature)
        assert feature not in processor_under(NPY_DISABLE_CPU_FEATURES=feature)["numpy_simd"].split()


def test_the_machine_is_described_without_the_kernels_of_libraries_that_are_not_installed(monkeypatch):
    for name in ("numpy", "llvmlite", "llvmlite.binding", "threadpoolctl"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delenv("NUMBA_CPU_NAME", raising=False)
    machine = environment.machine()
    assert machine["cores"] >= 1 and machine["memory_gb"] > 0.1 and machine["processor"] and machine["system"]
    assert {machine[name] for name in ("numpy_simd", "numba_cpu", "openblas_kernel")} == {None}
