"""The price of fairness equals values worked out by hand."""

import numpy as np
import pytest

from clusterlets.metrics.prices import price_of_fairness

PLAIN_COSTS = {2: 100.0, 8: 25.0, 20: 12.5}


@pytest.mark.parametrize(("cost", "k", "price"), [(100.0, 4, 2.0), (25.0, 8, 1.0), (25.0, 20, 2.0)])
def test_the_log_of_the_plain_cost_is_interpolated_over_the_log_of_k(cost, k, price):
    assert price_of_fairness(cost, k, PLAIN_COSTS) == pytest.approx(price)


@pytest.mark.parametrize(
    ("cost", "k", "plain_costs"),
    [(25.0, 21, PLAIN_COSTS), (25.0, 1, PLAIN_COSTS), (np.nan, 4, PLAIN_COSTS), (5.0, 2, {2: 0.0})],
)
def test_there_is_no_price_without_a_cost_or_without_a_plain_cost_above_0(cost, k, plain_costs):
    assert np.isnan(price_of_fairness(cost, k, plain_costs))
