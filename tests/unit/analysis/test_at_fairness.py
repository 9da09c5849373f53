"""The highest cohesion at a given fairness: by hand, by a loop, and on synthetic runs."""

import numpy as np
import pandas as pd
import pytest
from synthetic_runs import some_runs, synthetic_runs

from clusterlets.analysis import at_fairness, selection
from clusterlets.grid.runs_frame import read_lines, write_csv


@pytest.fixture(scope="module")
def runs():
    return synthetic_runs(("pima", "credit"), seeds=3, ks=(2, 5))


def row_of(frame, method, limit, limit_cases=at_fairness.LEFT_OUT):
    matches = frame[(frame["method"] == method) & (frame["limit"] == limit) & (frame["limit_cases"] == limit_cases)]
    return matches.squeeze()


def test_configurations_are_judged_by_their_means_over_seeds():
    frame = at_fairness.at_given_fairness(
        some_runs(
            {"deviation_mean": 0.001, "cohesion": 0.9, "k": 5, "seed": 0},
            {"deviation_mean": 0.031, "cohesion": 0.8, "k": 5, "seed": 1},
            {"deviation_mean": 0.01, "cohesion": 0.7, "k": 10},
            {"deviation_mean": 0.0, "cohesion": 0.6, "k": 20},
            {"method": "random", "matcher": None, "hops": None, "deviation_mean": 0.04, "cohesion": 0.95},
        )
    )
    strict, loose = row_of(frame, "Clusterlets", 0.01), row_of(frame, "Clusterlets", 0.02)
    assert (strict["k"], strict["cohesion"], strict["seeds"], strict["best"]) == (10, 0.7, 1, True)  # .01 is not above .01
    assert (loose["k"], loose["cohesion"], loose["seeds"]) == (5, pytest.approx(0.85), 2)
    assert loose["deviation_mean"] == pytest.approx(0.016) and loose["matcher"] == "G-B"
    assert np.isnan(row_of(frame, "random", 0.02)["cohesion"]) and not row_of(frame, "random", 0.02)["best"]
    assert row_of(frame, "random", 0.05)["best"] and not row_of(frame, "Clusterlets", 0.05)["best"]


def test_every_row_matches_the_best_found_by_a_loop(runs):
    frame = at_fairness.at_given_fairness(runs)
    assert len(frame) == 2 * 2 * 4 * 5
    means = selection.configuration_means(selection.ok(runs))
    for row in frame.to_dict("records"):
        candidates = means[(means["dataset"] == row["dataset"]) & (means["method"] == row["method"])]
        candidates = candidates[candidates["deviation_mean"] <= row["limit"]]
        if row["limit_cases"] == at_fairness.LEFT_OUT:
            candidates = candidates[(candidates["n_clusters"] >= 3) & (candidates["overlap"] < 0.5)]
        assert row["cohesion"] == pytest.approx(candidates["cohesion"].max(), nan_ok=True)
    highest = frame.groupby(["limit_cases", "dataset", "limit"])["cohesion"].transform("max")
    assert frame["best"].tolist() == (frame["cohesion"] == highest).tolist() and frame["best"].any()


def test_sentences_agree_with_the_rows(runs, tmp_path):
    frame = at_fairness.at_given_fairness(runs)
    rows = frame[(frame["limit"] == 0.05) & (frame["limit_cases"] == at_fairness.LEFT_OUT)]
    (sentence,) = (line for line in at_fairness.sentences(frame) if "at most 0.05, limit cases left out, on 2 datasets" in line)
    for method, group in rows.groupby("method"):
        assert f"{method} {group['cohesion'].notna().sum()}" in sentence.split("keeps the limit:")[1]
        assert (f"{method} has it on {group['best'].sum()}" in sentence) == bool(group["best"].any())
    assert all(line in at_fairness.to_markdown(frame) for line in at_fairness.sentences(frame))
    write_csv(tmp_path / "table.csv", frame)
    assert at_fairness.to_markdown(read_lines(tmp_path / "table.csv")) == at_fairness.to_markdown(frame)


def test_without_runs_there_are_no_sentences(runs):
    without_runs = at_fairness.at_given_fairness(runs[:0])
    assert without_runs.empty and at_fairness.sentences(without_runs) == []
    infeasible = at_fairness.at_given_fairness(runs.assign(status="infeasible", cohesion=np.nan, deviation_mean=np.nan))
    assert infeasible["cohesion"].isna().all() and not infeasible["best"].any()
    assert all("no method keeps the limit" in line for line in at_fairness.sentences(infeasible))
    assert pd.api.types.is_float_dtype(infeasible["cohesion"])
