"""A profile describes a cluster by means and spreads of features, the features that stand out, and typical rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from clusterlets import fairness_report
from clusterlets.estimators.memberships import as_memberships
from clusterlets.estimators.profiles import Profiles, typical_rows

RNG = np.random.default_rng(0)
LABELS = np.repeat([2, 5, 7], [30, 20, 10])
# Cluster 5 is older than the others.
X = pd.DataFrame({"age": RNG.normal(40, 10, 60) + 15 * (LABELS == 5), "pay": RNG.normal(3000, 50, 60), "constant": 1.0})
SEX = np.tile(["f", "m"], 30)


def test_means_and_spreads_are_those_of_the_members():
    features = fairness_report(X, LABELS, SEX, cohesion=False, silhouette=False).features.set_index(["cluster", "feature"])
    for name, column in X.items():
        for cluster, members in column.groupby(LABELS):
            row = features.loc[(cluster, name)]
            assert row["mean"] == pytest.approx(members.mean())
            assert row["spread"] == pytest.approx(members.std(ddof=0))
            assert row["table_mean"] == pytest.approx(column.mean())
            difference = (members.mean() - column.mean()) / column.std(ddof=0) if name != "constant" else 0
            assert row["difference"] == pytest.approx(difference)


def test_the_features_of_a_cluster_begin_with_the_one_that_stands_out_most():
    features = fairness_report(X, LABELS, SEX, cohesion=False, silhouette=False).features
    names = features.loc[features["cluster"] == 5, "feature"].tolist()
    assert names[0] == "age"
    assert sorted(names) == sorted(X)


def test_a_sentence_describes_the_features_that_stand_out_in_their_own_units():
    memberships, _ = as_memberships(LABELS)
    profiles = Profiles.of(X.to_numpy(), memberships, list(X))
    ages, member_ages = X["age"], X["age"][LABELS == 5]
    assert 1 < member_ages.std(ddof=0) < 10 <= ages.std(ddof=0)  # so the spread with three digits has two decimals, then one
    expected = f"age {member_ages.mean():.2f} +- {member_ages.std(ddof=0):.2f} (table {ages.mean():.1f} +- "
    assert profiles.describe(1).startswith(expected)  # cluster 5, the second one


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2008.5, 2009.5, 2010, 2012], "2009.000 +- 0.500"),
        ([90_000.4, 110_000.4, 10, 20], "100000 +- 10000"),
        ([1_234_567, 1_234_567, 0, 1], "1234567 +- 0"),
        ([-0.001, 0.0008, 5, 6], "-0.000100 +- 0.000900"),
        ([0.00004, 1, 9, 9], "0.500 +- 0.500"),
        ([-1, 0.9999, 9, 9], "0.00 +- 1.00"),
    ],
)
def test_a_mean_has_as_many_decimals_as_its_spread(values, expected):
    profiles = Profiles.of(np.array(values, dtype=float)[:, np.newaxis], as_memberships([0, 0, 1, 1])[0], ["x"])
    assert profiles.describe(0).startswith(f"x {expected} (table ")


def test_a_constant_feature_does_not_stand_out():
    profiles = Profiles.of(np.ones((60, 1)), as_memberships(LABELS)[0])
    assert not profiles.differences.any()
    assert profiles.describe(0) == "no feature stands out"


def test_typical_rows_are_the_three_nearest_to_the_mean():
    memberships, clusters = as_memberships(LABELS)
    values = X.to_numpy()
    for cluster, rows in zip(clusters, typical_rows(values, memberships), strict=True):
        members = np.flatnonzero(cluster == LABELS)
        distances = ((values[members] - values[members].mean(axis=0)) ** 2).sum(axis=1)
        assert rows.tolist() == members[np.argsort(distances)[:3]].tolist()


CLUSTER_COMMAND = (
    *("cluster", "people.csv", "--sensitive", "sex", "--method", "fair-limit", "-k", "2"),
    *("--max-deviation", "0.2", "-o", "labels.csv", "--report", "page.html", "--scaling", "none"),
)


@pytest.fixture
def people_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X.assign(sex=SEX, who=[f"p{row}" for row in range(60)]).to_csv("people.csv", index=False)


def read_clusters():
    """The labels and the typical rows of the clusters that the command made."""
    labels = pd.read_csv("labels.csv")["cluster"].to_numpy()
    return labels, typical_rows(X.to_numpy(), as_memberships(labels)[0])


def test_the_command_and_its_page_describe_each_cluster(people_file, run):
    status, output, _ = run(*CLUSTER_COMMAND, "--id", "who")
    assert status == 0
    page = Path("page.html").read_text(encoding="utf-8")
    labels, rows = read_clusters()
    for cluster in range(2):
        pay = X["pay"][labels == cluster]
        assert f"pay {pay.mean():.1f} +- {pay.std(ddof=0):.1f} (table " in output
        assert f"<h3>Cluster {cluster}</h3>" in page
        assert f"Typical rows: {', '.join(f'p{row}' for row in rows[cluster])} (who)" in page
    assert page.count('alt="Features of cluster ') == 2


def test_typical_rows_without_an_identifier_are_counted_from_0(people_file, run):
    assert run(*CLUSTER_COMMAND)[0] == 0
    _, rows = read_clusters()
    page = Path("page.html").read_text(encoding="utf-8")
    assert f"Typical rows: {', '.join(map(str, rows[0]))} (counted from 0)" in page
