"""VFC against its definition, its failures, and the figures of its paper."""

from itertools import pairwise

import numpy as np
import pytest
from fair_tables import sse
from hypothesis import given, settings
from hypothesis import strategies as st
from real_tables import adult_of_vfc

import clusterlets.algorithms.vfc as module
from clusterlets.algorithms.kmeans import kmeans_plus_plus, lloyd
from clusterlets.algorithms.vfc import vfc
from clusterlets.errors import ClusterletsError, NoClusteringError


def table(seed=0, n=300):
    rng = np.random.default_rng(seed)
    blobs = rng.integers(0, 3, size=n)
    X = rng.normal(size=(n, 2)) + 3 * np.array([[0, 0], [1, 0], [0, 1]])[blobs]
    return X, (rng.random(n) < 0.2 + 0.3 * blobs).astype(int)


def error(groups, labels):
    """Sum over clusters of KL(r || p)."""
    shares = np.bincount(groups) / len(groups)
    cluster_shares = [np.bincount(groups[labels == c], minlength=len(shares)) / (labels == c).sum() for c in np.unique(labels)]
    return sum((shares * np.log(shares / share)).sum() for share in cluster_shares)


def objective(costs, groups, soft, weight):
    shares = np.bincount(groups) / len(groups)
    masses = np.array([soft[groups == group].sum(axis=0) for group in range(len(shares))])
    return (soft * costs).sum() + weight * (shares[:, None] * np.log(shares[:, None] / (masses / masses.sum(axis=0)))).sum()


class Problem(module._Problem):
    """A problem whose shares are set by hand."""

    def __init__(self, costs, groups, weight, lipschitz, seed=0):
        super().__init__(groups, costs.shape[1], weight, lipschitz)
        self.soft[:] = np.random.default_rng(seed).random(costs.shape)
        self.soft /= self.soft.sum(axis=1, keepdims=True)
        self.masses[:] = [self.soft[groups == group].sum(axis=0) for group in range(len(self.shares))]
        module._weigh(costs, lipschitz, self.weights)


def test_a_step_matches_the_paper():
    rng = np.random.default_rng(0)
    costs, groups = 5 * rng.random((50, 4)), np.repeat([0, 1, 2], [10, 25, 15])
    problem = Problem(costs, groups, weight=20.0, lipschitz=3.0)
    soft = problem.soft.copy()
    slopes = 1 / soft.sum(axis=0) - problem.shares[groups, None] / problem.masses[groups]
    expected = soft * np.exp(-(costs + 20 * slopes) / 3)
    expected /= expected.sum(axis=1, keepdims=True)
    cost = problem._try_step(costs)
    assert problem.trial == pytest.approx(expected, rel=1e-10)
    assert cost == pytest.approx((expected * costs).sum())
    assert problem.trial_masses == pytest.approx(np.array([expected[groups == h].sum(axis=0) for h in range(3)]))
    assert problem._objective(cost, problem.trial_masses) == pytest.approx(objective(costs, groups, expected, 20))
    # Constants by mass give the same step if none of them exceeds the common one.
    problem.by_mass, problem.lipschitz = True, 1000.0
    problem._try_step(costs)
    small_step = soft * np.exp(-(costs + 20 * slopes) / 1000)
    assert problem.trial == pytest.approx(small_step / small_step.sum(axis=1, keepdims=True), rel=1e-10)


@pytest.mark.parametrize("by_mass", [False, True])
def test_no_step_raises_the_objective(by_mass):
    rng = np.random.default_rng(1)
    costs, groups = 5 * rng.random((80, 5)), np.repeat([0, 1], [20, 60])
    problem = Problem(costs, groups, weight=300.0, lipschitz=0.1)
    problem.by_mass = by_mass
    values = [objective(costs, groups, problem.soft, 300)]
    for _ in range(200):
        values.append(problem._descend(costs, values[-1]))
    assert values[-1] == pytest.approx(objective(costs, groups, problem.soft, 300), rel=1e-9)
    assert all(later <= earlier * (1 + 1e-8) for earlier, later in pairwise(values))
    # It is far below the start, and shifting a row's share lowers it hardly any further.
    assert values[-1] < 0.9 * values[0]
    for row in range(0, 80, 9):
        for cluster in range(5):
            shifted = problem.soft.copy()
            shifted[row] *= 0.9
            shifted[row, cluster] += 0.1
            assert objective(costs, groups, shifted, 300) > values[-1] * (1 - 1e-3)


def test_without_fairness_it_is_nearly_plain_k_means():
    X, groups = table()
    plain = lloyd(X, X[kmeans_plus_plus(X, 3, np.random.default_rng(0))]).inertia
    result = vfc(X, groups, 3, np.random.default_rng(0), 0)
    assert plain * 0.999 <= sse(X, result.labels) <= plain * 1.02


def test_a_larger_weight_makes_fairer_and_costlier_clusters():
    X, groups = table()
    labelings = [vfc(X, groups, 3, np.random.default_rng(0), weight).labels for weight in (0, 0.3, 3)]
    errors, costs = [error(groups, labels) for labels in labelings], [sse(X, labels) for labels in labelings]
    assert errors[0] > errors[1] > errors[2] < errors[0] / 3 and costs[0] < costs[1] < costs[2]


def test_units_do_not_matter():
    X, groups = table(3)
    expected = vfc(X, groups, 4, np.random.default_rng(0), 1).labels
    for unit in (2.0**-40, 2.0**40):
        assert np.array_equal(vfc(X * unit, groups, 4, np.random.default_rng(0), 1).labels, expected)


def test_an_outlier_of_one_group_gives_a_clustering_or_a_status():
    X, groups = table(5)
    X[0], groups[0] = 1000.0, 0
    for weight in (0, 1, 30):
        try:
            result = vfc(X, groups, 3, np.random.default_rng(0), weight)
        except NoClusteringError as failure:
            assert failure.status == "not_converged" and weight > 0
        else:
            assert np.bincount(result.labels, minlength=3).all()


def test_rounds_that_do_not_settle_give_a_status():
    X, groups = table()
    with pytest.raises(NoClusteringError, match="does not settle within max_iter = 2 rounds") as failure:
        vfc(X, groups, 3, np.random.default_rng(0), 1, max_iter=2)
    assert failure.value.status == "not_converged"


def test_steps_that_do_not_settle_give_a_status(monkeypatch):
    monkeypatch.setattr(module, "_MAX_INNER", 3)
    with pytest.raises(NoClusteringError, match="shares do not settle within 3 steps") as failure:
        vfc(*table(), 3, np.random.default_rng(0), 1)
    assert failure.value.status == "not_converged"


def test_a_rising_objective_gives_a_status(monkeypatch):
    rising = iter(range(10_000))
    monkeypatch.setattr(module._Problem, "_objective", lambda *_: float(next(rising)))
    with pytest.raises(NoClusteringError, match="VFC diverges") as failure:
        vfc(*table(), 3, np.random.default_rng(0), 1)
    assert failure.value.status == "not_converged" and next(rising) == 61  # after the values of the start and of 60 steps


def test_an_empty_cluster_restarts_from_k_means_and_then_gives_a_status(monkeypatch):
    starts, rounds = [], module._outer_rounds

    def spoilt(X, groups, centres, *rest):
        starts.append(centres)
        return rounds(X, groups, centres, *rest) if len(starts) == 2 else None

    X, groups = table()
    monkeypatch.setattr(module, "_outer_rounds", spoilt)
    vfc(X, groups, 3, np.random.default_rng(0), 1)
    first = X[kmeans_plus_plus(X, 3, np.random.default_rng(0))]
    assert np.array_equal(starts[0], first) and np.array_equal(starts[1], lloyd(X, first).centres)
    with pytest.raises(NoClusteringError, match="leaves a cluster empty") as failure:
        monkeypatch.setattr(module, "_outer_rounds", lambda *_: None)
        vfc(X, groups, 3, np.random.default_rng(0), 1)
    assert failure.value.status == "not_converged"


@settings(max_examples=40)
@given(st.integers(1, 14), st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**32 - 1), st.sampled_from([0, 0.3, 30]))
def test_any_table_has_a_clustering_or_a_status(n, values, n_groups, seed, weight):
    rng = np.random.default_rng(seed)
    X, groups = rng.integers(0, values, size=(n, 2)).astype(float), rng.integers(0, n_groups, size=n)
    for k in {1, min(2, n), n}:
        try:
            result = vfc(X, groups, k, np.random.default_rng(seed), weight)
        except NoClusteringError:
            assert weight > 0 or k > 1
        else:
            present = np.unique(result.labels)
            assert np.array_equal(present, np.arange(min(k, len(np.unique(X, axis=0)))))
            assert np.isfinite(result.objective) and result.objective >= 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"fairness_weight": -1}, "fairness_weight = -1"),
        ({"fairness_weight": float("nan")}, "fairness_weight = nan"),
        ({"lipschitz": 0}, "lipschitz = 0"),
        ({"max_iter": 0}, "max_iter = 0"),
    ],
)
def test_unusable_parameters_are_refused(parameters, message):
    with pytest.raises(ClusterletsError, match=message):
        vfc(*table(), 3, np.random.default_rng(0), **parameters)


@pytest.mark.slow
def test_the_figures_of_the_paper_are_reproduced():
    """Adult as the paper prepares it, k = 10: it prints SSE 9,984.01, error .018 and balance .41; a rerun 10,356 +- 328."""
    X, sex = adult_of_vfc()
    plain = lloyd(X, X[kmeans_plus_plus(X, 10, np.random.default_rng(0))]).inertia
    assert len(X) == 32561 and 9500 < plain < 9600
    # The published lambda and L, converted to our units.
    labels = vfc(X, sex, 10, np.random.default_rng(0), 9000 / plain, 2 / (plain / len(X))).labels
    counts = np.array([np.bincount(sex[labels == cluster]) for cluster in range(10)])
    assert 9900 < sse(X, labels) < 10320
    assert 0.012 < error(sex, labels) < 0.018
    assert (counts.min(axis=1) / counts.max(axis=1)).min() == pytest.approx(0.4, abs=0.015)
