"""``log``, ``exp`` and the Kullback-Leibler divergence, with the same bits on every processor.

NumPy and the C library use different polynomials on different processors, so the last bits of their results differ. Here each
step is an operation whose rounding IEEE 754 fixes (+, -, *, / or scaling by a power of two), and the source fixes the order of
the steps. The error is below one unit in the last place.
"""

from math import factorial

import numpy as np
from numpy.typing import ArrayLike

_SQRT_HALF = 0.7071067811865476
_LOG2_E = 1.4426950408889634
# log(2) is the sum of these two parts. The first has 32 bits, so that its product with the exponent of a float is exact.
_LN2_HIGH = float.fromhex("0x1.62e42feep-1")
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
# Coefficients of two power series, the highest power first, with all terms that can change a bit:
# 2 atanh(s) / s - 2 in powers of s squared, where |s| < .172, and (exp(r) - 1) / r - 1 in powers of r, where |r| < .347.
_ATANH = tuple(2 / (2 * power + 1) for power in range(11, 0, -1))
_EXP = tuple(1 / factorial(power + 1) for power in range(13, 0, -1))
_MAX_EXPONENT = 2000.0  # exp(2000) overflows, and exp(-2000) is 0


def log(x: ArrayLike) -> np.ndarray:
    """Natural logarithm, elementwise, as float64: -inf for 0 and NaN for negative numbers, without warnings. O(n).

    x is written as 2**k (1 + f), with 1 + f between the square roots of 1/2 and 2. With s = f / (2 + f), log(1 + f) is
    2 atanh(s), which equals f - s (f - tail), where tail is 2 atanh(s) / s - 2.
    """
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(all="ignore"):
        mantissa, exponent = np.frexp(x)  # the mantissa is at least 1/2 and below 1
        is_small = mantissa < _SQRT_HALF
        k, f = exponent - is_small, np.where(is_small, 2 * mantissa, mantissa) - 1
        s = f / (2 + f)
        tail = _polynomial(_ATANH, s * s)
        logarithm = k * _LN2_HIGH + (f - (s * (f - tail) - k * _LN2_LOW))
    return np.where(x > 0, np.where(x < np.inf, logarithm, x), np.where(x == 0, -np.inf, np.nan))


def exp(x: ArrayLike) -> np.ndarray:
    """Exponential, elementwise, as float64: inf if the result is too large, 0 if it is too small, without warnings. O(n).

    x is written as k log(2) + r, with \\|r\\| at most half of log(2). Then exp(x) = 2**k exp(r).
    """
    x = np.clip(np.asarray(x, dtype=np.float64), -_MAX_EXPONENT, _MAX_EXPONENT)
    with np.errstate(all="ignore"):
        k = np.rint(np.nan_to_num(x) * _LOG2_E)
        high, low = x - k * _LN2_HIGH, k * _LN2_LOW
        r = high - low
        return np.ldexp(1 + (high + (r * _polynomial(_EXP, r) - low)), k.astype(np.int32))


def kullback_leibler(shares: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Kullback-Leibler divergence of each row of ``shares`` (C, K) from positive shares ``expected`` (K,), in nats."""
    ratios = np.where(shares > 0, shares / expected, 1.0)
    return (shares * log(ratios)).sum(axis=1)


def _polynomial(coefficients: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    """A polynomial by Horner's rule. The last coefficient belongs to x; there is no constant term."""
    value = np.zeros_like(x)
    for coefficient in coefficients:
        value = (value + coefficient) * x
    return value
