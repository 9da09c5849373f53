"""The report and its summary are reproducible, need no network, and can be built even from few or failed runs."""

import copy
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from built_results import CLAIMS, SETTINGS, build, write
from synthetic_runs import PAPER_WITHOUT_NBFI, synthetic_runs

from clusterlets.benchmark.grid.runs_frame import fill_text
from clusterlets.benchmark.paper import copies, overview, reported, tables
from clusterlets.benchmark.paper.results import Results
from clusterlets.benchmark.provenance.manifest import without_provenance
from clusterlets.benchmark.report import answers, narrative
from clusterlets.benchmark.report.figures import declarations
from clusterlets.benchmark.report.page import StepOutputs, page_table, render
from clusterlets.benchmark.report.standings import Standings
from clusterlets.pages.style import mark_empty, plt, save
from clusterlets.storage import save_json
from clusterlets.text import decimal, significant


def small_runs(datasets=("pima", "credit", "magic")):
    return synthetic_runs(datasets, seeds=2, ks=(2, 10))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(small_runs(), tmp_path_factory.mktemp("results") / "built")


@pytest.fixture(scope="module")
def results():
    return Results.from_runs(small_runs(), SETTINGS)


class NestingParser(HTMLParser):
    """Refuses a page whose tags do not nest, and records the addresses that the page loads."""

    def __init__(self):
        super().__init__()
        self.open, self.addresses = [], []

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "img", "link"):
            self.open.append(tag)
        loading_attributes = [(tag, "src"), (tag, "srcset"), (tag, "data"), ("link", "href")]
        self.addresses += [value for name, value in attributes if (tag, name) in loading_attributes]

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page_of(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def section(page, name):
    return page.split(f'<section id="{name}">')[1].split("</section>")[0]


def test_the_same_runs_give_the_same_bytes(built, tmp_path):
    rebuilt = build(small_runs(), tmp_path / "rebuilt")
    for path in built.rglob("*.*"):
        content = (rebuilt / path.relative_to(built)).read_bytes().replace(str(rebuilt).encode(), str(built).encode())
        assert hashlib.sha256(content).digest() == hashlib.sha256(path.read_bytes()).digest(), path.name


@pytest.mark.parametrize("datasets", [("pima", "iris"), ("iris", "wine")])
def test_results_read_from_files_equal_those_computed_from_runs(datasets, tmp_path):
    runs = small_runs(datasets)
    runs.to_csv(tmp_path / "runs.csv", index=False)
    computed = Results.from_runs(runs, SETTINGS)
    computed.write(tmp_path)
    read = Results.read(tmp_path, SETTINGS)
    comparisons = [fill_text(frame, *frame) for frame in (read.comparison, computed.comparison)]
    pd.testing.assert_frame_equal(*comparisons, check_dtype=False)
    page = render(read, StepOutputs({}))
    assert page == render(computed, StepOutputs({})) and "No figure was drawn." in page
    assert answers.answers(read, Standings.none()) == answers.answers(computed, Standings.none())


# ---- the page --------------------------------------------------------------------------------------------------------


def test_the_tags_of_the_page_nest_and_it_loads_nothing_from_elsewhere(built):
    page = page_of(built)
    parser = NestingParser()
    parser.feed(page)
    icon, *images = parser.addresses
    assert parser.open == [] and icon == "data:," and len(images) == len(declarations())
    assert all(source.startswith("data:image/png;base64,iVBOR") for source in images)
    assert not re.search(r"@import|url\(|https?://(?!www\.w3\.org/2000/svg)", page)
    assert "default-src &#39;none&#39;; img-src data:; style-src &#39;sha256-" in page


def test_the_sections_are_in_a_fixed_order_that_the_navigation_follows(built):
    page = page_of(built)
    order = ["answers", "words", "leaderboard", "controls", "tables", "claims", "figures", "statistics", "sensitivity"]
    order += ["methods", "data", "provenance", "cite"]
    assert re.findall(r'<section id="(\w+)">', page) == order
    assert re.findall(r'<li><a href="#(\w+)">', page.split("</nav>")[0]) == order


def test_the_page_begins_with_the_summary_and_what_is_missing(built):
    first_section = section(page_of(built), "answers").replace("&#39;", "'")
    *_, lines, basis = (built / "summary.txt").read_text(encoding="utf-8").split("\n\n")
    for line in lines.splitlines():
        question, _, text = line.partition(": ")
        items = re.findall(rf"<li><b>{re.escape(question)}:</b> (.*)</li>", first_section)
        assert text == " ".join(items) and text.endswith(".")
    assert basis.startswith("This rests on 288 runs on 3 datasets (credit, magic, pima); left out for their status: none. Rep")
    assert 'href="#missing"' in first_section
    assert "Of the paper's 11 datasets, 3 are here; missing: adult, bank" in first_section


def test_page_and_summary_begin_with_table_1_and_then_the_shares():
    results = Results.from_runs(synthetic_runs(seeds=2, ks=(5,)), SETTINGS)
    lines = answers.summary(results, [], "report.html").splitlines()
    assert lines[0] == "Table 1, means over all runs:" and [line.split()[0] for line in lines[2:5]] == ["C"] * 3
    assert lines[2].split()[-5:] == ["0.029", "0.049", "2.04", "0.836", "0.000"] and lines[17] == overview.MARK_MEANS
    assert lines[19].startswith("Numbers inside") and [line.split(":")[0] for line in lines[21:26]] == [
        f"Table {n}" for n in range(1, 6)
    ]
    page = render(results, StepOutputs({}))
    places = [
        page.index(text)
        for text in ("Table 1: the paper, ours by the text", "Numbers inside our ranges", '<ul class="answers">')
    ]
    assert places == sorted(places)


def test_a_cell_shows_our_number_above_the_papers_and_our_best_is_bold(built):
    opening = r'<td data-verdict="(inside|outside|not-compared)" data-sort="0[.\d]+">'
    assert re.search(opening + r".*?<small>paper 0\.003", page_of(built))
    article = page_of(built).split('<article id="table4_frac_vs_clusterlets">')[1].split("</article>")[0]
    beside = article.split('<table class="sortable beside">')[1].split("</table>")[0]
    titles = re.findall(r'<th scope="col">(.*?)</th>', beside)
    table = tables.make(small_runs())["table4_frac_vs_clusterlets"].frame
    compared = table[table["method"] != "FRAC (fair)"]  # the paper does not print FRAC (fair)
    for title, column, index_of_best in (("deviation mean", "deviation_mean", "idxmin"), ("cohesion", "cohesion", "idxmax")):
        best = compared.loc[compared.groupby("dataset")[column].agg(index_of_best)]
        lines = re.findall(r'<tr.*?<th scope="row">(.*?)</th>(.*?)</tr>', beside, re.DOTALL)
        bold = {name for name, cells in lines if "<b>" in cells.split("</td>")[titles.index(title) - 1]}
        assert bold == set((best["dataset"] + " " + best["method"]).str.replace("FRAC (nearest)", "FRAC"))


def test_tables_and_their_rows_are_named_in_words(built):
    page = page_of(built)
    assert "Pearson · Centroid silhouette · Omega" in section(page, "tables")
    assert "<td>Table 1</td>" in section(page, "sensitivity")
    assert not re.search("centroid_silhouette|>table1_matchers", section(page, "tables") + section(page, "sensitivity"))


def test_failing_claims_come_first_and_each_claim_shows_both_verdicts_and_its_evidence(built):
    claims = section(page_of(built), "claims")
    failing, folded = claims.split('<details class="rest">')
    assert re.findall('<tr id="claim-(.*?)"', failing) == list(CLAIMS.query("verdict_ours == 'does not hold'")["claim"])
    assert re.findall('<tr id="claim-(.*?)"', folded) == list(CLAIMS.query("verdict_ours != 'does not hold'")["claim"])
    row = claims.split('id="claim-order"')[1].split("</tr>")[0]
    assert row.index("holds in part") < row.index("does not hold") and "8 of 10 &amp; &lt;b&gt;" in claims
    assert 'href="#table4_frac_vs_clusterlets"' in row and 'href="#figure-cohesion_vs_deviation"' in row


def test_only_provenance_depends_on_time_and_machine(built):
    page = page_of(built)
    reproducible_part = without_provenance(page.encode())
    for text in ("0123abcd", "181.250"):
        assert text in page and text.encode() not in reproducible_part
    assert b'<section id="cite">' in reproducible_part
    save_json(built / "accounts" / "provenance.json", {"when": "another day"})
    write(built)
    assert page_of(built) != page and without_provenance(page_of(built).encode()) == reproducible_part


REASONS = {"sensitivity": "not run here", "data": "no <code>datasets.csv", "provenance": "No accounts"}


def test_a_section_without_content_says_why(tmp_path):
    folder = build(small_runs(("pima",)), tmp_path / "bare", findings=False)
    (folder / "accounts").mkdir()
    for content in (None, "", "claim,verdict_paper,verdict_ours,evidence\n"):
        if content is not None:
            for name in ("sensitivity", "datasets", "accounts/steps"):
                (folder / f"{name}.csv").write_text(content)
            write(folder)
        page = page_of(folder)
        for name, reason in REASONS.items():
            assert reason in section(page, name) and "<tbody>" not in section(page, name), content
        assert "<tbody>\n</tbody>" not in page


SPARSE_RUNS = {
    "no FRAC, one dataset": lambda runs: runs[(runs["method"] == "Clusterlets") & (runs["dataset"] == "pima")],
    "no Clusterlets": lambda runs: runs[runs["method"] != "Clusterlets"],
    "nothing ok": lambda runs: runs.assign(status="infeasible", deviation_mean=None, cohesion=None, n_clusters=None),
    "no row": lambda runs: runs[:0],
}


@pytest.mark.parametrize("case", SPARSE_RUNS)
def test_the_report_can_be_built_from_sparse_runs(case, tmp_path):
    folder = build(SPARSE_RUNS[case](small_runs()), tmp_path / "sparse")
    assert "Not computed." in page_of(folder) and "<tbody>\n</tbody>" not in page_of(folder)
    lines = (folder / "summary.txt").read_text(encoding="utf-8").split("\n\n")[-2].splitlines()
    assert len(lines) >= 3 and all(line.endswith(".") for line in lines)


def test_without_the_papers_datasets_the_report_leaves_the_paper_out(tmp_path):
    folder = build(synthetic_runs(("breast_cancer", "wine", "iris", "digits"), seeds=2, ks=(2, 5)), tmp_path / "own")
    # The figure as it is drawn when none of the paper's datasets was run.
    save(mark_empty(plt.figure(figsize=(1, 0.5))), folder / "figures/table1_ranges")
    write(folder)
    page, summary = page_of(folder), (folder / "summary.txt").read_text(encoding="utf-8")
    assert "<h1>Fair clustering: 9 methods on 4 datasets</h1>" in page
    about_the_paper = 'inconclusive|the paper&#39;s|table1_ranges|id="claims"|id="sensitivity"|No run enters'
    assert not re.search(about_the_paper, page.split('<section id="methods">')[0])
    assert "paper" not in summary.partition("Report:")[0] and "inconclusive" not in summary
    questions = ["Fairest method", "Fairer than a random partition", "Do the methods differ"]
    assert [line.partition(":")[0] for line in summary.splitlines()[:3]] == questions


# ---- numbers for readers ---------------------------------------------------------------------------------------------


def test_numbers_are_rounded_and_only_zero_and_rounding_errors_are_shown_as_zero():
    mixed = ["a", True, "b", "", None]
    frame = pd.DataFrame({"some_name": [0.12345, -2.5, 0.00002, None, 3.0], "count": [1, 20, 300, 4, 5], "mixed": mixed})
    table = page_table(frame)
    assert table.columns == [("some name", True), ("count", True), ("mixed", False)]
    assert [row[0] for row in table.rows] == ["0.123", "−2.500", "2e−5", "–", "3"]
    assert [row[2] for row in table.rows] == ["a", "yes", "b", "", "–"]
    texts = {0.0316: "0.032", 3.7e-5: "3.7e−5", -3.7e-5: "−3.7e−5", 0.00037: "0.00037", 0.0: "0.000", -3e-17: "0.000"}
    assert {value: decimal(value) for value in texts} == texts
    assert significant(1.234e-7) == "1.2e−7" and significant(0.0123) == "0.012"


def test_the_best_method_of_each_dataset_is_bold_in_every_format():
    runs = small_runs(("pima", "credit"))
    runs.loc[(runs["method"] == "FRAC (fair)") & (runs["dataset"] == "pima"), "deviation_mean"] = 3.7e-5
    table = tables.make(runs)["table4_frac_vs_clusterlets"]
    deviation = [column.title for column in table.columns].index("Deviation")
    least = set(table.frame.reset_index(drop=True).groupby("dataset")["deviation_mean"].idxmin())
    assert {row for row, column in tables.best(table) if column == deviation} == least
    page = render(Results.from_runs(runs, SETTINGS), StepOutputs({}))
    for text, bold in (
        (page, "<b>3.7e−5"),
        (tables.to_markdown(table), "**3.7e−5"),
        (tables.to_latex(table), r"\textbf{3.7e$-$5"),
    ):
        assert bold in text


# ---- what is missing -------------------------------------------------------------------------------------------------


@pytest.fixture
def gaps_in(results):
    """A function that describes what is missing in runs. No other part of the results plays a role."""
    return lambda runs, settings=SETTINGS: narrative.describe_gaps(replace(results, runs=runs, settings=settings))


def test_what_is_missing_is_listed_with_methods_statuses_and_notes(gaps_in):
    runs = synthetic_runs(PAPER_WITHOUT_NBFI, seeds=10, ks=(2, 5, 10, 20, 30))
    runs.loc[runs.index[:7], "note"] = "k above a group's size"
    assert gaps_in(runs[runs["matcher"] != "B"]) == [
        "Of the paper's 11 datasets, 10 are here; missing: nbfi.",
        "Methods of the paper without runs: B-PB.",
        "4 runs of C have no result, status no_valid_partition: heart_failure (4).",
        "7 runs carry the note: k above a group's size",
    ]


def test_differences_from_the_papers_grid_and_settings_are_listed(gaps_in):
    runs = pd.concat([small_runs(("pima", "magic")), synthetic_runs(("pima",), seeds=2, ks=(7, 12))], ignore_index=True)
    runs.loc[runs["matcher"] == "B", "matcher"] = "mine"
    runs["omega"] = runs["omega"].replace(0.75, 0.9)
    runs.loc[runs["dataset"] == "magic", "cohesion_error"] = np.linspace(0, 0.000123, (runs["dataset"] == "magic").sum())
    settings = copy.deepcopy(SETTINGS) | {"scaling": "standard", "sample_size": 300}
    settings["method_settings"]["FRAC"]["parameters"] = {"tau": [0.1]}
    settings["tables"] = {"pima": {"scaling": "standard"}, "magic": {"scaling": "none"}}
    suffix = "These runs are included in tables, claims and tests like all others."
    lines = gaps_in(runs, settings)
    assert lines[1:] == [
        "Methods of the paper without runs: B-PB.",
        f"Matchers that the paper does not have: mine. {suffix}",
        "Values of k in the paper's grid that were not run: 5, 20, 30.",
        f"Values of k that the paper's grid does not have: 7, 12. {suffix}",
        "Values of omega in the paper's grid that were not run: 0.75.",
        f"Values of omega that the paper's grid does not have: 0.9. {suffix}",
        "Seeds: 2 instead of the paper's 10.",
        "Setting scaling: standard instead of none.",
        "Setting sample_size: 300 instead of 250000.",
        "Dataset magic: scaling none.",
        f"Parameter tau of FRAC: 0.1; the paper sets none. {suffix}",
        "Cohesion on magic is estimated from samples of its rows; the largest standard error of a run is 0.00012 "
        "(column cohesion_error of runs.csv).",
    ]


# ---- the answers -----------------------------------------------------------------------------------------------------


def answers_of(results):
    entries = answers.answers(results, Standings.none())
    return {question: f"{text} {numbers}".rstrip() for question, text, numbers in entries}


def answer(runs, question):
    return answers_of(Results.from_runs(runs, SETTINGS))[question]


def test_the_answers_count_the_claims_and_name_the_fairest_matcher(results, built):
    texts = answers_of(results)
    assert (
        "Its claims: of 4 statements, 1 holds, 1 holds in part, 1 does not hold, 1 is inconclusive. Against FRAC as it is "
        "defined, 1 holds, 1 holds in part, 1 does not hold, 1 is inconclusive. By the paper's own numbers, 2 hold, 1 holds in "
        "part, 1 does not hold.\n"
    ) in (built / "summary.txt").read_text(encoding="utf-8")
    fairest = texts["Its fairest matcher"]
    assert re.match(r"C, as in the paper\. .* is 0\.0\d\d on 3 datasets here, 0\.029 on 11 there\.", fairest)
    assert re.match(r"\d of 10 pairs differs? significantly\. Over 3 datasets, Friedman's p", texts["Do the matchers differ"])


def shares_of(**inside):
    """Shares of one table: of the paper by text and code, and of copies of which the worst has .8 and the best .95 inside."""
    sources = {
        copies.BY_TEXT: inside["text"],
        copies.BY_CODE: inside["code"],
        copies.PERFECT: 0.9,
        "another row": inside["wrong"],
    }
    rows = [(reported.TABLES[0], source, 1, 10, share, 0.8, 0.95) for source, share in sources.items()]
    return pd.DataFrame(rows, columns=copies.COLUMNS)


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ({"text": 0.8, "code": 0.1, "wrong": 0.1}, "Table 1 has as many numbers inside as the worst perfect copy, or more."),
        ({"text": 0.7, "code": 0.9, "wrong": 0.1}, "Table 1 has as many only by the authors' published code."),
        ({"text": 0.7, "code": 0.7, "wrong": 0.1}, "Table 1 has fewer."),
        (
            {"text": 0.7, "code": 0.7, "wrong": 0.6},
            "Table 1 could hardly show a difference: over half of a wrong copy is inside.",
        ),
    ],
)
def test_the_sentences_follow_from_the_shares(results, inside, expected):
    nothing = results.comparison.assign(inside="", seeds=float("nan"))
    sentences = overview.sentences(nothing, shares_of(**inside))
    assert expected == sentences[-1]


def test_no_sentence_on_the_paper_has_more_than_one_subordinate_clause():
    compared = reported.ranges()
    texts = [*overview.sentences(compared, copies.shares(compared, reported.copies())), overview.MARK_MEANS]
    assert len(texts) > 5
    for text in texts:
        assert len(re.findall(r"\b(which|that|because|if|where|while|although|whether|so)\b", text)) <= 1, text


def test_only_the_papers_datasets_are_compared_with_the_paper(results):
    other_runs = small_runs(("iris", "heart_failure.sex")).assign(deviation_mean=0.9)
    with_other_runs = Results.from_runs(pd.concat([results.runs, other_runs], ignore_index=True), SETTINGS)
    paper_only, mixed = answers_of(results), answers_of(with_other_runs)
    for question in list(paper_only)[:5]:
        restricted = re.sub("3 datasets(?= here| against|, Friedman)", "3 of the paper's datasets", paper_only[question])
        assert mixed[question] == restricted


def test_a_fairest_matcher_that_differs_from_the_papers_is_named():
    runs = small_runs()
    runs.loc[runs["matcher"] == "G-B", "deviation_mean"] = 0.001
    assert answer(runs, "Its fairest matcher").startswith(
        "G-B, where the paper has C. Its mean deviation over all runs is 0.001"
    )


def test_a_method_that_gives_one_cluster_is_never_the_fairest():
    runs = small_runs()
    runs.loc[runs["matcher"] == "G-B", ["deviation_mean", "n_clusters"]] = 0.0, 1
    remark = "Not counted, as most of their clusterings are a single cluster: G-B."
    assert re.match(rf"C, as in the paper\. {remark} Its mean deviation", answer(runs, "Its fairest matcher"))
    runs = small_runs(("iris", "heart_failure.sex"))
    runs.loc[runs["method"] == "random", ["deviation_mean", "n_clusters"]] = 0.0, 1
    fairest = answer(runs, "Fairest method")
    assert fairest.endswith(remark.replace("G-B", "random")) and not fairest.startswith("random, ")
    assert answer(runs.assign(n_clusters=1), "Fairest method").startswith("none. Not counted, as most")


@pytest.mark.parametrize(
    ("nearest", "fair", "lead"),
    [
        (0.9, 0.9, "yes, both as the paper scored FRAC and as FRAC is defined. "),
        (0.9, 0.0, "only as the paper scored FRAC, not as FRAC is defined. "),
        (0.0, 0.9, "only against FRAC as defined, not as the paper scored it. "),
        (0.0, 0.0, "no, neither as the paper scored FRAC nor as FRAC is defined. "),
    ],
)
def test_both_outputs_of_frac_are_compared_separately(nearest, fair, lead):
    runs = small_runs()
    runs.loc[runs["method"] == "FRAC (nearest)", "deviation_mean"] = nearest
    runs.loc[runs["method"] == "FRAC (fair)", "deviation_mean"] = fair
    text = answer(runs, "Fairer than FRAC")
    assert text.startswith(lead)
    for value, name in ((nearest, "nearest centre"), (fair, "fair assignment")):
        assert re.search(rf"on {3 if value else 0} of 3 datasets against [^;]*{name}\), with a mean of [^;]* {value:.4f}", text)


def test_methods_fairer_than_a_random_partition_are_named():
    question, named_methods = "Fairer than a random partition", []
    for deviation in (0.0, 0.9):
        runs = small_runs()
        runs.loc[runs["method"] == "random", "deviation_mean"] = deviation
        named_methods.append(answer(runs, question))
    assert named_methods[0] == "no matcher, by mean rank over 3 datasets."
    assert set(named_methods[1].split(", by mean")[0].split(", ")) == {"C", "G-B", "B-PB", "D-PB", "G-D-PB", "k-means"}
