"""The tiny grid of tests/portability gives the same bytes on an emulated aarch64 as on x86-64. Run by `make test-arm`."""

import os
from concurrent.futures import ThreadPoolExecutor

import emulation
import pytest
import tiny_grid

# Emulated processors and what each runs. "max" has scalable vectors (SVE) and runs the whole grid. "cortex-a72" has none, so
# libraries choose other code there; every method on the table with two groups is enough to see it. Half of an emulated run is
# compilation, so both use the same code, compiled for any aarch64; tests/portability compiles for this processor and for any.
TARGETS = {"max": tiny_grid.TARGETS, "cortex-a72": tiny_grid.cells_of("breast_cancer")}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """By processor: the folder of a run of the grid, and a future of the run's facts. The runs are simultaneous."""
    if "CLUSTERLETS_TEST_ARM" not in os.environ:
        pytest.skip("not run: sets up an emulated aarch64, so only make test-arm runs it")
    try:
        python = emulation.set_up_python()
    except emulation.NotRun as reason:
        pytest.skip(f"not run: {reason}")
    numba = {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("numba"))}
    with ThreadPoolExecutor(len(TARGETS)) as pool:

        def submit_grid(processor, targets):
            folder = tmp_path_factory.mktemp(processor)
            jobs = tiny_grid.plan(folder, targets=targets)
            variables = {"QEMU_CPU": processor, **numba}
            return folder, pool.submit(tiny_grid.run_steps, folder, jobs, python=python, variables=variables)

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
