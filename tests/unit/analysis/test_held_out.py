"""Scores on held-out seeds, and the expected best of a random choice of configurations."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from synthetic_runs import some_runs, synthetic_runs

from clusterlets.analysis import held_out
from clusterlets.grid.runs_frame import read_runs

FRAC = {"method": "FRAC (fair)", "matcher": None, "hops": None}


def test_the_expected_minimum_is_the_mean_of_the_minima_of_all_draws():
    values = np.random.default_rng(2).random(7).tolist()
    values[3] = values[5]
    for n_drawn in range(1, 8):
        minima = [min(draw) for draw in combinations(values, n_drawn)]
        assert held_out.expected_minimum(values, n_drawn) == pytest.approx(np.mean(minima), abs=1e-12)


def changes_with(deviations, **values):
    """Arguments of ``some_runs``: one run for each deviation, with these values and the seeds 0, 1, ..."""
    return [{**values, "seed": seed, "deviation_mean": deviation} for seed, deviation in enumerate(deviations)]


@pytest.fixture(scope="module")
def scores():
    runs = some_runs(
        *changes_with([0.1] * 5 + [0.5] * 5, matcher="G-B", hops=1),  # the best matcher configuration on seeds 0 to 4
        *changes_with([0.2] * 5 + [0.1] * 4 + [0.01], matcher="G-B", hops=2),  # the best on seeds 5 to 9, and the best run
        *changes_with([0.0] * 10, matcher="G-B", hops=3, n_clusters=2),  # limit cases, which are left out
        *changes_with([0.3] * 10, matcher="D", hops=1),
        *changes_with([0.04] * 5 + [0.06] * 5, **FRAC),
        *changes_with([0.05] * 10, **FRAC, k=10),
    )
    return held_out.by_dataset(runs)


def row_of(scores, method, dataset="pima"):
    (row,) = scores[(scores["dataset"] == dataset) & (scores["method"] == method)].to_dict("records")
    return row


def test_the_chosen_configuration_is_scored_on_the_other_seeds(scores):
    row = row_of(scores, "Clusterlets")
    assert (row["matcher"], row["k"], row["parameters"]) == ("G-B", 5, "hops=1")
    assert (row["deviation_chosen"], row["deviation_held_out"]) == (pytest.approx(0.1), pytest.approx(0.5))
    row = row_of(scores, "FRAC (fair)")
    assert (row["k"], row["deviation_chosen"], row["deviation_held_out"]) == (5, pytest.approx(0.04), pytest.approx(0.06))


def test_the_expected_best_draws_as_many_configurations_as_the_method_with_the_fewest_has(scores):
    clusterlets_row, frac_row = row_of(scores, "Clusterlets"), row_of(scores, "FRAC (fair)")
    assert [(row["configurations"], row["drawn"]) for row in (clusterlets_row, frac_row)] == [(3, 2), (2, 2)]
    assert (clusterlets_row["best_run"], frac_row["best_run"]) == (0.01, 0.04)
    # The best runs of the three configurations are .1, .01 and .3. Two of the three pairs contain .01, and one does not.
    assert clusterlets_row["expected_best"] == pytest.approx((0.01 + 0.01 + 0.1) / 3)
    assert frac_row["expected_best"] == pytest.approx(0.04)


def test_means_are_over_the_datasets_that_have_every_method():
    runs = synthetic_runs(("pima", "credit", "magic"), seeds=10, ks=(2, 5, 10))
    incomplete = runs[(runs["dataset"] != "magic") | (runs["method"] != "FRAC (fair)")]
    table = held_out.by_dataset(incomplete)
    for method in ("Clusterlets", "random"):
        deviations = [row_of(table, method, name)["deviation_held_out"] for name in ("pima", "credit")]
        assert row_of(table, method, held_out.ALL)["deviation_held_out"] == pytest.approx(np.mean(deviations))
    assert len(table) == (3 * 5 - 1) + 5  # five methods on three datasets, one result missing, and five means
    text = held_out.to_markdown(table)
    assert "over 2 datasets is" in text and f"{row_of(table, 'random', 'all')['deviation_held_out']:.4f} (random)" in text


@pytest.mark.parametrize("seeds", [1, 3])
def test_with_the_controls_alone_on_few_seeds_nothing_is_scored(seeds, tmp_path):
    runs = synthetic_runs(("pima",), seeds=seeds, ks=(2,))
    runs[runs["method"].isin(["k-means", "random"])].to_csv(tmp_path / "runs.csv", index=False)
    table = held_out.by_dataset(read_runs(tmp_path / "runs.csv"))
    assert table["deviation_held_out"].isna().all() and "Not computed" in held_out.to_markdown(table)


@pytest.mark.parametrize("n_seeds", [5, 0])
def test_without_held_out_seeds_nothing_is_scored(n_seeds):
    runs = synthetic_runs(("pima",), seeds=5, ks=(5,))
    table = held_out.by_dataset(runs[runs["seed"] < n_seeds])
    assert table["deviation_held_out"].isna().all() and held_out.ALL not in set(table["dataset"])
    assert "Not computed" in held_out.to_markdown(table)


def test_seeds_beyond_the_papers_ten_and_methods_outside_the_paper_change_nothing():
    runs = synthetic_runs(("pima",), seeds=12, ks=(5, 10))
    fairlets = runs[runs["method"] == "random"].assign(method="fairlets", deviation_mean=0.0)
    extended, expected = (held_out.by_dataset(frame) for frame in (pd.concat([runs, fairlets]), runs[runs["seed"] < 10]))
    pd.testing.assert_frame_equal(extended, expected)
