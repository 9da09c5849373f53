"""Profiles say who is in a cluster: means and spreads of features, the features that stand out, and typical rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from clusterlets import __main__ as command_line
from clusterlets import fairness_report
from clusterlets.estimators.memberships import as_memberships
from clusterlets.estimators.profiles import Profiles, typical_rows

RNG = np.random.default_rng(0)
LABELS = np.repeat([2, 5, 7], [30, 20, 10])
X = pd.DataFrame({"age": RNG.normal(40, 10, 60) + 15 * (LABELS == 5), "pay": RNG.normal(3000, 50, 60), "one": 1.0})
SEX = np.tile(["f", "m"], 30)


def test_means_and_spreads_are_those_of_the_members():
    features = fairness_report(X, LABELS, SEX, cohesion=False, silhouette=False).features.set_index(["cluster", "feature"])
    for name in X:
        for cluster, values in X[name].groupby(LABELS):
            row = features.loc[(cluster, name)]
            assert row["mean"] == pytest.approx(values.mean()) and row["spread"] == pytest.approx(values.std(ddof=0))
            assert row["table_mean"] == pytest.approx(X[name].mean())
            difference = (values.mean() - X[name].mean()) / X[name].std(ddof=0) if name != "one" else 0
            assert row["difference"] == pytest.approx(difference)
    assert features.loc[5].index[0] == "age" and set(features.loc[5].index) == set(X)


def test_a_sentence_describes_in_their_own_units_the_features_that_stand_out():
    memberships, _ = as_memberships(LABELS)
    profiles = Profiles.of(X.to_numpy(), memberships, list(X))
    ages = X["age"]
    expected = f"age {ages[LABELS == 5].mean():.4g} +- {ages[LABELS == 5].std(ddof=0):.3g} (table {ages.mean():.4g} +- "
    assert profiles.sentence(1).startswith(expected)
    constant = Profiles.of(np.ones((60, 1)), memberships)
    assert constant.sentence(0) == "no feature stands out" and not constant.differences.any()


def test_typical_rows_are_the_three_nearest_to_the_mean():
    memberships, clusters = as_memberships(LABELS)
    values = X.to_numpy()
    for cluster, rows in zip(clusters, typical_rows(values, memberships)):
        members = np.flatnonzero(cluster == LABELS)
        distances = ((values[members] - values[members].mean(axis=0)) ** 2).sum(axis=1)
        assert rows.tolist() == members[np.argsort(distances)[:3]].tolist()


def test_the_command_and_its_page_say_who_is_in_each_cluster(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X.assign(sex=SEX, who=[f"p{row}" for row in range(60)]).to_csv("people.csv", index=False)
    arguments = ["cluster", "people.csv", "--sensitive", "sex", "--method", "fair-limit", "-k", "2", "--max-deviation", "0.2"]
    assert command_line.main([*arguments, "--id", "who", "-o", "labels.csv", "--report", "page.html"]) == 0
    output = capsys.readouterr().out
    labels = pd.read_csv("labels.csv").set_index("who")["cluster"].to_numpy()
    page = Path("page.html").read_text(encoding="utf-8")
    rows = typical_rows(X.to_numpy(), as_memberships(labels)[0])
    for cluster in range(2):
        pay = X["pay"][labels == cluster]
        assert f"pay {pay.mean():.4g} +- {pay.std(ddof=0):.3g} (table " in output
        assert f"<h3>Cluster {cluster}</h3>" in page
        assert f"Typical rows: {', '.join(f'p{row}' for row in rows[cluster])} (who)" in page
    assert command_line.main([*arguments, "--report", "page.html"]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert f"Typical rows: {', '.join(map(str, rows[0]))} (counted from 0)" in page
    assert page.count('alt="Features of cluster ') == 2
