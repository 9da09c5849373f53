"""The Bayesian signed-rank test matches closed forms, is symmetric, and compares every pair of methods once."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from clusterlets.analysis import bayes

# The error allowed in a simulated probability: three standard errors of a probability of 1/2, and the effect of Laplace's rule.
TOLERANCE = 3 * 0.5 / np.sqrt(bayes.DRAWS) + 2 / bayes.DRAWS


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("sign", [-1, 1])
def test_probabilities_for_large_differences_of_one_sign_match_a_closed_form(n, sign):
    """Half of each difference is outside the region, so only the average of the prior's 0 with itself is within.

    The share of this average is the square of the weight of the 0. A draw counts for the sign of the differences if the
    square is less than one half.
    """
    below, within, above = bayes.posterior(sign * np.linspace(0.02, 0.4, n))
    probability_outside = beta.cdf(np.sqrt(0.5), bayes.PRIOR, n)
    assert (below if sign < 0 else above) == pytest.approx(probability_outside, abs=TOLERANCE)
    assert within == pytest.approx(1 - probability_outside, abs=TOLERANCE)
    assert (above if sign < 0 else below) == 1 / (bayes.DRAWS + 3)  # no draw, and one by Laplace's rule


@pytest.mark.parametrize("n", [1, 4])
def test_probabilities_for_differences_just_outside_the_region_match_a_closed_form(n):
    """Half of each difference is within the region, so all averages with the prior's 0 are, and no others.

    The share of the averages outside is the square of the sum of the other weights.
    """
    _, within, above = bayes.posterior(np.linspace(0.006, 0.009, n))
    assert above == pytest.approx(beta.cdf(1 - np.sqrt(0.5), bayes.PRIOR, n), abs=TOLERANCE)
    assert within == pytest.approx(1 - above, abs=2 / bayes.DRAWS)


def test_negated_differences_swap_the_outer_probabilities_and_differences_up_to_the_edge_count_as_equivalent():
    differences = np.random.default_rng(5).normal(0.004, 0.01, 9)
    assert bayes.posterior(-differences) == pytest.approx(bayes.posterior(differences)[::-1], abs=1e-12)
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
