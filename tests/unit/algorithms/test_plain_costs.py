"""The costs of plain k-means, by which prices of fairness divide, depend only on the rows and on k."""

import numpy as np
import pytest

from clusterlets.algorithms import plain_costs
from clusterlets.algorithms.kmeans import kmeans


@pytest.fixture
def rows():
    return np.random.default_rng(3).normal(size=(300, 2))


def test_there_are_50_starts_by_default_and_the_least_cost_is_the_minimum(rows):
    costs = plain_costs.plain_costs(rows, 6)
    assert len(costs) == 50 and len(set(costs.round(9))) > 1
    assert plain_costs.least_plain_cost(rows, 6) == costs.min() < plain_costs.least_plain_cost(rows, 6, 1)


def test_the_number_of_starts_does_not_change_the_first_costs(rows):
    assert np.array_equal(plain_costs.plain_costs(rows, 6, 7), plain_costs.plain_costs(rows, 6)[:7])


def test_no_cost_exceeds_the_inertia_of_k_means_from_the_same_start(rows):
    """The inertia is computed with the last centres, and the cost with the means of the clusters, so it may be lower."""
    inertias = [kmeans(rows, 6, np.random.default_rng(start)).inertia for start in range(50)]
    assert (plain_costs.plain_costs(rows, 6) <= np.array(inertias) * (1 + 1e-12)).all()


def test_the_least_cost_depends_on_the_rows_and_not_on_their_layout(rows):
    least = plain_costs.least_plain_cost(rows, 4)
    assert plain_costs.least_plain_cost(np.asfortranarray(rows), 4) == least
    assert plain_costs.least_plain_cost(rows + 1e-3 * rows**2, 4) != least


def test_large_tables_get_fewer_starts(monkeypatch, rows):
    monkeypatch.setattr(plain_costs, "MANY_ROWS", 299)
    assert len(plain_costs.plain_costs(rows, 3)) == 10


def test_a_table_with_fewer_distinct_rows_than_clusters_costs_nothing():
    assert plain_costs.least_plain_cost(np.repeat([[0.0], [1.0]], 5, axis=0), 4) == 0
