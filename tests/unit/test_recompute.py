"""The script docs/recompute.py, which shares no code with the package, prints the numbers that the pages show."""

import hashlib
import json
import lzma
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
SCRIPT = CHECKOUT / "docs/recompute.py"
#: Numbers in these words do not follow from committed files: they name things, or were measured on runs that are not committed.
NOT_RECOMPUTED = (
    r"\]\([^)]*\)|<!--.*?-->|[Tt]ables? \d( (to|and) \d)?( and \d)?|(figure|equation|rank|Of table|of table|base seed) \d",
    r"level 0\.05|1, on public implementations|`clusterlets` 0\.0\.3|1 - the share",
    # measured on runs of `make extended` and `make authors`, and on tables with misaligned rows
    r"6\.8 %|288 of 288 runs|72 sets of clusterlets|in 237|it is 288 too",
    r"0\.807 to 0\.811 on heloc and 0\.923 to 0\.925",
)


def section(page, title):
    """The text of a page from a title to the next one, on one line."""
    text = (CHECKOUT / page).read_text(encoding="utf-8").partition(f"\n{title}\n")[2]
    return " ".join(re.split(r"\n#+ ", text)[0].split())


@pytest.fixture(scope="module")
def lines():
    process = subprocess.run([sys.executable, "-I", SCRIPT], capture_output=True, text=True, check=True)
    return process.stdout.splitlines()


def test_the_committed_runs_are_those_of_the_manifest():
    reference = CHECKOUT / "reference/paper"
    content = lzma.decompress((reference / "runs.csv.xz").read_bytes())
    manifest = json.loads((reference / "manifest.json").read_text(encoding="utf-8"))
    assert hashlib.sha256(content).hexdigest() == manifest["files"]["numbers"]["runs.csv"]


def test_the_script_is_short_and_imports_nothing_of_the_package():
    source = SCRIPT.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 150 and not re.search(r"(import|from) clusterlets", source)


def is_in(words, text):
    """Whether the words are in the text, and no digit comes directly before or after them."""
    return re.search(rf"(?<![\d.]){re.escape(words)}(?!\d)", text)


def test_every_number_on_the_paper_is_on_a_page(lines):
    pages = " ".join(
        " ".join((CHECKOUT / page).read_text(encoding="utf-8").split()) for page in ("README.md", "docs/reproduction.md")
    )
    optional = re.compile(r"\d+ \(\d+( differ)?\)")  # the script prints each change of a choice in both forms
    missing = [words for words in lines if "\t" not in words and not optional.fullmatch(words) and not is_in(words, pages)]
    assert not missing


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("README.md", "## Does the paper hold?"),
        ("docs/reproduction.md", "## What was reproduced"),
        ("docs/reproduction.md", "## Statistics"),
        ("docs/reproduction.md", "## Sensitivity analysis"),
        ("docs/reproduction.md", "## As the authors' published code does"),
    ],
)
def test_every_number_of_a_section_on_the_paper_is_recomputed(lines, page, title):
    text = section(page, title)
    assert text
    for words in sorted((line for line in lines if "\t" not in line), key=len, reverse=True):
        text = re.sub(rf"(?<![\d.]){re.escape(words)}(?!\d)", "", text)
    for pattern in NOT_RECOMPUTED:
        text = re.sub(pattern, "", text)
    assert not re.findall(r".{0,60}\d.{0,20}", text)


@pytest.fixture(scope="module")
def leaderboard(lines):
    """The numbers of each limit and method, or pair of methods in alphabetical order, in the forms in which pages show them."""
    rows = {}
    for parts in (line.split("\t") for line in lines if "\t" in line):
        n_names = 1 if re.match(r"-?\d", parts[2]) else 2
        rows.setdefault((parts[0], *sorted(parts[1 : n_names + 1])), set()).update(parts[n_names + 1 :])
    return rows


def test_every_number_in_a_table_of_the_leaderboard_is_in_the_committed_files(leaderboard):
    page = (CHECKOUT / "docs/field.md").read_text(encoding="utf-8")
    limit = re.search(r"## All methods at a largest deviation of at most ([\d.]+)", page)[1]
    n_checked = 0
    for cells in ([cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("|")):
        for n_names in (2, 1):
            numbers = leaderboard.get((limit, *sorted(cell.removesuffix(" (ours)") for cell in cells[:n_names])))
            if numbers:
                shown = re.findall(r"\d+(?:\.\d+)?", " ".join(cells[n_names:]))
                assert set(shown) <= numbers, cells
                n_checked += len(shown)
                break
    assert n_checked > 100


@pytest.mark.parametrize(("name", "n_sentences"), [("docs/field.md", 6), ("README.md", 1)])
def test_every_number_in_a_sentence_on_a_limit_is_in_the_committed_files(leaderboard, name, n_sentences):
    page = " ".join((CHECKOUT / name).read_text(encoding="utf-8").split())
    methods = "|".join(sorted({re.escape(names[1]) for names in leaderboard}, key=len, reverse=True))
    sentences = re.findall(r"- At a largest deviation of at most ([\d.]+), (.*?)(?: \(`| - | <!--|$)", page)
    for limit, sentence in sentences:
        _, *parts = re.split(rf"({methods})", sentence)
        for method, words in zip(parts[::2], parts[1::2], strict=True):
            allowed = leaderboard.get((limit, method), set()) | leaderboard.get((limit, *sorted((parts[0], method))), set())
            assert set(re.findall(r"\d+(?:\.\d+)?", words)) <= allowed, (limit, method, words)
    assert len(sentences) >= n_sentences
