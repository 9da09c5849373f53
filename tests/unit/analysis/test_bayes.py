"""The Bayesian signed-rank test."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from clusterlets.analysis import bayes

# Allowed error of a simulated probability: three standard errors of a probability of 1/2, and the effect of Laplace's rule.
TOLERANCE = 3 * 0.5 / np.sqrt(bayes.DRAWS) + 2 / bayes.DRAWS


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("sign", [-1, 1])
def test_probabilities_for_large_differences_of_one_sign_match_a_closed_form(n, sign):
    """Only the average of the prior's 0 with itself is within the region, because half of each difference is outside.

    This average has the square of the 0's weight. A draw that makes it less than one half counts for the differences' sign.
    """
    below, within, above = bayes.posterior(sign * np.linspace(0.02, 0.4, n))
    probability_outside = beta.cdf(np.sqrt(0.5), bayes.PRIOR, n)
    assert (below if sign < 0 else above) == pytest.approx(probability_outside, abs=TOLERANCE)
    assert within == pytest.approx(1 - probability_outside, abs=TOLERANCE)
    assert (above if sign < 0 else below) == 1 / (bayes.DRAWS + 3)  # no draw, and one by Laplace's rule


@pytest.mark.parametrize("n", [1, 4])
def test_probabilities_for_differences_just_outside_the_region_match_a_closed_form(n):
    """Averages with the prior's 0 are within the region, and all others outside.

    The weights of those outside add up to the square of the sum of the other weights.
    """
    _, within, above = bayes.posterior(np.linspace(0.006, 0.009, n))
    assert above == pytest.approx(beta.cdf(1 - np.sqrt(0.5), bayes.PRIOR, n), abs=TOLERANCE)
    assert within == pytest.approx(1 - above, abs=2 / bayes.DRAWS)


def test_negated_differences_swap_the_outer_probabilities():
    differences = np.random.default_rng(5).normal(0.004, 0.01, 9)
    assert bayes.posterior(-differences) == pytest.approx(bayes.posterior(differences)[::-1], abs=1e-12)


def test_differences_up_to_the_edge_of_the_region_count_as_equivalent():
    for small_differences in (np.linspace(-0.004, 0.004, 7), []):
        assert bayes.posterior(small_differences)[1] == (bayes.DRAWS + 1) / (bayes.DRAWS + 3)
    assert bayes.posterior([0.1 + 0.2 - 0.3 + 0.005] * 8)[1] > 0.999  # more than 0.005 only by rounding errors


def test_every_pair_of_methods_is_compared_once():
    values = pd.DataFrame(np.random.default_rng(0).random((6, 3)), columns=list("abc"))
    table = bayes.signed_ranks({"x": values, "y": values[["a", "b"]]})
    assert list(table.columns) == bayes.COLUMNS
    assert table[["ranking", "method", "other"]].agg("".join, axis=1).tolist() == ["xab", "xac", "xbc", "yab"]
    columns = ["probability_lower", "probability_equivalent", "probability_higher"]
    assert tuple(table.loc[2, columns]) == bayes.posterior(values["b"] - values["c"])
