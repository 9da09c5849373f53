"""Methods that the paper lacks change no table, statistic or verdict about it, but they are listed and ranked."""

from pathlib import Path

import pandas as pd
import pytest
from synthetic_runs import synthetic_runs

from clusterlets.benchmark.analysis import statistics
from clusterlets.benchmark.grid.configuration import read_configuration
from clusterlets.benchmark.paper.results import Results

RIVAL_GRID = read_configuration(Path(__file__).resolve().parents[4] / "workflow/configs/field.yaml")["method_settings"][
    "fair-limit"
]
SETTINGS = read_configuration()
SETTINGS = SETTINGS | {"method_settings": SETTINGS["method_settings"] | {"fair-limit": RIVAL_GRID}}


@pytest.fixture(scope="module")
def runs():
    return synthetic_runs(("adult", "pima", "credit", "magic"), seeds=2, ks=(2, 5))


def with_method(runs, name):
    """The runs, and runs of one more method, which is fairer than all others and infeasible on pima."""
    added_runs = runs[runs["method"] == "k-means"].assign(method=name, deviation_mean=1e-6)
    added_runs.loc[added_runs["dataset"] == "pima", ["status", "deviation_mean", "cohesion"]] = ["infeasible", None, None]
    return pd.concat([runs, added_runs], ignore_index=True)


def ranked_methods(results):
    (ranking,) = (ranking for ranking in results.rankings if ranking.name == statistics.ALL_METHODS)
    return set(ranking.mean_ranks.index)


def test_a_method_that_the_paper_lacks_changes_no_table_statistic_or_verdict(runs):
    before, after = (dict(Results.from_runs(frame, SETTINGS).files()) for frame in (runs, with_method(runs, "fair-limit")))
    assert before.keys() == after.keys() and len(after) >= 40
    for name in before.keys() - {"methods.csv"}:
        if isinstance(before[name], pd.DataFrame):
            pd.testing.assert_frame_equal(before[name], after[name], obj=name)
        else:
            assert before[name] == after[name], name
    assert set(after["methods.csv"]["method"]) - set(before["methods.csv"]["method"]) == {"fair-limit"}


def test_a_users_own_method_is_ranked(runs):
    grid = SETTINGS["method_settings"]["random"] | {"path": "mine.py", "names": ["mine"]}
    settings = SETTINGS | {"method_settings": SETTINGS["method_settings"] | {"mine": grid}}
    before, after = (ranked_methods(Results.from_runs(frame, settings)) for frame in (runs, with_method(runs, "mine")))
    assert after - before == {"mine"}


def test_with_ladders_all_methods_are_ranked(runs):
    results = Results.from_runs(with_method(runs, "fair-limit"), SETTINGS | {"ladders": True})
    assert "fair-limit" in ranked_methods(results)


def test_on_datasets_that_the_paper_lacks_all_methods_are_ranked(runs):
    iris_runs = runs[runs["dataset"] == "adult"].assign(dataset="iris")
    assert "fair-limit" in ranked_methods(Results.from_runs(with_method(iris_runs, "fair-limit"), SETTINGS))
