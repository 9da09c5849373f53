"""Methods that the paper lacks change no table, statistic or verdict about it, but they are listed and ranked."""

import pandas as pd
import pytest
from synthetic_runs import synthetic_runs

from clusterlets.analysis import statistics
from clusterlets.grid.configuration import read_configuration
from clusterlets.paper.results import Results

SETTINGS = read_configuration()
MAY_CHANGE = {"methods.csv", "at_given_fairness.csv", "at_given_fairness.md"}


@pytest.fixture(scope="module")
def runs():
    return synthetic_runs(("adult", "pima", "credit", "magic"), seeds=2, ks=(2, 5))


def with_method(runs, name):
    """The runs, and those of a further method, which is fairer than all others and infeasible on one dataset."""
    further_runs = runs[runs["method"] == "k-means"].assign(method=name, deviation_mean=1e-6)
    further_runs.loc[further_runs["dataset"] == "pima", ["status", "deviation_mean", "cohesion"]] = ["infeasible", None, None]
    return pd.concat([runs, further_runs], ignore_index=True)


def ranked_methods(results):
    (ranking,) = (ranking for ranking in results.rankings if ranking.name == statistics.ALL_METHODS)
    return set(ranking.mean_ranks.index)


def test_a_method_that_the_paper_lacks_changes_no_table_statistic_or_verdict(runs):
    without, extended = (dict(Results.from_runs(frame, SETTINGS).files()) for frame in (runs, with_method(runs, "fair-limit")))
    assert without.keys() == extended.keys() and len(extended) > 40
    for name in without.keys() - MAY_CHANGE:
        before, after = without[name], extended[name]
        assert before.equals(after) if isinstance(before, pd.DataFrame) else before == after, name
    assert set(extended["methods.csv"]["method"]) - set(without["methods.csv"]["method"]) == {"fair-limit"}


def test_a_users_own_method_is_ranked(runs):
    mine = {**SETTINGS["grids"]["random"], "path": "mine.py", "names": ["mine"]}
    settings = {**SETTINGS, "grids": SETTINGS["grids"] | {"mine": mine}}
    before, after = (ranked_methods(Results.from_runs(frame, settings)) for frame in (runs, with_method(runs, "mine")))
    assert after - before == {"mine"}


@pytest.mark.parametrize(
    ("settings", "dataset"), [({"ladders": True}, "adult"), ({}, "iris")], ids=["with ladders", "on other tables"]
)
def test_all_methods_are_ranked_with_ladders_and_on_other_tables(runs, settings, dataset):
    other_runs = runs.assign(dataset=runs["dataset"].replace("adult", dataset))
    other_runs = other_runs if settings else other_runs[other_runs["dataset"] == dataset]
    assert "fair-limit" in ranked_methods(Results.from_runs(with_method(other_runs, "fair-limit"), SETTINGS | settings))
