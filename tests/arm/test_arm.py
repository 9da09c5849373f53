"""The tiny grid of tests/portability gives the same bytes on an emulated aarch64 as on x86-64. Run by `make test-arm`."""

import os
from concurrent.futures import ThreadPoolExecutor

import emulation
import pytest
import tiny_grid

# Emulated processors. "max" has scalable vectors (SVE), "cortex-a72" has none. Half of an emulated run would be compilation, so
# both use the same code, compiled for any aarch64; tests/portability compiles for this processor and for any.
PROCESSORS = ["max", "cortex-a72"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """By processor: the folder of a run of the grid, and a future of the run's facts. The runs are simultaneous."""
    if "CLUSTERLETS_TEST_ARM" not in os.environ:
        pytest.skip("not run: sets up an emulated aarch64, so only make test-arm runs it")
    try:
        python = emulation.set_up_python()
    except emulation.NotRun as reason:
        pytest.skip(f"not run: {reason}")
    jobs = tiny_grid.plan(tmp_path_factory.mktemp("plan"))
    numba = {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("numba"))}
    with ThreadPoolExecutor(len(PROCESSORS)) as pool:

        def submit_grid(processor):
            folder = tmp_path_factory.mktemp(processor)
            variables = {"QEMU_CPU": processor, **numba}
            return folder, pool.submit(tiny_grid.run_steps, folder, jobs, python=python, variables=variables)

        yield {processor: submit_grid(processor) for processor in PROCESSORS}


@pytest.mark.parametrize("processor", PROCESSORS)
def test_the_grid_gives_the_same_bytes_on_aarch64(processor, runs, tmp_path):
    folder, future = runs[processor]
    facts = future.result()
    assert facts["machine"] == "aarch64"
    assert ("SVE" in facts["numpy"]) == (processor == "max")
    if tiny_grid.mismatch(folder):
        tiny_grid.run_steps(tmp_path, tiny_grid.plan(tmp_path))  # natively, so that the message can show the difference
        pytest.fail(tiny_grid.mismatch(folder, tmp_path))
