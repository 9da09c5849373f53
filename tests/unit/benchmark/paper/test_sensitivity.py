"""Sensitivity analysis on small runs whose numbers can be worked out by hand."""

import re

import pytest
from synthetic_runs import some_runs, synthetic_runs

from clusterlets.benchmark.paper import reported, sensitivity
from clusterlets.benchmark.paper.sensitivity import Choice, assess, to_markdown
from clusterlets.benchmark.report.figures import sensitivity as figure

CLUSTER_SCOPE = Choice("pinball_scope", "last", "cluster")
SELECTION = ("selection", "configuration means")
FAIR_OUTPUT = ("FRAC is scored", "fair")


def run_of(dataset, matcher, seed, deviation, **columns):
    row = {"dataset": dataset, "matcher": matcher, "hops": 1, "seed": seed, "deviation_mean": deviation, "cohesion": 0.9}
    return row | {"deviation_std": 0.0, "deviation_max": deviation} | columns


def small_runs():
    """Runs of the matchers D and G-B, with two seeds, and of FRAC, on two of the paper's datasets."""
    return some_runs(
        run_of("pima", "D", 0, 0.10, cohesion=0.95),
        run_of("pima", "D", 1, 0.30),
        run_of("pima", "G-B", 0, 0.02, n_clusters=6),
        run_of("pima", "G-B", 1, 0.08),
        run_of("credit", "D", 0, 0.20),
        run_of("credit", "D", 1, 0.40, cohesion=0.99, overlap=0.7),
        run_of("credit", "G-B", 0, 0.30),
        run_of("credit", "G-B", 1, 0.06),
        run_of("pima", None, 0, 0.05, method="FRAC (nearest)"),
        run_of("credit", None, 0, 0.01, method="FRAC (nearest)"),
        run_of("pima", None, 0, 0.01, method="FRAC (fair)"),
        run_of("credit", None, 0, 0.02, method="FRAC (fair)"),
    ).astype({"omega": float})


def variant_runs():
    """The runs of :func:`small_runs`, with D's deviations and overlaps halved."""
    runs = small_runs()
    is_d = runs["matcher"] == "D"
    return runs.assign(**{name: runs[name].where(~is_d, runs[name] / 2) for name in ("deviation_mean", "overlap")})


@pytest.fixture(scope="module")
def assessment():
    return assess(small_runs(), {CLUSTER_SCOPE: variant_runs()})


@pytest.fixture(scope="module")
def full_assessment():
    runs = synthetic_runs(ks=(2, 5))
    return assess(runs, {CLUSTER_SCOPE: runs})


def baseline_and_varied(assessment, choice, table, row, quantity):
    """The number in a cell of a table by the usual choices, and the number by this choice."""
    name, value = choice
    rows = assessment[
        (assessment["choice"] == name) & (assessment["taken"] == value) & assessment["table"].str.startswith(table)
    ]
    [match] = rows[(rows["row"] == row) & (rows["quantity"] == quantity)].to_dict("records")
    assert match["difference"] == pytest.approx(match["varied"] - match["baseline"])
    return pytest.approx((match["baseline"], match["varied"]))


def test_a_variants_numbers_are_listed_with_the_baseline(assessment):
    choice = ("pinball_scope", "cluster")
    assert baseline_and_varied(assessment, choice, "table1", "D-PB", "deviation_mean") == (0.25, 0.125)
    assert baseline_and_varied(assessment, choice, "table1", "G-B", "deviation_mean") == (0.115, 0.115)
    assert baseline_and_varied(assessment, choice, "table1", "D-PB", "place") == (2, 2)
    assert baseline_and_varied(assessment, choice, "table2", "all", "deviation_mean") == ((0.02 + 0.06) / 2, (0.02 + 0.06) / 2)
    assert baseline_and_varied(assessment, choice, "table2", "G-B", "wins") == (2, 2)
    # credit's run with cohesion .99 is degenerate by its overlap of .7, but not by the variant's overlap of .35.
    assert baseline_and_varied(assessment, choice, "table3", "all", "cohesion") == ((0.95 + 0.90) / 2, (0.95 + 0.99) / 2)
    assert baseline_and_varied(assessment, choice, "table4", "all", "datasets_below_frac") == (1, 1)
    assert baseline_and_varied(assessment, choice, "table4", "all", "ratio_to_frac") == (0.08 / 0.06, 0.08 / 0.06)


def test_configurations_can_be_chosen_by_their_means(assessment):
    # Mean deviations are, on pima, D .20, G-B .05; on credit, D .30 (its mean overlap of .35 is not degenerate), G-B .18.
    assert baseline_and_varied(assessment, SELECTION, "table2", "all", "deviation_mean") == (0.04, (0.05 + 0.18) / 2)
    assert baseline_and_varied(assessment, SELECTION, "table2", "all", "size") == (5, 4.5)
    assert baseline_and_varied(assessment, SELECTION, "table3", "D-PB", "wins") == (1, 2)  # The run with .99 is degenerate.
    assert baseline_and_varied(assessment, SELECTION, "table3", "all", "cohesion") == (0.925, (0.925 + 0.945) / 2)
    assert baseline_and_varied(assessment, SELECTION, "table4", "all", "datasets_below_frac") == (1, 0)


def test_frac_can_be_scored_by_its_fair_output(assessment):
    assert baseline_and_varied(assessment, FAIR_OUTPUT, "table4", "all", "deviation_mean_frac") == (0.03, 0.015)
    assert baseline_and_varied(assessment, FAIR_OUTPUT, "table4", "all", "datasets_below_frac") == (1, 0)
    assert baseline_and_varied(assessment, FAIR_OUTPUT, "table2", "all", "deviation_mean") == (0.04, 0.04)


def test_the_papers_numbers_are_averaged_over_the_same_datasets(assessment):
    rows = assessment[assessment["choice"] == "pinball_scope"].set_index(["table", "row", "quantity"])["reported"]
    assert rows["table1_matchers", "D-PB", "deviation_mean"] == 0.113
    table2 = reported.table("table2_best_by_deviation").set_index("dataset")["deviation_mean"].astype(float)
    printed = table2[["pima", "credit"]].mean()
    assert rows["table2_best_by_deviation", "all", "deviation_mean"] == pytest.approx(printed)
    assert rows["table4_frac_vs_clusterlets", "all", "datasets_below_frac"] == 2
    assert rows["table4_frac_vs_clusterlets", "all", "deviation_mean_frac"] == pytest.approx((0.135 + 0.205) / 2)


def test_each_group_of_seeds_after_the_first_is_a_choice_and_all_groups_give_the_range():
    runs = synthetic_runs(("pima",), seeds=30, ks=(5,))
    assessment = assess(runs, {})
    seed_groups = assessment[assessment["choice"] == "seeds"]
    assert set(seed_groups["taken"]) == {"10-19", "20-29"}
    rows = (seed_groups["table"] == "table1_matchers") & (seed_groups["row"] == "C")
    rows &= seed_groups["quantity"] == "deviation_mean"
    runs_of_c = runs[(runs["matcher"] == "C") & (runs["status"] == "ok")]
    means = runs_of_c.groupby(runs_of_c["seed"] // 10)["deviation_mean"].mean()
    assert seed_groups.loc[rows, "varied"].tolist() == pytest.approx(means[1:].tolist())
    assert seed_groups.loc[rows, "range_over_seeds"].tolist() == pytest.approx([means.max() - means.min()] * 2)
    assert assess(runs[runs["seed"] < 10], {})["range_over_seeds"].isna().all()


def test_the_choice_of_blocks_changes_which_pairs_are_significant(full_assessment):
    blocks = full_assessment[full_assessment["choice"] == "blocks of figure 1"].set_index(["row", "quantity"])
    assert blocks.loc[("all", "blocks"), ["baseline", "varied"]].tolist() == [10, 79]  # of 80; a run of C is infeasible
    pairs = blocks.xs("p_value", level="quantity")
    assert len(pairs) == 10
    for side in ("baseline", "varied"):
        assert blocks.loc[("all", "significant_pairs"), side] == (pairs[side] < 0.05).sum()
        assert (pairs[side] == pairs[side].round(6)).all()  # because the last digits of SciPy depend on the processor


def test_the_text_names_missing_runs_and_marks_changes_above_the_noise_of_seeds():
    runs = synthetic_runs(("pima", "credit"), seeds=20, ks=(5,))
    without_variants = to_markdown(assess(runs[runs["seed"] < 10], {}))
    assert "no variants were run. `make extended`" in without_variants and "two groups of ten seeds or more" in without_variants
    changed = runs[runs["seed"] < 10].copy()
    is_d = changed["matcher"] == "D"
    changed.loc[is_d, "deviation_mean"] *= 2
    text = to_markdown(assess(runs, {CLUSTER_SCOPE: changed}))
    assert "no variants" not in text and "two groups" not in text
    [line] = re.findall(r"^\| pinball_scope: cluster instead of last \| (.*) \|$", text, re.MULTILINE)
    usual_mean = runs[(runs["matcher"] == "D") & (runs["seed"] < 10)]["deviation_mean"].mean()
    assert line.split(" | ")[:3] == ["=", "=", f"**{2 * usual_mean:.3f}**"]


def test_the_text_says_what_its_numbers_cover(full_assessment):
    assessment = full_assessment
    text = to_markdown(assessment)
    counts = assessment[(assessment["table"] == "inside") & (assessment["row"] == "all") & (assessment["taken"] == "fair")]
    baseline, varied = (counts.set_index("quantity")[numbers].astype(int) for numbers in ("baseline", "varied"))
    assert baseline["numbers"] == varied["numbers"] == 250 and baseline["inside"] <= 250
    for label, numbers in (("usual choices", baseline), ("FRAC is scored: fair instead of nearest", varied)):
        [share] = re.findall(rf"^\| {label} \| .* \| ([^|]*) \|$", text, re.MULTILINE)
        assert share.replace("*", "") in (f"{numbers['inside']} of 250", "= of 250")
    sentence = 'In the row "the paper", table 1 is over all of its 11 datasets, tables 2 to 4 over the 10 here.'
    assert sentence in text and list(sensitivity.headlines(assessment)["title"].unique()) == list(sensitivity.HEADLINES)
    all_datasets = assess(synthetic_runs(reported.datasets(), seeds=1, ks=(5,)), {})
    assert "table 1 is over" not in to_markdown(all_datasets)


@pytest.mark.parametrize("datasets", [("pima", "credit"), ("iris",)])
def test_the_figure_has_a_row_for_each_choice(datasets):
    assessment = assess(synthetic_runs(datasets, seeds=2, ks=(5,)), {})
    drawing = figure.draw(assessment)
    labels = [label.get_text() for label in drawing.axes[0].get_yticklabels()]
    expected = ["the paper", "usual choices", "selection:\nconfiguration means", "FRAC is scored:\nfair"]
    assert labels == expected
    assert {axes.get_title() for axes in drawing.axes} >= {"table 1: mean deviation", "table 4: datasets below FRAC"}
    figure.plt.close(drawing)


def test_a_variant_is_named_by_the_setting_that_it_changes_or_else_by_its_own_name():
    changes = {"one": {"scaling": "standard"}, "both": {"pinball_scope": "cluster", "scaling": "standard"}}
    config = {"pinball_scope": "last", "scaling": "none", "variants": changes}
    assert Choice.from_variant(config, "one") == ("scaling", "none", "standard")
    assert Choice.from_variant(config, "both") == ("variant", "usual choices", "both")
