"""Figures and the page: they build from whatever runs there are, twice the same, and need no network."""

import copy
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from test_results_fixture import PAPER_WITHOUT_NBFI, synthetic_runs

from clusterlets.benchmark import report
from clusterlets.benchmark.figures import CAPTIONS, cohesion_vs_deviation
from clusterlets.benchmark.figures.style import plt
from clusterlets.benchmark.steps.claims import check_claims
from clusterlets.benchmark.steps.comparison import check_reported
from clusterlets.benchmark.steps.figures import plot
from clusterlets.benchmark.steps.report import write_report
from clusterlets.benchmark.steps.statistics import compare_methods
from clusterlets.benchmark.steps.sensitivity import assess_sensitivity
from clusterlets.benchmark.steps.tables import make_tables

SETTINGS = yaml.safe_load((Path(__file__).resolve().parents[2] / "config.yaml").read_text(encoding="utf-8"))


def build(runs, folder):
    """Every file that the steps make of these runs."""
    folder.mkdir()
    runs.to_csv(folder / "runs.csv", index=False)
    source, pictures = str(folder / "runs.csv"), str(folder / "figures")
    make_tables(source, str(folder / "tables"))
    compare_methods(source, str(folder / "statistics"))
    check_reported(source, str(folder / "comparison.csv"), str(folder / "comparison_counts.csv"))
    check_claims(source, str(folder / "claims.csv"), str(folder / "claims.md"))
    for module in ("critical_difference", "cohesion_vs_deviation", "reported_vs_reproduced"):
        plot(module, source, pictures)
    assess_sensitivity(source, json.dumps(SETTINGS), str(folder / "sensitivity.csv"), str(folder / "sensitivity.md"))
    plot("sensitivity", source, pictures, str(folder / "sensitivity.csv"))
    write_report(source, pictures, json.dumps(SETTINGS), str(folder / "report.html"), str(folder / "summary.txt"))
    return folder


def small(datasets=("pima", "credit", "magic")):
    return synthetic_runs(datasets, seeds=2, ks=(2, 10))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(small(), tmp_path_factory.mktemp("results") / "built")


class Balanced(HTMLParser):
    """Refuses a page whose tags do not nest, and notes what it would load."""

    def __init__(self):
        super().__init__()
        self.open, self.loads = [], []

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "img"):
            self.open.append(tag)
        self.loads += [value for name, value in attributes if name in ("src", "srcset", "data") or tag == "link"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_all_files_are_there(built):
    made = {str(path.relative_to(built)) for path in built.rglob("*") if path.is_file()}
    stems = [
        "table1_matchers", "table2_best_by_deviation", "table3_best_by_cohesion", "table4_frac_vs_clusterlets",
        "table5_correlations", "table2_by_configuration_mean", "table3_by_configuration_mean",
    ]  # fmt: skip
    assert made == {
        *(f"tables/{stem}.{suffix}" for stem in stems for suffix in ("csv", "md", "tex")),
        *(f"figures/{stem}.{suffix}" for stem in CAPTIONS for suffix in ("pdf", "png")),
        *(f"statistics/{stem}.csv" for stem in ("statistics", "mean_ranks", "nemenyi", "wilcoxon", "intervals")),
        *("statistics/statistics.md", "runs.csv", "comparison.csv", "comparison_counts.csv", "claims.csv", "claims.md"),
        *("sensitivity.csv", "sensitivity.md", "report.html", "summary.txt"),
    }


def test_the_same_runs_give_the_same_bytes(built, tmp_path):
    again = build(small(), tmp_path / "again")
    for path in built.rglob("*.*"):
        other = (again / path.relative_to(built)).read_bytes().replace(str(again).encode(), str(built).encode())
        assert hashlib.sha256(other).digest() == hashlib.sha256(path.read_bytes()).digest(), path.name


def test_the_page_nests_and_loads_nothing_from_elsewhere(built):
    page = (built / "report.html").read_text(encoding="utf-8")
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert len(parser.loads) == len(CAPTIONS)
    assert all(source.startswith("data:image/png;base64,iVBOR") for source in parser.loads)
    assert not re.search(r"<script|@import|url\(|https?://", page)
    assert 'name="viewport"' in page and "overflow-x: auto" in page


def test_the_page_says_first_what_is_missing(built):
    page = (built / "report.html").read_text(encoding="utf-8")
    places = [page.index(f'id="{part}"') for part in ("missing", "verdicts", "tables", "figures", "statistics", "cite")]
    assert places == sorted(places)
    first = page[: places[1]]
    assert "Of the paper&#39;s 11 datasets, 3 are here; missing: adult, bank" in first
    assert "Values of k in the paper&#39;s grid that were not run: 5, 20, 30." in first
    assert "Seeds: 2 instead of the paper&#39;s 10." in first


def test_the_page_shows_ours_above_the_papers(built):
    page = (built / "report.html").read_text(encoding="utf-8")
    cell = r'<td class="(reproduced|close|differs)" title="[^"]*">. [0-9.]+\s*<small>paper \.029</small>'
    assert re.search(cell, page)


def test_missing_lines_name_status_methods_and_notes():
    runs = synthetic_runs(PAPER_WITHOUT_NBFI)
    runs.loc[runs.index[:7], "note"] = "k above a colour's size"
    lines = report.missing_lines(report.Results(runs[runs["matcher"] != "B"], SETTINGS))
    assert lines == [
        "Of the paper's 11 datasets, 10 are here; missing: nbfi.",
        "Methods of the paper without runs: B-PB.",
        "4 runs of C have no result, status no_valid_partition: heart_failure (4).",
        "7 runs carry the note: k above a colour's size",
    ]


def test_a_method_is_marked_by_a_limit_case_only_where_it_has_nothing_else():
    figure = cohesion_vs_deviation.draw(small(("pima",)))
    marks_of_c, marks_of_d = (figure.axes[0].collections[place] for place in (1, 5))  # C, G-B, D: cloud, mark
    assert marks_of_c.get_facecolor().tolist() == [[1, 1, 1, 1]]
    assert marks_of_d.get_facecolor().tolist() == marks_of_d.get_edgecolor().tolist()
    plt.close(figure)


def test_the_telling_lines(built):
    lines = (built / "summary.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 5
    assert re.match(r"Best matcher .*: C, 0\.0\d\d on 3 datasets \(the paper on 11 datasets: C, \.029\)\.", lines[0])
    assert re.search(r"over 3 datasets: FRAC \(fair\) [\d.]+, Clusterlets [\d.]+, FRAC \(nearest\) [\d.]+\.", lines[1])
    assert "Clusterlets is below FRAC (nearest) on 3, FRAC (fair) on 0." in lines[1]
    assert re.match(r"Of 270 numbers and choices .* \d+ are reproduced, \d+ are close and \d+ differ", lines[2])
    assert "pairs of matchers differ significantly over 3 datasets" in lines[3]
    assert lines[4].startswith("Datasets: credit, magic, pima; runs counted: 288, left out: none. Report: ")


def test_the_telling_lines_of_the_demo():
    demo = synthetic_runs(("breast_cancer", "wine", "iris", "digits"), seeds=1, ks=(2, 5))
    lines = report.telling_lines(report.Results(demo, SETTINGS), "results/demo/report.html")
    assert "(the paper on other datasets: C, .029)" in lines[0]
    assert lines[2] == "Nothing can be held against the paper: none of its datasets is among these runs."
    assert lines[4].endswith("Report: results/demo/report.html")


BARE = {
    "no FRAC, one dataset": lambda runs: runs[(runs["method"] == "Clusterlets") & (runs["dataset"] == "pima")],
    "no Clusterlets": lambda runs: runs[runs["method"] != "Clusterlets"],
    "nothing ok": lambda runs: runs.assign(status="infeasible", deviation_mean=None, cohesion=None, n_clusters=None),
    "columns of NaN": lambda runs: runs.assign(deviation_mean=None, cohesion=None, overlap=None),
    "no row": lambda runs: runs[:0],
}


@pytest.mark.parametrize("bare", BARE)
def test_the_report_builds_from_little(bare, tmp_path):
    folder = build(BARE[bare](small()), tmp_path / "bare")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "What is missing" in page and "Not computed." in page
    assert len((folder / "summary.txt").read_text(encoding="utf-8").splitlines()) == 5


def test_the_papers_settings_are_no_departure_and_others_are_said():
    runs = small()
    assert not [line for line in report.missing_lines(report.Results(runs, SETTINGS)) if line.startswith("Setting")]
    other = copy.deepcopy(SETTINGS) | {"scaling": "standard", "sample_size": 300}
    other["frac"]["tau"] = 0.1
    other["tables"] = {"pima": {"scaling": "standard"}, "magic": {"scaling": "none"}}
    lines = report.missing_lines(report.Results(runs, other))
    for said in ("Setting scaling: standard instead of none.", "Setting sample_size: 300 instead of 250000.",
                 "Setting frac.tau: 0.1 instead of balanced.", "Dataset magic: scaling none."):  # fmt: skip
        assert said in lines


def test_the_page_lists_every_setting(built):
    page = (built / "report.html").read_text(encoding="utf-8")
    for key, value in (("sample_size", "250000"), ("frac.tau", "balanced"), ("k", "2, 5, 10, 20, 30")):
        assert f"<tr><td>{key}</td><td>{value}</td></tr>" in page
