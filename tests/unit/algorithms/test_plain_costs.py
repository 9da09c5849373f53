"""The costs of plain k-means that prices divide by depend on the rows and k alone, as the seeds of the starts are fixed."""

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
    inertia = [kmeans(rows, 6, np.random.default_rng(start)).inertia for start in range(50)]
    assert np.all(costs <= np.array(inertia) * (1 + 1e-12))  # the means of the clusters cost no more than the last centres


def test_the_least_cost_depends_on_the_rows_and_not_on_their_layout(rows):
    least = plain_costs.least_plain_cost(rows, 4)
    assert plain_costs.least_plain_cost(np.asfortranarray(rows), 4) == least
    assert plain_costs.least_plain_cost(rows + 1e-3 * rows**2, 4) != least


def test_many_rows_get_fewer_starts_and_fewer_distinct_rows_than_clusters_cost_nothing(monkeypatch, rows):
    monkeypatch.setattr(plain_costs, "MANY_ROWS", 299)
    assert len(plain_costs.plain_costs(rows, 3)) == 10
    assert plain_costs.least_plain_cost(np.repeat([[0.0], [1.0]], 5, axis=0), 4) == 0
