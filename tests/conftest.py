"""Mark the slow tests, which `make test-slow` runs, and give Hypothesis the same examples in every run."""

import gc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("the same every time", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("the same every time")

TESTS = Path(__file__).parent

#: Folders of tests that start the workflow, a browser, a cluster or another machine, install the wheel, or run every kernel.
SLOW_FOLDERS = ("arm", "browser", "packaging", "portability", "slurm", "workflow")


def pytest_collection_modifyitems(items):
    """Mark the tests in slow folders. Slow tests elsewhere carry the marker themselves."""
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish():
    """Exempt everything loaded so far from garbage collection, because statsmodels often triggers a collection."""
    gc.freeze()
