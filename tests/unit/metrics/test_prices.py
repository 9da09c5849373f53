"""Prices of a clustering, by hand."""

import numpy as np
import pytest

from clusterlets.metrics.prices import price_of_fairness, price_over_best


def test_price_of_fairness_interpolates_log_cost_over_log_size():
    reference = {2: 100.0, 8: 25.0}
    assert price_of_fairness(100.0, 4, reference) == pytest.approx(2.0)
    assert price_of_fairness(25.0, 8, reference) == pytest.approx(1.0)
    assert np.isnan(price_of_fairness(25.0, 9, reference))
    assert np.isnan(price_of_fairness(float("nan"), 4, reference))
    assert np.isnan(price_of_fairness(5.0, 2, {2: 0.0}))
    assert price_of_fairness(0.5, 20, {2: 1.0, 8: 0.5, 20: 0.25}) == pytest.approx(2.0)
    assert np.isnan(price_of_fairness(1.0, 1, {2: 1.0, 8: 0.5}))


def test_price_over_best_by_hand():
    best = {2: 100.0, 8: 25.0}  # log cost over log size: 50 for four clusters
    assert price_over_best(100.0, 4, best, 60.0) == pytest.approx(2.0)
    assert price_over_best(100.0, 4, best, 40.0) == pytest.approx(2.5)  # a run that undercuts the interpolation
    assert price_over_best(40.0, 4, best, 40.0) == 1
    assert np.isnan(price_over_best(10.0, 9, best, 10.0))
    assert np.isnan(price_over_best(0.0, 4, best, 0.0))
