"""The verdict on the paper's numbers: cases computed by hand, and perfect and wrong copies of the paper."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from synthetic_runs import compared_runs, some_runs, synthetic_runs

from clusterlets.benchmark.paper import averages, best_runs, cells, comparison, controls, reported, tables, verdict
from clusterlets.benchmark.paper.prediction import Forecast, Mixture, Options, closeness_limit, last_digit_unit, student_cdf

DATASETS = ("pima", "credit", "magic")


@pytest.fixture(scope="module")
def runs():
    return synthetic_runs(DATASETS, seeds=4, ks=(5, 10))


def one_atom(value=0.5, width=0.01):
    """A distribution around a single atom."""
    return Mixture(np.array([value]), np.ones(1), width)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0.002, 0.3))
def test_the_probabilities_of_all_printed_numbers_add_up_to_one(atoms, width):
    distribution = Mixture(np.array(atoms), np.full(len(atoms), 1 / len(atoms)), width)
    printed = [f"{tenths / 10:.1f}" for tenths in range(-50, 61)]
    assert sum(map(distribution.probability, printed)) == pytest.approx(1, abs=1e-3)


def test_the_tail_and_probability_of_a_number_agree_with_results_computed_by_hand():
    distribution = one_atom(0.5, 0.01)
    assert distribution.tail("0.50") == 1  # the atom itself
    assert distribution.tail("0.53") == pytest.approx(2 * stats.t.sf(2.5, 3))  # numbers from .525 are rounded to .53
    assert distribution.tail("0.47") == pytest.approx(distribution.tail("0.53"))
    assert distribution.probability("0.50") == pytest.approx(2 * stats.t.cdf(0.5, 3) - 1)
    # A scale of 0 is raised to a quarter of the last digit.
    assert one_atom(4.0, 0.0).probability("4") == pytest.approx(2 * stats.t.cdf(2, 3) - 1)


def test_the_tail_of_an_option_sums_the_probabilities_that_do_not_exceed_its_probability():
    options = Options({"G-B": 0.6, "C": 0.3, "D-PB": 0.1})
    assert [options.tail(name) for name in ("G-B", "C", "D-PB")] == pytest.approx([1, 0.4, 0.1])


def test_the_last_digit_and_the_closeness_limit_agree_with_results_computed_by_hand():
    assert [last_digit_unit(text) for text in ("17", "17.5", ".0518")] == [1, 0.1, 0.0001]
    assert closeness_limit("deviation_mean", 0.001) == 0.005
    assert closeness_limit("deviation_max_std", 0.2) == pytest.approx(0.08)


def test_students_distribution_equals_that_of_scipy():
    values = np.linspace(-20, 20, 81)
    assert student_cdf(values) == pytest.approx(stats.t.cdf(values, 3), abs=1e-15)


@given(st.floats(0.001, 0.2), st.integers(0, 40))
def test_a_number_further_away_is_never_judged_better(width, distance):
    verdict_ranks = {name: position for position, name in enumerate((verdict.REPRODUCED, verdict.UNDECIDED, verdict.DIFFERS))}
    alternatives = tuple(one_atom(value) for value in (0.1, 0.9))
    forecasts = {("t", "r", "correlation"): Forecast("correlation", one_atom(0.5, width), (alternatives,))}
    reported_numbers = [f"{0.5 + step / 100:.2f}" for step in (distance, distance + 1)]
    printed = pd.DataFrame({"table": "t", "row": "r", "quantity": "correlation", "reported": reported_numbers})
    judged = verdict.judge(printed, forecasts)
    assert judged["tail"].is_monotonic_decreasing
    nearer, further = judged["verdict"].map(verdict_ranks)
    assert nearer <= further or judged["evidence"].iloc[1] > judged["evidence"].iloc[0]


def test_verdicts_on_numbers_agree_with_results_computed_by_hand():
    ours, alternative = Options({"a": 0.9, "b": 0.06, "c": 0.04}), Options({"a": 0.1, "b": 0.1, "c": 0.8})
    forecasts = {("t", "r", "matcher"): Forecast("matcher", ours, ((alternative,), (Options(dict.fromkeys("abc", 1 / 3)),)))}
    printed = pd.DataFrame({"table": "t", "row": ["r"] * 3 + ["none"], "quantity": "matcher", "reported": list("abca")})
    judged = verdict.judge(printed, forecasts)
    assert judged["evidence"].tolist()[:3] == pytest.approx(
        [0.9 / (0.1 / 2 + 1 / 6), 0.06 / (0.1 / 2 + 1 / 6), 0.04 / (0.4 + 1 / 6)], abs=1e-6
    )
    assert judged["tail"].tolist()[:3] == pytest.approx([1, 0.1, 0.04])
    assert judged["verdict"].tolist() == ["undecided", "undecided", "differs", "undecided"]
    forecasts = {("t", "r", "matcher"): Forecast("matcher", ours, ((alternative,),))}
    assert verdict.judge(printed[:1], forecasts)["verdict"].tolist() == ["reproduced"]


def test_verdicts_on_rows_columns_and_tables_agree_with_results_computed_by_hand():
    judged = pd.DataFrame(
        {
            "table": ["table3"] * 4 + ["table2_best_by_deviation"] * 2,
            "row": ["a", "a", "b", "b", "a", "a"],
            "quantity": ["size", "cohesion"] * 3,
            "tail": [0.5, 0.5, 0.02, 0.5, 0.5, 0.5],
            "evidence": [9.0, 1.0, 9.0, 9.0, 9.0, 9.0],
        }
    )
    groups = verdict.judge_groups(judged).set_index(["kind", "table", "name"])
    assert groups.loc[("row", "table3", "a"), "evidence"] == pytest.approx(3)
    assert groups.loc[("row", "table3", "a"), "verdict"] == "reproduced"
    assert groups.loc[("row", "table3", "b"), ["least_tail", "verdict"]].tolist() == [0.04, "differs"]  # 2 cells x 0.02
    assert groups.loc[("column", "table3", "size"), "cells"] == 2
    assert groups.loc[("table", "table3", "table3"), ["least_tail", "verdict"]].tolist() == [0.08, "reproduced"]  # 4 x 0.02
    table2 = groups.loc[[("table", *["table2_best_by_deviation"] * 2)]]
    assert table2["verdict"].tolist() == ["undecided"]  # 1.5 times these numbers would pass as well


def test_the_weight_of_a_run_is_the_share_of_halves_of_the_seeds_on_which_it_is_best(runs):
    forecasts = best_runs.forecasts(runs)
    for dataset in DATASETS:
        winners = []
        for half in combinations(range(4), 2):
            table = tables.make(runs[runs["seed"].isin(half)], ["table3_best_by_cohesion"])["table3_best_by_cohesion"].frame
            winners.append(float(table.set_index("dataset").loc[dataset, "deviation_mean"]))
        mixture = forecasts["table3_best_by_cohesion", dataset, "deviation_mean"].prediction
        expected = {value: winners.count(value) / len(winners) for value in set(winners)}
        assert {atom: pytest.approx(weight) for atom, weight in zip(mixture.atoms, mixture.weights, strict=True)} == expected


def test_values_of_the_quantity_that_selects_a_run_are_reflected_at_our_best(runs):
    """In this way the forecast allows for a best run of the paper that beats ours."""
    mixture = best_runs.forecasts(runs)["table2_best_by_deviation", "pima", "deviation_mean"].prediction
    atoms, half = mixture.atoms, len(mixture.atoms) // 2
    assert atoms[half:] == pytest.approx(2 * atoms[0] - atoms[:half]) and (atoms[:half] >= atoms[0]).all()
    assert mixture.weights.sum() == pytest.approx(1)


def test_every_alternative_is_a_different_dataset_or_method(runs):
    forecasts = best_runs.forecasts(runs)
    forecast = forecasts["table4_frac_vs_clusterlets", "pima FRAC", "cohesion"]
    other_datasets, other_methods = forecast.alternatives
    assert len(other_datasets) == len(DATASETS) - 1
    # C is not among them, because all its runs are degenerate.
    assert len(other_methods) == len(("G-B", "D-PB", "B-PB", "G-D-PB", "FRAC (fair)", "k-means", "random"))
    assert not any(np.array_equal(forecast.prediction.atoms, other.atoms) for other in (*other_datasets, *other_methods))


def test_averages_assume_that_a_missing_dataset_equals_one_of_ours(runs):
    mixture = averages.forecasts(runs, len(DATASETS) + 1)["table1_matchers", "C", "cohesion"].prediction
    c_runs = runs[runs["matcher"] == "C"].dropna(subset="cohesion")
    means = [pd.concat([c_runs, c_runs[c_runs["dataset"] == name]])["cohesion"].mean() for name in runs["dataset"].unique()]
    assert mixture.atoms == pytest.approx(means)
    means_without_a_seed = np.array([[c_runs[c_runs["seed"] != seed]["cohesion"].mean()] for seed in range(4)])
    assert mixture.width**2 == pytest.approx(2 * averages.jackknife(means_without_a_seed)[0] + np.var(means))
    complete = averages.forecasts(runs, len(DATASETS))["table1_matchers", "C", "cohesion"].prediction
    assert complete.atoms == pytest.approx([c_runs["cohesion"].mean()])


def test_for_a_mean_the_jackknife_equals_the_squared_standard_error():
    values = np.random.default_rng(1).normal(size=10)
    means_without_a_value = np.array([[np.delete(values, index).mean()] for index in range(10)])
    assert averages.jackknife(means_without_a_value) == pytest.approx(values.var(ddof=1) / 10)


@pytest.mark.parametrize("module", [averages, best_runs])
def test_a_forecast_uses_only_the_first_ten_seeds(module):
    runs = synthetic_runs(("pima", "credit"), seeds=12, ks=(5,))
    from_twelve_seeds, from_ten_seeds = module.forecasts(runs), module.forecasts(runs[runs["seed"] < 10])
    assert from_twelve_seeds.keys() == from_ten_seeds.keys() and from_ten_seeds
    for key, forecast in from_twelve_seeds.items():
        assert forecast.prediction.probability("1") == from_ten_seeds[key].prediction.probability("1")


@pytest.mark.parametrize("module", [averages, best_runs])
def test_one_seed_gives_no_forecast(module):
    assert module.forecasts(synthetic_runs(("pima", "credit"), seeds=1, ks=(5,))) == {}


@pytest.mark.parametrize(
    ("printed", "conclusion"),
    [
        (".097", "which overlaps with the range of ours"),
        (".135", "outside the range of all 10 of ours"),
        (".005", "which is impossible: the averages differ whatever nbfi gives"),
    ],
)
def test_the_note_on_an_average_says_whether_the_missing_dataset_can_explain_it(printed, conclusion):
    names = [name for name in reported.datasets() if name != "nbfi"]
    changes = [
        {"dataset": name, "seed": seed, "deviation_mean": 0.05 + 0.01 * index + 0.0001 * seed}
        for index, name in enumerate(names)
        for seed in range(3)
    ]
    runs = some_runs(*changes)
    cell = {"table": "table1_matchers", "row": "G-B", "quantity": "deviation_mean", "reported": printed, "tail": 0.5}
    (text,) = averages.describe_needed_values(runs, pd.DataFrame([cell]))
    assert conclusion in text
    low, high = (
        float(text.split()[10]),
        float(text.split()[12].rstrip(",")),
    )  # the range of values of nbfi that would explain it
    ours = [0.05 + 0.01 * index + 0.0001 for index in range(10)]
    assert low < high and (low + high) / 2 == pytest.approx(11 * float(printed) - sum(ours), abs=0.001)
    assert averages.describe_needed_values(runs[runs["dataset"] != "adult"], pd.DataFrame([cell])) == [""]


@pytest.fixture(scope="module")
def twenty_seeds():
    return synthetic_runs(("adult", "credit", "bank", "compas", "magic", "pima"), seeds=20, ks=(5, 10))


@pytest.fixture(scope="module")
def printed():
    """The paper's numbers that the comparison counts, without heloc."""
    compared = comparison.counted_cells(compared_runs(synthetic_runs(seeds=2, ks=(5,))))
    return compared[compared["dataset"] != "heloc"]


@pytest.fixture(scope="module")
def measured(twenty_seeds, printed):
    """Counts of the verdicts on copies of the tables that show selected runs, by the kind of copy and the table."""
    selections = printed[printed["table"].isin(cells.SELECTIONS)]
    return controls.measure(twenty_seeds, selections).set_index(["source", "table"])


def test_perfect_copies_rarely_differ_and_wrong_copies_are_rarely_reproduced(measured):
    sums = measured.groupby("source")[["cells", *verdict.VERDICTS]].sum()
    assert sums[list(verdict.VERDICTS)].sum(axis=1).to_numpy() == pytest.approx(sums["cells"].to_numpy(), abs=0.01)
    shares = sums.div(sums["cells"], axis=0)
    assert shares.loc["perfect", "differs"] <= 0.08
    assert (shares.loc[["another row", "another size", "random"], "reproduced"] <= 0.08).all()
    # The datasets of these runs are alike, so another row may pass.
    assert (shares.drop(["perfect", "another row"])["differs"] > shares.loc["perfect", "differs"]).all()


def test_whole_tables_have_error_rates_of_their_own():
    tails, evidence = [0.5, 0.5, 0.01, 0.5, 0.5, 0.5, 0.5, 0.03], [9, 1, 9, 9, 1, 2, 9, 9]  # two cells in each of four copies
    cells_of_copies = pd.DataFrame(
        {"table": "table3_best_by_cohesion", "tail": tails, "evidence": evidence, "copy": [0, 0, 1, 1, 2, 2, 3, 3]}
    )
    judged = cells_of_copies.assign(source="perfect", verdict="undecided")
    (row,) = controls._average_counts(judged).to_dict("records")
    # The evidence of copy 0 is 3 on average, 1.4 that of copy 2. A tail below .025 makes two cells differ.
    assert (row["copies"], row["whole_reproduced"], row["whole_differs"]) == (4, 0.5, 0.25)


def test_the_measured_verdicts_on_whole_tables_are_shares_of_copies(measured):
    whole = measured[["whole_reproduced", "whole_differs"]]
    assert (whole.sum(axis=1) <= 1).all() and (whole >= 0).all(axis=None)
    assert (whole.xs("table2_best_by_deviation", level="table")["whole_reproduced"] == 0).all()


def test_each_wrong_copy_changes_only_the_tables_it_is_about(measured):
    assert set(measured.loc["FRAC exchanged"].index) == {"table4_frac_vs_clusterlets"}
    assert set(measured.loc["random"].index) == {"table2_best_by_deviation", "table3_best_by_cohesion"}
    assert set(measured.loc["another row"].index) == set(cells.SELECTIONS)
    assert (measured["cells"] <= measured.loc["perfect", "cells"].reindex(measured.index, level="table")).all()
    assert (measured.loc["perfect", "copies"] == 2).all()


def test_copies_of_averages_are_compared_with_ours_without_one_dataset(printed):
    runs = synthetic_runs(("credit", "pima"), seeds=20, ks=(5,))
    averages_only = printed[printed["table"].isin(cells.AVERAGES)]
    measured = controls.measure(runs, averages_only).set_index(["source", "table"])
    assert (measured.loc["perfect", "copies"] == 2 * 2).all()
    assert measured.loc["perfect", "cells"].to_dict() == averages_only["table"].value_counts().to_dict()


def test_with_fewer_than_twenty_seeds_no_copies_are_measured(twenty_seeds):
    runs = twenty_seeds[twenty_seeds["seed"] < 19]
    compared = compared_runs(runs)
    assert controls.measure(runs, comparison.counted_cells(compared)).empty
    counted = controls.count_verdicts(compared, runs)
    paper = counted[counted["source"] == controls.PAPER]
    counts = comparison.counts(compared).set_index("table")
    assert paper.set_index("table")["differs"].to_dict() == counts["differs"].drop("all").to_dict()
    assert set(counted["source"]) == {controls.PAPER, controls.PERFECT, *controls.WRONG}  # from the committed reference


def test_copies_are_made_only_from_seeds_that_the_design_of_the_rule_had_not_seen(twenty_seeds):
    compared = compared_runs(twenty_seeds)
    committed = controls.count_verdicts(compared, twenty_seeds).query("source == @controls.PERFECT")
    assert committed["copies"].tolist() == [60, 6, 6, 6, 60]
    later_runs = twenty_seeds.assign(seed=twenty_seeds["seed"] + 20)
    later = controls.count_verdicts(compared, later_runs).set_index(["source", "table"])
    assert (later.loc[controls.PERFECT, "copies"].loc[list(cells.SELECTIONS)] == 2).all()
