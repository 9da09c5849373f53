"""Friedman and Nemenyi, against scipy, a published example and the number in the reproduction notes."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import friedmanchisquare
from test_results_fixture import synthetic_runs
from test_results_selection import some_runs

from clusterlets.benchmark import statistics


@pytest.fixture
def values():
    return pd.DataFrame(np.random.default_rng(0).random((9, 4)) + [0, .2, .4, .9], columns=list("abcd"))


def test_the_critical_difference_of_eleven_blocks_and_five_methods():
    assert statistics.critical_difference(5, 11) == pytest.approx(1.84, abs=.005)


def test_the_critical_difference_of_demsars_example():
    # Demsar (2006), section 3.2.2: 4 classifiers, 14 data sets, q = 2.569, CD = 1.25.
    assert statistics.critical_difference(4, 14) == pytest.approx(1.25, abs=.005)


def test_friedman_is_scipys(values):
    ranking = statistics.rank("x", "X", values)
    assert (ranking.statistic, ranking.p_value) == pytest.approx(friedmanchisquare(*values.to_numpy().T))


def test_right_is_better_and_ties_share_a_rank():
    values = pd.DataFrame({"a": [.1, .1, .1], "b": [.2, .1 + 1e-15, .3], "c": [.9, .9, .2]})
    ranks = statistics.rank("x", "X", values).mean_ranks
    assert list(ranks.index) == ["a", "b", "c"]
    assert ranks.tolist() == pytest.approx([(3 + 2.5 + 3) / 3, (2 + 2.5 + 1) / 3, (1 + 1 + 2) / 3])


def test_a_pair_is_significant_exactly_beyond_the_critical_difference(values):
    ranking = statistics.rank("x", "X", values)
    pairs = ranking.pairs
    assert len(pairs) == 6 and (pairs["rank_difference"] >= 0).all()
    assert pairs["significant"].tolist() == (pairs["rank_difference"] > ranking.critical_difference).tolist()
    assert pairs["significant"].any() and not pairs["significant"].all()


def test_a_block_is_the_mean_over_all_runs_of_a_method():
    runs = some_runs({"deviation_mean": .1}, {"deviation_mean": .3}, {"deviation_mean": .9, "dataset": "adult"})
    table = statistics.blocks(runs.assign(name="G-B"), ["G-B", "C"], ["dataset"])
    assert table["G-B"].to_dict() == pytest.approx({"adult": .9, "pima": .2})
    assert list(table.columns) == ["G-B"]


def test_incomplete_blocks_are_left_out_and_counted(values):
    values.iloc[0, 0] = np.nan
    ranking = statistics.rank("x", "X", values)
    assert (len(ranking.values), ranking.incomplete_blocks) == (8, 1)


@pytest.mark.parametrize(
    ("shape", "words"), [((2, 5), "3 blocks, and 2"), ((9, 2), "3 methods, and 2"), ((0, 0), "3 methods, and 0")]
)
def test_too_little_is_said_not_computed(shape, words):
    values = pd.DataFrame(np.random.default_rng(1).random(shape), columns=list("abcdefgh")[: shape[1]])
    ranking = statistics.rank("x", "X", values)
    assert words in ranking.obstacle and words in statistics.in_words(ranking)
    assert np.isnan(ranking.p_value) and ranking.pairs["p_value"].isna().all()
    assert words in statistics.summary([ranking])["not_computed"].item()


def test_methods_that_always_tie_are_not_tested():
    ranking = statistics.rank("x", "X", pd.DataFrame(.5, index=range(5), columns=list("abc")))
    assert ranking.obstacle == "All methods tie in every block."


def test_the_three_rankings():
    matchers, with_frac, pseudo = statistics.rank_all(synthetic_runs())
    own = {"C", "G-B", "D-PB", "B-PB", "G-D-PB"}
    assert set(matchers.mean_ranks.index) == own
    assert set(with_frac.mean_ranks.index) == own | {"FRAC (fair)", "FRAC (nearest)", "k-means"}
    # On heart_failure with k = 2 and seed 3 no run of C has a result, so that block is incomplete.
    assert (len(matchers.values), len(pseudo.values), pseudo.incomplete_blocks) == (10, 499, 1)
    assert "pseudo-replication" in pseudo.title
