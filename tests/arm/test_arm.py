"""The tiny grid of tests/portability gives the same bytes on an emulated aarch64 as on x86-64. Run by `make test-arm`."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import emulation
import pytest
import tiny_grid
from compile_kernels import COMPARED

# Emulated processors and what each runs. "max" has scalable vectors (SVE) and runs the whole grid. "cortex-a72" has none, so
# libraries choose other code there; every method on the table with two groups is enough to see it. Emulated compilation would
# take most of the time, so this machine compiles the kernels for both, for any aarch64; a test compares some of them with what
# the emulated Numba compiles. tests/portability compiles for this processor and for any.
TARGETS = {"max": tiny_grid.TARGETS, "cortex-a72": tiny_grid.cells_of("breast_cancer")}
FOR_ANY = {"NUMBA_CPU_NAME": "generic"}


@pytest.fixture(scope="module")
def emulated():
    """The path of the emulated Python."""
    if "CLUSTERLETS_TEST_ARM" not in os.environ:
        pytest.skip("not run: sets up an emulated aarch64, so only make test-arm runs it")
    try:
        return emulation.set_up_python()
    except emulation.NotRun as reason:
        pytest.skip(f"not run: {reason}")


def compile_kernels(python, cache):
    """Compile kernels for aarch64 by this Python. Returns, by the names of Numba's files, the machine code, and its index."""
    command = [python, Path(__file__).with_name("compile_kernels.py")]
    variables = tiny_grid.environment(NUMBA_CACHE_DIR=str(cache), **FOR_ANY)
    process = subprocess.run(command, env=variables, stderr=subprocess.PIPE, text=True)
    assert process.returncode == 0, process.stderr
    code = {path.name: pickle.loads(path.read_bytes())[0][2][0] for path in cache.rglob("*.nbc")}
    return code | {path.name: path.read_bytes() for path in cache.rglob("*.nbi")}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """The folder in which Numba keeps every kernel as this machine compiles it for aarch64, and their machine code."""
    cache = tmp_path_factory.mktemp("numba")
    return cache, compile_kernels(sys.executable, cache)


@pytest.fixture(scope="module")
def runs(emulated, kernels, tmp_path_factory):
    """By processor: the folder of a run of the grid, and a future of the run's facts. The runs are simultaneous."""
    numba = {"NUMBA_CACHE_DIR": str(kernels[0]), **FOR_ANY}
    with ThreadPoolExecutor(len(TARGETS)) as pool:

        def submit_grid(processor, targets):
            folder = tmp_path_factory.mktemp(processor)
            jobs = tiny_grid.plan(folder, targets=targets)
            variables = {"QEMU_CPU": processor, **numba}
            return folder, pool.submit(tiny_grid.run_steps, folder, jobs, python=emulated, variables=variables)

        yield {processor: submit_grid(processor, targets) for processor, targets in TARGETS.items()}


@pytest.mark.parametrize("processor", TARGETS)
def test_the_grid_gives_the_same_bytes_on_aarch64(processor, runs, tmp_path):
    folder, future = runs[processor]
    facts = future.result()
    assert facts["machine"] == "aarch64"
    assert ("SVE" in facts["numpy"]) == (processor == "max")
    targets = TARGETS[processor]
    if tiny_grid.mismatch(folder, targets=targets):
        # Natively, so that the message can show the difference.
        tiny_grid.run_steps(tmp_path, tiny_grid.plan(tmp_path, targets=targets))
        pytest.fail(tiny_grid.mismatch(folder, tmp_path, targets=targets))


def test_the_emulated_numba_compiles_the_same_machine_code(emulated, kernels, tmp_path):
    """So the grid runs what an aarch64 machine would compile itself. It finds the code by the index, which is the same too."""
    compiled = compile_kernels(emulated, tmp_path)
    if not compiled.keys() & kernels[1].keys():
        pytest.skip("Debian's Python is of another version than this one, so it compiled every kernel of the grid itself")
    assert len(compiled) == 2 * len(COMPARED)
    assert [name for name, content in compiled.items() if kernels[1].get(name) != content] == []
