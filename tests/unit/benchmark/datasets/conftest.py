"""The mirror of the raw files, for tests of the real tables."""

import functools

import pytest
import real_tables

from clusterlets.benchmark import datasets


@pytest.fixture(scope="session")
def mirror():
    """The folder with a subfolder of raw files for each dataset. Without such a folder, the test is skipped."""
    return real_tables.mirror()


@pytest.fixture(scope="session")
def prepared(mirror):
    """A function that prepares a dataset of the mirror, and keeps the table for later calls."""
    return functools.cache(lambda name: datasets.prepare(name, mirror))
