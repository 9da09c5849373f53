"""The summary of the clusters, with notes and warnings, that ``clusterlets cluster`` prints and writes to a page."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from clusterlets.commands import summary
from clusterlets.estimators import FairnessReport
from clusterlets.estimators.fairness import Composition
from clusterlets.metrics.composition import deviation_per_cluster


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A frame of 60 numbered people, also written to ``people.csv``. Their income reveals their sex."""
    rng = np.random.default_rng(3)
    sex = np.repeat(["female", "male"], 30)
    frame = pd.DataFrame(
        {
            "number": np.arange(60) + 500,
            "height": rng.normal(1.7, 0.1, 60).round(2),
            "income": rng.normal(30_000, 1_000, 60).round() + np.where(sex == "male", 30_000, 0),
            "sex": sex,
            "job": "clerk",
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return frame


@pytest.fixture
def cluster(run, people):
    """A function that runs the command on ``people.csv`` with sex as the sensitive column."""
    return lambda *options: run("cluster", "people.csv", "--sensitive", "sex", *options)


def test_columns_that_are_not_used_as_features_are_noted(cluster):
    output = cluster()[1]
    assert (
        "features: height, income\n" in output
        and "note: ignored (not numeric): job; --categorical onehot makes them features\n" in output
    )
    assert "note: left out (--features names columns to keep): number (whole numbers that hardly repeat)" in output
    output = cluster("--features", "number,height")[1]
    assert "features: number, height\nnote: ignored (not named as features): income, job\n" in output


def test_features_of_very_different_scales_give_a_warning_unless_they_are_scaled(cluster, people):
    ratio = people["income"].std() / people["height"].std()
    assert f"warning: income spreads {ratio:,.0f} times as far as height" in cluster("--scaling", "none")[1]
    first_line, *_ = cluster()[1].splitlines()
    assert "(mean 0 and variance 1; --scaling none leaves them as they are)" in first_line
    assert "times as far as" not in cluster()[1]


def test_a_sensitive_column_with_many_values_gives_a_warning_and_a_short_list_of_groups(people, run):
    people.assign(age=np.arange(60) // 2).to_csv("people.csv", index=False)
    command = ("cluster", "people.csv", "--sensitive", "age", "--features", "height")
    first, *lines = run(*command, "--method", "k-means", "-k", "2")[1].splitlines()
    assert first.endswith(", 18 3.3%, 19 3.3%, and 10 more")
    assert any(line.startswith("warning: each of the 30 values of age is a group; ") for line in lines)
    assert max(map(len, lines)) < 300
    notes = [
        line for line in run(*command, "--method", "G-B", "--clusterlets", "10")[1].splitlines() if line.startswith("note: ")
    ]
    # One note on ignored columns, five on single groups, and one on the remaining groups.
    assert notes[-1] == "note: 25 other groups have too few distinct rows" and len(notes) == 7


def test_clusters_that_lack_a_group_give_a_warning(cluster):
    output = cluster("--method", "k-means", "--clusters", "2", "--features", "income")[1]
    assert "warning: 2 clusters lack a group: cluster 0 has no" in output and "the price of fairness is" not in output


def test_a_high_price_gives_a_warning(cluster):
    output = cluster("--method", "frac", "--clusters", "2", "--features", "income")[1]
    (price,) = re.findall(r"^price of fairness +([\d.]+)", output, re.MULTILINE)
    assert float(price) > 2 and f"warning: the price of fairness is {price}: " in output and "lack a group" not in output


def test_a_price_below_one_is_explained(cluster, monkeypatch):
    explanation = "; below 1: a better optimum than plain k-means found in all its starts)"
    options = ("--method", "k-means", "--clusters", "2", "--features", "income")
    assert explanation not in cluster(*options)[1]
    monkeypatch.setattr("clusterlets.estimators.fairness.least_plain_cost", lambda X, n: 1e9 * len(X) * X.max() ** 2)
    assert explanation in cluster(*options)[1]


def report_of(counts, names="ab", price=np.nan):
    """The fairness report of clusters with these ``counts`` (clusters x groups) and names of groups."""
    counts = np.array(counts)
    totals = counts.sum(axis=0)
    composition = Composition(counts, np.arange(len(counts)), totals, list(names))
    return FairnessReport({"price_of_fairness": price}, composition, deviation_per_cluster(counts, totals))


def test_groups_may_be_called_like_the_columns_of_the_listing():
    text = summary.listing(report_of([[1, 3, 4], [3, 1, 4]], ["size", "deviation", "cluster"]))
    header, first, second = (line.split() for line in text.splitlines())
    assert header == ["cluster", "size", "deviation", "size", "deviation", "cluster"]
    assert first == ["0", "8", "0.125", "12.5%", "37.5%", "50.0%"] and second[3:] == ["37.5%", "12.5%", "50.0%"]


def test_with_many_groups_each_cluster_lists_only_its_most_deviating_group():
    text = summary.listing(report_of([[10] * 7, [10, 10, 10, 10, 10, 10, 40]], "abcdefg"))
    assert "g 40.0% (+10.6%)" in text and "g 14.3% (-15.1%)" in text


def test_a_silhouette_is_printed_to_the_decimals_that_its_samples_give_or_as_not_defined():
    report = {"silhouette": 0.9996, "silhouette_error": 0.0194, "overlap": 0}
    assert summary._silhouette(report).startswith("1.00, from samples   (over rows; ")
    assert summary._silhouette({**report, "silhouette_error": 0}).startswith("1.000   (over rows; ")
    assert summary._silhouette({"silhouette": np.nan}).startswith("not defined here")


def test_a_warning_names_five_clusters_that_lack_a_group_and_counts_the_rest():
    (warning,) = summary.warnings(report_of([[5, 0]] * 7 + [[0, 5]]), {})
    assert warning.startswith("8 clusters lack a group: cluster 0 has no b; cluster 1 has no b;") and "; and 3 more." in warning


def test_a_note_says_that_the_requested_number_of_clusters_is_not_reached(cluster):
    exact_output = cluster(
        "--method", "G-B", "--clusters", "4", "--scaling", "standard", "--features", "height,income", "--seed", "2"
    )[1]
    assert re.search(r"matcher G-B, k = \d+, hops = \d, seed 2: 4 clusters", exact_output) and "asked for 4" not in exact_output
    output = cluster("--method", "C", "--clusters", "9")[1]
    assert "note: asked for 9 clusters: no configuration comes closer than this one" in output


class Page(HTMLParser):
    """The table rows of an HTML page, its text, and the URLs that a browser would load or link to."""

    def __init__(self, content):
        super().__init__()
        self.rows, self.text_parts, self.urls = [], [], []
        self.feed(content)

    def handle_starttag(self, tag, attributes):
        self.urls += [value for name, value in attributes if name in ("src", "href") and not value.startswith(("data:", "#"))]
        if tag == "tr":
            self.rows.append([])

    def handle_data(self, data):
        self.text_parts.append(data)
        if self.rows and data.strip():
            self.rows[-1].append(data.strip())


def test_the_page_shows_the_account_and_loads_no_other_file(cluster, tmp_path):
    output = cluster("--clusters", "3", "--scaling", "standard", "-o", "l.csv", "--report", "pages/people & co.html")[1]
    page = Page((tmp_path / "pages" / "people & co.html").read_text(encoding="utf-8"))
    assert page.urls == [] and output.endswith("report: pages/people & co.html\n")
    text = "".join(page.text_parts)
    for line in output.splitlines():
        if line.startswith("warning: "):
            assert line.removeprefix("warning: ") in text
    assert "clusterlets cluster people.csv --sensitive sex --clusters 3 --scaling standard" in text
    labels = pd.read_csv("l.csv")["cluster"]
    sizes = {row[0]: row[1] for row in page.rows if row and row[0].isdecimal()}
    assert sizes == {str(label): str(size) for label, size in labels.value_counts().items()}
    assert ["whole table", "60", "–", "30 (50.0%)", "30 (50.0%)"] in page.rows
    (price,) = re.findall(r"^price of fairness +(.*)$", output, re.MULTILINE)
    assert ["price of fairness", price] in page.rows


def test_names_of_groups_are_escaped_in_the_page(cluster, people, tmp_path):
    people["sex"] = np.where(people["sex"] == "male", "<b>m</b>", "f & g")
    people.to_csv("people.csv", index=False)
    assert cluster("--clusters", "2", "--report", "page.html")[0] == 0
    content = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;m&lt;/b&gt;" in content and "<b>m" not in content


def test_each_of_several_sensitive_columns_has_its_shares_deviation_and_limit(people, run):
    people.assign(race=["x", "y", "y"] * 20, copy=(people["sex"] == "male") * 1).to_csv("people.csv", index=False)
    command = ("cluster", "people.csv", "--sensitive", "sex", "--sensitive", "race", "-k", "2", "--features", "height,copy")
    output = run(*command, "--max-deviation", '{"sex": 0.1, "race": 0.2}')[1]
    assert "; sex: female 50.0%, male 50.0%; race: x 33.3%, y 66.7%\n" in output
    assert '\nasked for   max_deviation {"sex": 0.1, "race": 0.2}: kept' in output
    assert re.search(r"\ncolumn      sex: max deviation 0\.\d{3}, asked for 0\.1: kept   \(2 values\)\n", output)
    assert re.search(r"\ncolumn      race: max deviation 0\.\d{3}, asked for 0\.2: kept   \(2 values\)\n", output)
    assert "warning: features that give sex away, so that the clusters are pulled apart by group: copy; --exclude" in output
    assert "asked for" not in re.findall("column .*", run(*command, "--method", "k-means")[1])[0]


def test_a_value_that_holds_the_sign_between_names_stays_one_value(people, run):
    """Of two columns, too, whose combinations would otherwise have the same names."""
    skills, tools = ["R + SQL", "R", "R + SQL", "R"], ["C", "SQL + C", "C", "C"]
    people.assign(skills=skills * 15, tools=tools * 15).to_csv("people.csv", index=False)
    command = ("cluster", "people.csv", "--features", "height", "-k", "2", "--max-deviation", "0.1", "--save", "model.json")
    assert "; skills: R 50.0%, R + SQL 50.0%\n" in run(*command, "--sensitive", "skills", "--report", "page.html")[1]
    people.assign(skills=skills * 15, tools=tools * 15).head(8).to_csv("new.csv", index=False)
    status, output, _ = run(*command, "--sensitive", "skills", "--sensitive", "tools", "--all-scores")
    assert status == 0 and "'R' + 'SQL + C'" in output and "'R + SQL' + 'C'" in output
    assert "tools = C 75.0%, tools = SQL + C 25.0%" in run("assign", "model.json", "new.csv")[1]
