"""The script docs/recompute.py, which shares no code with the package, prints the numbers that the pages show."""

import hashlib
import json
import lzma
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clusterlets.benchmark.paper import reported

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).resolve().parents[2]
SCRIPT = CHECKOUT / "docs/recompute.py"


def section(page, title):
    """The text of a page from a title to the next one, on one line."""
    text = (CHECKOUT / page).read_text(encoding="utf-8").partition(f"\n{title}\n")[2]
    return " ".join(re.split(r"\n#+ ", text)[0].split())


@pytest.fixture(scope="module")
def lines():
    process = subprocess.run([sys.executable, "-I", SCRIPT, "--copies"], capture_output=True, text=True, check=True)
    return process.stdout.splitlines()


def test_the_committed_runs_are_those_of_the_manifest():
    reference = CHECKOUT / "reference/paper"
    content = lzma.decompress((reference / "runs.csv.xz").read_bytes())
    manifest = json.loads((reference / "manifest.json").read_text(encoding="utf-8"))
    assert hashlib.sha256(content).hexdigest() == manifest["files"]["numbers"]["runs.csv"]


def test_the_script_is_short_and_imports_nothing_of_the_package():
    source = SCRIPT.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 150 and not re.search(r"(import|from) clusterlets", source)


def parts(lines, kind):
    return [line.split("|")[1:] for line in lines if line.startswith(f"{kind}|")]


@pytest.mark.parametrize(("source", "inside_column"), [("the text", "inside"), ("the code", "inside_by_code")])
def test_every_range_and_whether_the_paper_is_inside_equal_the_committed_ones(lines, source, inside_column):
    committed = reported.ranges().query("counted and inside != ''")
    names = committed["table"].str[5] + "|" + committed["row"] + "|" + committed["quantity"].replace("correlation", "value")
    expected = committed.set_index(names)
    ranges = [line[1:] for line in parts(lines, "range") if line[0] == source]
    recomputed = {"|".join(key): ends for *key, low, high, inside in ranges for ends in [(low, high, inside)]}
    assert recomputed.keys() == set(expected.index) and len(recomputed) == 250
    for name, (low, high, inside) in recomputed.items():
        assert inside == expected.loc[name, inside_column], name
        if low != "None" and source == "the text":  # the ranges by the code are not committed
            assert [float(low), float(high)] == pytest.approx(list(expected.loc[name, ["low", "high"]]), abs=1e-6), name


def test_every_share_on_the_page_is_recomputed(lines):
    page = section("docs/reproduction.md", "## What comes back")
    shares = {(number, source): (n_numbers, share) for number, source, n_numbers, share in parts(lines, "share")}
    assert len(shares) == 10 + 25  # the copies are another test's
    for number in "12345":
        (n_numbers, by_text), (_, by_code) = shares[number, "the text"], shares[number, "the code"]
        cells = rf"{n_numbers} \| {100 * float(by_text):.0f} % \| {100 * float(by_code):.0f} % \|"
        assert re.search(rf"\| Table {number}: [^|]* \| {cells}", page), number


def test_the_shares_of_perfect_copies_are_recomputed(lines):
    by_table = {}
    for number, source, _, share in parts(lines, "share"):
        if source.startswith("a perfect copy"):
            by_table.setdefault(number, []).append(float(share))
    for row in reported.copies().query("source == 'a perfect copy'").to_dict("records"):
        folds = by_table[row["table"][5]]
        measured = [sum(folds) / 5, min(folds), max(folds)]
        assert measured == pytest.approx([row["inside"], row["least"], row["most"]], abs=2e-4), row["table"]


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
            assert set(re.findall(r"\d+(?:\.\d+)?(?!\d*th)", words)) <= allowed, (limit, method, words)
    assert len(sentences) >= n_sentences
