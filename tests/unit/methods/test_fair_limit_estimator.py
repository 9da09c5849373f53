"""FairLimit as a user calls it: on tables of a single group, and with one kind of bound at a time."""

from itertools import combinations, product
from time import process_time

import numpy as np
import pandas as pd
import pytest
from fair_tables import sse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from clusterlets import FairLimit, InvalidInput, fairness_report
from clusterlets import __main__ as command_line
from clusterlets.algorithms import fair_limit, limit_counts
from clusterlets.errors import NoClusteringError

ONE_GROUP = ["f"] * 8
BOUNDS = [{}, *({"max_deviation": limit} for limit in (0, "1/50", 1)), {"min_ratio": 1}, {"shares": {"f": (0.2, 1)}}]


def table(seed, n=8):
    return np.round(np.random.default_rng(seed).normal(size=(n, 2)), 1)


def least_cost(X, k, min_size):
    """The least cost of any clustering whose k clusters all have at least ``min_size`` rows."""
    labellings = (np.array(labels) for labels in product(range(k), repeat=len(X)))
    return min(sse(X, labels) for labels in labellings if np.bincount(labels, minlength=k).min() >= min_size)


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
@pytest.mark.parametrize("min_size", [1, 3])
def test_only_the_minimum_size_binds_a_single_group(bound, min_size):
    X = table(min_size)
    fitted = FairLimit(2, min_cluster_size=min_size, random_state=0, **bound).fit(X, sensitive_features=ONE_GROUP)
    assert fitted.inertia_ == pytest.approx(least_cost(X, 2, min_size), rel=1e-9)
    assert fitted.sizes_.min() >= min_size
    assert fitted.deviation_ == 0 and fitted.sensitive_classes_.tolist() == ["f"]
    assert fitted.assign(X, sensitive_features=ONE_GROUP).shape == (8,)
    assert fairness_report(X, fitted.labels_, ONE_GROUP)["deviation_max"] == 0


def test_sizes_alone_are_limited_without_sensitive_features():
    X = table(0, 60)
    fitted = FairLimit(4, max_deviation=1, min_cluster_size=15, max_cluster_size=15, random_state=0).fit(X)
    assert fitted.sizes_.tolist() == [15] * 4 and fitted.deviation_ == 0
    grouped = FairLimit(4, max_deviation=1, min_cluster_size=15, max_cluster_size=15, random_state=0)
    assert np.array_equal(grouped.fit(X, sensitive_features=np.tile(["f", "m"], 30)).labels_, fitted.labels_)
    for settings in ({}, {"max_deviation": 0.5}, {"shares": {"f": (0, 1)}}):
        with pytest.raises(InvalidInput, match="sensitive_features is missing"):
            FairLimit(4, max_cluster_size=15, **settings).fit(X)
    with pytest.raises(InvalidInput, match="max_cluster_size = 14 is less than min_cluster_size = 15"):
        FairLimit(4, max_deviation=1, min_cluster_size=15, max_cluster_size=14).fit(X)
    with pytest.raises(NoClusteringError, match="4 clusters of at most 14 rows cannot hold all 60 rows") as error:
        FairLimit(4, max_deviation=1, max_cluster_size=14).fit(X)
    assert error.value.status == "infeasible"


def test_a_row_that_rules_the_cost_is_named_in_a_warning():
    X = table(4, 80)
    X[17] = 1e9
    fitted = FairLimit(3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"row 17 \(counting from 0\) .* its cluster makes 100% of the sum"):
        fitted.fit(X, sensitive_features=np.tile(["f", "m"], 40))
    assert FairLimit(3, random_state=0).fit(table(4, 80), sensitive_features=np.tile(["f", "m"], 40)).note_ == ""


@pytest.mark.parametrize("limit", [0, 0.1, 1])
def test_a_column_of_one_group_adds_no_limit(limit):
    X, sex = table(3, 40), np.tile(["f", "m"], 20)
    both_columns = pd.DataFrame({"country": "x", "sex": sex})
    sex_alone = FairLimit(3, max_deviation=limit, random_state=0).fit(X, sensitive_features=sex)
    fitted = FairLimit(3, max_deviation=limit, random_state=0).fit(X, sensitive_features=both_columns)
    assert np.array_equal(fitted.labels_, sex_alone.labels_)
    by_column = FairLimit(3, max_deviation={"country": 0, "sex": limit}, random_state=0).fit(X, sensitive_features=both_columns)
    assert np.array_equal(by_column.labels_, sex_alone.labels_) and by_column.deviation_ <= limit


def test_two_kinds_of_bound_are_refused_even_if_one_is_the_default():
    X, sex = table(6, 20), np.tile(["f", "m"], 10)
    kinds = {"max_deviation": 0.02, "shares": {"f": (0.3, 0.7)}, "min_ratio": 0.8}
    for one, two in combinations(kinds, 2):
        with pytest.raises(InvalidInput, match=f"{one} and {two} are two kinds of bound; give one"):
            FairLimit(2, **{name: kinds[name] for name in (one, two)}).fit(X, sensitive_features=sex)
    for name, value in kinds.items():
        estimator = clone(FairLimit(2, random_state=0, **{name: value}))
        assert estimator.get_params()[name] == value
        estimator.fit(X, sensitive_features=sex)


def test_without_a_bound_the_deviation_is_at_most_a_fiftieth():
    X, sex = table(7, 300), np.tile(["f", "m", "m"], 100)
    default = FairLimit(4, random_state=0).fit(X, sensitive_features=sex)
    explicit = FairLimit(4, max_deviation=0.02, random_state=0).fit(X, sensitive_features=sex)
    assert default.get_params()["max_deviation"] is None
    assert np.array_equal(default.labels_, explicit.labels_)
    assert 0 < default.deviation_ <= 0.02


@pytest.fixture
def women(tmp_path, monkeypatch):
    """The command's arguments for a table of women."""
    monkeypatch.chdir(tmp_path)
    X = table(8, 60)
    pd.DataFrame({"sex": "f", "height": X[:, 0], "weight": X[:, 1]}).to_csv("women.csv", index=False)
    return ["women.csv", "--sensitive", "sex"]


def test_tune_accepts_a_table_of_one_group(women, capsys):
    assert command_line.main(["tune", *women, "--clusters", "3", "--min-cluster-size", "15"]) == 0
    output = capsys.readouterr().out
    assert "Use fair-limit" in output and "--method fair-limit" in output


@pytest.mark.parametrize(
    ("n_features", "n_columns", "n_levels", "seconds"), [(6, 3, 10, 0.001), (1000, 1, 2, 0.5)], ids=["groups", "features"]
)
def test_a_fit_ends_within_its_seconds_and_one_round(monkeypatch, n_features, n_columns, n_levels, seconds):
    """By processor time, because other programs may delay the test. Eight seconds are several times a round here."""
    monkeypatch.setattr(fair_limit, "monotonic", process_time)
    monkeypatch.setattr(limit_counts, "monotonic", process_time)
    rng = np.random.default_rng(0)
    groups = pd.DataFrame(rng.integers(n_levels, size=(5000, n_columns)), columns=list("abc"[:n_columns]))
    X = rng.normal(size=(5000, n_features))
    FairLimit(2, random_state=0).fit(X[:200, :2], sensitive_features=groups["a"][:200] < n_levels / 2)  # compiles
    started = process_time()
    fitted = FairLimit(5, max_deviation=0.02, max_seconds=seconds, random_state=0).fit(X, sensitive_features=groups)
    assert process_time() - started < seconds + 8 and fitted.deviation_ <= 0.02
