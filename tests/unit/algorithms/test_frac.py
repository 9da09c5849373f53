"""FRAC gives the labels of a direct simulation and those worked out by hand, and keeps its guarantees."""

import inspect
from fractions import Fraction
from itertools import pairwise
from math import floor

import numpy as np
import pytest
from fair_tables import counts_of
from in_order import InOrder

import clusterlets.algorithms.frac as frac_module
from clusterlets.algorithms.frac import frac, frac_oe, rows_for_new
from clusterlets.errors import ClusterletsError


def squared_distance(x, y):
    total = 0.0
    for a, b in zip(x.tolist(), y.tolist()):
        total += (a - b) * (a - b)
    return total


def simulate(X, groups, centres, taus):
    """Labels of the fair assignment, computed point by point as its definition says."""
    n_clusters = len(centres)
    distances = [[squared_distance(x, centre) for centre in centres] for x in X]
    labels = np.full(len(X), -1)
    turn = 0
    for group, tau in enumerate(taus):
        free_points = [i for i in range(len(X)) if groups[i] == group]
        n_dealt = len(free_points) if tau == Fraction(1, n_clusters) else n_clusters * floor(tau * len(free_points))
        for _ in range(n_dealt):
            nearest = min(free_points, key=lambda i: (distances[i][turn], i))
            free_points.remove(nearest)
            labels[nearest] = turn
            turn = (turn + 1) % n_clusters
        for i in free_points:
            labels[i] = min(range(n_clusters), key=lambda index: (distances[i][index], index))
    return labels


def deal(X, groups, centres, tau=None):
    """Labels of the fair assignment that :func:`frac` makes in each round."""
    return frac_module.deal(X, groups, centres, frac_module._count_turns(tau, len(centres), np.bincount(groups)))


def column(*values):
    """A table with these values as its only feature."""
    return np.array(values, dtype=float)[:, None]


class TestFairAssignmentByHand:
    def test_the_turn_is_not_reset_between_groups(self):
        X, groups = column(0, 1, 10, 0, 1, 10), np.array([0, 0, 0, 1, 1, 1])
        # In group 0, the turns are of centres 0, 1 and 0. So in group 1, centre 1 has the first turn and the third.
        assert deal(X, groups, column(0, 10)).tolist() == [0, 0, 1, 0, 1, 1]

    def test_ties_are_broken_by_input_order(self):
        assert deal(column(5, 5, 5, 5, 5), np.zeros(5, int), column(5, 5)).tolist() == [0, 1, 0, 1, 0]
        assert deal(column(1, -1, 1, -1), np.zeros(4, int), column(0, 0)).tolist() == [0, 1, 0, 1]

    def test_with_a_quota_the_turn_is_not_reset_between_groups_either(self):
        X, groups = column(0, 0, 0, 1, 2, 1), np.array([0, 0, 0, 1, 1, 1])
        # In group 0, centre 0 has the last turn. In group 1, both centres have one turn, and centre 1 has the first.
        # The last point of group 1 goes to centre 0.
        labels = deal(X, groups, column(1, 1), tau=[Fraction(1, 2), Fraction(1, 3)])
        assert labels.tolist() == [0, 1, 0, 1, 0, 0]

    def test_small_distances_are_distinguished(self):
        assert deal(column(2e-9, 1e-9), np.zeros(2, int), column(0, 5)).tolist() == [1, 0]

    def test_a_table_that_does_not_fit_its_groups_is_refused(self):
        with pytest.raises(ClusterletsError, match="^FRAC needs"):
            frac(column(3, 4), np.zeros(3, int), 1, np.random.default_rng(0))


class TestTau:
    def test_a_float_is_read_as_the_fraction_it_approximates(self):
        assert floor((1 / 49) * 49) == 0  # in floats, the product is below 1
        labels = deal(np.zeros((49, 1)), np.zeros(49, int), column(*[0.0] * 40), tau=1 / 49)
        assert np.bincount(labels, minlength=40).min() == 1

    @pytest.mark.parametrize("n_clusters", range(1, 60))
    def test_a_tau_of_one_over_k_deals_out_all_points(self, n_clusters):
        X = np.arange(2 * n_clusters + 1.0)[:, None]
        groups, centres = np.zeros(len(X), int), X[:n_clusters]
        expected = deal(X, groups, centres)
        assert (deal(X, groups, centres, tau=1 / n_clusters) == expected).all()
        assert (deal(X, groups, centres, tau=Fraction(1, n_clusters)) == expected).all()

    def test_fractions_survive_the_rounding_of_floats(self):
        rng = np.random.default_rng(0)
        for _ in range(500):
            denominator = int(rng.integers(2, 2**24))
            fraction = Fraction(int(rng.integers(1, denominator)), denominator)
            assert frac_module._as_fraction(float(fraction)) == fraction
        assert frac_module._as_fraction(0.1 + 0.2) == Fraction(3, 10)
        assert frac_module._as_fraction(0.9 * (1 / 30)) == Fraction(3, 100)
        assert frac_module._as_fraction(np.float32(0.25)) == Fraction(1, 4)
        assert frac_module._as_fraction(0.0) == 0
        assert frac_module._as_fraction(0.25 * (1 + 3 * 2.0**-52)) == Fraction(1, 4)

    @pytest.mark.parametrize(
        "tau", [-0.1, 0.34, [0.1, 0.34], [0.1], [0.1, 0.1, 0.1], ["x", 0.1], float("nan"), float("inf"), -1]
    )
    def test_unusable_taus_are_refused(self, tau):
        with pytest.raises(ClusterletsError, match="tau"):
            frac(np.zeros((6, 1)), np.array([0, 1] * 3), 3, np.random.default_rng(0), tau)


def test_constraints_on_new_rows_give_the_least_counts_of_old_and_new_rows_together():
    composition, new_counts = np.array([[2, 1], [1, 3], [0, 0]]), np.array([3, 2, 4])
    # The groups have 6, 6 and 4 old and new rows. A quarter of each, rounded down, is one row.
    # The third group was not in the fit, so it has no least count.
    is_in_fit = np.array([True, True, False])
    constraints, slack = rows_for_new(composition, new_counts, is_in_fit, Fraction(1, 4))
    assert constraints.tolist() == (-np.eye(3)).tolist() and slack.tolist() == [[1, 0], [0, 2], [0, 0]]
    # Without tau, the least count is half of each group.
    assert rows_for_new(composition, new_counts, is_in_fit)[1].tolist() == [[-1, -2], [-2, 0], [0, 0]]


def random_input(rng):
    n, n_clusters = int(rng.integers(1, 45)), int(rng.integers(1, 9))
    n_groups, n_features = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    shape = (n, n_features)
    kind = rng.integers(4)
    if kind == 0:
        X = rng.normal(size=shape)
    elif kind == 1:
        X = rng.integers(0, 4, size=shape).astype(float)  # many ties
    elif kind == 2:
        X = rng.normal(size=shape)[rng.integers(0, n, size=n)]  # duplicates
    else:
        X = np.zeros(shape)
    centres = rng.normal(size=(n_clusters, n_features))
    if rng.random() < 0.5:
        centres = X[rng.integers(0, n, size=n_clusters)]
    return X, rng.integers(0, n_groups, size=n), centres


@pytest.mark.parametrize("seed", range(150))
def test_labels_are_those_of_the_simulation(seed):
    rng = np.random.default_rng(seed)
    X, groups, centres = random_input(rng)
    n_clusters, n_groups = len(centres), groups.max() + 1
    even_share = Fraction(1, n_clusters)
    *taus_per_group, common_tau = (even_share * Fraction(int(rng.integers(0, 8)), 7) for _ in range(n_groups + 1))
    sizes = np.bincount(groups)
    for tau, taus in (
        (None, [even_share] * n_groups),
        (common_tau, [common_tau] * n_groups),
        (taus_per_group, taus_per_group),
    ):
        labels = deal(X, groups, centres, tau)
        assert (labels == simulate(X, groups, centres, taus)).all()
        counts = counts_of(labels, groups, n_clusters).T
        assert (counts >= [floor(tau * size) for tau, size in zip(taus, sizes)]).all()
    counts = counts_of(deal(X, groups, centres), groups, n_clusters).T
    assert (np.ptp(counts, axis=0) <= 1).all() and np.ptp(counts.sum(axis=1)) <= 1, "shares differ by more than one point"
    labels_with_float_taus = deal(X, groups, centres, [float(tau) for tau in taus_per_group])
    assert (labels_with_float_taus == deal(X, groups, centres, taus_per_group)).all()


@pytest.mark.parametrize("n_values", [3, 40, None])
def test_labels_are_those_of_the_simulation_if_centres_refill_their_queues(n_values):
    # A centre queues only some near points. With 1100 rows, it uses up its queue and fills it again.
    rng = np.random.default_rng(7)
    X = rng.normal(size=(1100, 2)) if n_values is None else rng.integers(0, n_values, size=(1100, 2)).astype(float)
    groups = (rng.random(1100) < 0.3).astype(int)
    centres = np.vstack([X[:4], X[:4] + 0.5, X[:1], [[50.0, 50.0]]])
    even_shares = [Fraction(1, 10)] * 2
    assert (deal(X, groups, centres) == simulate(X, groups, centres, even_shares)).all()


@pytest.mark.parametrize("n", [0, 1, 2, 7, 5000])
def test_the_sort_is_stable(n):
    rng = np.random.default_rng(n)
    mixed_magnitudes = 10.0 ** rng.integers(-320, 300, size=n) * rng.random(n)  # some are subnormal
    neighbouring_floats = 1 + (np.arange(n) + 1) % 2 * 2.0**-52
    for unsorted in (mixed_magnitudes, neighbouring_floats, rng.integers(5, size=n) / 7, np.zeros(n), np.arange(n)[::-1] / 3):
        original = unsorted.copy()
        assert np.array_equal(frac_module._stable_argsort(unsorted), np.argsort(unsorted, kind="stable"))
        assert np.array_equal(unsorted, original)


class TestFrac:
    def random_table(self, seed=0, n=90):
        rng = np.random.default_rng(seed)
        return rng.normal(size=(n, 2)) + 4 * rng.integers(0, 3, size=(n, 1)), (rng.random(n) < 0.3).astype(int)

    def simulated_rounds(self, X, groups, centres, n_rounds):
        """The labels, the cost and the centres of each round, computed with the simulation."""
        results = []
        for _ in range(n_rounds):
            labels = simulate(X, groups, centres, [Fraction(1, len(centres))] * (groups.max() + 1))
            centres = np.array([X[labels == index].mean(axis=0) for index in range(len(centres))])
            results.append((labels, ((X - centres[labels]) ** 2).sum(), centres))
        return results

    @pytest.mark.parametrize("seed", range(4))
    def test_the_result_is_that_of_the_best_round(self, seed):
        X, groups = self.random_table(seed)
        first_centres = X[np.random.default_rng(seed).permutation(len(X))[:4]]
        result = frac(X, groups, 4, np.random.default_rng(seed), max_iter=12, tol=-1)  # tol=-1: no early end
        labels, cost, centres = min(self.simulated_rounds(X, groups, first_centres, 12), key=lambda candidate: candidate[1])
        assert result.n_iter == 12
        assert (result.labels_fair == labels).all()
        assert result.cost == pytest.approx(cost)
        assert result.centres == pytest.approx(centres)
        nearest = [min(range(4), key=lambda index: squared_distance(x, result.centres[index])) for x in X]
        assert (result.labels_nearest == np.unique(nearest, return_inverse=True)[1]).all()

    def test_the_result_is_that_of_the_earliest_of_equally_good_rounds(self):
        """The first round gives the labels [1, 0, 0], and the second gives [0, 0, 1]. Both cost the same."""
        result = frac(column(2, 0, 2), np.zeros(3, int), 2, InOrder(1, 0, 2), max_iter=2, tol=-1)
        assert (result.labels_fair.tolist(), result.cost, result.n_iter) == ([1, 0, 0], 2.0, 2)

    def test_the_rounds_end_when_the_cost_changes_by_at_most_the_tolerance(self):
        X, groups = self.random_table()
        first_centres = X[np.random.default_rng(5).permutation(len(X))[:4]]
        costs = [cost for _, cost, _ in self.simulated_rounds(X, groups, first_centres, 40)]
        has_settled = [abs(previous - cost) <= 0.01 * cost for previous, cost in pairwise(costs)]
        n_rounds = has_settled.index(True) + 2  # the first comparison is made in round 2
        assert frac(X, groups, 4, np.random.default_rng(5), tol=0.01).n_iter == n_rounds

    def test_the_rounds_end_when_nothing_changes_even_if_the_tolerance_is_zero(self):
        X, groups = column(0, 1, 10, 11), np.array([0, 1, 0, 1])
        assert frac(X, groups, 2, np.random.default_rng(0), tol=0).n_iter < 10

    def test_defaults_are_those_of_the_paper(self):
        defaults = {name: parameter.default for name, parameter in inspect.signature(frac).parameters.items()}
        assert (defaults["tau"], defaults["init"], defaults["max_iter"], defaults["tol"]) == (None, "random", 100, 1e-4)

    @pytest.mark.parametrize("init", ["random", "k-means++"])
    def test_the_seed_decides_the_result(self, init):
        X, groups = self.random_table()
        first, repeated, other = (frac(X, groups, 5, np.random.default_rng(seed), init=init) for seed in (1, 1, 2))
        assert first.centres.tobytes() == repeated.centres.tobytes()
        assert first.labels_fair.tobytes() == repeated.labels_fair.tobytes()
        assert first.centres.tobytes() != other.centres.tobytes()

    def test_first_centres_are_rows_with_distinct_values_while_there_are_any(self):
        X = np.repeat([[0.0], [1.0], [-0.0], [2.0]], [40, 1, 40, 1], axis=0)
        for seed in range(20):
            three_centres = frac_module._first_centres(X, 3, np.random.default_rng(seed), "random")
            assert sorted(three_centres.ravel().tolist()) == [0, 1, 2]
            five_centres = frac_module._first_centres(X, 5, np.random.default_rng(seed), "random")
            assert sorted(five_centres.ravel().tolist()) == [0, 0, 0, 1, 2]

    @pytest.mark.parametrize("cluster", [frac, frac_oe, lambda *args: frac(*args, init="k-means++")])
    def test_a_table_may_have_fewer_distinct_rows_than_there_are_clusters(self, cluster):
        X, groups = np.repeat([[0.0], [9.0]], 10, axis=0), np.tile([0, 1], 10)
        result = cluster(X, groups, 4, np.random.default_rng(0))
        counts = counts_of(result.labels_fair, groups, 4)
        assert np.ptp(counts, axis=1).max() <= 1 and result.centres.shape == (4, 1)
        assert result.labels_nearest.max() < 4

    def test_an_empty_cluster_keeps_its_centre_while_the_others_move(self):
        X, groups = column(0, 9), np.zeros(2, int)
        labels, centres, cost = frac_module._run_round(X, groups, column(1, 1, 8), turns=[0])
        assert labels.tolist() == [0, 2] and centres.ravel().tolist() == [0, 1, 9] and cost == 0

    def test_frac_oe_deals_once_at_the_centres_of_plain_k_means(self):
        X, groups = self.random_table()
        result = frac_oe(X, groups, 3, np.random.default_rng(0))
        labels = frac_module.kmeans_labels(X, 3, np.random.default_rng(0))
        means = np.array([X[labels == index].mean(axis=0) for index in range(3)])
        assert (result.labels_fair == deal(X, groups, means)).all()
        fair_means = np.array([X[result.labels_fair == index].mean(axis=0) for index in range(3)])
        assert result.centres == pytest.approx(fair_means)
        assert result.cost == pytest.approx(((X - fair_means[result.labels_fair]) ** 2).sum())
        assert result.n_iter == 1

    def test_the_centres_of_plain_k_means_are_repeated_if_they_are_too_few(self, monkeypatch):
        X, groups = column(0, 1, 2, 10, 11, 12), np.array([0, 1] * 3)
        monkeypatch.setattr(frac_module, "kmeans_labels", lambda X, k, random_state: np.array([0, 0, 0, 1, 1, 1]))
        result = frac_oe(X, groups, 4, np.random.default_rng(0))
        assert (result.labels_fair == deal(X, groups, column(1, 11, 1, 11))).all()
        assert result.n_iter == 1

    def test_kmeans_plus_plus_starts_from_distinct_rows_and_repeats_them_if_they_are_too_few(self):
        X = column(0, 0, 0, 5, 5, 9)
        for seed in range(20):
            three_centres = frac_module._first_centres(X, 3, np.random.default_rng(seed), "k-means++")
            assert sorted(three_centres.ravel()) == [0, 5, 9]
            five_centres = frac_module._first_centres(X, 5, np.random.default_rng(seed), "k-means++")
            assert (five_centres == np.vstack([three_centres, three_centres[:2]])).all()
