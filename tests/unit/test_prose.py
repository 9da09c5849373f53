"""The pages are short, name only files that exist, and state numbers of jobs and minutes in one place.

Prose is every word outside of tables, code blocks and comments. Generated sentences count.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *(ROOT / folder / "README.md" for folder in ("config", "data", "reference", "results")),
    *sorted((ROOT / "docs").glob("*.md")),
]
SETTINGS = [
    ROOT / "Makefile",
    ROOT / "config.yaml",
    *sorted(ROOT.glob("workflow/configs/*.yaml")),
    *ROOT.glob("profiles/*/*.yaml"),
]
MEASUREMENTS = "performance.md"
# Small numbers of steps and files are often not those of a run, as in "in three steps".
COUNT = re.compile(
    r"\b\d[\d,.:]*[ \n](?:steps|files)\b"
    r"|\b(?:\d[\d,.:]*|two|three|four|five|six|eight|ten|fifteen|twenty|thirty|forty|half an?)[ \n]"
    r"(?:jobs|submissions|minutes?|hours?)\b"
)


def prose(page):
    """The prose of a page, line by line."""
    text = re.sub(r"<!--.*?-->|^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [line for line in text.splitlines() if not re.match(r" *\|| {4}\S", line)]


def n_words(page):
    return len(" ".join(prose(page)).split())


@pytest.mark.parametrize(
    ("name", "most"), [("README.md", 900), ("docs/reproduction.md", 3500), ("docs/results-format.md", 2500)]
)
def test_a_page_is_short(name, most):
    assert 100 < n_words(ROOT / name) <= most


def test_all_pages_together_are_short():
    assert 10_000 < sum(map(n_words, PAGES)) <= 17_000


@pytest.mark.parametrize("page", [*PAGES, *SETTINGS], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_numbers_of_jobs_and_minutes_are_only_with_the_measurements(page):
    text = "\n".join(prose(page) if page.suffix == ".md" else re.findall("#.*", page.read_text(encoding="utf-8")))
    assert COUNT.findall(text) == [] or page.name == MEASUREMENTS


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_that_a_page_names_exist(page):
    folders = "benchmarks|clusterlets|docs|envs|profiles|reference|tests|workflow"
    names = re.findall(rf"`((?:{folders})/[\w./-]+)`", page.read_text(encoding="utf-8"))
    assert [name for name in names if not (ROOT / name).exists()] == []
