"""Tabu search lowers the cost by several moves that keep the limits only together, and never leaves the limits."""

import numpy as np
import pytest
from fair_tables import counts_of, sse

from clusterlets.algorithms.tabu_moves import cheaper_labels


def test_three_rows_pass_in_a_circle_although_no_single_move_keeps_the_limits():
    """Every cluster holds one row of each group. One row of group 0, 1 and 2 each belongs one cluster further."""
    X = np.repeat([0.0, 10.0, 20.0], 3)[:, None]
    groups, right = np.tile([0, 1, 2], 3), np.repeat([0, 1, 2], 3)
    labels = right.copy()
    labels[[0, 3, 6]] = 1, 2, 0
    exact = np.concatenate([np.eye(3, dtype=int), -np.eye(3, dtype=int)])  # one row of each group
    slack = np.repeat([1, -1], 3)[:, None]
    best = cheaper_labels(X, groups, labels, counts_of(labels, groups, 3), exact, slack, 100)
    assert sse(X, labels) > 0 == sse(X, best) and np.array_equal(best, right)
    assert np.array_equal(cheaper_labels(X, groups, labels, counts_of(labels, groups, 3), exact, slack, 0), labels)


@pytest.mark.parametrize("seed", range(4))
def test_limits_hold_and_the_cost_never_rises(seed):
    """The first limit allows at most two thirds of group 0, and the second at least four rows in a cluster."""
    rng = np.random.default_rng(seed)
    X, groups, labels = rng.normal(size=(30, 2)), np.tile([0, 1], 15), np.repeat([0, 1, 2], 10)
    rows, slack = np.array([[1, -2], [-1, -1]]), np.array([[0], [-4]])
    best = cheaper_labels(X, groups, labels, counts_of(labels, groups, 3), rows, slack, 200)
    counts = counts_of(best, groups, 3)
    assert (rows @ counts <= slack).all() and sse(X, best) < 0.8 * sse(X, labels)
