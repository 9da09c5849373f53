"""The paper's numbers are compared with two runs of ours: one follows the paper's text, one the published code."""

import pytest
from synthetic_runs import synthetic_runs

from clusterlets.benchmark.grid.configuration import CONFIGURATION, read_configuration
from clusterlets.benchmark.paper import as_published


@pytest.fixture(scope="module")
def runs():
    return synthetic_runs()


@pytest.fixture(scope="module")
def assessment(runs):
    is_b = runs["matcher"] == "B"
    return as_published.assess(runs, runs.assign(deviation_mean=runs["deviation_mean"] + 0.5 * is_b))


def test_the_variant_of_the_published_code_is_recognised_by_its_settings():
    config = read_configuration(CONFIGURATION.parent / "workflow" / "configs" / "as_published.yaml")
    assert as_published.variant_of(config) == "as_published"
    assert as_published.variant_of({"variants": {"published_matchers": dict(as_published.SETTINGS)}}) == "published_matchers"
    assert as_published.variant_of({"variants": {"pinball": {"pinball_scope": "published"}}}) == ""


def test_without_the_variant_there_are_no_rows(runs):
    assessment = as_published.assess(runs, None)
    assert list(assessment.columns) == as_published.COLUMNS and assessment.empty
    assert as_published.sentences(assessment) == [] and "make as-published" in as_published.to_markdown(assessment)


def test_with_equal_runs_a_number_is_reproduced_by_both_or_by_neither(runs):
    assessment = as_published.assess(runs, runs)
    assert set(assessment["comes_back"]) <= {as_published.BOTH, as_published.NEITHER}
    assert (assessment["verdict_as_text"] == assessment["verdict_as_code"]).all()


def test_the_numbers_of_b_and_g_d_are_compared_under_both_readings(assessment):
    table1 = assessment[assessment["table"] == "table1_matchers"].set_index(["row", "quantity"])
    row = table1.loc[("B-PB", "deviation_mean")]
    assert float(row["as_code"]) == pytest.approx(float(row["as_text"]) + 0.5) and ("G-D-PB", "size") in table1.index
    assert row["verdict_as_code"] == "differs"


def test_the_page_counts_and_lists_the_compared_numbers(assessment):
    page = as_published.to_markdown(assessment)
    only_text = assessment[(assessment["kind"] == "number") & (assessment["comes_back"] == as_published.ONLY_TEXT)]
    assert f"{len(only_text)} number" in page and "| B-PB | deviation_mean |" in page
    assert page.count("by the code") >= 2
