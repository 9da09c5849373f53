"""Reports on synthetic runs, for tests in a real browser. Without Chromium the tests are skipped, or fail if it is required."""

import os

import pytest
from built_results import build
from chromium import REQUIRED, Chromium, find_program
from synthetic_runs import PAPER_WITHOUT_NBFI, synthetic_runs


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A running browser."""
    program = find_program(required=os.environ.get(REQUIRED) == "1")
    browser = Chromium(program, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """The results folder of a run on the paper's datasets except nbfi, with a report."""
    runs = synthetic_runs(PAPER_WITHOUT_NBFI, seeds=2, ks=(2, 10))
    return build(runs, tmp_path_factory.mktemp("paper") / "results")


@pytest.fixture(scope="session")
def demo_results(tmp_path_factory):
    """The results folder of a run with none of the paper's datasets, no claims and no accounts."""
    runs = synthetic_runs(("iris", "wine"), seeds=1, ks=(2, 5))
    return build(runs, tmp_path_factory.mktemp("demo") / "results", findings=False)


@pytest.fixture
def show(chromium):
    """A function that opens a file in a new tab. The tab is closed after the test."""
    pages = []

    def open_page(path, **options):
        pages.append(chromium.open(path, **options))
        return pages[-1]

    yield open_page
    for page in pages:
        page.close()
