"""``log``, ``exp`` and a divergence with the same bits on every processor.

NumPy and the C library use different polynomials on different processors (AVX-512, fused multiply-add, neither), and their
last bits differ. Here each step is one operation that IEEE 754 rounds exactly (+, -, *, /, and scaling by a power of
two), in an order that the source fixes. The error is below one unit in the last place.
"""

from math import factorial

import numpy as np
from numpy.typing import ArrayLike

_SQRT_HALF = 0.7071067811865476
_LOG2_E = 1.4426950408889634
# The logarithm of 2 in two parts: the first has 32 bits, so that its product with an exponent of two is exact.
_LN2_HIGH = float.fromhex("0x1.62e42feep-1")
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
# Coefficients of the series, the highest power first, up to the last one that can change a bit:
# of 2 atanh(s) / s - 2 in s squared, where |s| < .172, and of (exp(r) - 1) / r - 1 in r, where |r| < .347.
_ATANH = tuple(2 / (2 * power + 1) for power in range(11, 0, -1))
_EXP = tuple(1 / factorial(power + 1) for power in range(13, 0, -1))
_BEYOND = 2000.0  # exp of it overflows, and exp of its negative is 0


def log(x: ArrayLike) -> np.ndarray:
    """Natural logarithm, elementwise, as float64: -inf at 0, NaN below it, no warning. O(n).

    x = 2**k (1 + f) with 1 + f between the square roots of 1/2 and 2. With s = f / (2 + f), log(1 + f) = 2 atanh(s), which
    is f - s (f - tail) with the tail of the series.
    """
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(all="ignore"):
        mantissa, exponent = np.frexp(x)  # from 1/2 up to 1
        small = mantissa < _SQRT_HALF
        k, f = exponent - small, np.where(small, 2 * mantissa, mantissa) - 1
        s = f / (2 + f)
        tail = _polynomial(_ATANH, s * s)
        logarithm = k * _LN2_HIGH + (f - (s * (f - tail) - k * _LN2_LOW))
    return np.where(x > 0, np.where(x < np.inf, logarithm, x), np.where(x == 0, -np.inf, np.nan))


def exp(x: ArrayLike) -> np.ndarray:
    """Exponential, elementwise, as float64: inf where it is too large, 0 where it is too small, no warning. O(n).

    x = k log(2) + r with \\|r\\| at most half of log(2); exp(x) = 2**k exp(r).
    """
    x = np.clip(np.asarray(x, dtype=np.float64), -_BEYOND, _BEYOND)
    with np.errstate(all="ignore"):
        k = np.rint(np.nan_to_num(x) * _LOG2_E)
        high, low = x - k * _LN2_HIGH, k * _LN2_LOW
        r = high - low
        return np.ldexp(1 + (high + (r * _polynomial(_EXP, r) - low)), k.astype(np.int32))


def kullback_leibler(shares: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Divergence of each row of ``shares`` (C, K) from ``expected`` (K,), in nats: finite, as no expected share is 0."""
    ratios = np.where(shares > 0, shares / expected, 1.0)
    return (shares * log(ratios)).sum(axis=1)


def _polynomial(coefficients: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    """Horner's rule; the last coefficient is that of x, and there is no constant."""
    value = np.zeros_like(x)
    for coefficient in coefficients:
        value = (value + coefficient) * x
    return value
