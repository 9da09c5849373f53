"""The dual of fair assignment at given centres: prices of the clusters at which all constraints on the clusters' counts hold.

Fair assignment is a linear program. Each instance goes to one cluster or is divided among several. In every cluster, the counts
m of the groups must meet ``constraints @ m <= slack``. Such constraints bound shares, ratios and sizes.

The dual has a multiplier of at least 0 for each constraint and cluster. The multipliers give every group a price in every
cluster, and each instance goes to the cluster with the least sum of cost and price. The value of the dual is a lower bound on
the cost of every assignment that meets the constraints.

1. *Rescue*: if a constraint is far off and no instance is near the border of its cluster, the smoothed dual is flat. Then a
   search along the single multiplier moves the border to where the constraint holds.
2. *Newton steps*: the minimum over clusters is smoothed at falling temperatures. At each, damped steps raise the dual.

A cluster is near an instance if its cost plus price is within a few temperatures of the least. At a low temperature, most
instances have one near cluster. Sums over these are kept, and each step evaluates only the other instances. Once prices have
moved too far, near clusters are listed again. Until then, only a near cluster can become the cheapest: the bound stays exact.

Instances are arranged in tiles of one group each, and costs so that loops run over the instances of a tile (a place in it is a
lane): the processor then compares several at once.

The arithmetic consists of sums, products and roots in a fixed order, so every processor gives the same bits. This file has its
own exponential and logarithm, because a kernel may only call functions of its own file.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner

_MAX_STEPS = 30  # at each temperature; more steps hardly raise the bound
_FIRST_DAMPING = 1.0  # far below, most first steps are too large and have to be taken back
_MAX_DAMPING = 1e12  # the search at a temperature ends if a step needs more damping
_COST_SAMPLE = 1_000  # rows that give the mean cost; it matters only if hardly any row costs anything
_ROUNDING = 1e-20  # as a fraction of the mean cost: smaller costs are rounding errors
_LN2 = 0.6931471805599453
_REACH = 12.0  # in temperatures above the least cost plus price: a costlier cluster gets less than 1e-5 of the instance
_MARGIN = 6.0  # in temperatures: price differences may change by this much before near clusters are listed again
_CHUNK = 64  # instances whose exponentials are computed in one loop
_LANE_BITS = 5
_LANES = 1 << _LANE_BITS  # instances of a tile
_WORD = 60  # clusters whose bits form one number: bit i is set if the cluster is near
# The place of the only bit that is set in a number: multiplied by this constant, the number has another six leading bits for
# each place (Leiserson, Prokop and Randall 1998).
_DE_BRUIJN = 0x03F79D71B4CB0A89
_PLACE_OF_BIT = np.argsort([(_DE_BRUIJN << place) >> 58 & 63 for place in range(64)])
_SMALLEST_PART = 6e-6  # of the part in the cheapest cluster: smaller parts, which are beyond the reach, do not count
_LARGE_PART = 1e-4  # of the part in the cheapest cluster: smaller parts hardly change the curvature
_RESTART_TEMPERATURE = 0.1  # of a search from 0, after given multipliers turned out to be useless
# Tolerance of a constraint in a small cluster: this many instances, plus this fraction of the size.
_LEAST_TOLERANCE, _SIZE_TOLERANCE = 0.3, 0.05
_BORDER = 3.0  # an instance is near the border of two clusters if their costs plus prices differ by this many temperatures
_SWEEPS = 3  # of the rescue
_MAX_DOUBLINGS, _MAX_HALVINGS = 60, 30  # of a step of the rescue

# The problem that every kernel takes: costs (tiles, k, lanes), weights (tiles * lanes,), the group (tiles,) of each tile,
# constraints (R, K), slack (R, k), and the least values (R,) of the multipliers.
_PROBLEM = "Tuple((float64[:,:,::1], float64[::1], int64[::1], float64[:,::1], float64[:,::1], float64[::1]))"


@dataclass(frozen=True)
class FairDual:
    """A solution of the dual: no assignment that meets the constraints costs less than ``bound`` at these centres.

    ``multipliers`` (R, k) are those of R constraints in k clusters. ``prices`` (K, k) are what an instance of each group pays
    in each cluster on top of its cost. ``counts`` (K, k) are the numbers of instances of each group in each cluster, with
    fractions. ``temperature`` is the last one of the search, in units of the costs. ``means`` (k, d) are the means of the rows,
    weighted by their fractions in each cluster.
    """

    bound: float
    multipliers: np.ndarray
    prices: np.ndarray
    counts: np.ndarray
    temperature: float
    means: np.ndarray | None = None


class FairAssignment:
    """Fair assignments of the same instances, at costs or centres that change.

    Parameters
    ----------
    weights : float array (n,)
        Number of instances that each row stands for.
    groups : int array (n,)
        0..K-1.
    n_groups : int
        K.
    constraints, slack : float arrays (R, K), (R, k)
        Every cluster's counts must meet ``constraints @ counts <= slack``.
    """

    def __init__(self, weights: np.ndarray, groups: np.ndarray, n_groups: int, constraints: np.ndarray, slack: np.ndarray):
        sizes = np.bincount(groups, minlength=n_groups)
        n_tiles, ends, order = -(-sizes // _LANES), np.cumsum(sizes), np.argsort(groups, kind="stable")
        places = np.arange(len(groups)) + np.repeat(_LANES * (np.cumsum(n_tiles) - n_tiles) - (ends - sizes), sizes)
        # The last row of a group, with a weight of 0, fills up its last tile.
        self._rows = np.repeat(order[np.maximum(0, ends - 1)], _LANES * n_tiles)
        self._weights = np.zeros(len(self._rows))
        self._rows[places], self._weights[places] = order, weights[order]
        self._groups, self._shape = np.repeat(np.arange(n_groups), n_tiles), slack.shape
        self.n_instances = float(weights.sum())
        # A constraint and its opposite form an equality. It needs only one multiplier, which may have either sign.
        opposites = _opposites(constraints, slack)
        self._firsts, self._seconds = list(opposites.keys()), list(opposites.values())
        self._kept = [row for row in range(len(constraints)) if row not in self._seconds]
        minima = np.where(np.isin(self._kept, self._firsts), -np.inf, 0.0)
        arrays = constraints.reshape(-1, n_groups)[self._kept], slack[self._kept], minima
        self._constraints = tuple(np.ascontiguousarray(array, dtype=np.float64) for array in arrays)

    def problem(self, costs: np.ndarray) -> tuple:
        """What the kernels take, at costs (n, k)."""
        tiles = np.empty((len(self._groups), costs.shape[1], _LANES))
        _write_costs(np.ascontiguousarray(costs, dtype=np.float64), self._rows, tiles)
        return tiles, self._weights, self._groups, *self._constraints

    def solve(self, costs: np.ndarray, multipliers, temperatures: Sequence[float], tolerance: float) -> FairDual:
        """The dual at costs (n, k): see :func:`solve_dual`."""
        no_rows, no_means, problem = np.empty((0, 1)), np.empty((costs.shape[1], 1)), self.problem(costs)
        value_at_zero = float(np.cumsum(self._weights * problem[0].min(axis=1).ravel())[-1])
        return self._solve(problem, value_at_zero, multipliers, temperatures, tolerance, no_rows, no_means)

    def solve_at(self, X: np.ndarray, centres: np.ndarray, multipliers, temperatures, tolerance: float) -> FairDual:
        """The dual at the squared distances of the rows (n, d) to the centres, with the means of the clusters.

        If there are fewer centres than clusters, the first stands in for the missing ones. A cluster that gets no part of any
        row keeps its centre.
        """
        means = np.concatenate([centres, np.repeat(centres[:1], self._shape[1] - len(centres), axis=0)])
        tiles = np.empty((len(self._groups), len(means), _LANES))
        value_at_zero = _write_distances(X, self._rows, self._weights, means, np.empty((X.shape[1] + 1, _LANES)), tiles)
        problem = tiles, self._weights, self._groups, *self._constraints
        return self._solve(problem, value_at_zero, multipliers, temperatures, tolerance, X, means)

    def _solve(self, problem, value_at_zero, multipliers, temperatures, tolerance, X, means) -> FairDual:
        all_multipliers = np.zeros(self._shape) if multipliers is None else multipliers.copy()
        all_multipliers[self._firsts] -= all_multipliers[self._seconds]
        kept = all_multipliers[self._kept]
        results = _maximise(problem, value_at_zero, kept, temperatures, tolerance, X, self._rows, means)
        all_multipliers[self._kept] = kept
        all_multipliers[self._seconds] = -all_multipliers[self._firsts]
        bound, prices, counts, temperature = results
        return FairDual(bound, np.maximum(0.0, all_multipliers), prices, counts, temperature, means)


def solve_dual(
    costs, weights, groups, n_groups: int, constraints, slack, multipliers, temperatures: Sequence[float], tolerance: float
) -> FairDual:
    """Raise the dual until its assignment nearly meets ``constraints @ counts <= slack``, or until the steps run out.

    Parameters
    ----------
    costs : float array (n, k)
        Finite and not negative.
    weights, groups, n_groups, constraints, slack
        As in :class:`FairAssignment`.
    multipliers : float array (R, k) or None
        Where the search starts, by default at 0. They should come from nearby centres. If the dual is less there than at 0, the
        search starts at 0.
    temperatures : sequence of float
        Used one after the other, in units of the mean cost of an instance's nearest cluster.
    tolerance : float
        Number of instances by which a constraint may be off; in small clusters a few per cent of the size, if that is less.

    Notes
    -----
    O(n k + (R k)^3) time per step.
    """
    return FairAssignment(weights, groups, n_groups, constraints, slack).solve(costs, multipliers, temperatures, tolerance)


def _opposites(constraints: np.ndarray, slack: np.ndarray) -> dict[int, int]:
    """Pairs of opposite constraints, which together fix a sum in every cluster; no constraint is in two pairs."""
    rows = np.hstack([constraints, slack]) + 0.0  # turns -0.0 into 0.0, because bytes are compared
    waiting: dict[bytes, list[int]] = {}
    pairs: dict[int, int] = {}
    for index, (row, opposite) in enumerate(zip(rows, 0.0 - rows, strict=True)):
        if waiting.get(opposite.tobytes()):
            pairs[waiting[opposite.tobytes()].pop(0)] = index
        else:
            waiting.setdefault(row.tobytes(), []).append(index)
    return pairs


def _maximise(problem, value_at_zero, multipliers, temperatures, tolerance, X, rows, means):
    """Raise the dual at one temperature after the other, starting from ``multipliers`` (R, k), which are overwritten.

    ``value_at_zero`` is the dual if all multipliers are 0. Fills in the ``means`` of X, unless that has no rows. Returns the
    bound, prices, counts and the last temperature.
    """
    costs, weights, _, constraints, _, _ = problem
    counts, prices = np.empty((2, constraints.shape[1], costs.shape[1]))
    mean_least_cost, mean_cost = value_at_zero / float(weights.sum()), float(costs[: -(-_COST_SAMPLE // _LANES)].mean())
    unit = (mean_least_cost if mean_least_cost > _ROUNDING * mean_cost else mean_cost) or 1.0
    bound, temperatures, least_value = -np.inf, list(temperatures), value_at_zero * (1 - 1e-12)
    results, work = (multipliers, prices, counts, X, rows, means), _working_memory(problem, means)
    is_warm = multipliers.any()
    while temperatures:
        temperature = temperatures.pop(0)
        value = _ascend(problem, temperature * unit, tolerance, least_value, results, *work)
        if np.isnan(value):
            value = _rescue(problem, temperature * unit, tolerance, multipliers, prices)
            if is_warm and value < value_at_zero:
                multipliers[:] = 0.0
                if temperature < _RESTART_TEMPERATURE:
                    temperatures.insert(0, temperature)
                    temperature = _RESTART_TEMPERATURE
            value = _ascend(problem, temperature * unit, tolerance, -np.inf, results, *work)
        bound, is_warm = max(bound, value), False
    return bound, prices, counts, temperature * unit


def _working_memory(problem, means) -> tuple:
    """The arrays that :func:`_ascend` works with, because Numba takes long to compile an allocation."""
    costs, _, _, constraints, _, _ = problem
    (n_tiles, k, _), (n_constraints, n_groups) = costs.shape, constraints.shape
    n, size, n_parts = n_tiles * _LANES, n_constraints * k, _CHUNK * k + 1
    # The cluster of each sure instance, or -1. The unsure ones, and their near clusters as sparse rows: row starts, clusters
    # and costs. Few of them are written, and memory that is never touched costs nothing.
    own, unsure, starts = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    near = own, unsure, starts, np.empty(n * k + 1, dtype=np.int32), np.empty(n * k + 1)
    by_cluster = *np.empty((5, n_groups, k)), *np.empty((2, n_constraints, k)), np.empty((size, size + 1)), np.empty_like(means)
    numbers = np.empty(_LANES), np.empty(k), np.empty(k), np.empty(n_parts)
    indices = np.zeros(_CHUNK + 1, dtype=np.int64), np.empty(n_parts, dtype=np.int64), np.empty((2, size), dtype=np.int64)
    work = np.empty((-(-k // _WORD), _LANES), dtype=np.int64), *numbers, *indices, np.empty((k, k), dtype=np.bool_)
    return near, by_cluster, tuple(np.empty((2, n_groups, k, k))), work


def _rescue(problem, temperature, tolerance, multipliers, prices) -> float:
    """Change multipliers that Newton steps cannot move, because no instance is near the border of their cluster.

    A multiplier changes if its constraint is off by more than its tolerance and by more than ten times the weight of the rows
    at the cluster's border. The first sweep only lowers multipliers: a price that no longer fits may have drawn all rows.
    Returns the exact dual, or minus infinity if multipliers change nothing, because there are none or only one cluster.
    """
    costs, weights, _, constraints, _, _ = problem
    k, n = costs.shape[1], len(weights)
    if not len(constraints) or k == 1:
        return -np.inf
    indices, values = np.empty((2, n), dtype=np.int64), np.empty((3, n))
    counts, at_border = np.empty((constraints.shape[1], k)), np.empty(k)
    return _move_borders(problem, temperature, tolerance, multipliers, prices, *indices, *values, counts, at_border)


# ---- elementary functions ----------------------------------------------------------------------------------------------


@inner
def _exponentials(values, n_values):
    """Replace the first ``n_values`` values x of at least 0 by exp(-x): the series of exp(-x / 16), squared four times.

    Values above 24 count as 24. The error is below 1e-9, and far smaller where x is below 4.
    """
    for i in range(n_values):
        x = min(values[i], 24.0) * -0.0625
        total = 1.0 + x * (1.0 / 7.0)
        for power in range(6, 0, -1):
            total = 1.0 + x * (1.0 / power) * total
        for _ in range(4):
            total *= total
        values[i] = total


@inner
def _log(x):
    """log(x) of a positive number, with an error below 1e-12."""
    mantissa, exponent = x, 0
    while mantissa >= 1.4142135623730951:
        mantissa, exponent = 0.5 * mantissa, exponent + 1
    while mantissa < 0.7071067811865476:
        mantissa, exponent = 2 * mantissa, exponent - 1
    s = (mantissa - 1) / (mantissa + 1)
    value, square = 0.0, s * s
    for power in range(6, -1, -1):
        value = value * square + 2.0 / (2 * power + 1)
    return exponent * _LN2 + s * value


# ---- values and cheapest clusters --------------------------------------------------------------------------------------


@inner
def _set_prices(constraints, multipliers, prices):
    """Fill in the prices that the multipliers give."""
    for group in range(prices.shape[0]):
        for cluster in range(prices.shape[1]):
            total = 0.0
            for constraint in range(constraints.shape[0]):
                total += multipliers[constraint, cluster] * constraints[constraint, group]
            prices[group, cluster] = total


@compiled("void(float64[:,::1], int64[::1], float64[:,:,::1])")
def _write_costs(costs, rows, tiles):
    """Write the costs (n, k) of the rows in all places of the tiles."""
    for tile in range(len(tiles)):
        for lane in range(_LANES):
            row = rows[tile * _LANES + lane]
            for cluster in range(costs.shape[1]):
                tiles[tile, cluster, lane] = costs[row, cluster]


@compiled("float64(float64[:,::1], int64[::1], float64[::1], float64[:,::1], float64[:,::1], float64[:,:,::1])")
def _write_distances(X, rows, weights, centres, work, tiles):
    """Write the squared distances of the rows in all places of the tiles, summed in the order of the features.

    Returns the sum of the weighted least distances, in the order of the places. ``work`` (d + 1, lanes) is working memory.
    """
    (k, d), total = centres.shape, 0.0
    for tile in range(len(tiles)):
        for lane in range(_LANES):
            row, work[d, lane] = rows[tile * _LANES + lane], np.inf
            for feature in range(d):
                work[feature, lane] = X[row, feature]
        for cluster in range(k):
            for lane in range(_LANES):
                tiles[tile, cluster, lane] = 0.0
            for feature in range(0, d - 1, 2):  # pairs of features halve the loads and stores of the sums
                x, y = centres[cluster, feature], centres[cluster, feature + 1]
                for lane in range(_LANES):
                    a, b = work[feature, lane] - x, work[feature + 1, lane] - y
                    tiles[tile, cluster, lane] = tiles[tile, cluster, lane] + a * a + b * b
            if d % 2:
                x = centres[cluster, d - 1]
                for lane in range(_LANES):
                    a = work[d - 1, lane] - x
                    tiles[tile, cluster, lane] += a * a
            for lane in range(_LANES):
                work[d, lane] = min(work[d, lane], tiles[tile, cluster, lane])
        for lane in range(_LANES):
            total += weights[tile * _LANES + lane] * work[d, lane]
    return total


@inner
def _cluster_tolerance(tolerance, counts, cluster):
    """By how many instances a constraint of this cluster may be off."""
    size = 0.0
    for group in range(counts.shape[0]):
        size += counts[group, cluster]
    return min(tolerance, _LEAST_TOLERANCE + _SIZE_TOLERANCE * size)


# ---- the rescue --------------------------------------------------------------------------------------------------------


@inner
def _gradient(constraints, slack, counts, constraint, cluster):
    """By how much a constraint is violated, which is the derivative of the dual by its multiplier."""
    total = -slack[constraint, cluster]
    for group in range(constraints.shape[1]):
        total += constraints[constraint, group] * counts[group, cluster]
    return total


@inner
def _step_to_border(weights, groups, constraints, slack, constraint, cluster, is_violated, first_step, largest_fall, margins):
    """A change of one multiplier after which its constraint just holds, or 0 if there is none.

    The step is doubled until the constraint changes from violated to met or back, and then located to a fifth of
    ``first_step``. A multiplier that no longer binds falls by at most ``largest_fall``.
    """
    low, high, step, n_halvings = 0.0, 0.0, first_step, 0
    for n_steps in range(1, _MAX_DOUBLINGS + _MAX_HALVINGS + 1):
        violation = -slack[constraint, cluster]
        for tile in range(len(groups)):
            coefficient = constraints[constraint, groups[tile]]
            for place in range(tile * _LANES, (tile + 1) * _LANES):  # it is in the cluster if the change is below its margin
                violation += weights[place] * coefficient if step * coefficient < margins[place] else 0.0
        if (violation <= 0) == is_violated:
            high = step
        else:
            low = step
        if high == 0.0:
            if -step >= largest_fall:
                return -largest_fall
            if n_steps == _MAX_DOUBLINGS:
                return 0.0
            step *= 2
        elif n_halvings == _MAX_HALVINGS or abs(high - low) < 0.2 * abs(first_step):
            break
        else:
            step, n_halvings = 0.5 * (low + high), n_halvings + 1
    return high if is_violated else low


@inner
def _count_rows(costs, weights, groups, prices, temperature, changed, first, second, least, next_least, counts, at_border):
    """Fill in the counts (K, k) of the cheapest clusters, and the weight (k,) of the rows at each cluster's border.

    Only the prices of cluster ``changed`` differ from the last call; -1 stands for all clusters. Returns the sum of all
    instances' least cost plus price.
    """
    least_sum = 0.0
    for cluster in range(costs.shape[1]):
        at_border[cluster] = 0.0
        for group in range(len(counts)):
            counts[group, cluster] = 0.0
    for place in range(len(weights)):
        tile, lane = place >> _LANE_BITS, place & (_LANES - 1)
        group = groups[tile]
        if (
            changed < 0
            or first[place] == changed
            or second[place] == changed
            or costs[tile, changed, lane] + prices[group, changed] < next_least[place]
        ):
            a, b, index_a, index_b = np.inf, np.inf, 0, 0
            for cluster in range(costs.shape[1]):
                value = costs[tile, cluster, lane] + prices[group, cluster]
                if value < a:
                    a, b, index_a, index_b = value, a, cluster, index_a
                elif value < b:
                    b, index_b = value, cluster
            first[place], second[place], least[place], next_least[place] = index_a, index_b, a, b
        counts[group, first[place]] += weights[place]
        if next_least[place] - least[place] < _BORDER * temperature:
            at_border[first[place]] += weights[place]
            at_border[second[place]] += weights[place]
        least_sum += weights[place] * least[place]
    return least_sum


@compiled(
    f"float64({_PROBLEM}, float64, float64, float64[:,::1], float64[:,::1], int64[::1], int64[::1], float64[::1], float64[::1],"
    "float64[::1], float64[:,::1], float64[::1])"
)
def _move_borders(
    problem, temperature, tolerance, multipliers, prices, first, second, least, next_least, margins, counts, at_border
):
    """The loop of :func:`_rescue`; all arrays after the ``prices`` are working memory."""
    costs, weights, groups, constraints, slack, minima = problem
    n_constraints, k = multipliers.shape
    changed, is_counted, any_changed, value = -1, False, False, 0.0
    for sweep in range(_SWEEPS + 1):
        is_end = sweep == _SWEEPS or (sweep > 1 and not any_changed)  # then rows are only counted
        any_changed = False
        for cluster in range(k):
            for constraint in range(n_constraints):
                if not is_counted:
                    _set_prices(constraints, multipliers, prices)
                    value = _count_rows(
                        costs,
                        weights,
                        groups,
                        prices,
                        temperature,
                        changed,
                        first,
                        second,
                        least,
                        next_least,
                        counts,
                        at_border,
                    )
                    is_counted = True
                violation = _gradient(constraints, slack, counts, constraint, cluster)
                is_violated, largest_fall = violation > 0, multipliers[constraint, cluster] - minima[constraint]
                if is_end or (is_violated and sweep == 0) or not (is_violated or largest_fall > 0):
                    continue
                if abs(violation) <= max(_cluster_tolerance(tolerance, counts, cluster), 10 * at_border[cluster]):
                    continue
                for tile in range(len(groups)):
                    price = prices[groups[tile], cluster]
                    for lane in range(_LANES):
                        place = tile * _LANES + lane
                        other = next_least[place] if first[place] == cluster else least[place]
                        margins[place] = other - costs[tile, cluster, lane] - price
                first_step = temperature if is_violated else -temperature
                step = _step_to_border(
                    weights, groups, constraints, slack, constraint, cluster, is_violated, first_step, largest_fall, margins
                )
                if step != 0.0:
                    multipliers[constraint, cluster] = max(minima[constraint], multipliers[constraint, cluster] + step)
                    changed, is_counted, any_changed = cluster, False, True
        if is_end:
            break
    for constraint in range(n_constraints):
        for cluster in range(k):
            value -= slack[constraint, cluster] * multipliers[constraint, cluster]
    return value


# ---- the near clusters of each instance --------------------------------------------------------------------------------


@inner
def _list_near_clusters(problem, prices, max_excess, near, masks, least, sure_counts, sure_costs):
    """List the near clusters of each instance: their cost plus price is within ``max_excess`` of the least.

    An instance with one near cluster is sure, any other is unsure. ``sure_counts`` and ``sure_costs`` become the sums over sure
    instances. Returns the number of unsure instances, and fills in ``near``: see :func:`_working_memory`.
    """
    costs, weights, groups, _, _, _ = problem
    own, unsure, starts, clusters, near_costs = near
    k, n_unsure, position = costs.shape[1], 0, 0
    for group in range(sure_counts.shape[0]):
        for cluster in range(k):
            sure_counts[group, cluster], sure_costs[group, cluster] = 0.0, 0.0
    for tile in range(len(costs)):
        group = groups[tile]
        for lane in range(_LANES):
            least[lane] = np.inf
        # Four clusters at a time, so that the results of the lanes are loaded and stored less often.
        for c0 in range(0, k, 4):
            c1, c2, c3 = min(c0 + 1, k - 1), min(c0 + 2, k - 1), min(c0 + 3, k - 1)
            p0, p1, p2, p3 = prices[group, c0], prices[group, c1], prices[group, c2], prices[group, c3]
            for lane in range(_LANES):
                a, b = costs[tile, c0, lane] + p0, costs[tile, c1, lane] + p1
                c, d = costs[tile, c2, lane] + p2, costs[tile, c3, lane] + p3
                a, c = a if a < b else b, c if c < d else d
                a = a if a < c else c
                least[lane] = a if a < least[lane] else least[lane]
        for lane in range(_LANES):
            least[lane] += max_excess
        for word in range(len(masks)):
            first = word * _WORD
            for lane in range(_LANES):
                masks[word, lane] = 0
            for c0 in range(first, min(k, first + _WORD), 4):
                c1, c2, c3 = min(c0 + 1, k - 1), min(c0 + 2, k - 1), min(c0 + 3, k - 1)
                p0, p1, p2, p3 = prices[group, c0], prices[group, c1], prices[group, c2], prices[group, c3]
                b0, b1, b2, b3 = 1 << (c0 - first), 1 << (c1 - first), 1 << (c2 - first), 1 << (c3 - first)
                for lane in range(_LANES):
                    a = b0 if costs[tile, c0, lane] + p0 <= least[lane] else 0
                    b = b1 if costs[tile, c1, lane] + p1 <= least[lane] else 0
                    c = b2 if costs[tile, c2, lane] + p2 <= least[lane] else 0
                    d = b3 if costs[tile, c3, lane] + p3 <= least[lane] else 0
                    masks[word, lane] |= a | b | c | d
        for lane in range(_LANES):
            place, start = tile * _LANES + lane, position
            for word in range(len(masks)):
                mask = masks[word, lane]
                while mask != 0:
                    bit = mask & -mask
                    cluster = word * _WORD + _PLACE_OF_BIT[(bit * _DE_BRUIJN) >> 58 & 63]
                    clusters[position], near_costs[position] = cluster, costs[tile, cluster, lane]
                    position += 1
                    mask ^= bit
            if position == start + 1:
                position, own[place] = start, clusters[start]
                sure_counts[group, clusters[start]] += weights[place]
                sure_costs[group, clusters[start]] += weights[place] * near_costs[start]
            else:
                own[place], unsure[n_unsure] = -1, place
                n_unsure += 1
                starts[n_unsure] = position
    return n_unsure


@inner
def _evaluate(near, n_unsure, weights, groups, prices, temperature, sure_counts, sure_costs, memory, counts, curvature):
    """Return the sum of all instances' least cost plus price, and what smoothing subtracts; fill in counts and curvature.

    ``near`` and ``n_unsure`` come from :func:`_list_near_clusters`. ``curvature`` (K, k, k) holds -``temperature`` times the
    derivatives of each group's counts by its prices (lower half). ``memory`` is working memory.
    """
    _, unsure, starts, clusters, near_costs = near
    values, ends, parts, part_clusters = memory
    n_groups, k = counts.shape
    least_sum, smoothing, inverse = 0.0, 0.0, 1.0 / temperature
    for group in range(n_groups):
        for cluster in range(k):
            for other in range(k):
                curvature[group, cluster, other] = 0.0
            counts[group, cluster] = sure_counts[group, cluster]
            least_sum += sure_costs[group, cluster] + prices[group, cluster] * sure_counts[group, cluster]
    for chunk in range(0, n_unsure, _CHUNK):
        chunk_size, n_parts = min(_CHUNK, n_unsure - chunk), 0
        for index in range(chunk_size):
            place, start = unsure[chunk + index], starts[chunk + index]
            n_near, group, least = starts[chunk + index + 1] - start, groups[place >> _LANE_BITS], np.inf
            for i in range(n_near):
                values[i] = near_costs[start + i] + prices[group, clusters[start + i]]
                least = min(least, values[i])
            least_sum += weights[place] * least
            for i in range(n_near):
                excess = (values[i] - least) * inverse
                parts[n_parts], part_clusters[n_parts] = excess, clusters[start + i]
                n_parts += excess <= _REACH
            ends[index + 1] = n_parts
        _exponentials(parts, n_parts)
        for index in range(chunk_size):
            place, low, high = unsure[chunk + index], ends[index], ends[index + 1]
            group, total = groups[place >> _LANE_BITS], 0.0
            if high - low == 1:
                counts[group, part_clusters[low]] += weights[place]
                continue
            for i in range(low, high):
                total += parts[i]
            smoothing += weights[place] * _log(total)
            scale, inverse_total = weights[place] / total, 1.0 / total
            for i in range(low, high):
                part, cluster = scale * parts[i], part_clusters[i]
                counts[group, cluster] += part
                if parts[i] > _LARGE_PART:
                    scaled_part = part * inverse_total
                    for j in range(low, i):
                        curvature[group, cluster, part_clusters[j]] -= scaled_part * parts[j]
                    curvature[group, cluster, cluster] += part - scaled_part * parts[i]
    return least_sum, temperature * smoothing


@inner
def _largest_shift(prices, former):
    """Largest change, since the ``former`` prices, of the difference between a group's prices in two clusters."""
    largest = 0.0
    for group in range(prices.shape[0]):
        low, high = np.inf, -np.inf
        for cluster in range(prices.shape[1]):
            change = prices[group, cluster] - former[group, cluster]
            low, high = min(low, change), max(high, change)
        largest = max(largest, high - low)
    return largest


@inner
def _set_means(X, rows, near, n_unsure, weights, groups, prices, temperature, parts, totals, sums, means):
    """Fill in the means of the instances, weighted by their fractions in each cluster, except those of empty clusters.

    ``parts``, ``totals`` (k,) and ``sums`` (k, d) are working memory.
    """
    own, unsure, starts, clusters, near_costs = near
    (k, d), inverse = means.shape, 1.0 / temperature
    for cluster in range(k):
        totals[cluster] = 0.0
        for feature in range(d):
            sums[cluster, feature] = 0.0
    for place in range(len(own)):
        cluster, row, weight = own[place], rows[place], weights[place]
        if cluster >= 0:
            totals[cluster] += weight
            for feature in range(d):
                sums[cluster, feature] += weight * X[row, feature]
    for index in range(n_unsure):
        place, start, total, least = unsure[index], starts[index], 0.0, np.inf
        n_near, group, row = starts[index + 1] - start, groups[place >> _LANE_BITS], rows[place]
        for i in range(n_near):
            parts[i] = near_costs[start + i] + prices[group, clusters[start + i]]
            least = min(least, parts[i])
        for i in range(n_near):
            parts[i] = (parts[i] - least) * inverse
        _exponentials(parts, n_near)
        for i in range(n_near):
            total += parts[i]
        for i in range(n_near):
            part, cluster = weights[place] * parts[i] / total, clusters[start + i]
            if parts[i] > _SMALLEST_PART:
                totals[cluster] += part
                for feature in range(d):
                    sums[cluster, feature] += part * X[row, feature]
    for cluster in range(k):
        if totals[cluster] > 0:
            for feature in range(d):
                means[cluster, feature] = sums[cluster, feature] / totals[cluster]


# ---- Newton steps ------------------------------------------------------------------------------------------------------


@inner
def _solve(matrix, size):
    """Solve the first ``size`` equations of a linear system by Cholesky.

    The right sides are in column ``size``, which becomes the solution. Only the upper half of the matrix is read; it is
    overwritten. Inner loops run along rows and start at 0, which lets the compiler vectorise them. Four rows at a time take up
    the earlier rows, which are then read from memory only once. Returns False if the matrix is not positive definite.
    """
    n_in_fours = size - size % 4
    for i in range(size):
        if i % 4 == 0 and i < n_in_fours:
            for k in range(i):
                a, b, c, d = matrix[k, i], matrix[k, i + 1], matrix[k, i + 2], matrix[k, i + 3]
                if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
                    for j in range(size + 1 - i):
                        value = matrix[k, i + j]
                        matrix[i, i + j] -= a * value
                        matrix[i + 1, i + j] -= b * value
                        matrix[i + 2, i + j] -= c * value
                        matrix[i + 3, i + j] -= d * value
        first_left = i - i % 4 if i < n_in_fours else 0  # the rows before it have been taken up above
        for k in range(first_left, i):
            factor = matrix[k, i]
            if factor != 0.0:
                for j in range(size + 1 - i):
                    matrix[i, i + j] -= factor * matrix[k, i + j]
        if matrix[i, i] <= 0:
            return False
        matrix[i, i] = np.sqrt(matrix[i, i])
        for j in range(i + 1, size + 1):
            matrix[i, j] /= matrix[i, i]
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            matrix[i, size] -= matrix[i, j] * matrix[j, size]
        matrix[i, size] /= matrix[i, i]
    return True


@inner
def _newton_system(constraints, curvature, has_curvature, temperature, free, n_free, gradient, damping, matrix):
    """Fill in the damped Newton system of the free multipliers: the upper half of the matrix, then the right sides.

    ``has_curvature`` (k, k) is working memory: whether two clusters share instances, which most pairs do not.
    """
    k, largest_curvature = curvature.shape[1], 0.0
    for larger in range(k):
        for smaller in range(larger + 1):
            has_curvature[larger, smaller] = False
            for group in range(curvature.shape[0]):
                has_curvature[larger, smaller] |= curvature[group, larger, smaller] != 0.0
    for i in range(n_free):
        constraint_i, cluster_i = free[0, i], free[1, i]
        matrix[i, n_free] = gradient[constraint_i, cluster_i]
        for j in range(i, n_free):
            constraint_j, cluster_j = free[0, j], free[1, j]
            larger, smaller = max(cluster_i, cluster_j), min(cluster_i, cluster_j)
            total = 0.0
            if has_curvature[larger, smaller]:
                for group in range(constraints.shape[1]):
                    total += (
                        constraints[constraint_i, group] * constraints[constraint_j, group] * curvature[group, larger, smaller]
                    )
            matrix[i, j] = total / temperature
        largest_curvature = max(largest_curvature, matrix[i, i])
    # Where the dual is flat, a thousandth of its largest curvature keeps the steps finite.
    floor = 1e-3 * largest_curvature if largest_curvature > 0 else 1.0
    for i in range(n_free):
        matrix[i, i] += damping * (matrix[i, i] + floor) + 1e-10 * floor


@inner
def _free_multipliers(constraints, slack, minima, counts, curvature, multipliers, tolerance, gradient, free):
    """Fill in the gradient, and the constraints and clusters (2, R k) of the free multipliers.

    Returns the number of free multipliers, and whether the search is done, and whether it is stuck. A multiplier is free unless
    it is at its minimum and its constraint is met. The search is done if no constraint with a free multiplier is off by more
    than its tolerance. It is stuck if one is off by far more than the instances near its cluster's border.
    """
    k, n_free, is_done, is_stuck = multipliers.shape[1], 0, True, False
    for constraint in range(len(constraints)):
        for cluster in range(k):
            violation = _gradient(constraints, slack, counts, constraint, cluster)
            gradient[constraint, cluster] = violation
            if violation > 0 or multipliers[constraint, cluster] > minima[constraint]:
                free[0, n_free], free[1, n_free] = constraint, cluster
                n_free += 1
                if abs(violation) > _cluster_tolerance(tolerance, counts, cluster):
                    at_border = 0.0
                    is_done = False
                    for group in range(constraints.shape[1]):
                        at_border += curvature[group, cluster, cluster]  # an instance on the border adds a quarter
                    is_stuck = is_stuck or abs(violation) > 60 * at_border
    return n_free, is_done, is_stuck


@inner
def _copy(source, target):
    """Copy in a loop, because Numba would take seconds to compile ``target[:] = source``."""
    for row in range(source.shape[0]):
        for column in range(source.shape[1]):
            target[row, column] = source[row, column]


@inner
def _judge_trial(trial_value, value, predicted_gain, steps, damping):
    """Whether to accept a trial, and the next damping. A trial, except the first, must reach a fifth of the predicted gain."""
    if steps == 0:
        return True, damping
    if not (predicted_gain > 0 and trial_value >= value + 0.2 * predicted_gain):
        return False, max(10 * damping, 1e-2)
    lower_damping = max(0.2 * damping, 1e-9)
    return True, (lower_damping if trial_value >= value + 0.4 * predicted_gain else damping)


@compiled(
    f"float64({_PROBLEM}, float64, float64, float64, "
    "Tuple((float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], int64[::1], float64[:,::1])), "
    "Tuple((int32[::1], int64[::1], int64[::1], int32[::1], float64[::1])), UniTuple(float64[:,::1], 9), "
    "UniTuple(float64[:,:,::1], 2), Tuple((int64[:,::1], float64[::1], float64[::1], float64[::1], float64[::1], int64[::1], "
    "int64[::1], int64[:,::1], boolean[:,::1])))"
)
def _ascend(problem, temperature, tolerance, least_value, results, near, by_cluster, curvatures, work):
    """Maximise the smoothed dual over multipliers >= ``minima``; return the largest value that the exact dual reached.

    ``results`` begin with the multipliers (R, k), which are changed in place, and with prices and counts (K, k), which are
    filled in. Next come X, its rows in all places, and the means, which are filled in if X has rows. The arguments from
    ``near`` on come from :func:`_working_memory`. The result is NaN if the exact dual is at first below the ``least_value``,
    or if Newton steps cannot move some multiplier. Without a least value (minus infinity), the search goes on all the same.
    """
    _, weights, groups, constraints, slack, minima = problem
    multipliers, prices, counts, X, rows, means = results
    trial_counts, trial_prices, sure_counts, sure_costs, listed_prices, gradient, trial, matrix, sums = by_cluster
    curvature, trial_curvature = curvatures
    masks, least, values, totals, parts, ends, part_clusters, free, has_curvature = work
    k, memory = len(values), (values, ends, parts, part_clusters)
    damping, value, bound = _FIRST_DAMPING, -np.inf, -np.inf
    predicted_gain, n_free, steps, n_unsure, is_done, is_stuck = 0.0, 0, 0, 0, False, False
    _copy(multipliers, trial)
    while True:
        _set_prices(constraints, trial, trial_prices)
        if steps == 0 or _largest_shift(trial_prices, listed_prices) > _MARGIN * temperature:
            _copy(trial_prices, listed_prices)
            n_unsure = _list_near_clusters(
                problem, trial_prices, (_REACH + _MARGIN) * temperature, near, masks, least, sure_counts, sure_costs
            )
        if is_done:
            break
        state = trial_prices, temperature, sure_counts, sure_costs, memory, trial_counts, trial_curvature
        exact_value, smoothing = _evaluate(near, n_unsure, weights, groups, *state)
        for constraint in range(len(constraints)):
            for cluster in range(k):
                exact_value -= slack[constraint, cluster] * trial[constraint, cluster]
        bound = max(bound, exact_value)
        trial_value = exact_value - smoothing
        is_accepted, damping = _judge_trial(trial_value, value, predicted_gain, steps, damping)
        if is_accepted:
            _copy(trial, multipliers)
            _copy(trial_prices, prices)
            _copy(trial_counts, counts)
            curvature, trial_curvature = trial_curvature, curvature
            value = trial_value
            n_free, is_done, is_stuck = _free_multipliers(
                constraints, slack, minima, counts, curvature, multipliers, tolerance, gradient, free
            )
            if steps == 0 and (exact_value < least_value or (least_value > -np.inf and is_stuck)):
                return np.nan
            is_done = is_done or steps == _MAX_STEPS
            steps += 1
        is_done = is_done or damping >= _MAX_DAMPING
        while not is_done:  # the damping grows until the system is solvable
            _newton_system(constraints, curvature, has_curvature, temperature, free, n_free, gradient, damping, matrix)
            if _solve(matrix, n_free):
                predicted_gain = 0.0
                _copy(multipliers, trial)
                for i in range(n_free):
                    constraint, cluster = free[0, i], free[1, i]
                    trial[constraint, cluster] = max(minima[constraint], trial[constraint, cluster] + matrix[i, n_free])
                    change = trial[constraint, cluster] - multipliers[constraint, cluster]
                    predicted_gain += gradient[constraint, cluster] * change
                break
            damping *= 10
            is_done = damping >= _MAX_DAMPING
        if is_done:
            if not len(X):
                break
            _copy(multipliers, trial)  # for the near clusters at the final prices
    if len(X):
        _set_means(X, rows, near, n_unsure, weights, groups, prices, temperature, parts, totals, sums, means)
    return bound
