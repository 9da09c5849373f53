"""The configuration with the highest cohesion at a given fairness, in a table and in sentences."""

import numpy as np
import pandas as pd
import pytest
from synthetic_runs import some_runs, synthetic_runs

from clusterlets.analysis import at_fairness, selection
from clusterlets.grid.runs_frame import read_results_table, write_csv


@pytest.fixture(scope="module")
def runs():
    return synthetic_runs(("pima", "credit"), seeds=3, ks=(2, 5))


def row_of(table, method, limit, degenerate=at_fairness.LEFT_OUT):
    matches = table[(table["method"] == method) & (table["limit"] == limit) & (table["degenerate"] == degenerate)]
    return matches.squeeze()


def test_configurations_are_judged_by_their_means_over_seeds():
    table = at_fairness.at_given_fairness(
        some_runs(
            {"deviation_mean": 0.001, "cohesion": 0.9, "k": 5, "seed": 0},
            {"deviation_mean": 0.031, "cohesion": 0.8, "k": 5, "seed": 1},
            {"deviation_mean": 0.01, "cohesion": 0.7, "k": 10},
            {"deviation_mean": 0.0, "cohesion": 0.6, "k": 20},
            {"method": "random", "matcher": None, "hops": None, "deviation_mean": 0.04, "cohesion": 0.95},
        )
    )
    strict, loose = row_of(table, "Clusterlets", 0.01), row_of(table, "Clusterlets", 0.02)
    # The configuration with k = 10 has a deviation of exactly 0.01, the limit.
    assert (strict["k"], strict["cohesion"], strict["seeds"], strict["best"]) == (10, 0.7, 1, True)
    assert (loose["k"], loose["cohesion"], loose["seeds"]) == (5, pytest.approx(0.85), 2)
    assert loose["deviation_mean"] == pytest.approx(0.016) and loose["matcher"] == "G-B"
    assert np.isnan(row_of(table, "random", 0.02)["cohesion"]) and not row_of(table, "random", 0.02)["best"]
    assert row_of(table, "random", 0.05)["best"] and not row_of(table, "Clusterlets", 0.05)["best"]


def test_every_row_matches_the_best_configuration_that_a_loop_finds(runs):
    table = at_fairness.at_given_fairness(runs)
    assert len(table) == 2 * 2 * 4 * 5  # with and without degenerate clusterings, datasets, limits and methods
    means = selection.configuration_means(selection.ok(runs))
    for row in table.to_dict("records"):
        candidates = means[(means["dataset"] == row["dataset"]) & (means["method"] == row["method"])]
        candidates = candidates[candidates["deviation_mean"] <= row["limit"]]
        if row["degenerate"] == at_fairness.LEFT_OUT:
            candidates = candidates[(candidates["n_clusters"] >= 3) & (candidates["overlap"] < 0.5)]
        assert row["cohesion"] == pytest.approx(candidates["cohesion"].max(), nan_ok=True)
    highest = table.groupby(["degenerate", "dataset", "limit"])["cohesion"].transform("max")
    assert table["best"].tolist() == (table["cohesion"] == highest).tolist() and table["best"].any()


def test_the_sentences_agree_with_the_table(runs, tmp_path):
    table = at_fairness.at_given_fairness(runs)
    rows = table[(table["limit"] == 0.05) & (table["degenerate"] == at_fairness.LEFT_OUT)]
    sentences = at_fairness.sentences(table)
    (sentence,) = (text for text in sentences if "at most 0.05, degenerate clusterings left out, on 2 datasets" in text)
    for method, method_rows in rows.groupby("method"):
        assert f"{method} {method_rows['cohesion'].notna().sum()}" in sentence.split("keeps the limit:")[1]
        assert (f"{method} on {method_rows['best'].sum()}" in sentence) == bool(method_rows["best"].any())
    assert all(text in at_fairness.to_markdown(table) for text in sentences)
    write_csv(tmp_path / "table.csv", table)
    assert at_fairness.to_markdown(read_results_table(tmp_path / "table.csv")) == at_fairness.to_markdown(table)


def test_without_runs_there_are_no_sentences(runs):
    without_runs = at_fairness.at_given_fairness(runs[:0])
    assert without_runs.empty and at_fairness.sentences(without_runs) == []


def test_without_results_no_method_keeps_a_limit(runs):
    without_results = at_fairness.at_given_fairness(runs.assign(status="infeasible", cohesion=np.nan, deviation_mean=np.nan))
    assert without_results["cohesion"].isna().all() and not without_results["best"].any()
    assert all("no method keeps the limit" in text for text in at_fairness.sentences(without_results))
    assert pd.api.types.is_float_dtype(without_results["cohesion"])
