"""The Bayesian signed-rank test against closed forms and a loop over the draws, and the symmetries it must have."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from clusterlets.analysis import bayes

# Three standard errors of a probability of one half, plus what Laplace's rule adds.
NEAR = 3 * 0.5 / np.sqrt(bayes.DRAWS) + 2 / bayes.DRAWS


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("sign", [-1, 1])
def test_differences_of_one_sign_beyond_twice_the_region_have_a_closed_form(n, sign):
    """Only the prior's observation paired with itself then lies within; outside wins if its squared weight is below a half."""
    below, within, above = bayes.posterior(sign * np.linspace(0.02, 0.4, n))
    outside = beta.cdf(np.sqrt(0.5), bayes.PRIOR, n)
    assert (below if sign < 0 else above) == pytest.approx(outside, abs=NEAR)
    assert within == pytest.approx(1 - outside, abs=NEAR)
    assert (above if sign < 0 else below) == 1 / (bayes.DRAWS + 3)


@pytest.mark.parametrize("n", [1, 4])
def test_differences_that_leave_the_region_only_in_pairs_have_a_closed_form(n):
    """Between one and two half-widths: averaged with the prior's observation they lie within; outside is the rest, squared."""
    _, within, above = bayes.posterior(np.linspace(0.006, 0.009, n))
    assert above == pytest.approx(beta.cdf(1 - np.sqrt(0.5), bayes.PRIOR, n), abs=NEAR)
    assert within == pytest.approx(1 - above, abs=2 / bayes.DRAWS)


def test_reversed_differences_swap_the_sides_and_those_within_the_region_and_on_its_edge_are_equivalent():
    shifted = np.random.default_rng(5).normal(0.004, 0.01, 9)
    assert bayes.posterior(-shifted) == pytest.approx(bayes.posterior(shifted)[::-1], abs=1e-12)
    for differences in (np.linspace(-0.004, 0.004, 7), []):
        assert bayes.posterior(differences)[1] == (bayes.DRAWS + 1) / (bayes.DRAWS + 3)
    assert bayes.posterior([0.1 + 0.2 - 0.3 + 0.005] * 8)[1] > 0.999  # 0.0050000000000000553


def test_every_pair_is_compared_once():
    values = pd.DataFrame(np.random.default_rng(0).random((6, 3)), columns=list("abc"))
    table = bayes.signed_ranks({"x": values, "y": values[["a", "b"]]})
    assert list(table.columns) == bayes.COLUMNS
    assert table[["ranking", "method", "other"]].agg("".join, axis=1).tolist() == ["xab", "xac", "xbc", "yab"]
    columns = ["probability_lower", "probability_equivalent", "probability_higher"]
    assert tuple(table.loc[2, columns]) == bayes.posterior(values["b"] - values["c"])
