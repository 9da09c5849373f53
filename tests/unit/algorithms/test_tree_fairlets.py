"""Fairlets of a tree have the promised balance, and join neighbouring rows."""

from fractions import Fraction

import numpy as np
import pytest
from fair_tables import counts_of
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets import methods
from clusterlets.algorithms.tree_fairlets import promised_balance, tree_fairlets
from clusterlets.algorithms.weighted_kmeans import cluster_fairlets
from clusterlets.errors import NoClusteringError


def is_balanced(counts, balance):
    return (counts.min(axis=0) * balance.denominator >= counts.max(axis=0) * balance.numerator).all()


@pytest.mark.parametrize(
    ("fewer", "more", "largest_q", "balance"),
    [
        (6688, 12332, 10, Fraction(1, 2)),
        (6688, 12332, 20, Fraction(7, 13)),
        (11687, 37155, 4, Fraction(1, 4)),
        (11687, 37155, 20, Fraction(5, 16)),
        (3, 3, 1, Fraction(1)),
        (1, 20, 20, Fraction(1, 20)),
    ],
)
def test_the_promised_balance_is_the_largest_fraction_up_to_the_balance_of_the_table(fewer, more, largest_q, balance):
    assert promised_balance(fewer, more, largest_q) == balance


def test_a_group_that_is_too_rare_for_largest_q_is_refused():
    X, groups = np.zeros((22, 1)), np.append(0, np.ones(21, int))
    with pytest.raises(NoClusteringError, match="Take largest_q = 21 or more") as error:
        tree_fairlets(X, groups, np.random.default_rng(0))
    assert error.value.status == "infeasible"
    assert set(tree_fairlets(X, groups, np.random.default_rng(0), largest_q=21)) == {0}


def test_balanced_rows_of_one_leaf_are_split_into_balanced_fairlets():
    """All rows are equal, so the root is a leaf."""
    rng = np.random.default_rng(0)
    for fewer in range(1, 16):
        for more in range(fewer, 32):
            groups = rng.permutation(np.repeat([0, 1], [fewer, more]))
            for largest_q in (1, 2, 3, 5, 8):
                if fewer * largest_q < more:
                    continue
                balance = promised_balance(fewer, more, largest_q)
                fairlets = tree_fairlets(np.zeros((len(groups), 1)), groups, rng, largest_q)
                counts = counts_of(fairlets, groups, fairlets.max() + 1)
                assert is_balanced(counts, balance) and counts.sum(axis=0).min() > 0
                assert counts.sum(axis=0).max() <= balance.numerator + balance.denominator


@settings(max_examples=200)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 150),
    n_features=st.integers(1, 70),
    share=st.floats(0.05, 0.95),
    largest_q=st.integers(1, 20),
    n_values=st.sampled_from([2, 3, 1000]),
)
def test_every_fairlet_and_every_cluster_keeps_the_balance(seed, n, n_features, share, largest_q, n_values):
    rng = np.random.default_rng(seed)
    X, groups = rng.integers(n_values, size=(n, n_features)).astype(float), (rng.random(n) < share).astype(int)
    groups[:2] = 0, 1
    fewer, more = np.sort(np.bincount(groups))
    if fewer * largest_q < more:
        with pytest.raises(NoClusteringError):
            tree_fairlets(X, groups, np.random.default_rng(seed), largest_q)
        return
    balance = promised_balance(fewer, more, largest_q)
    fairlets = tree_fairlets(X, groups, np.random.default_rng(seed), largest_q)
    assert set(fairlets) == set(range(fairlets.max() + 1))
    counts = counts_of(fairlets, groups, fairlets.max() + 1)
    assert is_balanced(counts, balance)
    assert counts.sum(axis=0).max() <= balance.numerator + balance.denominator
    labels = methods.get("tree-fairlets")().fit(X, groups, 4, np.random.default_rng(seed), largest_q=largest_q)
    assert is_balanced(counts_of(labels, groups, 4), balance)


def test_balanced_blobs_become_separate_clusters():
    """Two balanced blobs lie in opposite corners, so any shift of the root separates them."""
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [1e6, 1e6]], 40, axis=0) + rng.normal(size=(80, 2))
    groups = np.tile([0, 1], 40)
    for seed in range(10):
        labels = cluster_fairlets(X, tree_fairlets(X, groups, np.random.default_rng(seed), 1), 2, np.random.default_rng(0))
        assert len(set(labels[:40])) == len(set(labels[40:])) == 1 and labels[0] != labels[40]


def test_units_and_offsets_do_not_matter_but_the_random_shift_does():
    rng = np.random.default_rng(0)
    X, groups = rng.integers(0, 2**20, size=(300, 3)).astype(float), (rng.random(300) < 0.4).astype(int)
    fairlets = tree_fairlets(X, groups, np.random.default_rng(0))
    assert (fairlets == tree_fairlets(X * 2.0**-60, groups, np.random.default_rng(0))).all()
    assert (fairlets == tree_fairlets(X - 2.0**25, groups, np.random.default_rng(0))).all()
    assert (fairlets != tree_fairlets(X, groups, np.random.default_rng(1))).any()
