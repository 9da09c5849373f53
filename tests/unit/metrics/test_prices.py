"""The price of fairness, computed by hand."""

import numpy as np
import pytest

from clusterlets.metrics.prices import price_of_fairness


def test_price_of_fairness_interpolates_log_cost_over_log_size():
    reference = {2: 100.0, 8: 25.0}
    assert price_of_fairness(100.0, 4, reference) == pytest.approx(2.0)
    assert price_of_fairness(25.0, 8, reference) == pytest.approx(1.0)
    assert np.isnan(price_of_fairness(25.0, 9, reference))
    assert np.isnan(price_of_fairness(float("nan"), 4, reference))
    assert np.isnan(price_of_fairness(5.0, 2, {2: 0.0}))
    assert price_of_fairness(0.5, 20, {2: 1.0, 8: 0.5, 20: 0.25}) == pytest.approx(2.0)
    assert np.isnan(price_of_fairness(1.0, 1, {2: 1.0, 8: 0.5}))
