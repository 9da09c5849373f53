"""Lower bounds on the sum of squared errors of every clustering that keeps the groups' shares. No method can be below them.

Let cluster c have n_c instances, and let group h have the share p_hc of it. The cluster's sum of squared errors is the sum of
|x - y|^2 over all pairs of its instances, divided by n_c. The pairs within group h contribute p_hc times the group's own sum of
squared errors in c. The pairs between two groups g and h are a transport plan with the weights pi_xy = 1 / n_c: the weights of
each x in g add up to p_hc, and those of each y in h to p_gc. If every p_hc lies between low_h and high_h, then for every
clustering of at most k clusters

    SSE >= sum over h of low_h OPT_k(group h) + sum over g < h of T_gh.

OPT_k is the smallest sum of squared errors with at most k clusters. T_gh is the smallest sum of pi_xy |x - y|^2 over all
plans pi >= 0 in which the weights of each x in g add up to a number in [low_h, high_h], and those of each y in h to one in
[low_g, high_g]. For exact proportions T_gh = n r_g r_h W_2^2, where r are the groups' shares of the table and W_2 is the
Wasserstein distance of the two groups.

OPT_k is replaced by a lower bound that is easy to compute: the sum of the eigenvalues k, k + 1, ... of the scatter matrix. The
same sum for the whole table bounds every clustering, fair or not.

T_gh is replaced by a value of its dual, which is at most T_gh for all potentials u, v with u_x + v_y <= |x - y|^2. Quasi-Newton
steps on a smoothed dual improve the potentials, first on some of the instances and then on all. The last step makes them
satisfy all constraints. Sums and products are computed in a fixed order, so that every processor gives the same bytes.
"""

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import frexp

import numpy as np

from clusterlets.algorithms.checks import check_magnitudes, check_same_index
from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.algorithms.kernels import tiles_of
from clusterlets.bounds.eigenvalues import scatter_eigenvalues
from clusterlets.errors import ClusterletsError

_LANES = 128  # columns in a tile of tiles_of
_ROWS_AT_ONCE = 4  # rows that are compared with a tile at once
# Margins for rounding:
_BOUND_MARGIN = 1e-9  # a fraction of a bound
_SUM_MARGIN = 1e-12  # a fraction of sums that are subtracted
_SHARE_MARGIN = 1e-12  # both ends of an interval of shares move outwards by this
# Temperatures of the smoothed dual on some of the points: they start at the largest cost and are divided by _COOLING after
# every _STEPS steps. They end at _END_BY_VALUE times the dual's value per unit of mass, or at _END_BY_COST times the largest
# cost, whichever is larger.
_COOLING, _STEPS, _END_BY_VALUE, _END_BY_COST = 4.0, 20, 0.1, 1e-7
# Temperatures on all points, as fractions of the dual's value per unit of mass, and the number of steps at each. The long
# schedule is for at most _FEW_PAIRS pairs. If the potentials come from the previous problem, the first entry is skipped.
_SCHEDULE: tuple[tuple[float, int], ...] = ((0.1, 12), (0.03, 12), (0.01, 11))
_LONG_SCHEDULE: tuple[tuple[float, int], ...] = ((0.1, 30), (0.03, 30), (0.01, 30), (0.003, 30), (0.001, 30), (0.0003, 30))
_FEW_PAIRS = 2_000_000
_STRIDES = (64, 8)  # the coarse levels consist of every 64th and of every 8th point
_MIN_COLUMNS = 100  # the fewest columns of a coarse level
_MIN_KEPT_VALUE = 0.5  # a problem starts from the last potentials if they keep more than this fraction of their value
_MEMORY = 10  # the number of earlier steps that a quasi-Newton step uses

# The sum of _LN2_HIGH and _LN2_LOW is ln 2 to more digits than one float holds.
_LOG2_E, _LN2_HIGH, _LN2_LOW = 1.4426950408889634, float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
_LN2 = 0.6931471805599453
_ROUNDER = 6755399441055744.0  # 1.5 * 2^52: adding it to x puts the whole number nearest to x into the last bits of the sum


def sse_bounds(X: np.ndarray, groups: np.ndarray, n_clusters: Sequence[int], deltas: Sequence[float]) -> np.ndarray:
    """Lower bounds on the sum of squared errors of every clustering that keeps the shares, for any centres.

    Parameters
    ----------
    X : float array (n, d)
    groups : int array (n,)
    n_clusters : sequence of int
        Each is an upper limit on the number of clusters, and at least 1.
    deltas : sequence of float
        From 0 to 1; 1 allows everything. A group with the share r of the table has a share from r (1 - delta) to
        r / (1 - delta) of every cluster. This is exact: nothing is rounded to whole instances. ``delta_min`` measures the
        delta of a clustering in this sense.

    Returns
    -------
    float array (len(deltas), len(n_clusters))
        The bounds, in squared units of X. They never rise with delta or with the number of clusters.

    Raises
    ------
    ClusterletsError
        If a number of clusters is below 1, a delta is out of range, or X is empty, not finite or too large to square.

    Notes
    -----
    The docstring of the module derives the bounds. Those for delta = 0 do not hold for a clustering that keeps the shares
    only up to whole instances; for such a clustering, use the bound at its ``delta_min``.

    Each pair of groups takes about 40 passes of O(n_g n_h d) time for the first delta and about 20 for most others: 7 s and 4 s
    for 12,332 x 6,688 instances of 10 features. O(n d + d^2) memory.
    """
    check_same_index(X=X, groups=groups)
    X, ks = np.asarray(X, dtype=np.float64), np.asarray(n_clusters, dtype=np.int64)
    delta_values = np.asarray(deltas, dtype=np.float64)
    if X.ndim != 2 or not X.size or not np.isfinite(X).all():
        raise ClusterletsError("A bound needs a table of at least one instance and one feature, all of it finite numbers.")
    check_magnitudes(X)
    if (ks < 1).any():
        raise ClusterletsError(f"There must be at least 1 cluster, not {ks.min()}.")
    if not ((delta_values >= 0) & (delta_values <= 1)).all():
        raise ClusterletsError(f"delta must be from 0 to 1, not {delta_values.tolist()}.")
    codes = np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    if len(codes) != len(X):
        raise ClusterletsError(f"{len(X)} instances need as many groups, not {len(codes)}.")
    if not ks.size or not delta_values.size:
        return np.zeros((len(delta_values), len(ks)))
    # Division by a power of two is exact, and it keeps squares and temperatures within the range of floats.
    X = X - X.mean(axis=0)
    unit = 2.0 ** frexp(float(np.abs(X).max()))[1]
    X = X / unit
    rows_by_group = [X[codes == code] for code in range(codes.max() + 1)]
    delta_order = np.argsort(delta_values, kind="stable")
    shares = np.bincount(codes) / len(X)
    intervals = [share_intervals(shares, delta) for delta in delta_values[delta_order]]
    group_bounds = np.array([eigenvalue_bounds(rows, ks) for rows in rows_by_group])
    bounds = np.array([(low[:, None] * group_bounds).sum(axis=0) for low, _ in intervals])
    for first, second in combinations(range(len(rows_by_group)), 2):
        row_intervals = [(float(low[second]), float(high[second])) for low, high in intervals]
        column_intervals = [(float(low[first]), float(high[first])) for low, high in intervals]
        bounds += transport_bounds(rows_by_group[first], rows_by_group[second], row_intervals, column_intervals)[:, None]
    bounds = np.maximum(bounds, eigenvalue_bounds(X, ks))
    # The bound of a looser problem also holds for a tighter one: a smaller delta, or fewer clusters.
    bounds = np.maximum.accumulate(bounds[::-1])[::-1]
    cluster_order = np.argsort(-ks, kind="stable")
    monotone_bounds = np.empty_like(bounds)
    monotone_bounds[np.ix_(delta_order, cluster_order)] = np.maximum.accumulate(bounds[:, cluster_order], axis=1)
    return monotone_bounds * (1 - _BOUND_MARGIN) * unit * unit


def share_intervals(shares: np.ndarray, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest share that each group can have in a cluster, (K,) each, given the limits on all groups.

    A group with the share r has at least r (1 - delta), and at least what is left if all other groups have their largest
    shares. The largest share follows in the same way.
    """
    nominal_low = shares * (1 - delta)
    nominal_high = np.minimum(1.0, shares / (1 - delta)) if delta < 1 else np.ones_like(shares)
    low = np.maximum(nominal_low, 1 - (nominal_high.sum() - nominal_high))
    high = np.minimum(nominal_high, 1 - (nominal_low.sum() - nominal_low))
    return np.maximum(0.0, low - _SHARE_MARGIN), np.minimum(1.0, high + _SHARE_MARGIN)


def eigenvalue_bounds(X: np.ndarray, n_clusters: np.ndarray) -> np.ndarray:
    """Lower bound on the sum of squared errors of all clusterings of ``X`` (n, d), fair or not, for each number of clusters.

    For k clusters, it is the sum of all eigenvalues of the scatter matrix but the k - 1 largest (Ding and He 2004).
    O(n d^2 + d^3).
    """
    eigenvalues = scatter_eigenvalues(X)
    tails = np.append(np.cumsum(eigenvalues[::-1])[::-1], 0.0)
    bounds = tails[np.minimum(n_clusters - 1, len(eigenvalues))]
    return np.maximum(0.0, bounds - _SUM_MARGIN * tails[0])


# ---- transport between two groups ------------------------------------------------------------------------------------

Interval = tuple[float, float]
Intervals = tuple[Interval, Interval]  # for the mass of each row, and for the mass of each column


def transport_bounds(
    rows: np.ndarray, columns: np.ndarray, row_intervals: Sequence[Interval], column_intervals: Sequence[Interval]
) -> np.ndarray:
    """Lower bounds on the cost of the cheapest transport between two sets of points, whose masses must lie in intervals.

    The points are ``rows`` x_i (m, d) and ``columns`` y_j (n, d). A transport has weights pi_ij >= 0. Its cost is the sum of
    pi_ij times the squared distance of x_i and y_j. The mass of a point is the sum of its weights.

    A problem is a row interval and the column interval at the same position. They hold the smallest and the largest mass that a
    row, or a column, may have. The result (len(row_intervals),) has a bound for each problem. The problems are solved in the
    given order, each starting from the solution of the previous one.

    Notes
    -----
    The dual: if u_i + v_j is at most the squared distance for all pairs, then the sum over rows of
    (low max(u, 0) + high min(u, 0)), plus the same sum over columns with v, is a lower bound. The best u follows from v, so
    the search is over v alone, with limited-memory quasi-Newton steps on a smoothed dual, at falling temperatures. Cuturi and
    Peyre (2018) describe such a smoothed semi-dual.
    """
    if len(columns) > len(rows):
        return transport_bounds(columns, rows, column_intervals, row_intervals)
    problems = list(zip(row_intervals, column_intervals, strict=True))
    bounds = np.zeros(len(problems))
    dual = _Dual(_Points(rows), _Points(columns))
    v, last_value = np.zeros(len(columns)), 0.0
    for intervals in problems:
        if intervals[0][0] == intervals[1][0] == 0:  # no mass has to be moved
            continue
        schedule = _LONG_SCHEDULE if len(rows) * len(columns) <= _FEW_PAIRS else _SCHEDULE
        v, value = dual.shift(v, intervals)
        if value > _MIN_KEPT_VALUE * last_value > 0:
            schedule, scale = schedule[1:], value / (len(rows) * intervals[0][1])
        else:
            v, scale = _first_potentials(dual, intervals)
        for temperature, steps in schedule:
            v, _ = dual.improve(v, intervals, temperature * scale, steps)
        # Potentials that satisfy the constraints give a bound for every problem, not only for the one they were computed for.
        u, v = dual.make_feasible(v)
        last_value = _best_shift(u, v, intervals)[1]
        bounds = np.maximum(bounds, [_best_shift(u, v, other)[1] for other in problems])
    return bounds


def _best_shift(u: np.ndarray, v: np.ndarray, intervals: Intervals) -> tuple[float, float]:
    """The best amount to add to u and subtract from v, and the dual's value with it, minus a margin for rounding.

    The dual is concave and piecewise linear in the amount, so it is largest at one of the breakpoints.
    """
    row_interval, column_interval = intervals
    breakpoints = np.concatenate([-u, v])
    order = np.argsort(breakpoints, kind="stable")
    drops = np.repeat([row_interval[1] - row_interval[0], column_interval[1] - column_interval[0]], [len(u), len(v)])[order]
    slopes = len(u) * row_interval[1] - len(v) * column_interval[0] - np.cumsum(drops)
    has_peaked = slopes <= 0
    amount = float(breakpoints[order[has_peaked.argmax() if has_peaked.any() else -1]])
    positive = negative = 0.0
    for potentials, (low, high) in ((u + amount, row_interval), (v - amount, column_interval)):
        positive += low * float(np.maximum(potentials, 0).sum())
        negative += high * float(np.minimum(potentials, 0).sum())
    return amount, positive + negative - _SUM_MARGIN * (positive - negative)


def _first_potentials(full_dual: "_Dual", intervals: Intervals) -> tuple[np.ndarray, float]:
    """First potentials of the columns, computed first on a few of the points, and the scale of the temperatures."""
    strides = [stride for stride in _STRIDES if len(full_dual.columns.points) >= _MIN_COLUMNS * stride]
    levels = [*(_Dual(full_dual.rows.thin_out(stride), full_dual.columns.thin_out(stride)) for stride in strides), full_dual]
    v, scale = levels[0].anneal(intervals)
    for level, next_level in pairwise(levels):
        v = level.extend(v, next_level.columns, _END_BY_VALUE * scale)
        if next_level is not full_dual:
            v, _ = next_level.improve(v, intervals, _END_BY_VALUE * scale, _STEPS)
    return v, scale


class _Points:
    """The points (n, d) of one side of a transport. Each point stands for ``weight`` points."""

    def __init__(self, points: np.ndarray, weight: float = 1.0):
        self.points, self.weight = np.ascontiguousarray(points), weight
        self.norms, self.tiles = np.square(self.points).sum(axis=1), tiles_of(self.points)

    def thin_out(self, stride: int) -> "_Points":
        """Every ``stride``-th point."""
        points = self.points[::stride]
        return _Points(points, len(self.points) / len(points))


class _Dual:
    """The dual of the transport between rows and columns, and its smoothed form."""

    def __init__(self, rows: _Points, columns: _Points):
        self.rows, self.columns = rows, columns

    def anneal(self, intervals: Intervals) -> tuple[np.ndarray, float]:
        """Potentials of the columns, improved from 0, and the dual's value per unit of mass.

        The temperature falls from a high one, because outliers have large potentials.
        """
        v, scale = np.zeros(len(self.columns.points)), 0.0
        mass = len(self.rows.points) * self.rows.weight * intervals[0][1]
        largest_cost = float(self.rows.norms.max() + self.columns.norms.max()) or 1.0
        temperature = largest_cost
        while temperature > max(_END_BY_VALUE * scale, _END_BY_COST * largest_cost):
            v, value = self.improve(v, intervals, temperature, _STEPS)
            scale = value / mass
            temperature /= _COOLING
        return v, max(scale, _END_BY_COST * largest_cost)

    def improve(self, v: np.ndarray, intervals: Intervals, temperature: float, steps: int) -> tuple[np.ndarray, float]:
        """Better potentials and the value of the smoothed dual with them, by limited-memory BFGS.

        There are at most ``steps`` evaluations of the dual. A step that gains too little is halved.
        """
        value, gradient = self._evaluate_smoothed(v, intervals, temperature)
        moves: list[np.ndarray] = []
        gradient_drops: list[np.ndarray] = []
        n_steps_left = steps - 1
        while n_steps_left > 0:
            direction = _direction(gradient, moves, gradient_drops, temperature / (intervals[1][1] * self.columns.weight))
            slope, step_size, gain = float((gradient * direction).sum()), 1.0, -1.0
            while n_steps_left > 0 and slope > 0:
                trial_value, trial_gradient = self._evaluate_smoothed(v + step_size * direction, intervals, temperature)
                n_steps_left, gain = n_steps_left - 1, trial_value - value
                if gain >= 1e-4 * step_size * slope:  # Armijo's condition
                    break
                step_size /= 2
            if gain <= 1e-13 * abs(value):  # it may be a rounding error
                break
            move, gradient_drop = step_size * direction, gradient - trial_gradient
            v, value, gradient = v + move, trial_value, trial_gradient
            # Keep only moves along which the dual curves enough, because the next direction divides by this product.
            if (move * gradient_drop).sum() > 1e-12 * np.square(gradient_drop).sum():
                moves, gradient_drops = [*moves, move][-_MEMORY:], [*gradient_drops, gradient_drop][-_MEMORY:]
        return v, value

    def make_feasible(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Potentials u and v that satisfy all constraints despite rounding, and have nearly the highest value."""
        u = _minima(self.rows, self.columns, v)
        v = _minima(self.columns, self.rows, u)
        largest = self.rows.norms.max() + self.columns.norms.max() + np.abs(u).max() + np.abs(v).max()
        # At least the rounding error of a distance, which is a sum over the features.
        return u, v - 4e-16 * (self.rows.points.shape[1] + 8) * largest

    def shift(self, v: np.ndarray, intervals: Intervals) -> tuple[np.ndarray, float]:
        """The potentials, shifted by the amount that is best for the intervals, and the dual's value with them."""
        amount, value = _best_shift(_minima(self.rows, self.columns, v), v, intervals)
        return v - amount, value

    def extend(self, v: np.ndarray, columns: _Points, temperature: float) -> np.ndarray:
        """Potentials of the given columns, from the smoothed constraints between them and the rows of this dual."""
        u, _ = _soft_minima(self.rows, self.columns, v, temperature)
        return _soft_minima(columns, self.rows, u, temperature)[0]

    def _evaluate_smoothed(self, v: np.ndarray, intervals: Intervals, temperature: float) -> tuple[float, np.ndarray]:
        """Value and gradient of the smoothed dual, in which minima are soft and the kinks at 0 are rounded off."""
        low, high = (mass * self.rows.weight for mass in intervals[0])
        column_low, column_high = (mass * self.columns.weight for mass in intervals[1])
        u, masses = _soft_minima(self.rows, self.columns, v, temperature, low, high, temperature)
        row_values, _ = _smooth_hinge(u, low, high, temperature)
        column_values, slopes = _smooth_hinge(v, column_low, column_high, temperature)
        return float(row_values.sum() + column_values.sum()), slopes - masses


def _direction(gradient: np.ndarray, moves: list[np.ndarray], drops: list[np.ndarray], first_scale: float) -> np.ndarray:
    """The direction of limited-memory BFGS: the gradient times an inverse curvature, estimated from ``moves`` and ``drops``.

    ``drops`` are the drops of the gradient along the moves. Without moves, this is the gradient times ``first_scale``.
    """
    direction = gradient.copy()
    factors = []
    for move, drop in zip(moves[::-1], drops[::-1], strict=True):
        factors.append((move * direction).sum() / (move * drop).sum())
        direction -= factors[-1] * drop
    direction *= (moves[-1] * drops[-1]).sum() / np.square(drops[-1]).sum() if moves else first_scale
    for move, drop, factor in zip(moves, drops, factors[::-1], strict=True):
        direction += (factor - (drop * direction).sum() / (move * drop).sum()) * move
    return direction


def _smooth_hinge(x: np.ndarray, low: float, high: float, width: float) -> tuple[np.ndarray, np.ndarray]:
    """low max(x, 0) + high min(x, 0), smoothed within ``width`` of 0, and the slopes of this function."""
    inside = np.clip(x + width, 0.0, 2 * width)
    positive_part = np.square(inside) / (4 * width) + np.maximum(x - width, 0.0)
    return high * x - (high - low) * positive_part, high - (high - low) * (inside / (2 * width))


# ---- passes over all pairs --------------------------------------------------------------------------------------------


def _offsets(columns: _Points, potentials: np.ndarray) -> np.ndarray:
    """Squared norms of the columns minus their potentials, (T, _LANES). Padding is infinite, so it is never the minimum."""
    padded = np.full(len(columns.tiles) * _LANES, np.inf)
    padded[: len(potentials)] = columns.norms - potentials
    return padded.reshape(-1, _LANES)


def _minima(rows: _Points, columns: _Points, potentials: np.ndarray) -> np.ndarray:
    """For each row, the minimum over all columns of the squared distance minus the potential of the column."""
    minima = np.empty(len(rows.points))
    _min_pass(-2.0 * rows.points, columns.tiles, _offsets(columns, potentials), minima)
    return rows.norms + minima


def _soft_minima(
    rows: _Points,
    columns: _Points,
    potentials: np.ndarray,
    temperature: float,
    low: float = 1.0,
    high: float = 1.0,
    width: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Minima as in :func:`_minima`, but smoothed at a temperature, and the mass of each column.

    The mass that a row gives to all columns is its slope in :func:`_smooth_hinge` with ``low``, ``high`` and ``width``.
    """
    minima, masses = np.empty(len(rows.points)), np.empty((len(columns.tiles), _LANES))
    _soft_pass(
        -2.0 * rows.points,
        rows.norms,
        columns.tiles,
        _offsets(columns, potentials),
        temperature,
        len(potentials),
        low,
        high,
        width,
        minima,
        masses,
    )
    return minima, masses.ravel()[: len(potentials)]


@inner
def _reduced_costs(rows, first, tile, offsets, out, begin):
    """Write offsets plus inner products to ``out``, from column ``begin`` on.

    The inner products are those of _ROWS_AT_ONCE rows, from row ``first`` on, with all columns of a tile (d, _LANES).
    """
    # Pairs of features halve the loads and stores of the sums. If the number of features is odd, the first is added alone.
    n, odd = len(rows), len(tile) % 2
    for q in range(_ROWS_AT_ONCE):
        row, sums = rows[min(first + q, n - 1)], out[q, begin : begin + _LANES]
        for j in range(_LANES):
            sums[j] = offsets[j] + tile[0, j] * row[0] if odd else offsets[j]
        for f in range(odd, len(tile), 2):
            a, b, x, y = row[f], row[f + 1], tile[f], tile[f + 1]
            for j in range(_LANES):
                sums[j] = sums[j] + x[j] * a + y[j] * b


@inner
def _min_of_lanes(values, work):
    """The smallest of _LANES values. Halving their number in rounds lets the comparisons of a round run at once.

    ``work`` (at least _LANES / 2,) is working memory.
    """
    half = _LANES // 2
    for j in range(half):
        a, b = values[j], values[j + half]
        work[j] = a if a < b else b
    while half > 4:
        half //= 2
        for j in range(half):
            a, b = work[j], work[j + half]
            work[j] = a if a < b else b
    return min(min(work[0], work[1]), min(work[2], work[3]))


@compiled("void(float64[:,::1], float64[:,:,::1], float64[:,::1], float64[::1])")
def _min_pass(rows, tiles, offsets, minima):
    """Write the minimum of offset plus inner product over all columns, for each row, to ``minima``."""
    n = len(rows)
    out, lanes, work = np.empty((_ROWS_AT_ONCE, _LANES)), np.empty((_ROWS_AT_ONCE, _LANES)), np.empty(_LANES)
    for first_row in range(0, n, _ROWS_AT_ONCE):
        lanes[:] = np.inf
        for t in range(len(tiles)):
            _reduced_costs(rows, first_row, tiles[t], offsets[t], out, 0)
            for q in range(_ROWS_AT_ONCE):
                for j in range(_LANES):
                    a, b = out[q, j], lanes[q, j]
                    lanes[q, j] = a if a < b else b
        for q in range(min(_ROWS_AT_ONCE, n - first_row)):
            minima[first_row + q] = _min_of_lanes(lanes[q], work)


@inner
def _exponentials(values, top, inverse, out, shifted):
    """Write exp((top - value) * inverse) of _LANES values to ``out``, to nine digits; smaller results become 2^-64.

    ``shifted`` (_LANES,) is working memory.
    """
    for j in range(_LANES):
        x = (top - values[j]) * inverse * _LOG2_E
        x = x if x > -64.0 else -64.0
        whole = x + _ROUNDER
        shifted[j] = whole
        r = (x - (whole - _ROUNDER)) * _LN2
        out[j] = 1.0 + r * (1.0 + r * (0.5 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040)))))))
    bits = shifted.view(np.int64)
    for j in range(_LANES):
        bits[j] = (bits[j] + 1023) << 52
    for j in range(_LANES):
        out[j] *= shifted[j]


@inner
def _sum_lanes(values, work):
    """The sum of _LANES values, in an order that lets the additions of a round run at once; ``work`` is working memory."""
    half = _LANES // 2
    for j in range(half):
        work[j] = values[j] + values[j + half]
    while half > 4:
        half //= 2
        for j in range(half):
            work[j] = work[j] + work[j + half]
    return (work[0] + work[1]) + (work[2] + work[3])


@inner
def _log(x):
    """The natural logarithm of a positive number, in operations that every processor rounds in the same way."""
    mantissa, exponent = frexp(x)
    if mantissa < 0.7071067811865476:
        mantissa, exponent = 2 * mantissa, exponent - 1
    s = (mantissa - 1) / (mantissa + 1)
    value, square = 0.0, s * s
    for power in range(12, -1, -1):
        value = value * square + 2.0 / (2 * power + 1)
    return exponent * _LN2_HIGH + (s * value + exponent * _LN2_LOW)


@compiled(
    "void(float64[:,::1], float64[::1], float64[:,:,::1], float64[:,::1], float64, float64, float64, float64, float64, "
    "float64[::1], float64[:,::1])"
)
def _soft_pass(rows, norms, tiles, offsets, temperature, n_columns, low, high, width, minima, masses):
    """Write the soft minima of all rows to ``minima``, and the mass of each column to ``masses``."""
    n, n_tiles = len(rows), len(tiles)
    out = np.empty((_ROWS_AT_ONCE, n_tiles * _LANES))
    work, shifted = np.empty(_LANES), np.empty(_LANES)
    tile_minima = np.empty(n_tiles)
    weights = np.empty((n_tiles, _LANES))
    near_tiles = np.empty(n_tiles, dtype=np.int64)
    inverse_temperature = 1.0 / temperature
    masses[:] = 0.0
    for first_row in range(0, n, _ROWS_AT_ONCE):
        for t in range(n_tiles):
            _reduced_costs(rows, first_row, tiles[t], offsets[t], out, t * _LANES)
        for q in range(min(_ROWS_AT_ONCE, n - first_row)):
            lowest = np.inf
            for t in range(n_tiles):
                tile_minima[t] = _min_of_lanes(out[q, t * _LANES : (t + 1) * _LANES], work)
                lowest = min(lowest, tile_minima[t])
            n_near, total = 0, 0.0
            for t in range(n_tiles):
                if tile_minima[t] - lowest > 30.0 * temperature:  # all weights are below e^-30
                    continue
                _exponentials(out[q, t * _LANES : (t + 1) * _LANES], lowest, inverse_temperature, weights[n_near], shifted)
                total += _sum_lanes(weights[n_near], work)
                near_tiles[n_near] = t
                n_near += 1
            u = norms[first_row + q] + lowest - temperature * _log(total / n_columns)
            minima[first_row + q] = u
            slope = high
            if u >= width:
                slope = low
            elif u > -width:
                slope = high - (high - low) * (u + width) / (2 * width)
            factor = slope / total
            for i in range(n_near):
                sums, weight = masses[near_tiles[i]], weights[i]
                for j in range(_LANES):
                    sums[j] += factor * weight[j]
