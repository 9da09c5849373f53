"""Fairlets cost as little as an optimal assignment. Fairlets and clusters of fairlets keep the balance.

As in the module, reds are the rows of the rarer group, and blues are the other rows.
"""

import os
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from fair_tables import sse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from clusterlets import methods
from clusterlets.algorithms import fairlets as module
from clusterlets.algorithms.fairlets import cheapest_reds, fairlet_decomposition
from clusterlets.algorithms.tree_fairlets import tree_fairlets
from clusterlets.algorithms.weighted_kmeans import cluster_fairlets
from clusterlets.errors import ClusterletsError

CHECKOUT = Path(__file__).parents[3]
# Tables that the package fair-kmeans on PyPI publishes, and the sums of squares that it reaches on them.
PUBLISHED_FOLDER = Path(os.environ.get("CLUSTERLETS_FIELD") or CHECKOUT.parent / "shared" / "field")


def reds_and_blues(rng, n_reds, n_blues, n_features, kind):
    shape = (n_reds + n_blues, n_features)
    X = rng.integers(3, size=shape).astype(float) if kind == "duplicates" else rng.normal(size=shape)
    if kind == "apart":
        X[:n_reds] += 50
    if kind == "outlier":
        X[0] = 1e6
    return X[:n_reds], X[n_reds:]


def cost(reds, blues, assigned_reds):
    return ((blues - reds[assigned_reds]) ** 2).sum()


def least_cost(reds, blues):
    """The least cost of fairlets: that of an optimal assignment of the blues to copies of the reds.

    Dummy blues take the copies that are left over. They cost nothing on the last copy of a red, and more than any assignment
    elsewhere.
    """
    copies_per_red, remainder = divmod(len(blues), len(reds))
    squares = ((blues[:, None] - reds) ** 2).sum(axis=2)
    n_dummies = len(reds) - remainder if remainder else 0
    copy_costs = np.hstack([squares] * (copies_per_red + bool(remainder)))
    dummy_costs = np.zeros((n_dummies, copy_costs.shape[1]))
    dummy_costs[:, : copies_per_red * len(reds)] = squares.sum() * 10
    all_costs = np.vstack([copy_costs, dummy_costs])
    return all_costs[linear_sum_assignment(all_costs)].sum()


@settings(max_examples=120)
@given(
    seed=st.integers(0, 10**6),
    n_reds=st.integers(1, 40),
    n_more_blues=st.integers(0, 100),
    kind=st.sampled_from(["plain", "duplicates", "apart", "outlier"]),
    n_neighbours=st.integers(1, 12),
    use_auction=st.booleans(),
)
def test_fairlets_are_as_cheap_as_an_optimal_assignment(seed, n_reds, n_more_blues, kind, n_neighbours, use_auction):
    reds, blues = reds_and_blues(np.random.default_rng(seed), n_reds, n_reds + n_more_blues, 3, kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "NEIGHBOURS", n_neighbours)
        patch.setattr(module, "MAX_PAIRS", 0 if use_auction else 10**9)
        assigned_reds = cheapest_reds(reds, blues)
    blues_per_red = np.bincount(assigned_reds, minlength=n_reds)
    assert blues_per_red.min() >= len(blues) // n_reds and blues_per_red.max() <= -(-len(blues) // n_reds)
    largest_cost = (np.ptp(np.vstack([reds, blues]), axis=0) ** 2).sum()
    # Costs are rounded to whole numbers of steps. The largest has 40 bits, so a step is at most 2^-39 of it.
    rounding = len(blues) * 2.0**-39 * largest_cost
    assert cost(reds, blues, assigned_reds) <= least_cost(reds, blues) * (1 + 1e-12) + rounding


@pytest.mark.parametrize("max_pairs", [0, 10**9])
@pytest.mark.parametrize(("n_reds", "n_blues", "n_values"), [(300, 300, 4), (280, 700, 3), (300, 421, 1000)])
def test_the_cost_is_least_with_several_tiles_and_many_equal_rows(n_reds, n_blues, n_values, max_pairs, monkeypatch):
    # A tile has 128 rows.
    monkeypatch.setattr(module, "MAX_PAIRS", max_pairs)
    rng = np.random.default_rng(8)
    reds, blues = (rng.integers(n_values, size=(n, 2)).astype(float) for n in (n_reds, n_blues))
    assert cost(reds, blues, cheapest_reds(reds, blues)) == pytest.approx(least_cost(reds, blues), rel=1e-9)


def test_the_fairlets_of_small_tables_equal_those_worked_out_by_hand():
    X = np.array([[0.0], [10.0], [1.0], [2.0], [3.0], [9.0]])
    # The reds are at 0 and 10, and each takes two blues. So the blue at 3 goes to 10, although 0 is nearer.
    assert fairlet_decomposition(X, np.array([0, 0, 1, 1, 1, 1])).tolist() == [0, 1, 0, 0, 1, 1]
    # The blues are at 1, 2 and 3. The red at 10 takes only the blue at 3, and the red at 0 takes the other two.
    assert fairlet_decomposition(X[:5], np.array([0, 0, 1, 1, 1])).tolist() == [0, 1, 0, 0, 1]
    # The reds are the rarer group, whatever its code.
    assert fairlet_decomposition(X, np.array([1, 1, 0, 0, 0, 0])).tolist() == [0, 1, 0, 0, 1, 1]


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 60), share=st.floats(0.02, 0.98), k=st.integers(1, 60))
def test_fairlets_and_clusters_keep_the_balance(seed, n, share, k):
    rng = np.random.default_rng(seed)
    X, groups = rng.integers(5, size=(n, 2)).astype(float), (rng.random(n) < share).astype(int)
    groups[:2] = 0, 1
    fairlets = fairlet_decomposition(X, groups)
    labels = methods.get("fairlets")().fit(X, groups, k, np.random.default_rng(seed))
    n_reds, n_blues = np.sort(np.bincount(groups))
    is_red = groups == np.bincount(groups).argmin()
    for partition in (fairlets, labels):
        red_counts, blue_counts = np.bincount(partition, is_red), np.bincount(partition, ~is_red)
        assert (red_counts > 0).all() and (blue_counts >= red_counts * (n_blues // n_reds)).all()
        assert (blue_counts <= red_counts * -(-n_blues // n_reds)).all()
    assert set(fairlets) == set(range(n_reds))
    assert set(labels) == set(range(labels.max() + 1)) and labels.max() < k


def test_fits_share_the_fairlets_of_a_table_if_the_caller_says_so(monkeypatch):
    decompose = Mock(wraps=fairlet_decomposition)
    monkeypatch.setattr(module, "fairlet_decomposition", decompose)
    X, groups = np.random.default_rng(5).normal(size=(60, 2)), (np.arange(60) % 3 == 0).astype(int)
    shared = {}
    for seed, handed_in in [(0, shared), (1, shared), (1, None), (2, None)]:
        _, clusterings = methods.fit(methods.get("fairlets"), X, groups, 4, np.random.default_rng(seed), {}, shared=handed_in)
        expected = cluster_fairlets(X, fairlet_decomposition(X, groups), 4, np.random.default_rng(seed))
        assert (clusterings["fairlets"] == expected).all()
    assert decompose.call_count == 3  # one for the first two fits, and one for each of the others


@pytest.mark.parametrize("X", [np.zeros((7, 2)), np.full((7, 1), 1e-300), np.linspace(0, 1e99, 7)[:, None]])
def test_constant_and_extreme_features_have_fairlets(X):
    fairlets = fairlet_decomposition(X, np.array([0, 1, 1, 1, 1, 1, 0]))
    assert sorted(np.bincount(fairlets)) == [3, 4]


@pytest.mark.parametrize("make_fairlets", [fairlet_decomposition, lambda *table: tree_fairlets(*table, None)])
@pytest.mark.parametrize(("groups", "n_groups"), [([0, 0, 0, 0], 1), ([0, 1, 2, 0], 3)])
def test_one_group_or_three_groups_are_refused(groups, n_groups, make_fairlets):
    with pytest.raises(ClusterletsError, match=f"two groups, 0 and 1, not {n_groups}"):
        make_fairlets(np.zeros((4, 1)), np.array(groups))


@pytest.mark.parametrize("name", ["adult", "bank"])
def test_clusters_cost_at_most_one_percent_more_than_published(name):
    if not PUBLISHED_FOLDER.is_dir():
        pytest.skip(f"no files with published sums: neither CLUSTERLETS_FIELD nor {PUBLISHED_FOLDER} is a folder")
    rows = np.loadtxt(PUBLISHED_FOLDER / "balanced" / f"{name}.csv", delimiter=",", skiprows=1)
    X, groups = np.ascontiguousarray(rows[:, 1:]), rows[:, 0].astype(int)
    published_rows = [line.split(",") for line in (PUBLISHED_FOLDER / "balanced" / "expected.csv").read_text().split()[1:]]
    published_sums = {int(k): float(total) for table_name, k, total in published_rows if table_name == name}
    assert published_sums
    fairlets = fairlet_decomposition(X, groups)
    for k, total in published_sums.items():
        labels = cluster_fairlets(X, fairlets, k, np.random.default_rng(0), n_init=10)
        assert len(set(labels)) == k and sse(X, labels) <= total * 1.01
        assert (np.bincount(labels, groups) * 2 == np.bincount(labels)).all()
