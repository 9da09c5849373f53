"""The same bytes on every processor: a tiny grid with every method, computed in every way that this machine can.

Environment variables make most libraries compute as they would on a different processor. tests/arm runs the same grid on
a different architecture. Both are held against expected.json; tiny_grid.py says how to renew it.
"""

import os
import platform

import pytest
import tiny_grid
import without_blas
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from clusterlets import methods

# OpenBLAS's kernels, by its own names, and the feature that a processor must have for each, by numpy's name.
KERNELS = {"Nehalem": "SSE42", "Sandybridge": "AVX", "Haswell": "AVX2", "SkylakeX": "AVX512_SKX"}
# The features of this machine that numpy uses beyond those that it always requires.
OPTIONAL_FEATURES = [feature for feature in __cpu_dispatch__ if __cpu_features__[feature]]
WITHOUT_OPTIONAL_FEATURES = {"NPY_DISABLE_CPU_FEATURES": " ".join(OPTIONAL_FEATURES)}
# glibc takes exp and log from a different file where there are no fused products, and they round differently.
OLD_GLIBC = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4"}


@pytest.fixture(scope="session")
def jobs(tmp_path_factory):
    """The command lines of the grid's jobs."""
    return tiny_grid.plan(tmp_path_factory.mktemp("plan"))


@pytest.fixture(scope="session")
def native(jobs, tmp_path_factory):
    """The folder of a run in which every library chooses by itself, with its facts."""
    folder = tmp_path_factory.mktemp("native")
    return folder, tiny_grid.run_steps(folder, jobs)


def up_to_the_runs(jobs):
    """The jobs that compute, before those that sum up."""
    return jobs[: [job[0] for job in jobs].index("collect-runs") + 1]


@pytest.fixture
def facts_of_equal_run(jobs, native, tmp_path):
    """A function that runs the grid with variables and options, requires the right bytes, and returns the run's facts."""

    def run(variables=None, *options):
        facts = tiny_grid.run_steps(tmp_path, jobs, *options, variables=variables)
        mismatch = tiny_grid.mismatch(tmp_path, native[0])
        assert not mismatch, mismatch
        return facts

    return run


@pytest.fixture
def generic(request):
    """The variables that make numba compile for any processor of this architecture. The next test run reuses the code."""
    return {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(request.config.cache.mkdir("portability"))}


def test_the_grid_has_every_method_and_every_step_that_makes_promised_numbers(jobs, native):
    runs = (native[0] / "results" / "runs.csv").read_text().splitlines()
    names = runs[0].split(",")
    rows = [dict(zip(names, line.split(","))) for line in runs[1:]]
    configured = [entry if isinstance(entry, str) else entry["name"] for entry in tiny_grid.SETTINGS["methods"]]
    names = {name for method in configured for name in methods.get(method).names_in_results()}
    assert {row["matcher"] or row["method"] for row in rows} == names
    # Two methods handle only two groups, and iris and people have more. VFC leaves a cluster empty with one seed on iris.
    assert {(row["method"], row["status"]) for row in rows if row["status"] != "ok"} == {
        ("fairlets", "unsupported"),
        ("tree-fairlets", "unsupported"),
        ("vfc", "not_converged"),
    }
    assert any(row["price_of_fairness"] for row in rows if row["n_clusters"] in ("3", "4", "5")), "no price is interpolated"
    assert {job[0] for job in jobs} == {
        *("fetch-dataset", "prepare-dataset", "measure-geometry", "measure-plain-cost", "extract-clusterlets"),
        *(
            "prepare-user-table",
            "sum-distances",
            "sample-partitions",
            "fit-method",
            "score-method",
            "collect-runs",
            "analyse",
            "recover-clusters",
        ),
    }


def test_this_machine_gives_the_right_bytes(native):
    mismatch = tiny_grid.mismatch(native[0])
    assert not mismatch, mismatch


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_bytes_do_not_depend_on_the_kernel_that_openblas_picks(kernel, facts_of_equal_run):
    if not __cpu_features__.get(KERNELS[kernel]):
        pytest.skip(f"not run: this processor has no {KERNELS[kernel]}, which {kernel} needs")
    facts = facts_of_equal_run({"OPENBLAS_CORETYPE": kernel})
    assert {blas["architecture"] for blas in facts["blas"] if blas["architecture"]} == {kernel}


def test_the_bytes_do_not_depend_on_the_instructions_that_numpy_uses(facts_of_equal_run):
    if not OPTIONAL_FEATURES:
        pytest.skip("not run: on this processor numpy has nothing to choose")
    facts = facts_of_equal_run(WITHOUT_OPTIONAL_FEATURES)
    assert not set(OPTIONAL_FEATURES) & set(facts["numpy"])


def test_the_bytes_do_not_depend_on_the_processor_that_numba_compiles_for(facts_of_equal_run, generic):
    assert facts_of_equal_run(generic)["numba"] == "generic"


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="not run: no glibc here")
def test_the_bytes_do_not_depend_on_the_logarithm_that_glibc_takes(facts_of_equal_run):
    facts_of_equal_run(OLD_GLIBC)


def test_the_bytes_do_not_depend_on_the_number_of_threads(facts_of_equal_run):
    facts = facts_of_equal_run(None, "--threads", "2")
    assert {blas["num_threads"] for blas in facts["blas"] if blas["architecture"]} == {min(2, os.cpu_count())}


@pytest.mark.skipif(not without_blas.POSSIBLE, reason="not run: BLAS can be broken on Linux on x86-64 and aarch64 only")
def test_no_step_up_to_the_runs_asks_for_a_product_of_doubles(jobs, tmp_path):
    """On such small tables a BLAS might round alike by chance; so this fails if any step calls it at all."""
    tiny_grid.run_steps(tmp_path, up_to_the_runs(jobs), "--without-blas")


def test_no_step_up_to_the_runs_loads_scikit_learn(jobs, native):
    loaded = native[1]["loaded"]
    assert [step for step in loaded if "sklearn" in loaded[step] and step in {job[0] for job in up_to_the_runs(jobs)}] == []


def test_the_workflow_itself_gives_the_same_bytes_with_every_optimisation_switched_off(native, generic, tmp_path):
    old = {"OPENBLAS_CORETYPE": "Nehalem"} if platform.machine() == "x86_64" else {}
    tiny_grid.snakemake(tmp_path, variables={**old, **WITHOUT_OPTIONAL_FEATURES, **OLD_GLIBC, **generic})
    mismatch = tiny_grid.mismatch(tmp_path, native[0])
    assert not mismatch, mismatch
