"""Logarithms and exponentials match decimal arithmetic, and have the same bits on every processor."""

import hashlib
from decimal import Decimal, localcontext

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clusterlets.algorithms.elementary import exp, log

SMALLEST, LARGEST = 5e-324, np.finfo(float).max
POSITIVE = st.floats(min_value=SMALLEST, max_value=LARGEST)


def error_in_ulps(value, exact):
    """The error of a value, in units in the last place (ulps) of the exact value."""
    return float(abs(Decimal(float(value)) - exact) / Decimal(float(np.spacing(abs(float(exact))))))


def with_50_digits(function, value):
    with localcontext(prec=50):
        return function(Decimal(float(value)))


@given(POSITIVE | st.floats(min_value=0.4, max_value=2.5) | st.floats(min_value=1 - 1e-9, max_value=1 + 1e-9))
def test_log_is_off_by_less_than_one_unit_in_the_last_place(x):
    exact = with_50_digits(Decimal.ln, x)
    assert log(x) == 0 if x == 1 else error_in_ulps(log(x), exact) < 1


@given(st.floats(min_value=-745, max_value=709.78) | st.floats(min_value=-1, max_value=1))
def test_exp_is_off_by_less_than_one_unit_in_the_last_place(x):
    assert error_in_ulps(exp(x), with_50_digits(Decimal.exp, x)) < 1


def test_results_are_accurate_at_the_ends_of_the_ranges_of_the_power_series():
    rng = np.random.default_rng(0)
    # log uses its series between the square roots of 1/2 and 2, and exp between -log(2) / 2 and log(2) / 2.
    x = np.concatenate([2.0**0.5 + rng.uniform(-1e-9, 1e-9, 500), 0.5**0.5 + rng.uniform(-1e-9, 1e-9, 500)])
    assert max(map(error_in_ulps, log(x), (with_50_digits(Decimal.ln, value) for value in x))) < 1
    x = (np.arange(-900, 900) + 0.5) * np.log(2) + rng.uniform(-1e-9, 1e-9, 1800)
    x = x[(x > -745) & (x < 709)]
    assert max(map(error_in_ulps, exp(x), (with_50_digits(Decimal.exp, value) for value in x))) < 1


def test_log_and_exp_are_correct_at_the_limits_of_float64():
    x = [0.0, -0.0, -1.0, -np.inf, np.inf, np.nan, 1.0, SMALLEST, LARGEST]
    expected = [-np.inf, -np.inf, np.nan, np.nan, np.inf, np.nan, 0.0, -744.4400719213812, 709.782712893384]
    np.testing.assert_array_equal(log(x), expected)
    x = [0.0, -0.0, np.inf, -np.inf, np.nan, 709.79, -745.2, -745.1, 1e308, -1e308]
    np.testing.assert_array_equal(exp(x), [1, 1, np.inf, 0, np.nan, np.inf, 0, SMALLEST, np.inf, 0])
    np.testing.assert_allclose(exp(709.782712893384), LARGEST, rtol=1e-12)


def test_results_have_the_shape_of_the_input_and_integers_are_accepted():
    assert log([[1, 2], [4, 8]]).shape == (2, 2) and exp(np.empty((0, 3))).shape == (0, 3)
    assert float(exp(0)) == 1 and float(log(1)) == 0


def test_log_and_exp_give_the_recorded_bits():
    """The digest must be the same on every processor. NumPy's log and exp give other bits with AVX-512 than without."""
    rng = np.random.default_rng(3)
    x = np.ldexp(rng.random(20_000), rng.integers(-1000, 1000, 20_000))
    y = 1449 * rng.random(20_000) - 740  # up to 709, the largest whole number with a finite exponential
    digest = hashlib.sha256(log(x).tobytes() + exp(y).tobytes()).hexdigest()
    assert digest == "eeffc22a8282f20e09a0e622c783d08751788ef5b4e93a27499d5d0f39104ee9"
