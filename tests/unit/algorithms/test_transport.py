"""No labels with the given cluster sizes cost less than those of ``transport``, and its prices prove this."""

import numpy as np
import pytest
from fair_tables import cost_of, random_costs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import clusterlets.algorithms.transport as module
from clusterlets.algorithms.transport import BITS, transport
from clusterlets.errors import ClusterletsError

KINDS = ["plain", "few values", "equal", "apart"]


def problem(seed, n, k, kind="plain"):
    """Costs (n, k), and cluster sizes, some of which may be 0."""
    rng = np.random.default_rng(seed)
    costs = random_costs(rng, n, k, kind) + 1e6 * (kind == "apart") * np.arange(k)
    return costs, rng.multinomial(n, rng.dirichlet(np.ones(k)))


def lowest_cost(costs, sizes):
    """The lowest total of an assignment of instances to places. A cluster has as many places as its size."""
    place_costs = costs[:, np.repeat(np.arange(len(sizes)), sizes)]
    return place_costs[linear_sum_assignment(place_costs)].sum()


def rounding_error(costs):
    """How far two lowest totals may differ: each is a sum of n costs, rounded to units of 2**-BITS of their range."""
    return len(costs) * np.ptp(costs, axis=1).max(initial=0) * 2.0**-BITS * 2 + 1e-12 * np.abs(costs).sum()


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 60),
    k=st.integers(1, 8),
    kind=st.sampled_from(KINDS),
    price_scale=st.sampled_from([None, 1e-40, 1.0, 1e5, 1e40]),
)
def test_no_assignment_with_the_given_sizes_is_cheaper(seed, n, k, kind, price_scale):
    costs, sizes = problem(seed, n, k, kind)
    first_prices = None if price_scale is None else price_scale * np.random.default_rng(seed).normal(size=k)
    labels, prices = transport(costs, sizes, first_prices)
    assert np.array_equal(np.bincount(labels, minlength=k), sizes)
    assert abs(cost_of(costs, labels) - lowest_cost(costs, sizes)) <= rounding_error(costs)
    # With the prices added, each instance is in its cheapest cluster, so no total is lower.
    assert prices.min() == 0 and np.isfinite(prices).all()
    priced_costs = costs + prices
    assert (priced_costs[np.arange(n), labels] <= priced_costs.min(axis=1) + rounding_error(costs)).all()


@pytest.mark.parametrize("kind", ["plain", "few values", "apart"])
@pytest.mark.parametrize("price_error", [0.0, 0.05, 3.0])
def test_frozen_rows_are_freed_until_no_assignment_is_cheaper(monkeypatch, kind, price_error):
    """Good prices leave most of 1,500 rows frozen; with poor ones, rows are freed again or too many have to move."""
    costs, sizes = problem(1, 1500, 4, kind)
    labels, prices = transport(costs, sizes)
    n_free, solve = [], module._transport_free
    monkeypatch.setattr(module, "_transport_free", lambda *problem: n_free.append(len(problem[1])) or solve(*problem))
    wrong_prices = prices + price_error * np.random.default_rng(0).random(4) * np.ptp(costs)
    near_labels, near_prices = transport(costs, sizes, wrong_prices)
    assert np.array_equal(np.bincount(near_labels, minlength=4), sizes)
    assert abs(cost_of(costs, near_labels) - cost_of(costs, labels)) <= rounding_error(costs)
    priced_costs = costs + near_prices
    assert (priced_costs[np.arange(1500), near_labels] <= priced_costs.min(axis=1) + rounding_error(costs)).all()
    assert kind != "plain" or price_error or max(n_free) < 750


def test_one_cluster_takes_all_instances_and_an_empty_table_has_no_labels():
    assert transport(np.random.default_rng(0).random((4, 1)), np.array([4]))[0].tolist() == [0] * 4
    labels, prices = transport(np.empty((0, 2)), np.array([0, 0]))
    assert labels.shape == (0,) and prices.tolist() == [0, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_scaling_the_costs_by_a_power_of_two_scales_the_prices_and_keeps_the_labels(kind):
    costs, sizes = problem(3, 50, 5, kind)
    labels, prices = transport(costs, sizes)
    for exponent in (-900, -30, 1, 900):
        scaled_labels, scaled_prices = transport(costs * 2.0**exponent, sizes)
        assert np.array_equal(scaled_labels, labels) and np.array_equal(scaled_prices, prices * 2.0**exponent)


def test_clusters_have_the_given_sizes_if_costs_are_subnormal():
    costs, sizes = problem(3, 50, 5)
    assert np.array_equal(np.bincount(transport(costs * 1e-310, sizes)[0], minlength=5), sizes)


def test_transport_ends_and_is_reproducible_with_many_ties():
    costs = np.repeat(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]), [1000, 600, 400], axis=0)
    sizes = np.array([500, 700, 800])
    labels, _ = transport(costs, sizes)
    # Of the first 1000 instances, 500 find a place at no cost, and the others cost 1 each. The other instances cost nothing.
    assert cost_of(costs, labels) == 500
    assert labels.tobytes() == transport(costs, sizes)[0].tobytes()


@pytest.mark.parametrize(
    ("costs", "sizes", "message"),
    [
        (np.zeros((3, 2)), [1, 1], r"must add up to 3 instances, not \[1, 1\]"),
        (np.zeros((3, 2)), [4, -1], r"at least 0 must add up to 3"),
        (np.zeros((3, 2)), [1, 1, 1], "2 sizes of at least 0"),
        (np.zeros(3), [3], r"\(n, k\), .* not \(3,\)"),
        (np.zeros((3, 0)), [], r"not \(3, 0\)"),
        (np.array([[0.0, np.nan]]), [1, 0], "finite"),
        (np.array([[0.0, np.inf]]), [1, 0], "finite"),
    ],
)
def test_unusable_input_is_refused(costs, sizes, message):
    with pytest.raises(ClusterletsError, match=message):
        transport(costs, np.array(sizes, dtype=int))


@pytest.mark.parametrize("seed", [0, 7, 10])
def test_rows_that_were_frozen_too_early_join_the_others(seed):
    """At the final prices, every row is in a cheapest cluster: this proves the optimum."""
    costs = np.random.default_rng(seed).random((4000, 6))
    counts = np.bincount(costs.argmin(axis=1), minlength=6)
    labels, prices = transport(costs, counts + np.array([60, 0, 0, 0, 0, -60]))
    values = costs + prices
    assert (values[np.arange(4000), labels] <= values.min(axis=1) + 1e-9).all()
