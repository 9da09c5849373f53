"""The mirror of the raw files, for tests of the real tables."""

import pytest
import real_tables


@pytest.fixture(scope="session")
def mirror():
    """The folder with a subfolder of raw files for each dataset. Without such a folder, the test is skipped."""
    return real_tables.mirror()
