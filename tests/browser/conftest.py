"""The report of synthetic runs in a real browser. Without Chromium these tests are skipped, or fail where it is required."""

import os

import pytest
from built_results import build
from chromium import PROGRAMS, Chromium, program
from test_results_fixture import PAPER_WITHOUT_NBFI, synthetic_runs

REQUIRED = "CLUSTERLETS_REQUIRE_BROWSER"


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A running browser."""
    if not program():
        reason = f"no Chromium here (looked for {', '.join(PROGRAMS)}); Debian's package is called chromium"
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(f"{REQUIRED}=1 and {reason}")
        pytest.skip(reason)
    browser = Chromium(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """The results folder of a run on the paper's datasets, with a report."""
    runs = synthetic_runs(PAPER_WITHOUT_NBFI, seeds=2, ks=(2, 10))
    return build(runs, tmp_path_factory.mktemp("paper") / "results")


@pytest.fixture(scope="session")
def demo_results(tmp_path_factory):
    """The results folder of a run with none of the paper's datasets, no claims and no accounts."""
    runs = synthetic_runs(("iris", "wine"), seeds=1, ks=(2, 5))
    return build(runs, tmp_path_factory.mktemp("demo") / "results", findings=False)


@pytest.fixture
def show(chromium):
    """Opens a file in a tab that is closed after the test."""
    pages = []

    def opened(path, **how):
        pages.append(chromium.open(path, **how))
        return pages[-1]

    yield opened
    for page in pages:
        page.close()
