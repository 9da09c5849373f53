"""Which runs count in a table, and which run is the best."""

import pytest
from synthetic_runs import some_runs, synthetic_runs

from clusterlets.benchmark.analysis import selection
from clusterlets.benchmark.grid import runs_frame
from clusterlets.errors import ClusterletsError


def winner(*changes: dict, by: str = "deviation_mean") -> int:
    """Position of the best run. The runs are given as changes of the usual run, and their order must not matter."""
    runs = some_runs(*changes)
    (position,) = selection.best(runs, by, ["dataset"]).index
    (position_if_reversed,) = selection.best(runs[::-1], by, ["dataset"]).index
    assert position == position_if_reversed
    return position


def test_the_lowest_deviation_and_the_highest_cohesion_win():
    fair, cohesive = {"deviation_mean": 0.05, "cohesion": 0.7}, {"deviation_mean": 0.06, "cohesion": 0.9}
    assert winner(cohesive, fair) == 1
    assert winner(fair, cohesive, by="cohesion") == 1


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"deviation_max": 0.19, "cohesion": 0.1}, {"cohesion": 0.9}),
        ({"cohesion": 0.9, "k": 30}, {"k": 2}),
        ({"k": 2, "hops": 4}, {"k": 5, "hops": 1}),
        ({"hops": 1, "seed": 9}, {"hops": 2, "seed": 0}),
        ({"seed": 0}, {"seed": 1}),
        ({"omega": 0.25, "seed": 0}, {"omega": 0.5, "seed": 0}),
        ({"matcher": "G-B"}, {"matcher": "D"}),
    ],
)
def test_ties_are_broken_in_the_order_of_the_rule(better, worse):
    assert winner(worse, better) == 1


def test_ties_in_cohesion_go_to_the_lower_maximum_deviation():
    assert winner({"k": 2}, {"k": 30, "deviation_max": 0.1, "deviation_mean": 0.3}, by="cohesion") == 1


def test_of_tied_runs_those_with_hops_win():
    assert winner({"matcher": "C", "hops": None, "omega": 0}, {"hops": 4}) == 1


def test_values_that_differ_in_their_last_bits_tie():
    assert winner({"deviation_mean": 0.3, "deviation_max": 0.9}, {"deviation_mean": 0.1 + 0.2}) == 1


def test_a_run_without_a_value_in_the_ranked_column_never_wins():
    runs = some_runs({"deviation_mean": None}, {"dataset": "adult", "deviation_mean": None}, {"deviation_mean": 0.4})
    assert list(selection.best(runs, "deviation_mean", ["dataset"]).index) == [2]


def test_degenerate_runs_have_fewer_than_three_clusters_or_an_overlap_that_is_unknown_or_at_least_half():
    runs = some_runs({"n_clusters": 2}, {"n_clusters": 3}, {"overlap": 0.5}, {"overlap": 0.4999}, {"overlap": None})
    assert list(selection.without_degenerate(runs).index) == [1, 3]


def test_configuration_means_are_over_the_seeds_of_each_configuration():
    runs = some_runs(
        {"seed": 0, "deviation_mean": 0.1, "n_clusters": 2},
        {"seed": 1, "deviation_mean": 0.3, "n_clusters": 5},
        {"seed": 0, "hops": 3, "deviation_mean": 0.7},
        {"seed": 0, "matcher": "C", "hops": None, "omega": 0.0},
    )
    means = selection.configuration_means(runs.astype({"omega": float}))
    row = means[means["hops"] == 2].iloc[0]
    assert len(means) == 3
    assert row[["deviation_mean", "deviation_mean_std", "n_clusters", "seeds"]].tolist() == pytest.approx([0.2, 0.1, 3.5, 2])


def test_a_users_matcher_keeps_its_name():
    runs = some_runs({"matcher": "G-D"}, {"method": "FRAC (fair)", "matcher": None}, {"matcher": "mine"})
    assert list(selection.names(runs)) == ["G-D-PB", "FRAC (fair)", "mine"]


def test_datasets_without_a_given_place_come_last_by_name():
    ordered = selection.in_order(["zoo", "pima", "adult", "ant", "pima"], ["adult", "bank", "pima"])
    assert ordered == ["adult", "pima", "ant", "zoo"]


def test_a_file_that_lacks_a_column_is_refused_and_the_error_names_the_column(tmp_path):
    synthetic_runs(("iris",), seeds=1, ks=(2,)).drop(columns="overlap").to_csv(tmp_path / "runs.csv", index=False)
    with pytest.raises(ClusterletsError, match="overlap"):
        runs_frame.read_runs(tmp_path / "runs.csv")
