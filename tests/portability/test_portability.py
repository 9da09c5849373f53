"""A tiny grid with every method gives the same bytes on every processor.

Environment variables make most libraries compute as they would on a different processor. These tests run the grid with the
settings of this machine, and with all libraries as on an old one and two threads. tests/arm runs the grid on a different
architecture. All runs must give the hashes of expected.json. tiny_grid.py says how to renew that file.
"""

import os
import platform

import pytest
import tiny_grid
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from clusterlets import methods

# OpenBLAS's name for its oldest kernel. The native run has the newest that works on this machine.
OLD_KERNEL = {"OPENBLAS_CORETYPE": "Nehalem"} if platform.machine() == "x86_64" else {}
# Features of this processor that numpy uses, but does not require.
OPTIONAL_FEATURES = [feature for feature in __cpu_dispatch__ if __cpu_features__[feature]]
WITHOUT_OPTIONAL_FEATURES = {"NPY_DISABLE_CPU_FEATURES": " ".join(OPTIONAL_FEATURES)}
# Without fused multiply-add, glibc uses different versions of exp and log, which round differently.
OLD_GLIBC = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4"}


@pytest.fixture(scope="session")
def jobs(tmp_path_factory):
    """The command lines of the grid's jobs."""
    return tiny_grid.plan(tmp_path_factory.mktemp("plan"))


@pytest.fixture(scope="session")
def native_run(jobs, tmp_path_factory):
    """The folder of a run with the default settings of every library, and what run_steps.py reported about the libraries."""
    folder = tmp_path_factory.mktemp("native")
    return folder, tiny_grid.run_steps(folder, jobs)


def jobs_up_to_runs(jobs):
    """The jobs up to the one that writes runs.csv. The later jobs only summarise that file."""
    return jobs[: [job[0] for job in jobs].index("collect-runs") + 1]


@pytest.fixture
def old_processor(request):
    """Environment variables that switch every optimisation off that a library picks by the processor.

    Code that Numba compiles for any processor of this architecture is cached between test runs.
    """
    generic_numba = {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(request.config.cache.mkdir("portability"))}
    return {**OLD_KERNEL, **WITHOUT_OPTIONAL_FEATURES, **OLD_GLIBC, **generic_numba}


def test_the_grid_has_every_method_and_every_step_that_makes_reproducible_numbers(jobs, native_run):
    lines = (native_run[0] / "results" / "runs.csv").read_text().splitlines()
    columns = lines[0].split(",")
    rows = [dict(zip(columns, line.split(","))) for line in lines[1:]]
    configured_methods = [entry if isinstance(entry, str) else entry["name"] for entry in tiny_grid.SETTINGS["methods"]]
    names = {name for method in configured_methods for name in methods.get(method).names_in_results()}
    assert {row["matcher"] or row["method"] for row in rows} == names
    # Two methods handle only two groups, and iris and people have more.
    assert {(row["method"], row["status"]) for row in rows if row["status"] != "ok"} == {
        ("fairlets", "unsupported"),
        ("tree-fairlets", "unsupported"),
    }
    # Plain k-means runs only with the configured k, 2 and 6. The prices of other cluster numbers are interpolated.
    assert any(row["price_of_fairness"] for row in rows if row["n_clusters"] in ("3", "4", "5")), "no interpolated price"
    assert {job[0] for job in jobs} == {
        *("fetch-dataset", "prepare-dataset", "prepare-user-table", "measure-geometry", "measure-plain-cost"),
        *("extract-clusterlets", "sum-distances", "sample-partitions", "fit-method", "score-method"),
        *("collect-runs", "analyse"),
    }


def test_this_machine_gives_the_expected_bytes(native_run):
    mismatch = tiny_grid.mismatch(native_run[0])
    assert not mismatch, mismatch


def test_the_bytes_depend_neither_on_the_processor_that_libraries_compute_for_nor_on_the_number_of_threads(
    jobs, native_run, old_processor, tmp_path
):
    """If this fails, each of the variables alone, or two threads alone, shows which library is to blame."""
    facts = tiny_grid.run_steps(tmp_path, jobs, "--threads", "2", variables=old_processor)
    # The list also holds OpenMP libraries, which have no architecture.
    kernels = {(blas["architecture"], blas["num_threads"]) for blas in facts["blas"] if blas["architecture"]}
    assert {n_threads for _, n_threads in kernels} == {min(2, os.cpu_count())}
    assert not OLD_KERNEL or {architecture for architecture, _ in kernels} == {"Nehalem"}
    assert not set(OPTIONAL_FEATURES) & set(facts["numpy"])
    assert facts["numba"] == "generic"
    mismatch = tiny_grid.mismatch(tmp_path, native_run[0])
    assert not mismatch, mismatch


def test_no_step_up_to_the_runs_loads_scikit_learn(jobs, native_run):
    loaded = native_run[1]["loaded"]
    assert [step for step in loaded if "sklearn" in loaded[step] and step in {job[0] for job in jobs_up_to_runs(jobs)}] == []


def test_snakemake_gives_the_same_bytes_with_every_optimisation_switched_off(native_run, old_processor, tmp_path):
    """For one table and one method of each kind of job, because a process for each job is slow."""
    cells = tiny_grid.cells_of("breast_cancer", "C", "D", "FRAC", "fair-limit")
    tiny_grid.snakemake(tmp_path, variables=old_processor, targets=cells)
    mismatch = tiny_grid.mismatch(tmp_path, native_run[0], targets=cells)
    assert not mismatch, mismatch
