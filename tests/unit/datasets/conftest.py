"""The mirror of the raw files, for tests of the real tables."""

import pytest
import real_tables


@pytest.fixture(scope="session")
def mirror():
    """The folder that holds a folder of raw files for each dataset; without one, the test is skipped."""
    return real_tables.mirror()
