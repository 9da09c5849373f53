"""Spreads and correlations match exact arithmetic and pandas, in any order of the rows."""

from fractions import Fraction
from math import isnan, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clusterlets.benchmark.analysis.descriptive import COEFFICIENTS, correlation, std, variance

NUMBERS = st.floats(min_value=-1e6, max_value=1e6, allow_subnormal=False).map(lambda value: round(value, 6))


@given(st.lists(NUMBERS, min_size=1, max_size=60))
def test_the_variance_matches_exact_arithmetic(values):
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    expected = float(sum((value - mean) ** 2 for value in exact) / len(exact))
    rounding_error = 1e-30 * max(map(abs, values)) ** 2  # the mean itself is rounded
    assert variance(values) == pytest.approx(expected, rel=1e-14, abs=rounding_error)
    assert std(values) == sqrt(variance(values))


@given(st.lists(st.tuples(NUMBERS, NUMBERS | st.sampled_from([0.0, 0.25, 0.5])), min_size=3, max_size=60))
def test_spreads_and_coefficients_match_pandas(pairs):
    frame = pd.DataFrame(pairs, columns=["x", "y"])
    assert std(frame["x"]) == pytest.approx(frame["x"].std(ddof=0), rel=1e-12, abs=1e-9 * frame["x"].abs().max())
    assume(all(std(frame[column]) > 1e-3 * frame[column].abs().max() for column in "xy"))
    for coefficient in COEFFICIENTS:
        expected = frame.corr(method=coefficient).loc["x", "y"]
        assert correlation(frame["x"], frame["y"], coefficient) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_missing_values_are_ignored_and_an_undefined_result_is_nan(coefficient):
    assert variance([1.0, np.nan, 3.0]) == 1.0 and isnan(variance([])) and isnan(std([np.nan]))
    assert isnan(correlation([1, 2], [2, 1], coefficient))
    assert isnan(correlation([1, 2, 3], [5, 5, 5], coefficient)) and isnan(correlation([5, 5, 5], [1, 2, 3], coefficient))


def test_the_order_of_the_rows_changes_no_bit():
    # Sums in row order, as in pandas, would differ in their last bits.
    rng = np.random.default_rng(0)
    x = rng.random(5000)
    y = x + rng.random(5000)
    orders = [np.arange(5000), *(rng.permutation(5000) for _ in range(5))]
    assert len({variance(x[order]) for order in orders}) == 1
    for coefficient in COEFFICIENTS:
        assert len({correlation(x[order], y[order], coefficient) for order in orders}) == 1
