"""The leaderboard's choice of configurations, its scores and its order."""

import re
import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from clusterlets.benchmark.analysis import leaderboard
from clusterlets.benchmark.analysis.leaderboard import CLUSTERLETS, CONTROL, KEEPS, MISSES, NO_RESULT, NOT_CHOSEN, UNSUPPORTED
from clusterlets.benchmark.grid.runs_columns import COLUMNS
from clusterlets.benchmark.grid.runs_frame import read_results_table, write_csv

DOCS = Path(__file__).resolve().parents[4] / "docs"
KINDS = {"k-means": CONTROL, "C": CLUSTERLETS, "D": CLUSTERLETS}


def scores_of(result, k):
    """The columns for the result of a run. The result is a status, (deviation, price) or (deviation, price, n_clusters)."""
    if isinstance(result, str):
        return {"status": result}
    deviation, price, n_clusters = result if len(result) == 3 else (*result, k)
    scores = {"column_deviation": deviation, "price_of_fairness": price, "n_clusters": n_clusters, "smallest": 7}
    scores["deviation_beyond_row"] = max(0, deviation - 0.01)  # as if the cluster that deviates most had 100 rows
    return {"status": "ok"} | scores


def runs(*configurations, dataset="iris", k=5):
    """The runs of configurations, each a tuple of a method, its parameters and a list with a result for each seed."""
    rows = []
    for name, parameters, results in configurations:
        name_columns = {"method": "Clusterlets", "matcher": name} if KINDS.get(name) == CLUSTERLETS else {"method": name}
        for seed, result in enumerate(results):
            row = {"dataset": dataset, **name_columns, "k": k, "parameters": parameters, "seed": seed}
            rows.append(row | scores_of(result, k))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    numbers = ["k", "seed", "n_clusters", "smallest", "column_deviation", "deviation_beyond_row", "price_of_fairness"]
    return table.astype(dict.fromkeys(numbers, float))


def board_of(*tables):
    return leaderboard.leaderboard(leaderboard.points(pd.concat(tables), KINDS, {}))


def row_of(board, method, limit, **other_values):
    keys = {"method": method, "limit": limit, **other_values}
    (row,) = board[np.all([board[name] == value for name, value in keys.items()], axis=0)].to_dict("records")
    return row


# Configurations with four seeds: seeds 0 and 1 choose a configuration, and seeds 2 and 3 score it.
FAIR = ("fair-flow", "delta=0", [(0.005, 1.5), (0.006, 1.6), (0.004, 1.4), (0.008, 1.8)])
LOOSE = ("fair-flow", "delta=0.3", [(0.08, 1.1), (0.09, 1.1), (0.08, 1.2), (0.07, 1.1)])
PLAIN = ("k-means", None, [(0.3, 1.0), (0.2, 1.1), (0.3, 0.99), (0.3, 1.05)])


def test_one_half_of_the_seeds_chooses_a_configuration_and_the_other_half_scores_it():
    board = board_of(runs(FAIR, LOOSE, PLAIN))
    strict, loose = (row_of(board, "fair-flow", limit) for limit in (0.01, 0.1))
    assert (strict["parameters"], strict["outcome"], strict["price"]) == ("delta=0", KEEPS, pytest.approx(1.6))
    assert (strict["price_low"], strict["price_high"], strict["kept"], strict["runs"]) == (1.4, 1.8, 2, 2)
    assert (loose["parameters"], loose["price"], loose["tried"]) == ("delta=0.3", pytest.approx(1.15), 2)
    assert row_of(board, "k-means", 0.1)["outcome"] == NOT_CHOSEN


def chosen_at_5_percent(*tables):
    """The parameters that are chosen on each dataset under the limit 0.05."""
    board = board_of(*tables)
    return board[board["limit"] == 0.05].set_index("dataset")["parameters"].to_dict()


def test_the_cheapest_configuration_is_chosen_of_those_that_keep_the_limit_with_room_or_never_break_it():
    def results(deviation, price):
        return [(deviation, price)] * 4

    near, roomy = ("one", "near", results(0.04, 1.1)), ("one", "roomy", results(0.025, 1.2))
    strict = ("one", "strict", results(0.0499, 1.05))
    on_b = [("one", name, results(deviation, 1.0)) for name, deviation in (("near", 0.06), ("roomy", 0.07), ("strict", 0.0499))]
    alone = runs(near, roomy, strict, dataset="a")
    assert chosen_at_5_percent(alone) == {"a": "strict"}, "no configuration breaks the limit, so the cheapest is chosen"
    with_b = chosen_at_5_percent(alone, runs(*on_b, dataset="b"))
    assert with_b == {"a": "strict", "b": "strict"}, "the others break it on b"
    # Without strict, near is unsafe because of b, and roomy keeps half the limit.
    others = chosen_at_5_percent(runs(near, roomy, dataset="a"), runs(*on_b[:2], dataset="b"))
    assert others["a"] == "roomy" and pd.isna(others["b"])


def test_without_a_safe_configuration_the_one_that_keeps_the_limit_most_often_and_deviates_least_is_chosen():
    breaks = [("one", name, [(0.06, 1.0)] * 4) for name in ("often", "least", "once")]
    often = ("one", "often", [(0.049, 1.0)] * 4)
    least = ("one", "least", [(0.04, 1.5)] * 4)
    once = ("one", "once", [(0.001, 1.0), (0.06, 1.0), (0.001, 1.0), (0.001, 1.0)])
    assert chosen_at_5_percent(runs(often, least, once, dataset="a"), runs(*breaks, dataset="b"))["a"] == "least"
    assert chosen_at_5_percent(runs(once, dataset="a"), runs(*breaks, dataset="b"))["a"] == "once"


def test_within_one_row_configurations_are_chosen_and_scored_by_the_deviation_beyond_a_row():
    near = ("one", "near", [(0.059, 1.1)] * 4)
    exact = ("one", "exact", [(0.01, 1.4)] * 4)
    row = row_of(board_of(runs(near, exact)), "one", 0.05)
    assert (row["parameters"], row["price"], row["within_row"], row["price_within_row"]) == ("exact", 1.4, KEEPS, 1.1)
    alone = board_of(runs(near))
    assert (row_of(alone, "one", 0.05)["outcome"], row_of(alone, "one", 0.05)["within_row"]) == (NOT_CHOSEN, KEEPS)
    (summary,) = leaderboard.overall(alone).query("limit == 0.05").to_dict("records")
    assert (summary["kept"], summary["kept_within_row"], summary["price_within_row"]) == (0, 1, 1.1)


def test_starts_may_depend_on_the_case():
    entry = {"names": ["one"], "parameters": {"n_init": [4]}, "starts": {"iris": [3, 2], "wine": [1, 1]}}
    other = {"names": ["two", "three"], "parameters": {}, "starts": 5}
    starts = leaderboard.starts_of({"k": [5, 20], "method_settings": {"one": entry, "two": other}})
    table = runs(("one", "", [(0, 1.0)] * 2), ("three", "", [(0, 1.0)] * 2), k=20)
    points = leaderboard.points(table, KINDS, starts)
    assert points.groupby("method")["starts"].unique().map(list).to_dict() == {"one": [8], "three": [5]}


def test_a_limit_is_kept_only_if_all_scoring_runs_keep_it():
    board = board_of(runs(("lucky", "a=1", [(0.005, 1.2), (0.005, 1.2), (0.005, 1.2), (0.5, 1.2)])))
    row = row_of(board, "lucky", 0.01)
    assert (row["outcome"], row["kept"], row["runs"]) == (MISSES, 1, 2)
    (summary,) = leaderboard.overall(board).query("limit == 0.01").to_dict("records")
    assert (summary["reliability"], summary["within"]) == (0, 0.5) and np.isnan(summary["price"])


def test_failed_runs_and_runs_with_overlaps_or_without_exactly_k_clusters_keep_no_limit():
    few = ("few", "", [(0, 1.0, 4)] * 4)
    many = ("many", "", [(0, 1.0, 6)] * 4)
    overlapping = ("overlapping", "", [(0, np.nan)] * 4)
    board = board_of(runs(few, many, overlapping, ("slow", "", ["timeout"] * 4)))
    assert {row["method"]: row["outcome"] for row in board[board["limit"] == 0.1].to_dict("records")} == {
        **dict.fromkeys(["few", "many", "overlapping"], NOT_CHOSEN),
        "slow": NO_RESULT,
    }
    assert row_of(board, "slow", 0.1)["failed"] == 4


def test_deviations_are_compared_with_limits_without_rounding_errors():
    # In the table, 33 of 99 rows are in the group. Every possible cluster of at most 40 rows is judged by exact fractions.
    for limit in leaderboard.LIMITS:
        exact_limit = Fraction(str(limit))
        for size in range(1, 41):
            for n_in_group in range(size + 1):
                deviation = abs(Fraction(n_in_group, size) - Fraction(33, 99))
                assert (abs(n_in_group / size - 33 / 99) <= limit + leaderboard.TOLERANCE) == (deviation <= exact_limit)
    # In a table of 100,000 rows, a deviation above a limit of up to three decimals is above it by at least this much.
    least_excess = 1 / (1000 * 100_000**2)
    rounded_excess = 0.01 + least_excess - 0.01
    assert rounded_excess > leaderboard.TOLERANCE / 2


def test_a_case_is_left_out_at_and_below_a_limit_that_is_proved_infeasible():
    infeasible = ("fair-limit", "max_deviation=0.02", ["infeasible"] * 4)
    feasible = ("fair-limit", "max_deviation=0.05", [(0.04, 1.3)] * 4)
    board = board_of(runs(infeasible, feasible, FAIR))
    assert set(board["limit"]) == {0.03, 0.05, 0.07, 0.1} and row_of(board, "fair-limit", 0.05)["outcome"] == KEEPS
    board_without_proof = board_of(runs(("fair-limit", "max_deviation=0.02", ["not_converged"] * 4), FAIR))
    assert row_of(board_without_proof, "fair-limit", 0.02)["outcome"] == NO_RESULT


def test_a_matcher_is_scored_in_the_cases_whose_k_is_the_number_of_its_clusters():
    matcher_results = ("C", "omega=0.5", [(0.01, 1.5, 5), (0.01, 1.5, 4), (0.01, 1.6, 5), (0.01, 1.7, 9)])
    board = board_of(runs(FAIR), runs(matcher_results, k=10))
    row = row_of(board, "C", 0.02)
    assert (row["k"], row["parameters"], row["kept"], row["runs"]) == (5, "clusterlets=10,omega=0.5", 1, 1)
    assert set(board.loc[board["method"] == "fair-flow", "k"]) == {5} and row["price"] == 1.6
    assert leaderboard.overall(board).query("method == 'C'")["place"].isna().all()


@pytest.fixture
def random_points():
    """Points of random runs of six methods on five datasets. The datasets "a" and "a.sex" share a table."""
    rng = np.random.default_rng(0)

    def random_results(number):
        deviations = rng.exponential(0.02 * (number + 1), 4)
        return list(zip(deviations, 1 + rng.random(4), strict=True))

    tables = []
    for dataset, k in product(("a", "a.sex", "b", "c", "d"), (3, 5)):
        configurations = [
            (name, parameters, random_results(number))
            for number, name in enumerate(("one", "two", "three", "four", "k-means", "C"))
            for parameters in ("x=1", "x=2")
        ]
        tables.append(runs(*configurations, dataset=dataset, k=k))
    return leaderboard.points(pd.concat(tables), KINDS, {"one": 4})


def test_the_order_is_by_reliability_then_price(random_points):
    board = leaderboard.leaderboard(random_points)
    for _, rows in leaderboard.overall(board).query("kind == 'method'").groupby("limit"):
        keys = [(-row["reliability"], row["price"] if row["kept"] else np.inf) for row in rows.to_dict("records")]
        assert keys == sorted(keys) and list(rows["place"]) == [1, 2, 3, 4]


def test_leaving_out_a_method_changes_no_row_of_another_method(random_points, monkeypatch):
    monkeypatch.setattr(leaderboard, "LIMITS", (0.02, 0.07))  # each limit is judged by itself
    full_board = leaderboard.leaderboard(random_points)
    all_overall, all_pairs = leaderboard.overall(full_board), leaderboard.pairs(full_board)
    for name in ("one", "four", "k-means", "C"):
        board = leaderboard.leaderboard(random_points[random_points["method"] != name])
        overall = all_overall[all_overall["method"] != name].reset_index(drop=True)
        pd.testing.assert_frame_equal(overall.drop(columns="place"), leaderboard.overall(board).drop(columns="place"))
        pairs = all_pairs[~all_pairs[["method", "other"]].eq(name).any(axis=1)].reset_index(drop=True)
        corrected = ["ratio_holm", "difference_holm", "told_apart"]  # Holm's correction is over all pairs
        pd.testing.assert_frame_equal(pairs.drop(columns=corrected), leaderboard.pairs(board).drop(columns=corrected))


@pytest.fixture
def one_limit(monkeypatch):
    monkeypatch.setattr(leaderboard, "LIMITS", (0.01,))  # each limit is judged by itself


def pair_on(dataset, price_of_one, price_of_other, k=5, deviation_of_other=0):
    other = ("other", "", [(deviation_of_other, price_of_other)] * 4)
    return runs(("one", "", [(0, price_of_one)] * 4), other, dataset=dataset, k=k)


def test_wins_and_ratios_of_pairs_agree_with_results_computed_by_hand(one_limit):
    one_alone = runs(("one", "", [(0, 9.0)] * 4), dataset="d")
    board = board_of(
        pair_on("a", 1.0, 2.0), pair_on("a", 1.0, 8.0, k=3), pair_on("b", 3.0, 3.0), pair_on("c", 4.0, 1.0), one_alone
    )
    row = row_of(leaderboard.pairs(board), "one", 0.01)
    assert (row["other"], row["cases"], row["wins"], row["losses"], row["ties"]) == ("other", 4, 2, 1, 1)
    # The ratios of the prices are 1/2 and 1/8 on table a, whose geometric mean is 1/4, 1 on b, and 4 on c.
    assert row["ratio"] == pytest.approx(1) and row["ratio_tables"] == 3
    assert np.isnan(row["ratio_low"]) and np.isnan(row["ratio_p"]) and row["told_apart"] == ""  # fewer than six tables


def test_pairs_are_tested_over_tables_and_corrected_over_both_tests(one_limit):
    ratios = dict(zip("abcdefg", (0.9, 0.8, 0.85, 0.9, 0.95, 0.7, 1.1), strict=True))
    # On two tables, the other method misses the limit in one of two cases.
    boards = [
        pair_on(name, ratio, 1.0, k=k, deviation_of_other=0.5 * (name in "ab" and k == 3))
        for name, ratio in ratios.items()
        for k in (3, 5)
    ]
    row = row_of(leaderboard.pairs(board_of(*boards)), "one", 0.01)
    logarithms = np.log(list(ratios.values()))
    test = stats.ttest_1samp(logarithms, 0)
    interval = np.exp(test.confidence_interval())
    assert (row["ratio"], row["ratio_p"]) == pytest.approx((np.exp(logarithms.mean()), test.pvalue), abs=1e-6)
    assert (row["ratio_low"], row["ratio_high"]) == pytest.approx(tuple(interval), abs=1e-6)
    differences = [0.5, 0.5, 0, 0, 0, 0, 0]
    p_of_difference = stats.ttest_1samp(differences, 0).pvalue
    assert (row["difference"], row["difference_p"]) == pytest.approx((1 / 7, p_of_difference), abs=1e-6)
    assert test.pvalue < p_of_difference  # so Holm doubles the first and leaves the second
    assert (row["ratio_holm"], row["difference_holm"]) == pytest.approx((2 * test.pvalue, p_of_difference), abs=1e-6)
    assert row["told_apart"] == ("price" if 2 * test.pvalue < 0.05 else "")


def test_the_family_of_tests_is_that_of_the_first_method_against_each_other_one():
    prices = {"one": 1.0, "two": 1.1, "three": 1.2, "k-means": 0.9}
    tables = [
        runs(*((name, "", [(0, price * (1 + number / 100))] * 4) for name, price in prices.items()), dataset=dataset)
        for number, dataset in enumerate("abcdef")
    ]
    pairs = leaderboard.pairs(board_of(*tables)).query("limit == 0.05")
    tested = pairs[pairs["ratio_holm"].notna()]
    assert sorted(map(set, tested[["method", "other"]].to_numpy()), key=sorted) == [{"one", "three"}, {"one", "two"}]
    assert pairs["ratio_p"].notna().all() and (pairs.drop(tested.index)["told_apart"] == "").all()


def test_means_that_are_equal_on_all_tables_differ_from_0_or_are_0(one_limit):
    board = board_of(*(pair_on(dataset, 1.1, 2.0) for dataset in "abcdef"))
    row = row_of(leaderboard.pairs(board), "one", 0.01)
    assert row["ratio"] == row["ratio_low"] == row["ratio_high"] == pytest.approx(0.55) and row["ratio_p"] == 0
    assert (row["difference"], row["difference_p"], row["told_apart"]) == (0, 1, "price")


def test_bounds_of_a_reliability_are_exact_over_cases_and_over_tables():
    fair_results, unfair_results = [(0, 1.0)] * 4, [(0.9, 1.0)] * 4
    tables = [
        runs(("one", "", unfair_results if (dataset, k) == ("a", 3) else fair_results), dataset=dataset, k=k)
        for dataset in "abcd"
        for k in (3, 5)
    ]
    (summary,) = leaderboard.overall(board_of(*tables)).query("limit == 0.01").to_dict("records")
    assert (summary["cases"], summary["kept"], summary["tables"], summary["tables_kept"]) == (8, 7, 4, 3)
    for name, kept, n in (("reliability", 7, 8), ("tables", 3, 4)):
        # The bounds are where at least, or at most, so many successes have a probability of 2.5 %.
        assert stats.binom.sf(kept - 1, n, summary[f"{name}_low"]) == pytest.approx(0.025, abs=1e-4)
        assert stats.binom.cdf(kept, n, summary[f"{name}_high"]) == pytest.approx(0.025, abs=1e-4)


def test_unsupported_cases_and_the_outcome_with_exchanged_halves_are_counted():
    # On table a, the last seeds miss the limit; table b is not supported.
    results = {"a": [(0, 1.0), (0, 1.0), (0.5, 1.0), (0.5, 1.0)], "b": ["unsupported"] * 4, "c": [(0, 1.0)] * 4}
    board = board_of(*(runs(("one", "", values), dataset=name) for name, values in results.items()))
    outcomes = board[board["limit"] == 0.01].set_index("dataset")[["outcome", "exchanged"]].to_numpy().tolist()
    assert outcomes == [[MISSES, NOT_CHOSEN], [UNSUPPORTED, UNSUPPORTED], [KEEPS, KEEPS]]
    (summary,) = leaderboard.overall(board).query("limit == 0.01").to_dict("records")
    assert (summary["unsupported"], summary["kept"], summary["kept_exchanged"]) == (1, 1, 1)
    assert (summary["reliability"], summary["reliability_supported"]) == (pytest.approx(1 / 3, abs=1e-6), 0.5)


def test_the_script_in_the_docs_recomputes_the_summary_from_the_points(random_points, tmp_path):
    script = (DOCS / "recompute_leaderboard.py").read_text(encoding="utf-8")
    assert len(script.splitlines()) <= 60 and "clusterlets" not in re.findall(r"import (\w+)", script)
    write_csv(tmp_path / "leaderboard_points.csv", random_points)
    command = [sys.executable, DOCS / "recompute_leaderboard.py"]
    printed = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=True).stdout.splitlines()
    board = leaderboard.leaderboard(read_results_table(tmp_path / "leaderboard_points.csv"))
    expected = leaderboard.overall(board).query("kind == 'method'").to_dict("records")
    for line, row in zip(printed, expected, strict=True):
        limit, place, method, *numbers = line.split()
        assert (float(limit), int(place), method) == (row["limit"], row["place"], row["method"])
        price = row["price"] if row["kept"] else np.inf
        assert list(map(float, numbers)) == pytest.approx([row["reliability"], price], abs=1e-4)


def test_one_seed_gives_an_empty_leaderboard():
    points = leaderboard.points(runs(("one", "", [(0, 1.0)])), KINDS, {})
    board = leaderboard.leaderboard(points)
    assert points.empty and board.empty and leaderboard.overall(board).empty and leaderboard.pairs(board).empty
