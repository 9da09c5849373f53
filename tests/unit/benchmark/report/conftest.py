"""Close the figures that a test leaves open."""

import pytest

from clusterlets.pages.style import plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")
