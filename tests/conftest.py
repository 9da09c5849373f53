"""Mark the slow tests, which `make test-slow` runs, and give Hypothesis the same examples in every run."""

import gc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("the same every time", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("the same every time")

TESTS = Path(__file__).parent

#: Tests that start the workflow, a browser, a cluster or another machine, install the wheel, or compute with every kernel.
SLOW = ("arm", "browser", "packaging", "portability", "slurm", "workflow")
#: In a slow folder, but run with the fast tests: the workflow on one small grid.
FAST_WORKFLOW_TEST = TESTS / "workflow" / "test_workflow.py"


def pytest_collection_modifyitems(items):
    """Mark what lies in a slow folder; a single slow test elsewhere carries the marker itself."""
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in SLOW and item.path != FAST_WORKFLOW_TEST:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish():
    """Exempt what is loaded so far from garbage collection: statsmodels triggers many collections, which would be slow."""
    gc.freeze()
