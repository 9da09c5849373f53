"""Which tests are slow, and left to `make test-slow`; and examples that neither chance nor the clock decides on."""

import gc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("the same every time", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("the same every time")

TESTS = Path(__file__).parent

#: Tests that start the workflow, a browser, a cluster or another machine, install the wheel, or compute with every kernel.
SLOW = ("arm", "browser", "packaging", "portability", "slurm", "workflow")
#: The one small grid that every change is tried on.
GRID = TESTS / "workflow" / "test_workflow.py"


def pytest_collection_modifyitems(items):
    """Mark what lies in a slow folder; a single slow test elsewhere carries the marker itself."""
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in SLOW and item.path != GRID:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish():
    """Modules and tests stay until the end: without them, a full garbage collection takes no time (statsmodels orders many)."""
    gc.freeze()
