"""VFC matches its definition and the numbers of its paper. If it does not converge, it says why."""

from itertools import pairwise
from unittest.mock import Mock

import numpy as np
import pytest
from fair_tables import counts_of, sse
from real_tables import adult_of_vfc
from sklearn.exceptions import ConvergenceWarning

import clusterlets.algorithms.vfc as module
from clusterlets.algorithms.kmeans import kmeans_plus_plus, lloyd
from clusterlets.algorithms.vfc import vfc
from clusterlets.errors import NoClusteringError
from clusterlets.estimators import VFC
from clusterlets.metrics.composition import vfc_error


def random_table(seed=0, n=300):
    rng = np.random.default_rng(seed)
    blobs = rng.integers(0, 3, size=n)
    X = rng.normal(size=(n, 2)) + 3 * np.array([[0, 0], [1, 0], [0, 1]])[blobs]
    return X, (rng.random(n) < 0.2 + 0.3 * blobs).astype(int)


def masses_of(memberships, groups):
    """The sum of the memberships of each group in each cluster (n_groups, k)."""
    return np.array([memberships[groups == group].sum(axis=0) for group in range(groups.max() + 1)])


def objective(costs, groups, memberships, weight):
    shares = (np.bincount(groups) / len(groups))[:, None]
    masses = masses_of(memberships, groups)
    divergence = (shares * np.log(shares / (masses / masses.sum(axis=0)))).sum()
    return (memberships * costs).sum() + weight * divergence


def vfc_by_definition(X, groups, k, random_state, weight, lipschitz=7.0):
    """Labels, objective and number of rounds of VFC, computed as its paper defines them, in double precision."""

    def normalised(memberships):
        return np.maximum(memberships / memberships.sum(axis=1, keepdims=True), 1e-12)

    centres = X[kmeans_plus_plus(X, k, random_state)]
    unit = lloyd(X, centres).inertia / len(X)
    shares = (np.bincount(groups) / len(X))[:, None]
    previous_value = np.inf
    for n_iter in range(1, 101):
        costs = np.square(X[:, None] - centres).sum(axis=2) / unit
        memberships = normalised(np.exp(costs.min(axis=1, keepdims=True) - costs))
        value, gain = objective(costs, groups, memberships, weight * len(X)), None
        factor, n_accepted = 1.0, 0
        while gain is None or gain > 1e-5 / factor * (value + gain):
            if n_accepted == 5 and factor > 1:
                factor, n_accepted = factor / 2, 0
            masses = masses_of(memberships, groups)
            slopes = weight * len(X) * (1 / masses.sum(axis=0) - shares / masses)
            linearised_costs = costs + slopes[groups]
            while True:
                exponents = (linearised_costs.min(axis=1, keepdims=True) - linearised_costs) / (factor * lipschitz)
                trial = normalised(memberships * np.exp(np.maximum(exponents, -300)))
                new_value = objective(costs, groups, trial, weight * len(X))
                if new_value <= value * (1 + 1e-9):
                    break
                factor, n_accepted = factor * 2, 0
            gain = value - new_value
            memberships, value, n_accepted = trial, new_value, n_accepted + 1
        labels = memberships.argmax(axis=1)
        if n_iter >= 3 and abs(value - previous_value) <= 1e-4 * previous_value:
            return labels, value, n_iter
        previous_value = value
        centres = np.array([X[labels == cluster].mean(axis=0) for cluster in range(k)])
    raise AssertionError("no convergence in 100 rounds")


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("weight", [0, 0.3])
@pytest.mark.parametrize("n_groups", [2, 3])
def test_vfc_matches_its_definition(k, weight, n_groups):
    X, groups = random_table(k, 400)
    if n_groups == 3:
        groups = groups + (X[:, 0] > 2) * (groups == 1)
    result = vfc(X, groups, k, np.random.default_rng(0), weight)
    labels, value, n_iter = vfc_by_definition(X, groups, k, np.random.default_rng(0), weight)
    assert (result.labels == labels).mean() > 0.995 and result.n_iter == n_iter
    assert result.objective == pytest.approx(value, rel=1e-5) and result.warning == ""


def test_a_step_with_a_lipschitz_constant_per_group_and_cluster_matches_its_definition():
    rng, groups = np.random.default_rng(0), np.repeat([0, 1, 2], [10, 25, 15])
    costs, memberships, slopes = 5 * rng.random((50, 4)), rng.random((50, 4)), rng.normal(size=(3, 4))
    memberships /= memberships.sum(axis=1, keepdims=True)
    trial, masses = np.empty((50, 4)), np.empty((3, 4))  # filled by the step
    cost = module._step_with_own_constants(costs, slopes, np.full((3, 4), 1 / 1000), groups, memberships, trial, masses)
    expected = memberships * np.exp(-(costs + slopes[groups]) / 1000)
    expected /= expected.sum(axis=1, keepdims=True)
    assert trial == pytest.approx(expected, rel=1e-6) and cost == pytest.approx((expected * costs).sum())
    assert masses == pytest.approx(masses_of(expected, groups))


def test_outliers_and_a_rare_group_end_in_a_warning_with_a_finite_objective():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    X[:, 0] = np.exp(3 * rng.normal(size=3000))  # has outliers, which can make exponents overflow
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    groups = (rng.random(3000) < 0.12).astype(int)
    result = vfc(X, groups, 20, np.random.default_rng(0), 3.0)
    assert np.isfinite(result.objective) and np.bincount(result.labels, minlength=20).all()
    assert "did not settle in" in result.warning and result.n_iter <= 20


@pytest.mark.parametrize(("common_rounds", "lipschitz"), [(0, 0.001), (300, 7.0)])
def test_no_step_raises_the_objective(common_rounds, lipschitz, monkeypatch):
    """In the first case, each pair of group and cluster soon has its own Lipschitz constant. In the second, all share one."""
    monkeypatch.setattr(module, "_COMMON_ROUNDS", common_rounds)
    rng = np.random.default_rng(1)
    costs, groups = 5 * rng.random((80, 5)), np.repeat([0, 1], [20, 60])
    values, original_lower = [], module._Steps.lower_objective
    stored_shares = Mock(wraps=module._SharesWithOwnConstants)
    monkeypatch.setattr(module, "_SharesWithOwnConstants", stored_shares)

    def lower_and_record(*arguments):
        values.append(original_lower(*arguments))
        return values[-1]

    monkeypatch.setattr(module._Steps, "lower_objective", lower_and_record)
    penalty = module._Penalty(groups, 300.0, lipschitz)
    final_objective, labels, warning, _ = module._settle(penalty, module.Tiles(groups, 5), costs)
    assert stored_shares.called == (common_rounds == 0) and warning == ""
    assert all(later <= earlier * (1 + 1e-6) for earlier, later in pairwise(values))
    assert final_objective == values[-1] < 0.9 * values[0]
    assert objective(costs, groups, np.eye(5)[labels] + 1e-9, 300) == pytest.approx(final_objective, rel=0.2)


def test_a_larger_weight_makes_fairer_and_costlier_clusters():
    X, groups = random_table()
    labellings = [vfc(X, groups, 3, np.random.default_rng(0), weight).labels for weight in (0, 0.3, 3)]
    errors = [vfc_error(counts_of(labels, groups, 3).T, np.bincount(groups)) for labels in labellings]
    costs = [sse(X, labels) for labels in labellings]
    assert errors[0] > errors[1] > errors[2] and errors[2] < errors[0] / 3
    assert costs[0] < costs[1] < costs[2]


def test_labels_do_not_depend_on_the_unit_of_the_features():
    X, groups = random_table(3)
    expected = vfc(X, groups, 4, np.random.default_rng(0), 1).labels
    for unit in (2.0**-40, 2.0**40):
        assert np.array_equal(vfc(X * unit, groups, 4, np.random.default_rng(0), 1).labels, expected)


def test_outer_rounds_that_do_not_settle_still_give_labels_and_a_warning():
    X, groups = random_table()
    result = vfc(X, groups, 3, np.random.default_rng(0), 1, max_iter=2)
    assert "did not settle within max_iter = 2 rounds" in result.warning and result.n_iter == 2
    assert np.bincount(result.labels).tolist() != [300] and len(np.unique(result.labels)) == 3
    estimator = VFC(3, fairness_weight=1, max_iter=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="did not settle within max_iter = 2"):
        estimator.fit(X, sensitive_features=groups)
    assert not estimator.converged_ and estimator.n_clusters_ == 3
    assert VFC(3, fairness_weight=0.1, random_state=0).fit(X, sensitive_features=groups).converged_


def test_inner_rounds_that_do_not_settle_still_give_labels_and_a_warning(monkeypatch):
    monkeypatch.setattr(module, "_MAX_INNER", 3)
    result = vfc(*random_table(), 3, np.random.default_rng(0), 1)
    assert "did not settle within 3 inner rounds" in result.warning and len(np.unique(result.labels)) == 3


def test_a_rising_objective_still_gives_labels_and_a_warning(monkeypatch):
    rising_values = iter(range(1, 10_000))
    monkeypatch.setattr(module._Penalty, "objective", lambda *_: float(next(rising_values)))
    result = vfc(*random_table(), 3, np.random.default_rng(0), 1)
    assert "VFC diverged" in result.warning
    assert next(rising_values) == 62  # one value was used at the start, and 60 in attempts


def test_after_an_empty_cluster_vfc_starts_again_from_k_means(monkeypatch):
    starts, outer_rounds = [], module._outer_rounds

    def succeed_at_the_second_start(X, groups, centres, *rest):
        starts.append(centres)
        return outer_rounds(X, groups, centres, *rest) if len(starts) == 2 else (None, True)

    X, groups = random_table()
    monkeypatch.setattr(module, "_outer_rounds", succeed_at_the_second_start)
    vfc(X, groups, 3, np.random.default_rng(0), 1)
    first_centres = X[kmeans_plus_plus(X, 3, np.random.default_rng(0))]
    assert np.array_equal(starts[0], first_centres)
    assert np.array_equal(starts[1], lloyd(X, first_centres).centres)


def test_if_both_starts_empty_a_cluster_the_result_is_that_of_the_round_before(monkeypatch):
    X, groups = random_table()
    result_before = vfc(X, groups, 3, np.random.default_rng(0), 1)
    monkeypatch.setattr(module, "_outer_rounds", lambda *_: (result_before, True))
    assert vfc(X, groups, 3, np.random.default_rng(0), 1) is result_before


def test_a_cluster_that_is_empty_after_the_first_round_of_both_starts_is_an_error(monkeypatch):
    monkeypatch.setattr(module, "_outer_rounds", lambda *_: (None, True))
    with pytest.raises(NoClusteringError, match="leaves a cluster empty") as error:
        vfc(*random_table(), 3, np.random.default_rng(0), 1)
    assert error.value.status == "not_converged"


@pytest.mark.slow
def test_the_numbers_of_the_paper_are_reproduced():
    """Adult with k = 10: the paper prints SSE 9,984.01, error .018 and balance .41."""
    X, sex = adult_of_vfc()
    plain_cost = lloyd(X, X[kmeans_plus_plus(X, 10, np.random.default_rng(0))]).inertia
    assert len(X) == 32561 and 9500 < plain_cost < 9600
    # The published lambda is 9000 and the published L is 2, both in other units.
    weight, lipschitz = 9000 / plain_cost, 2 / (plain_cost / len(X))
    labels = vfc(X, sex, 10, np.random.default_rng(0), weight, lipschitz).labels
    counts = counts_of(labels, sex, 10).T
    assert 9900 < sse(X, labels) < 10320
    assert 0.012 < vfc_error(counts, np.bincount(sex)) < 0.018
    assert (counts.min(axis=1) / counts.max(axis=1)).min() == pytest.approx(0.4, abs=0.015)
