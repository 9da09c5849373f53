"""VFC: variational fair clustering (Ziko, Yuan, Granger and Ben Ayed, AAAI 2021), with the costs of k-means.

Row i belongs to cluster c with a share S_ic, and the shares of a row add up to 1. The objective is

    F(S) = sum_ic S_ic a_ic + lambda n sum_c KL(r || p_c).

Here n is the number of rows, r are the shares of the groups in the table, and p_c are their shares in cluster c. a_ic is the
squared distance to centre c, in units of the mean squared distance under plain k-means. So the effect of lambda depends neither
on the unit of the features nor on n.

1. *Bound*: let m_hc be the sum of the shares S_ic over the rows of group h, and m_c their sum over all rows. At the current S,
   the slope of the divergences in S_ic is b_hc = 1 / m_c - r_h / m_hc, for a row i of group h. F is linearised there. The
   linear function plus L times the KL divergence of S from the current S is an upper bound on F if L is large enough. It is
   lowest at S_ic exp(-(a_ic + lambda n b_hc) / L), with each row divided by its sum. If F rises there, the attempt is undone
   and L is doubled. After five inner rounds with the same L, it is halved, but not below the given L.
2. *Inner rounds* each take step 1, until one lowers F by at most 1e-5 of F.
3. *Outer rounds*: each row goes to the cluster of its largest share, the centres become the means, and S starts again from
   exp(-a_ic). The outer rounds end when F changes by at most 1e-4 of F, but not before the third. They also end after five
   rounds without a new lowest F, or after 2,000 attempts at step 1 in all. In these two cases, the labels are those of the
   outer round with the lowest F.

A cluster with hardly any rows of some group needs an L so large that the shares in the other clusters do not change. The
published code keeps L fixed, and diverges. Here, each pair of a group h and a cluster c gets its own constant if L is still
more than 64 times the given L after 300 inner rounds: L_hc = max(L, lambda n r_h / m_hc). Half of each constant is tried as
well, and undone if F rises.

Until then, the shares are S_ic = exp(U_hc - T a_ic), with each row divided by its sum. T is a number that starts at 1, and U a
matrix (K, k) that starts at 0. Step 1 adds 1 / L to T and subtracts lambda n b_hc / L from U. So an inner round changes no
array of the size (n, k), and needs only the masses m_hc and the cost sum_ic S_ic a_ic. The kernel computes both from T and U in
single precision, in tiles of rows of the same group. In each tile, it leaves out the clusters in which no row has a share that
matters.
"""

from dataclasses import dataclass, replace

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.algorithms.elementary import exp, log
from clusterlets.algorithms.geometry import moments_by_label, squared_distances_to_centres
from clusterlets.algorithms.instances import checked_instances, codes_that_occur
from clusterlets.algorithms.kmeans import kmeans_plus_plus, lloyd
from clusterlets.errors import NoClusteringError

_INNER_TOLERANCE, _MAX_INNER = 1e-5, 10_000
_OUTER_TOLERANCE = 1e-4
# Outer rounds without a new lowest F after which we stop. F may rise and fall between outer rounds by more than the tolerance,
# because inner rounds end near a minimum and not at it.
_MAX_IDLE = 5
_MAX_ATTEMPTS = 2_000  # attempts at step 1, over all outer rounds, after which we stop: several times what most tables need
_MAX_DOUBLINGS = 60  # of L, in one inner round
_PATIENCE = 5  # inner rounds with the same constants before half of each constant is tried
# The constants L_hc replace the common L if it exceeds the given L by this factor after this number of inner rounds.
_MAX_FACTOR, _COMMON_ROUNDS = 64.0, 300
_MIN_FACTOR = 0.5  # the constants L_hc may be lowered to this fraction
# An attempt counts as raising F if F grows by more than this fraction. A smaller rise may come from rounding, or from shares
# that are raised to the least share.
_RISE_TOLERANCE = 1e-7
_MIN_SHARE = 1e-12  # the least share; a share of 0 would stay 0
_MAX_EXPONENT = 300.0  # exponents are at least minus this number, so that exponentials stay above 0
_LOG2_E = 1.4426950408889634
# The lowest exponent for which a power of 2 is computed. A share multiplied by that power becomes the least share anyway.
_MIN_EXPONENT_OF_2 = -120.0
#: Number of rows in a tile, all of the same group.
LANES = 64
# Number of tiles whose masses are added up in single precision.
_TILES_PER_SUM = 16
# The shares that are left out of a mass add up to less than this fraction of it.
_MAX_LEFT_OUT = 1e-7
# The list of the clusters that a tile does not leave out is renewed for any of these reasons:
_MAX_AGE = 16  # it has been used for this many evaluations
_MARGIN = 4.0  # a share that is left out may have grown by this many powers of 2
_DRIFT = 20.0  # an exponent of 2 may have changed by this much
# Base-2 logarithm of the least share in the kernel.
_MIN_LOG2_SHARE = np.float32(-40)
# Coefficients of the Chebyshev interpolant of degree 5 for 2^x from -1/2 to 1/2. Its error is at most 1.1e-7.
_P0, _P1, _P2, _P3, _P4, _P5 = (np.float32(p) for p in (1.00000008, 0.69314719, 0.24022107, 0.05550357, 0.00967603, 0.00133909))
# Adding this number to x, up to 2^21, puts the whole number nearest to x into the last bits of the sum.
_ROUNDER = np.float32(1.5 * 2**23)
_MANTISSA_BITS = np.int32(23)


@dataclass(frozen=True)
class VFCResult:
    """A clustering by VFC.

    Attributes
    ----------
    labels : int array (n,)
        Cluster of the largest share of each row, 0..m-1, where m is k or, if smaller, the number of distinct rows. No
        cluster is empty.
    centres : float array (m, d)
        The centres for which the shares were computed. They are not the means of the final clusters.
    objective : float
        F of the module's docstring, for the shares.
    n_iter : int
        Number of outer rounds.
    warning : str
        Why the rounds did not converge; empty if they did. Without convergence, the labels are those of the last round, or of
        the round with the lowest objective.
    """

    labels: np.ndarray
    centres: np.ndarray
    objective: float
    n_iter: int
    warning: str = ""


def vfc(
    X,
    groups,
    n_clusters: int,
    random_state: np.random.Generator,
    fairness_weight: float = 1.0,
    lipschitz: float = 7.0,
    max_iter: int = 100,
) -> VFCResult:
    """Run VFC from centres of k-means++ (Ziko et al., AAAI 2021, arXiv 1906.08207, algorithm 1).

    ``X`` (n, d), ``groups`` (n,), ``n_clusters`` and ``random_state`` are as in :meth:`clusterlets.methods.Method.fit`, and the
    other parameters as :class:`clusterlets.VFC` declares them. The published lambda is ``fairness_weight * SSE of plain
    k-means``, and the published L ``lipschitz * SSE of plain k-means / n``.

    Raises
    ------
    NoClusteringError
        ``not_converged``, if the first round leaves a cluster empty, both from k-means++ and from plain k-means.

    Notes
    -----
    O(n k d) time per outer round, and O(n k) for each of its dozens to hundreds of inner rounds. O(n (d + k)) memory.
    """
    X, groups = checked_instances(X, groups, "VFC", n_clusters)
    groups = codes_that_occur(groups)
    start = X[kmeans_plus_plus(X, n_clusters, random_state)]
    plain = lloyd(X, start)
    fallback = None
    for centres in (start, plain.centres):
        result, has_empty_cluster = _outer_rounds(
            X, groups, centres, plain.inertia / len(X), fairness_weight, lipschitz, max_iter
        )
        if result is not None and not has_empty_cluster:
            return result
        fallback = result or fallback
    if fallback is not None:
        return fallback
    raise NoClusteringError(
        "not_converged",
        f"VFC leaves a cluster empty with fairness_weight = {fairness_weight:g} and {len(start)} clusters, from k-means++ and "
        "from plain k-means: take a smaller weight, or fewer clusters.",
    )


def _outer_rounds(X, groups, centres, unit, fairness_weight, lipschitz, max_iter) -> tuple[VFCResult | None, bool]:
    """Step 3 from given centres: the result, and whether a cluster became empty.

    If so, the result is that of the round before, or None if it was the first round. ``unit`` is as in :func:`_costs`.
    """
    shares = _Shares(groups, len(centres), fairness_weight * len(X), lipschitz)
    result, former_objective, best, n_idle = None, np.inf, None, 0
    for n_iter in range(1, max_iter + 1):
        objective, labels, warning = shares.settle(_costs(X, centres, unit))
        if not np.bincount(labels, minlength=len(centres)).all():
            warning = f"VFC left a cluster empty in round {n_iter}: take a smaller fairness_weight, or fewer clusters."
            return result and replace(result, warning=warning), True
        result = VFCResult(labels, centres, objective, n_iter, warning)
        if warning or (n_iter >= 3 and abs(objective - former_objective) <= _OUTER_TOLERANCE * former_objective):
            return result, False
        if best is None or objective < best.objective:
            best, n_idle = result, 0
        else:
            n_idle += 1
        if n_idle == _MAX_IDLE or shares.n_attempts >= _MAX_ATTEMPTS:
            warning = f"VFC did not settle in {n_iter} rounds; the labels are from round {best.n_iter}, the best of them."
            return replace(best, warning=warning), False
        former_objective = objective
        centres, _ = moments_by_label(X, labels, len(centres))
    warning = f"VFC did not settle within max_iter = {max_iter} rounds: take a smaller fairness_weight, or more rounds."
    assert result is not None  # because max_iter is at least 1
    return replace(result, warning=warning), False


def _costs(X: np.ndarray, centres: np.ndarray, unit: float) -> np.ndarray:
    """Squared distances (n, k) in units of ``unit``, or of their mean if ``unit`` is 0."""
    costs = squared_distances_to_centres(X, centres, len(centres))
    return costs / (unit or float(costs.mean()) or 1.0)


class _Shares:
    """The shares of all rows, and step 2, which changes them.

    ``time`` and ``biases`` are T - 1 and U of the module's docstring. The shares exp(-a_ic) at T = 1 are computed separately,
    because those below the least share are raised to it. ``factor`` multiplies the given L or, if ``has_own_constants``, each
    constant L_hc.
    """

    def __init__(self, groups: np.ndarray, n_clusters: int, weight: float, lipschitz: float):
        self.groups, self.weight, self.lipschitz = groups, weight, lipschitz
        self.n_attempts = 0
        self.counts = np.bincount(groups)
        self.group_shares = self.counts / len(groups)
        n_tiles_by_group = -(-self.counts // LANES)
        firsts = np.cumsum(self.counts) - self.counts
        self.tile_group = np.repeat(np.arange(len(n_tiles_by_group)), n_tiles_by_group)
        self.tile_start = np.concatenate(
            [firsts[h] + LANES * np.arange(n_tiles_by_group[h]) for h in range(len(n_tiles_by_group))]
        )
        self.tile_size = np.minimum(LANES, (firsts + self.counts)[self.tile_group] - self.tile_start)
        self.tiles = np.zeros((len(self.tile_group), n_clusters, LANES), dtype=np.float32)
        n_tiles = len(self.tile_group)
        self.tile_floors, self.tops = (np.zeros((n_tiles, LANES), dtype=np.float32) for _ in range(2))
        self.nearest = np.empty((n_tiles, n_clusters), dtype=np.float32)
        # The kernel keeps these between evaluations: the clusters listed for each tile, and T and U at that time.
        self.active, self.n_active = np.empty((n_tiles, n_clusters), dtype=np.int64), np.empty(n_tiles, dtype=np.int64)
        self.snapshots = np.empty((n_tiles, 3 * n_clusters + 1), dtype=np.float32)
        self.row_shares = self.new_row_shares = np.empty((0, n_clusters))  # used with L_hc

    def settle(self, costs: np.ndarray) -> tuple[float, np.ndarray, str]:
        """Step 2 from exp(-costs): the objective, the labels (n,), and why the rounds did not converge, or ''."""
        n_groups, k = len(self.group_shares), costs.shape[1]
        keys, sums = np.empty(len(costs), dtype=np.int64), np.empty(len(costs))
        _tile_keys(costs, self.groups, keys, sums)
        self.floors = log(sums * _MIN_SHARE)  # the exponent of the least share, for each row
        _fill_tiles(
            costs, self.floors, np.argsort(keys, kind="stable"), self.tile_start, self.tile_size, self.tiles, self.tile_floors
        )
        self.nearest[:] = self.tiles.min(axis=2)
        self.offset = float(costs.min(axis=1).sum())  # the tiles hold costs minus the lowest cost of each row
        self.has_own_constants, self.factor, self.n_accepted = False, 1.0, 0
        self.time, self.biases, self.n_evaluations = 0.0, np.zeros((n_groups, k)), 0
        self.n_active[:] = 0
        self.masses = np.full((n_groups, k), 1e-12)  # so low that the first evaluation leaves out hardly any share
        cost, self.masses = self._evaluate(self.time, self.biases)
        self.largest_cluster = self.masses.argmax(axis=1)[:, None]
        objective, warning = self._objective(cost, self.masses), ""
        for inner_round in range(_MAX_INNER):
            if inner_round >= _COMMON_ROUNDS and self.factor > _MAX_FACTOR and not self.has_own_constants:
                self._switch_to_own_constants(costs)
            new_objective = self._lower_objective(costs, objective)
            if new_objective is None:
                warning = (
                    "VFC diverged: its objective rises however short the step is. Take a smaller fairness_weight, or scale X."
                )
                break
            former_objective, objective = objective, new_objective
            # Larger constants make shorter steps. Some are so short that single precision cannot show whether F still falls.
            is_precise = self.factor <= _MAX_FACTOR or self.has_own_constants
            if is_precise and former_objective - objective <= _INNER_TOLERANCE / self.factor * former_objective:
                break
        else:
            warning = f"VFC did not settle within {_MAX_INNER} inner rounds: take a smaller fairness_weight."
        return objective, self._labels(costs), warning

    def _labels(self, costs: np.ndarray) -> np.ndarray:
        """Cluster of each row's largest share."""
        if self.has_own_constants:
            return self.row_shares.argmax(axis=1)
        labels = np.empty(len(costs), dtype=np.int64)
        _largest_shares(costs, self.floors, self.groups, self.time, self.biases, labels)
        return labels

    def _lower_objective(self, costs: np.ndarray, former_objective: float) -> float | None:
        """Step 1, with larger constants if the objective rises; returns the new objective, or None if it always rises."""
        if self.n_accepted == _PATIENCE and self.factor > (_MIN_FACTOR if self.has_own_constants else 1):
            self.factor, self.n_accepted = self.factor / 2, 0
        for _ in range(_MAX_DOUBLINGS):
            objective = self._try_step(costs, former_objective)
            if objective is not None:
                self.n_accepted += 1
                return objective
            self.factor, self.n_accepted = self.factor * 2, 0
        return None

    def _try_step(self, costs: np.ndarray, former_objective: float) -> float | None:
        """Step 1 with the current constants; returns the new objective, or None with nothing changed if it rises."""
        self.n_attempts += 1
        slopes = self.weight * (1 / self.masses.sum(axis=0) - self.group_shares[:, None] / self.masses)
        if self.has_own_constants:
            constants = self.factor * np.maximum(self.lipschitz, self.weight * self.group_shares[:, None] / self.masses)
            masses = np.empty_like(self.masses)
            cost = _step_with_own_constants(
                costs, slopes, 1 / constants, self.groups, self.row_shares, self.new_row_shares, masses
            )
        else:
            rate = 1 / (self.factor * self.lipschitz)
            exponents = np.minimum((slopes - slopes.min(axis=1, keepdims=True)) * rate, _MAX_EXPONENT)
            time, biases = self.time + rate, self.biases - exponents
            # Adding a number to all biases of a group changes no share. Here, the bias of its largest cluster becomes 0.
            biases -= np.take_along_axis(biases, self.largest_cluster, axis=1)
            cost, masses = self._evaluate(time, biases)
        objective = self._objective(cost, masses)
        if not objective <= former_objective * (1 + _RISE_TOLERANCE):
            return None
        self.masses = masses
        if self.has_own_constants:
            self.row_shares, self.new_row_shares = self.new_row_shares, self.row_shares
        else:
            self.time, self.biases = time, biases
        return objective

    def _evaluate(self, time: float, biases: np.ndarray) -> tuple[float, np.ndarray]:
        """The cost and the masses (K, k) of the shares at T and U."""
        limits = log(_MAX_LEFT_OUT * self.masses / self.counts[:, None]) * _LOG2_E - _MARGIN
        masses = np.zeros(biases.shape)
        self.n_evaluations += 1
        cost = _add_masses(
            self.tiles,
            self.tile_floors,
            self.nearest,
            self.tile_group,
            self.tile_size,
            np.float32(time),
            (biases * _LOG2_E).astype(np.float32),
            limits.astype(np.float32),
            self.n_evaluations,
            self.tops,
            self.active,
            self.n_active,
            self.snapshots,
            masses,
        )
        return cost / _LOG2_E + self.offset, masses

    def _switch_to_own_constants(self, costs: np.ndarray) -> None:
        """Use the constants L_hc from now on, and store the shares as a matrix (n, k)."""
        excess = costs - costs.min(axis=1, keepdims=True)
        exponents = self.biases[self.groups] - self.time * excess + np.maximum(-excess, self.floors[:, None])
        shares = exp(np.maximum(exponents - exponents.max(axis=1, keepdims=True), -_MAX_EXPONENT))
        self.row_shares = np.maximum(shares / shares.sum(axis=1, keepdims=True), _MIN_SHARE)
        self.new_row_shares = np.empty_like(self.row_shares)
        self.has_own_constants, self.factor, self.n_accepted = True, 1.0, 0

    def _objective(self, cost: float, masses: np.ndarray) -> float:
        ratios = masses / masses.sum(axis=0) / self.group_shares[:, None]
        divergence = -float((self.group_shares[:, None] * log(ratios)).sum())
        return cost + self.weight * max(divergence, 0.0)  # only rounding can make it negative


@compiled("void(float64[:,::1], float64[::1], int64[::1], float64, float64[:,::1], int64[::1])")
def _largest_shares(costs, floors, groups, time, biases, labels):
    """Write to ``labels`` (n,) the cluster in which each row has its largest exponent. Ties go to the lower index."""
    for row in range(len(costs)):
        bias, least, best, largest = biases[groups[row]], costs[row].min(), 0, -np.inf
        for cluster in range(costs.shape[1]):
            excess = costs[row, cluster] - least
            exponent = bias[cluster] - time * excess + max(-excess, floors[row])
            if exponent > largest:
                best, largest = cluster, exponent
        labels[row] = best


@inner
def _power_of_2(x):
    """2^x in single precision, for -125 < x < 125. The last step adds the whole number nearest to x to the exponent."""
    shifted = x + _ROUNDER
    r = x - (shifted - _ROUNDER)
    value = _P0 + r * (_P1 + r * (_P2 + r * (_P3 + r * (_P4 + r * _P5))))
    bits = np.float32(value).view(np.int32) + (np.float32(shifted).view(np.int32) << _MANTISSA_BITS)
    return np.int32(bits).view(np.float32)


@compiled("float64(float64[:,::1], float64[:,::1], float64[:,::1], int64[::1], float64[:,::1], float64[:,::1], float64[:,::1])")
def _step_with_own_constants(costs, slopes, rates, groups, shares, new_shares, masses):
    """Step 1 with the constants L_hc, whose reciprocals are the ``rates`` (K, k); returns the cost of the new shares.

    ``new_shares`` (n, k) become shares * exp((level - g) * rates), with each row divided by its sum. Here g is ``costs`` (n, k)
    plus the ``slopes`` (K, k) of the row's group. The level of a row keeps the sum of its shares the same to first order.
    ``masses`` (K, k) become the sums of the new shares of each group.
    """
    n, k = shares.shape
    exponents, powers = np.empty(k), np.empty(k, dtype=np.float32)
    masses[:] = 0.0
    cost = 0.0
    for row in range(n):
        slope, rate, mass = slopes[groups[row]], rates[groups[row]], masses[groups[row]]
        level, sum_of_derivatives = 0.0, 0.0
        for cluster in range(k):
            derivative = shares[row, cluster] * rate[cluster]
            level += derivative * (costs[row, cluster] + slope[cluster])
            sum_of_derivatives += derivative
        level /= sum_of_derivatives
        largest = -np.inf
        for cluster in range(k):
            exponents[cluster] = (level - costs[row, cluster] - slope[cluster]) * rate[cluster] * _LOG2_E
            largest = max(largest, exponents[cluster])
        for cluster in range(k):
            powers[cluster] = _power_of_2(np.float32(max(exponents[cluster] - largest, _MIN_EXPONENT_OF_2)))
        total = 0.0
        for cluster in range(k):
            share = shares[row, cluster] * powers[cluster]
            new_shares[row, cluster] = share
            total += share
        row_cost = 0.0
        for cluster in range(k):
            share = max(new_shares[row, cluster] / total, _MIN_SHARE)
            new_shares[row, cluster] = share
            mass[cluster] += share
            row_cost += share * costs[row, cluster]
        cost += row_cost
    return cost


@compiled("void(float64[:,::1], int64[::1], int64[::1], float64[::1])")
def _tile_keys(costs, groups, keys, sums):
    """Write ``keys`` (n,) that sort rows by group, nearest cluster and other near clusters.

    So the rows of a tile are near the same few clusters. The excess of a cost is its difference from the row's lowest cost.
    ``sums`` (n,) become the sums of exp(-excess).
    """
    n, k = costs.shape
    for row in range(n):
        nearest, bits, total = 0, 0, 0.0
        for cluster in range(1, k):
            if costs[row, cluster] < costs[row, nearest]:
                nearest = cluster
        for cluster in range(k):
            excess = costs[row, cluster] - costs[row, nearest]
            if excess < 1:
                bits |= 1 << cluster % 32
            total += _power_of_2(max(np.float32(-excess * _LOG2_E), _MIN_LOG2_SHARE))
        keys[row], sums[row] = ((groups[row] * k + nearest) << 32) + bits, total


@compiled("void(float64[:,::1], float64[::1], int64[::1], int64[::1], int64[::1], float32[:,:,::1], float32[:,::1])")
def _fill_tiles(costs, floors, order, starts, sizes, tiles, tile_floors):
    """Write the costs minus the lowest cost of each row to ``tiles`` (n_tiles, k, LANES), and ``floors`` to ``tile_floors``.

    Both are multiplied by log2(e): they become exponents of 2.
    """
    for t in range(len(tiles)):
        for j in range(sizes[t]):
            row = order[starts[t] + j]
            tile_floors[t, j] = floors[row] * _LOG2_E
            least = costs[row].min()
            for cluster in range(costs.shape[1]):
                tiles[t, cluster, j] = (costs[row, cluster] - least) * _LOG2_E


@inner
def _is_stale(time, bias, limits, nearest, active, n_active, snapshot):
    """Whether other clusters may matter to a tile, or its exponents may have drifted too far, since its list was made."""
    k = len(bias)
    rise_of_others, fall_of_active, rise_of_active, next_active = np.float32(-3e38), np.float32(0), np.float32(0), 0
    elapsed = time - snapshot[3 * k]
    for cluster in range(k):
        change = bias[cluster] - snapshot[cluster]
        largest_change = change - elapsed * nearest[cluster]
        if next_active < n_active and active[next_active] == cluster:
            next_active += 1
            rise_of_active = max(rise_of_active, largest_change)
            farthest = snapshot[2 * k + cluster]
            if farthest >= 0:
                fall_of_active = min(fall_of_active, change - elapsed * farthest)
        else:
            rise_of_others = max(rise_of_others, largest_change - limits[cluster] + snapshot[k + cluster])
    return (
        n_active == 0
        or elapsed < 0
        or rise_of_others - fall_of_active > _MARGIN
        or max(rise_of_active, -fall_of_active) > _DRIFT
    )


@inner
def _list_clusters(tile, floor, time, bias, limits, top, exponents, active, snapshot):
    """Write each row's largest exponent to ``top``, and the clusters that matter to any row to ``active``.

    Returns the number of these clusters. ``snapshot`` becomes what :func:`_is_stale` compares with later: the biases of the
    clusters, their limits, for each cluster the largest cost of a row whose best cluster it is (-1 if there is none), and the
    time.
    """
    k = len(tile)
    top[:] = np.float32(-3e38)
    for cluster in range(k):
        cost, cluster_exponents, cluster_bias = tile[cluster], exponents[cluster], bias[cluster]
        for j in range(LANES):
            exponent = cluster_bias - time * cost[j] + max(-cost[j], floor[j])
            cluster_exponents[j] = exponent
            top[j] = max(top[j], exponent)
    n_active = 0
    for cluster in range(k):
        cost, cluster_exponents, limit = tile[cluster], exponents[cluster], limits[cluster]
        matters, farthest = 0, np.float32(-1)
        for j in range(LANES):
            matters |= cluster_exponents[j] - top[j] > limit
        if matters:
            active[n_active] = cluster
            n_active += 1
            for j in range(LANES):
                if cluster_exponents[j] == top[j]:
                    farthest = max(farthest, cost[j])
        snapshot[cluster], snapshot[k + cluster], snapshot[2 * k + cluster] = bias[cluster], limit, farthest
    snapshot[3 * k] = time
    return n_active


@compiled(
    "float64(float32[:,:,::1], float32[:,::1], float32[:,::1], int64[::1], int64[::1], float32, float32[:,::1], float32[:,::1],"
    "int64, float32[:,::1], int64[:,::1], int64[::1], float32[:,::1], float64[:,::1])"
)
def _add_masses(
    tiles, floors, nearest, groups, sizes, time, biases, limits, n_evaluations, tops, active, n_active, snapshots, masses
):
    """Add the shares of all rows, at the given T and U, to ``masses`` (K, k); returns their cost.

    ``tops`` (n_tiles, LANES) are numbers near the largest exponent of each row. ``active`` lists the clusters that matter to a
    tile: there, some row's exponent exceeds its largest exponent plus the (negative) limit. In all other clusters, every row
    gets the least share. Both arrays are computed again every ``_MAX_AGE`` evaluations, and if :func:`_is_stale` says so.
    """
    n_tiles, k = len(tiles), tiles.shape[1]
    powers, lanes = np.empty((k, LANES), dtype=np.float32), np.zeros((k, LANES), dtype=np.float32)
    total, row_cost = np.empty(LANES, dtype=np.float32), np.empty(LANES, dtype=np.float32)
    least_share = 2.0 ** np.float64(_MIN_LOG2_SHARE)
    cost = 0.0
    for t in range(n_tiles):
        group, tile, top, floor = groups[t], tiles[t], tops[t], floors[t]
        is_due = (n_evaluations + t) % _MAX_AGE == 0
        if is_due or _is_stale(time, biases[group], limits[group], nearest[t], active[t], n_active[t], snapshots[t]):
            n_active[t] = _list_clusters(tile, floor, time, biases[group], limits[group], top, powers, active[t], snapshots[t])
        total[:] = np.float32(0)
        row_cost[:] = np.float32(0)
        for i in range(n_active[t]):
            bias, costs, cluster_powers = biases[group, active[t, i]], tile[active[t, i]], powers[i]
            for j in range(LANES):
                exponent = bias - time * costs[j] + max(-costs[j], floor[j])
                power = _power_of_2(max(exponent - top[j], _MIN_LOG2_SHARE))
                cluster_powers[j] = power
                total[j] += power
        for j in range(LANES):
            total[j] = np.float32(1) / total[j] if j < sizes[t] else np.float32(0)
        for i in range(n_active[t]):
            costs, cluster_powers, lane = tile[active[t, i]], powers[i], lanes[active[t, i]]
            for j in range(LANES):
                share = cluster_powers[j] * total[j]
                lane[j] += share
                row_cost[j] += share * costs[j]
        for j in range(LANES):
            cost += row_cost[j]
        next_active = 0
        for cluster in range(k):
            if next_active < n_active[t] and active[t, next_active] == cluster:
                next_active += 1
            else:
                masses[group, cluster] += least_share * sizes[t]
        if t % _TILES_PER_SUM == _TILES_PER_SUM - 1 or t + 1 == n_tiles or groups[t + 1] != group:
            for cluster in range(k):
                lane = lanes[cluster]
                for j in range(LANES):
                    masses[group, cluster] += lane[j]
                lane[:] = np.float32(0)
    return cost
