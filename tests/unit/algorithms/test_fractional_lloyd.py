"""Lloyd's algorithm with fractional fair assignments gives centres of lower fair cost than plain k-means."""

import numpy as np
import pytest
from fair_tables import dual_of, table
from hypothesis import given, settings
from hypothesis import strategies as st

import clusterlets.algorithms.fractional_lloyd as module
from clusterlets.algorithms.fractional_lloyd import fractional_lloyd
from clusterlets.algorithms.geometry import squared_distances_to_centres
from clusterlets.algorithms.limits import limits_of_fit
from clusterlets.algorithms.weighted_kmeans import weighted_kmeans

KINDS = ["plain", "duplicates", "apart", "equal"]


def random_weights(seed, groups):
    """Random weights that add up to the number of instances in each group, as in a sample that represents a table."""
    weights = np.random.default_rng(seed).uniform(0.5, 5, size=len(groups))
    return weights * (np.bincount(groups) / np.bincount(groups, weights))[groups]


def fair_cost(X, weights, groups, centres, rows, slack):
    """The least cost of a fractional assignment to the centres within the limits, according to the dual."""
    return dual_of(squared_distances_to_centres(X, centres, len(centres)), weights, groups, rows, slack).bound


@settings(max_examples=50)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(6, 80),
    k=st.integers(1, 6),
    n_groups=st.integers(1, 5),
    kind=st.sampled_from(KINDS),
    delta=st.sampled_from([0.0, 0.2, 0.9]),
)
def test_centres_lie_among_the_rows_and_multipliers_are_not_negative(seed, n, k, n_groups, kind, delta):
    X, groups = table(np.random.default_rng(seed), n, n_groups, kind)
    weights, (rows, (slack,)) = random_weights(seed, groups), limits_of_fit(groups, k, delta)
    result = fractional_lloyd(X, weights, groups, rows, slack, np.random.default_rng(seed))
    assert result.centres.shape == (k, 2) and np.isfinite(result.centres).all()
    assert (result.centres >= X.min(axis=0) - 1e-9).all() and (result.centres <= X.max(axis=0) + 1e-9).all()
    assert result.multipliers.shape == (len(rows), k) and (result.multipliers >= 0).all()


@pytest.mark.parametrize("kind", ["plain", "apart"])
@pytest.mark.parametrize("n_groups", [2, 3])
def test_the_fair_cost_is_lower_at_these_centres_than_at_those_of_plain_k_means(kind, n_groups):
    for seed in range(3):
        X, groups = table(np.random.default_rng(seed), 300, n_groups, kind)
        weights, (rows, (slack,)) = random_weights(0, groups), limits_of_fit(groups, 4)
        plain_centres, _ = weighted_kmeans(X, weights, 4, np.random.default_rng(seed))
        centres = fractional_lloyd(X, weights, groups, rows, slack, np.random.default_rng(seed)).centres
        plain_cost = fair_cost(X, weights, groups, plain_centres, rows, slack)
        assert fair_cost(X, weights, groups, centres, rows, slack) < plain_cost


def test_more_rounds_and_more_starts_do_not_raise_the_cost(monkeypatch):
    X, groups = table(np.random.default_rng(1), 400, 2, "apart")
    weights, (rows, (slack,)) = np.ones(400), limits_of_fit(groups, 6)
    costs = {}
    for n_init, max_rounds in ((1, 1), (1, 5), (1, 30), (6, 30)):
        monkeypatch.setattr(module, "_TRIAL_ROUNDS", min(5, max_rounds))
        monkeypatch.setattr(module, "_MAX_ROUNDS", max(1, max_rounds - 5))
        random_state = np.random.default_rng(4)  # the first of six starts is also the only start of n_init = 1
        centres = fractional_lloyd(X, weights, groups, rows, slack, random_state, n_init).centres
        costs[n_init, max_rounds] = fair_cost(X, weights, groups, centres, rows, slack)
    assert costs[1, 30] < costs[1, 5] < costs[1, 1]
    assert costs[6, 30] <= costs[1, 30] * (1 + 1e-3)


def test_centres_are_repeated_if_there_are_fewer_distinct_rows_than_clusters():
    X, groups = np.repeat([[0.0], [9.0]], 10, axis=0), np.tile([0, 1], 10)
    rows, (slack,) = limits_of_fit(groups, 5)
    centres = fractional_lloyd(X, np.ones(20), groups, rows, slack, np.random.default_rng(0)).centres
    assert centres.shape == (5, 1)
    assert np.abs(centres - [[0.0, 9.0]]).min(axis=0) == pytest.approx([0, 0], abs=0.1)
