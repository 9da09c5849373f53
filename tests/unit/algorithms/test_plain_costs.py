"""Prices of fairness divide by costs of plain k-means, which depend on the rows and k alone: the starts have fixed seeds."""

import numpy as np
import pytest

from clusterlets.algorithms import plain_costs
from clusterlets.algorithms.kmeans import kmeans


@pytest.fixture
def rows():
    return np.random.default_rng(3).normal(size=(300, 2))


def test_further_starts_do_not_change_the_first_costs_and_the_least_cost_is_their_minimum(rows):
    costs = plain_costs.plain_costs(rows, 6)
    assert len(costs) == 50 and len(set(costs.round(9))) > 1
    assert np.array_equal(plain_costs.plain_costs(rows, 6, 7), costs[:7])
    assert plain_costs.least_plain_cost(rows, 6) == costs.min() < plain_costs.least_plain_cost(rows, 6, 1)
    inertias = [kmeans(rows, 6, np.random.default_rng(start)).inertia for start in range(50)]
    # The costs are computed with the final means, the inertias with the last centres.
    assert np.all(costs <= np.array(inertias) * (1 + 1e-12))


def test_the_least_cost_depends_on_the_rows_and_not_on_their_layout(rows):
    least = plain_costs.least_plain_cost(rows, 4)
    assert plain_costs.least_plain_cost(np.asfortranarray(rows), 4) == least
    assert plain_costs.least_plain_cost(rows + 1e-3 * rows**2, 4) != least


def test_large_tables_get_fewer_starts_and_tables_with_few_distinct_rows_cost_nothing(monkeypatch, rows):
    monkeypatch.setattr(plain_costs, "MANY_ROWS", 299)
    assert len(plain_costs.plain_costs(rows, 3)) == 10
    assert plain_costs.least_plain_cost(np.repeat([[0.0], [1.0]], 5, axis=0), 4) == 0
