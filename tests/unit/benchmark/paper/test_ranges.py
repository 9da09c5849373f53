"""Repetitions of the paper's experiment, the ranges that follow from them, and copies of the paper that are judged by them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_runs import synthetic_runs

from clusterlets.benchmark.paper import cells, copies, ranges, readings, repetitions, reported, tables
from clusterlets.benchmark.paper.repetitions import N_REPETITIONS, Draws

DATASETS = ("pima", "credit", "magic")


@pytest.fixture(scope="module")
def runs():
    return synthetic_runs(DATASETS, seeds=12, ks=(5,))


@pytest.fixture(scope="module")
def numbers(runs):
    return repetitions.repeat(runs, n_datasets=len(DATASETS) + 1)


def drawn_runs(runs, repetition):
    """The runs of a repetition: those of every drawn seed, as often as it was drawn, and one dataset twice."""
    seeds = np.unique(runs["seed"])
    draws = Draws.of(len(seeds), len(DATASETS), 1)
    copies_of = dict(zip(runs["dataset"].unique(), draws.copies[repetition], strict=True))
    drawn = [
        runs[runs["seed"] == seeds[index]].assign(seed=place) for place, index in enumerate(sorted(draws.seeds[repetition]))
    ]
    averaged = [frame[frame["dataset"] == name] for frame in drawn for name, count in copies_of.items() for _ in range(count)]
    return pd.concat(drawn, ignore_index=True), pd.concat(averaged, ignore_index=True)


@pytest.mark.parametrize("repetition", [0, 7])
def test_the_numbers_of_a_repetition_are_those_of_the_tables_made_from_its_runs(runs, numbers, repetition):
    selected, averaged = drawn_runs(runs, repetition)
    expected = pd.concat([cells.values(selected, cells.SELECTIONS), cells.values(averaged, cells.AVERAGES)])
    printed = pd.MultiIndex.from_frame(cells.paper_cells()[cells.KEY])
    expected = expected[expected.index.isin(printed)]
    assert len(expected) > 100
    for key, value in expected.items():
        ours = numbers[key][repetition]
        assert ours == value if key[2] in cells.CHOICES else ours == pytest.approx(float(value), abs=1e-9), key


def test_a_repetition_draws_with_replacement_and_the_same_on_every_call():
    draws = Draws.of(50, 10, 1)
    assert draws.seeds.shape == (N_REPETITIONS, 10) and draws.seeds.max() == 49 and draws.seeds.min() == 0
    assert (draws.copies.sum(axis=1) == 11).all() and set(draws.copies.ravel()) == {1, 2}
    assert any(len(set(row)) < 10 for row in draws.seeds.tolist())
    assert np.array_equal(draws.seeds, Draws.of(50, 10, 1).seeds)
    assert draws.seeds[0].tolist() == (np.random.SeedSequence(0).generate_state(11)[:10] % 50).tolist()
    assert (Draws.of(50, 11, 0).copies == 1).all()


def test_a_range_leaves_out_five_repetitions_at_each_end_and_adds_half_a_digit():
    values = np.random.default_rng(0).permutation(np.arange(200) / 1000)
    assert ranges.judge_number(".1", values)[:2] == (round(0.005 - 0.05, 6), round(0.194 + 0.05, 6))
    assert [ranges.judge_number(text, values)[3] for text in (".004", ".005", ".194", ".195", "0.0044")] == [
        *("no", "yes"),
        *("yes", "no"),
        "no",
    ]
    assert ranges.judge_number("1", np.full(200, np.nan))[3] == "" and ranges.judge_number("1", None)[3] == ""


def test_a_choice_is_inside_if_one_repetition_in_forty_makes_it():
    values = np.array(["G-B"] * 5 + ["D-PB"] * 191 + ["C"] * 4, dtype=object)
    judged = {name: ranges.judge_number(name, values) for name in ("G-B", "C", "B-PB")}
    assert {name: result[3] for name, result in judged.items()} == {"G-B": "yes", "C": "no", "B-PB": "no"}
    assert judged["C"][2] == 0.02 and np.isnan(judged["C"][0])


@given(st.lists(st.floats(-1, 1), min_size=200, max_size=200), st.floats(-2, 2))
def test_a_number_is_inside_exactly_between_the_low_and_the_high_end(values, number):
    printed = f"{number:.3f}"
    low, high, _, inside = ranges.judge_number(printed, np.array(values))
    assert inside == ("yes" if low <= float(printed) <= high else "no") and high - low >= 0.001


def test_the_last_digit_agrees_with_results_computed_by_hand():
    assert [ranges.last_digit_unit(text) for text in ("17", "17.5", ".0518")] == [1, 0.1, 0.0001]


@pytest.fixture(scope="module")
def many_seeds():
    return synthetic_runs(DATASETS[:2], seeds=20, ks=(5,))


@pytest.fixture(scope="module")
def measured(many_seeds):
    return copies.measure(many_seeds).set_index(["table", "source"])


def test_more_of_a_perfect_copy_than_of_wrong_ones_is_inside(measured):
    perfect = measured.xs(copies.PERFECT, level="source")["inside"]
    wrong = measured.drop(index=copies.PERFECT, level="source")["inside"].groupby(level="table").mean()
    assert len(perfect) == 5 and (perfect > 0.5).all()
    assert perfect.mean() > wrong.mean() + 0.2


def test_copies_are_made_from_each_group_of_seeds_and_without_each_dataset_in_turn(measured):
    perfect = measured.xs(copies.PERFECT, level="source")
    assert perfect["copies"].tolist() == [4, 2, 2, 2, 4]  # two groups of seeds; tables 1 and 5 leave out one of two datasets
    assert measured.loc[(reported.TABLES[1], "another row"), "copies"] == 2
    assert (measured["least"] <= measured["inside"]).all() and (measured["inside"] <= measured["most"]).all()


@pytest.fixture
def few_repetitions(monkeypatch):
    """Fewer repetitions take less time, and are enough where the numbers follow from few different values."""
    monkeypatch.setattr(repetitions, "N_REPETITIONS", 40)


def test_with_ten_seeds_nothing_is_measured_and_the_committed_tables_stand_in(runs, few_repetitions):
    few = runs[runs["seed"] < 10]
    assert copies.measure(few).empty
    assert readings.measure(few) is reported.readings()
    committed = reported.ranges().set_index(cells.KEY)
    of_few = ranges.of_runs(few, None).set_index(cells.KEY)
    pd.testing.assert_series_equal(of_few["low"], committed["low"])
    of_twelve = ranges.of_runs(runs, runs)
    assert set(of_twelve["seeds"]) == set(of_twelve["seeds_by_code"]) == {12}


def test_each_reading_is_judged_by_the_numbers_that_it_names(many_seeds, few_repetitions):
    is_fair = many_seeds["method"] == "FRAC (fair)"
    deviation = many_seeds["deviation_mean"].mask(is_fair, 0.9)
    runs = many_seeds.assign(silhouette=many_seeds["cohesion"], deviation_mean=deviation, deviation_max=deviation)
    runs.loc[is_fair, ["n_clusters", "cohesion", "deviation_std"]] = 99, 0.0, 0.9
    judged = readings.measure(runs).set_index(["quantity", "reading"])
    assert list(judged.reset_index().columns) == readings.COLUMNS
    for (quantity, _), row in judged.iterrows():
        assert row["numbers"] == judged.loc[quantity, "numbers"].iloc[0]
    frac = judged.loc["FRAC in table 4", "inside"]
    assert frac["nearest centre"] > frac["fair assignment"] == 0
    s, deviation = judged.loc["s in table 5", "inside"], judged.loc["deviation in table 5", "inside"]
    assert s["silhouette"] == s["cohesion"] and deviation["mean"] == deviation["largest"]  # the columns are equal here


def test_a_perfect_copy_that_is_the_paper_has_the_shares_of_the_comparison():
    printed = pd.DataFrame({"table": "t", "row": "r", "quantity": "size", "reported": ["3", "9"]})
    values = {("t", "r", "size"): np.linspace(2, 4, 200)}
    assert ranges.judge(printed, values)["inside"].tolist() == ["yes", "no"]


def test_second_readings_are_those_that_the_tables_do_not_take_first():
    rows = cells.paper_cells()
    second = rows[[cells.why_not_counted(cell).endswith("the same number.") for cell in rows.to_dict("records")]]
    assert set(second["table"]) == {reported.TABLES[0], reported.TABLES[4]}
    assert len(second) == 4 + 12 and not second["row"].str.contains(" silhouette ").any()
    assert tables.MEANINGS_OF_S[0] == "silhouette"
