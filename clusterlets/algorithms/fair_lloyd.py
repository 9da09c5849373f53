"""Fair-Lloyd: socially fair k-means, which lowers the largest mean cost of any group (Ghadiri, Samadi and Vempala, FAccT 2021).

The cost f_h of group h is the mean squared distance of its rows to the centres of their clusters. The social cost is the
largest f_h. It does not depend on the shares of the groups in the clusters.

1. *Assignment*: each row goes to its nearest centre, which raises no f_h. A centre without rows moves to the row that is
   farthest from its own centre.
2. *Centres*: let a_hc be the fraction of group h that is in cluster c, mu_hc the mean of the group's rows there, and D_h the
   mean squared distance of the group's rows to these means. Then f_h = D_h + sum_c a_hc |mu_hc - centre c|^2. For weights g of
   the groups that add up to 1, the centres sum_h g_h a_hc mu_hc / sum_h g_h a_hc minimise sum_h g_h f_h. The minimum, phi(g),
   is a lower bound on the lowest social cost. The largest f_h at these centres is an upper bound. phi is concave, with gradient
   f, and its maximum over all such weights is the lowest social cost.
3. Steps 1 and 2 are repeated until a round lowers the social cost by at most ``tol`` times its value.

For two groups, bisection finds the weight g_0, because f_0 - f_1 falls as g_0 grows. For more groups, Newton's method maximises
phi(g) + mu sum_h log g_h for smaller and smaller mu. At each maximum, the two bounds differ by at most K mu.
"""

from dataclasses import dataclass

import numpy as np

from clusterlets.algorithms.compiled import compiled
from clusterlets.algorithms.instances import checked_instances, codes_that_occur
from clusterlets.algorithms.kernels import assign, inertia_by_label, sums_by_label, tiles_of
from clusterlets.algorithms.kmeans import kmeans_plus_plus

_MAX_GAP = 1e-7  # centres of given clusters count as optimal up to this gap, as in FairLloydResult
_MAX_HALVINGS = 100  # of the interval in a bisection, or of the length of a Newton step
_MAX_STEPS = 500  # of Newton's method
_BARRIER_FACTOR = 0.1  # the weight mu of the barrier is multiplied by this number ...
_SMALL_GAIN = 0.1  # ... as soon as a Newton step would gain at most this multiple of mu
_MIN_BARRIER = 1e-2 * _MAX_GAP  # the smallest mu, as a fraction of the social cost: it hardly widens the gap
_RIDGE = 1e-12  # smallest addition to the diagonal of the Newton system, as a fraction of the largest curvature


@dataclass(frozen=True)
class FairLloydResult:
    """A socially fair clustering.

    Attributes
    ----------
    labels : int array (n,)
        Nearest centre of each row, ties to the lowest index. A centre that is nearest to no row does not occur.
    centres : float array (m, d)
        m = min(k, distinct rows). The centres are not the means of the clusters.
    social_cost : float
        Largest mean squared distance of a group's rows to their nearest centres.
    gap : float
        Fraction of the social cost by which it may exceed the lowest one for the clusters of the last round.
    n_iter : int
        Number of rounds.
    """

    labels: np.ndarray
    centres: np.ndarray
    social_cost: float
    gap: float
    n_iter: int


def fair_lloyd(
    X, groups, n_clusters: int, random_state: np.random.Generator, max_iter: int = 100, tol: float = 1e-6
) -> FairLloydResult:
    """Run Fair-Lloyd from centres of k-means++, for any number of groups (Ghadiri, Samadi and Vempala, FAccT 2021).

    ``X`` (n, d), ``groups`` (n,), ``n_clusters`` and ``random_state`` are as in :meth:`clusterlets.methods.Method.fit`, and the
    other parameters as :class:`clusterlets.FairLloyd` declares them. No round raises the social cost. A round takes O(n k d)
    time for the assignment, and O(K^2 k d) for each of the few dozen steps that find the centres. O(n d) memory.
    """
    X, groups = checked_instances(X, groups, "Fair-Lloyd", n_clusters)
    groups = codes_that_occur(groups)
    tiles = tiles_of(X)
    centres = X[kmeans_plus_plus(X, n_clusters, random_state)]
    labels, squared_distances = _nearest(tiles, centres, len(X))
    cost, n_iter, has_converged = _social_cost(squared_distances, groups), 0, False
    while not has_converged and n_iter < max_iter:
        n_iter += 1
        labels, centres = _fill_empty_clusters(labels, squared_distances, X, centres)
        optimum = fair_centres(X, groups, labels, centres)
        centres = optimum.centres
        labels, squared_distances = _nearest(tiles, centres, len(X))
        former_cost, cost = cost, _social_cost(squared_distances, groups)
        has_converged = former_cost - cost <= tol * former_cost
    return FairLloydResult(labels, centres, cost, optimum.gap, n_iter)


class FairCentres:
    """The best centres (k, d) so far for given clusters, their social cost, and a lower bound on the lowest social cost.

    In the module's docstring, ``fractions`` (K, k) are a_hc, ``means`` (K, k, d) are mu_hc, and ``within`` (K,) is D_h.
    ``costs`` (K,) and ``curvature`` (K, K), which is -phi'', are those of the weights that were evaluated last.
    """

    def __init__(self, X: np.ndarray, groups: np.ndarray, labels: np.ndarray, former_centres: np.ndarray):
        k, d = former_centres.shape
        sizes = np.bincount(groups)
        self.n_groups = len(sizes)
        pairs = groups * k + labels
        n_pairs = self.n_groups * k
        sums, counts, inertia = np.empty((n_pairs, d)), np.empty(n_pairs, dtype=np.int64), np.empty(n_pairs)
        sums_by_label(X, pairs, sums, counts)
        means = sums / np.maximum(counts, 1)[:, None]
        inertia_by_label(X, pairs, means, inertia)
        self.fractions = counts.reshape(-1, k) / sizes[:, None]
        self.means = means.reshape(-1, k, d)
        self.within = inertia.reshape(-1, k).sum(axis=1) / sizes
        self._weighted_centres = former_centres.copy()
        self.costs, self.curvature = np.empty(self.n_groups), np.empty((self.n_groups, self.n_groups))
        differences = self.means - former_centres
        former_costs = self.within + (self.fractions * np.square(differences).sum(axis=2)).sum(axis=1)
        self.centres, self.social_cost, self.bound = former_centres.copy(), float(former_costs.max()), 0.0

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        """Each group's cost f (K,) at the centres of least weighted cost; updates ``centres`` and ``bound``."""
        _evaluate(self.fractions, self.means, self.within, weights, self._weighted_centres, self.costs, self.curvature)
        self.bound = max(self.bound, float((weights * self.costs).sum()))
        social_cost = float(self.costs.max())
        if social_cost < self.social_cost:
            self.social_cost, self.centres = social_cost, self._weighted_centres.copy()
        return self.costs.copy()

    def is_optimal(self) -> bool:
        return self.social_cost - self.bound <= _MAX_GAP * self.social_cost

    @property
    def gap(self) -> float:
        """Fraction of the social cost by which it may exceed the lowest one."""
        return (self.social_cost - self.bound) / self.social_cost if self.social_cost > 0 else 0.0


def fair_centres(X: np.ndarray, groups: np.ndarray, labels: np.ndarray, former_centres: np.ndarray) -> FairCentres:
    """The centres of lowest social cost for given clusters: step 2 of the module's docstring.

    Parameters
    ----------
    X : float array (n, d)
        C order.
    groups, labels : int arrays (n,)
        Groups are 0..K-1, each of which occurs. Labels are 0..k-1.
    former_centres : float array (k, d)
        Centres of the previous round, which are returned if no better ones are found. Those of empty clusters are always kept.

    Returns
    -------
    FairCentres
        Its gap is at most 1e-7, unless the Newton steps stall. The social cost is at most that of ``former_centres``.

    Notes
    -----
    O(n d) time, and O(K^2 k d) for each of a few dozen steps.
    """
    optimum = FairCentres(X, groups, labels, former_centres)
    if optimum.n_groups == 1:
        optimum.evaluate(np.ones(1))
    elif optimum.n_groups == 2:
        _bisect(optimum)
    else:
        _maximise_with_barrier(optimum)
    return optimum


def _bisect(optimum: FairCentres) -> None:
    low, high = 0.0, 1.0  # bounds on the first group's best weight
    for _ in range(_MAX_HALVINGS):
        middle = (low + high) / 2
        first, second = optimum.evaluate(np.array([middle, 1 - middle]))
        if optimum.is_optimal():
            return
        low, high = (middle, high) if first > second else (low, middle)


def _maximise_with_barrier(optimum: FairCentres) -> None:
    """Find the best weights g of three or more groups: Newton's method on phi(g) + mu sum log g, for weights that sum to 1."""
    weights = np.full(optimum.n_groups, 1 / optimum.n_groups)
    costs = optimum.evaluate(weights)
    barrier = float(costs.max())
    for _ in range(_MAX_STEPS):
        if optimum.is_optimal():
            return
        slopes = costs + barrier / weights
        slopes -= slopes.mean()  # changes no step, as steps keep the sum of the weights, but a large mean would swamp the rest
        largest_curvature = optimum.curvature.max()
        # Rounding can make the matrix singular, so the diagonal gets a ridge. Directions that change the sum of the weights
        # have hardly any curvature, so ``largest_curvature`` is added to all entries, which leaves other directions unaffected.
        matrix = (
            optimum.curvature
            + largest_curvature
            + np.diag(np.maximum(barrier / np.square(weights), _RIDGE * largest_curvature))
        )
        solutions = _solve(matrix, np.column_stack([slopes, np.ones_like(slopes)]))
        direction = solutions[:, 0] - solutions[:, 1] * (solutions[:, 0].sum() / solutions[:, 1].sum())
        gain = float((slopes * direction).sum())
        if gain <= 0:
            return  # only rounding errors are left to gain
        if gain <= _SMALL_GAIN * barrier and barrier > _MIN_BARRIER * optimum.social_cost:
            barrier *= _BARRIER_FACTOR
            continue
        length = 0.95 / max(0.95, float((-direction / weights).max()))  # no weight falls to 0
        for _ in range(_MAX_HALVINGS):
            trial = weights + length * direction
            costs = optimum.evaluate(trial)
            # Compare slopes, not values: near the maximum, differences between values are rounding errors.
            if float(((costs + barrier / trial) * direction).sum()) >= -gain / 2:
                break
            length /= 2
        else:
            return  # no length gives a gain beyond rounding errors
        weights = trial / trial.sum()


def _solve(matrix: np.ndarray, right_sides: np.ndarray) -> np.ndarray:
    """Solve a positive definite system (K, K) for right-hand sides (K, m) by Gauss-Jordan elimination, without pivoting."""
    augmented = np.column_stack([matrix, right_sides])
    for pivot in range(len(matrix)):
        row = augmented[pivot] / augmented[pivot, pivot]
        augmented = augmented - augmented[:, pivot : pivot + 1] * row
        augmented[pivot] = row
    return augmented[:, len(matrix) :]


@compiled("void(float64[:,::1], float64[:,:,::1], float64[::1], float64[::1], float64[:,::1], float64[::1], float64[:,::1])")
def _evaluate(fractions, means, within, weights, centres, costs, curvature):
    """Write the centres (k, d) that minimise sum_h g_h f_h, each group's cost there (K,), and the curvature -phi'' (K, K).

    ``weights`` (K,) are the g_h. Centres of empty clusters are left as they are.
    """
    n_groups, k, d = means.shape
    costs[:] = within
    curvature[:] = 0.0
    differences = np.empty((n_groups, d))
    for cluster in range(k):
        mass = 0.0
        for group in range(n_groups):
            mass += weights[group] * fractions[group, cluster]
        if mass == 0:
            continue
        for feature in range(d):
            total = 0.0
            for group in range(n_groups):
                total += weights[group] * fractions[group, cluster] * means[group, cluster, feature]
            centres[cluster, feature] = total / mass
            for group in range(n_groups):
                differences[group, feature] = means[group, cluster, feature] - centres[cluster, feature]
        for first in range(n_groups):
            for second in range(first + 1):
                product = 0.0
                for feature in range(d):
                    product += differences[first, feature] * differences[second, feature]
                if first == second:
                    costs[first] += fractions[first, cluster] * product
                change = 2 * product * fractions[first, cluster] * fractions[second, cluster] / mass
                curvature[first, second] += change
                if first != second:
                    curvature[second, first] += change


def _nearest(tiles: np.ndarray, centres: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    labels, squared_distances = np.empty(n, dtype=np.int64), np.empty(n)
    assign(tiles, np.ascontiguousarray(centres), labels, squared_distances)
    return labels, squared_distances


def _social_cost(squared_distances: np.ndarray, groups: np.ndarray) -> float:
    return float((np.bincount(groups, weights=squared_distances) / np.bincount(groups)).max())


def _fill_empty_clusters(labels, squared_distances, X, centres) -> tuple[np.ndarray, np.ndarray]:
    """Give each empty cluster the row farthest from its old centre, unless it is alone there; return labels and centres."""
    sizes = np.bincount(labels, minlength=len(centres))
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        labels, centres = labels.copy(), centres.copy()
        rows = iter(np.argsort(-squared_distances, kind="stable"))
        for cluster in empty:
            row = next((row for row in rows if sizes[labels[row]] > 1 and squared_distances[row] > 0), None)
            if row is None:
                break
            sizes[labels[row]] -= 1
            labels[row], centres[cluster] = cluster, X[row]
    return labels, centres
