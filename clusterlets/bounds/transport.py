"""Lower bounds on the sum of squared errors of every clustering that keeps the groups' shares: what no method can beat.

With n_c instances in cluster c, its sum of squared errors is the sum of |x - y|^2 over its pairs, divided by n_c. Pairs of
one group h give the share p_hc of the group times the group's own sum of squared errors in c. Pairs of groups g and h
are a transport plan of weights pi_xy = 1 / n_c, whose sums are p_hc for x of g and p_gc for y of h. If the shares of all
clusters lie between low_h and high_h, then for every clustering of at most k clusters

    SSE >= sum over h of low_h OPT_k(group h) + sum over g < h of T_gh,

where T_gh is the smallest sum of pi_xy |x - y|^2 over plans pi >= 0 with sums in [low_h, high_h] and [low_g, high_g]. For exact
proportions T_gh = n r_g r_h W_2^2 of the two groups. Here OPT_k is replaced by the sum of the eigenvalues k, k + 1, ... of
the scatter matrix, which no clustering of at most k clusters falls below; the same sum for the whole table bounds every
clustering, fair or not.

T_gh is bounded by its dual: potentials u, v with u_x + v_y <= |x - y|^2 for all pairs give at most T_gh, however they were
computed. Quasi-Newton steps on a smoothed dual improve them, first on some of the instances and then on all; the last
step makes them satisfy all constraints. Sums and products run in a fixed order: every processor gives the same bytes.
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

# Columns of a tile, as tiles_of makes them, and rows that are compared with a tile at once.
_LANES = 128
_ROWS = 4
# Margins for rounding: as a fraction of a bound, as a fraction of the sums whose difference it is, and to add to a share.
_SAFE, _SAFE_SUM, _SAFE_SHARE = 1e-9, 1e-12, 1e-12
# Temperatures of the smoothed dual on some of the points: they fall from the largest cost by the first factor, down to these
# fractions of the dual's value per unit of mass or of the largest cost, whichever is larger, with so many steps at each.
_COOLING, _COOL, _COLDEST, _STEPS = 4.0, 0.1, 1e-7, 20
# Temperatures, as fractions of the dual's value, and steps on all points; the long schedule is for few pairs. Potentials that
# come from the problem before it, and not from fewer points, skip the first entry.
_SCHEDULE: tuple[tuple[float, int], ...] = ((0.1, 12), (0.03, 12), (0.01, 11))
_LONG_SCHEDULE: tuple[tuple[float, int], ...] = ((0.1, 30), (0.03, 30), (0.01, 30), (0.003, 30), (0.001, 30), (0.0003, 30))
_FEW_PAIRS = 2_000_000
_STRIDES = (64, 8)  # the coarse levels take every 64th and every 8th point
_MIN_COLUMNS = 100  # of a coarse level
_NEARBY = 0.5  # potentials start the next problem if they keep this fraction of their value in it
_MEMORY = 10  # earlier steps that a quasi-Newton step uses

_LOG2_E, _LN2_HIGH, _LN2_LOW = 1.4426950408889634, float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
_LN2 = 0.6931471805599453
_ROUNDING = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to a whole number, which the last bits of the sum then hold


def sse_bounds(X: np.ndarray, groups: np.ndarray, n_clusters: Sequence[int], deltas: Sequence[float]) -> np.ndarray:
    """Lower bounds on the sum of squared errors of every clustering that keeps the shares, for any centres.

    Parameters
    ----------
    X : float array (n, d)
    groups : int array (n,)
    n_clusters : sequence of int
        Largest numbers of clusters, each at least 1.
    deltas : sequence of float
        The share of group h in every cluster lies from r (1 - delta) to r / (1 - delta), r its share in the table, without
        a slack for whole instances: what ``delta_min`` of a clustering measures. From 0 to 1; 1 allows everything.

    Returns
    -------
    float array (len(deltas), len(n_clusters))
        In squared units of X. It never rises with delta or the number of clusters: a looser problem's bound holds for a
        tighter one.

    Raises
    ------
    ClusterletsError
        If a number of clusters is below 1, a delta is out of range, or X is empty, not finite or too large to square.

    Notes
    -----
    Proofs: see the module. The bounds for delta = 0 do not hold for clusterings that keep shares up to whole instances;
    take those at the ``delta_min`` of the clustering. O(n_g n_h d) time for each pair of groups, some 40 times for the first
    delta and 20 times for most further ones: 7 s and 4 s for 12,332 x 6,688 instances of 10 features; O(n d + d^2) memory.
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
    # Dividing by a power of two is exact, and keeps squares and temperatures within the range of floats.
    X = X - X.mean(axis=0)
    unit = 2.0 ** frexp(float(np.abs(X).max()))[1]
    X = X / unit
    rows_by_group = [X[codes == code] for code in range(codes.max() + 1)]
    order = np.argsort(delta_values, kind="stable")
    intervals = [share_intervals(np.bincount(codes) / len(X), delta) for delta in delta_values[order]]
    group_bounds = np.array([eigenvalue_bounds(rows, ks) for rows in rows_by_group])
    bounds = np.array([(low[:, None] * group_bounds).sum(axis=0) for low, _ in intervals])
    for first, second in combinations(range(len(rows_by_group)), 2):
        row_intervals = [(float(low[second]), float(high[second])) for low, high in intervals]
        column_intervals = [(float(low[first]), float(high[first])) for low, high in intervals]
        bounds += transport_bounds(rows_by_group[first], rows_by_group[second], row_intervals, column_intervals)[:, None]
    bounds = np.maximum(bounds, eigenvalue_bounds(X, ks))
    bounds = np.maximum.accumulate(bounds[::-1])[::-1]
    by_clusters = np.argsort(-ks, kind="stable")
    monotone = np.empty_like(bounds)
    monotone[np.ix_(order, by_clusters)] = np.maximum.accumulate(bounds[:, by_clusters], axis=1)
    return monotone * (1 - _SAFE) * unit * unit


def share_intervals(shares: np.ndarray, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest share of each group in a cluster, (K,) each, as all of them together allow.

    Group h has at least r_h (1 - delta), and at least what the largest shares of all others leave to it; likewise above.
    """
    low = shares * (1 - delta)
    high = np.minimum(1.0, shares / (1 - delta)) if delta < 1 else np.ones_like(shares)
    lowest = np.maximum(low, 1 - (high.sum() - high))
    highest = np.minimum(high, 1 - (low.sum() - low))
    return np.maximum(0.0, lowest - _SAFE_SHARE), np.minimum(1.0, highest + _SAFE_SHARE)


def eigenvalue_bounds(X: np.ndarray, n_clusters: np.ndarray) -> np.ndarray:
    """Lower bound on the sum of squared errors of all clusterings of rows (n, d), fair or not, for each number of clusters.

    With Z the centred rows and H the normalised indicators of k clusters, the error is |Z|^2 - tr(H'ZZ'H). The span of H
    holds the constant vector, along which Z is 0, so the trace is at most the sum of the k - 1 largest eigenvalues (Ding
    and He 2004). O(n d^2 + d^3).
    """
    eigenvalues = scatter_eigenvalues(X)
    tails = np.append(np.cumsum(eigenvalues[::-1])[::-1], 0.0)
    bounds = tails[np.minimum(n_clusters - 1, len(eigenvalues))]
    return np.maximum(0.0, bounds - _SAFE_SUM * tails[0])


# ---- transport between two groups ------------------------------------------------------------------------------------

Interval = tuple[float, float]
Intervals = tuple[Interval, Interval]  # of the masses of rows and of columns


def transport_bounds(
    rows: np.ndarray, columns: np.ndarray, row_intervals: Sequence[Interval], column_intervals: Sequence[Interval]
) -> np.ndarray:
    """Lower bounds (len(row_intervals),) on the cheapest transport between two sets of points, whose masses lie in intervals.

    ``rows`` (m, d) and ``columns`` (n, d); the transport costs the smallest sum, over weights pi >= 0, of pi_ij times the
    squared distance of x_i and y_j. The intervals are the smallest and largest sum of the weights of every row and of every
    column; the problems are solved in this order, each from the solution before it.

    Notes
    -----
    The dual: with u_i + v_j at most the squared distance for all pairs, the sum over rows of (low max(u, 0) + high min(u, 0)),
    and the same over columns, is a lower bound. u follows from v, so the search is over v alone: limited-memory quasi-Newton
    steps on the smoothed minimum, at falling temperatures (Cuturi and Peyre 2018 for the smoothed semi-dual).
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
        if value > _NEARBY * last_value > 0:
            schedule, scale = schedule[1:], value / (len(rows) * intervals[0][1])
        else:
            v, scale = _first_potentials(dual, intervals)
        for temperature, steps in schedule:
            v, _ = dual.improve(v, intervals, temperature * scale, steps)
        # Potentials that satisfy the constraints bound every problem, not only the one that they were computed for.
        u, v = dual.make_feasible(v)
        last_value = _best_shift(u, v, intervals)[1]
        bounds = np.maximum(bounds, [_best_shift(u, v, other)[1] for other in problems])
    return bounds


def _best_shift(u: np.ndarray, v: np.ndarray, intervals: Intervals) -> tuple[float, float]:
    """The best amount to add to u and subtract from v, and the dual's value there (concave), less a margin for rounding."""
    row_interval, column_interval = intervals
    breakpoints = np.concatenate([-u, v])
    order = np.argsort(breakpoints, kind="stable")
    drops = np.repeat([row_interval[1] - row_interval[0], column_interval[1] - column_interval[0]], [len(u), len(v)])[order]
    slopes = len(u) * row_interval[1] - len(v) * column_interval[0] - np.cumsum(drops)
    falling = slopes <= 0
    amount = float(breakpoints[order[falling.argmax() if falling.any() else -1]])
    positive = negative = 0.0
    for potentials, (low, high) in ((u + amount, row_interval), (v - amount, column_interval)):
        positive += low * float(np.maximum(potentials, 0).sum())
        negative += high * float(np.minimum(potentials, 0).sum())
    return amount, positive + negative - _SAFE_SUM * (positive - negative)


def _first_potentials(whole: "_Dual", intervals: Intervals) -> tuple[np.ndarray, float]:
    """Potentials of the columns, from ever more points of both sets, and the unit of the temperatures."""
    strides = [stride for stride in _STRIDES if len(whole.columns.points) >= _MIN_COLUMNS * stride]
    levels = [*(_Dual(whole.rows.thin_out(stride), whole.columns.thin_out(stride)) for stride in strides), whole]
    v, scale = levels[0].anneal(intervals)
    for level, larger in pairwise(levels):
        v = level.extend(v, larger.columns, _COOL * scale)
        if larger is not whole:
            v, _ = larger.improve(v, intervals, _COOL * scale, _STEPS)
    return v, scale


class _Points:
    """Points (n, d) of one side of a transport, each of which stands for ``weight`` points."""

    def __init__(self, points: np.ndarray, weight: float = 1.0):
        self.points, self.weight = np.ascontiguousarray(points), weight
        self.norms, self.tiles = np.square(self.points).sum(axis=1), tiles_of(self.points)

    def thin_out(self, stride: int) -> "_Points":
        """Every ``stride``-th point."""
        points = self.points[::stride]
        return _Points(points, len(self.points) / len(points))


class _Dual:
    """The dual of transport between the points of rows and of columns."""

    def __init__(self, rows: _Points, columns: _Points):
        self.rows, self.columns = rows, columns

    def anneal(self, intervals: Intervals) -> tuple[np.ndarray, float]:
        """Potentials at falling temperatures, because outliers have large ones, and the dual's value per unit of mass."""
        v, scale = np.zeros(len(self.columns.points)), 0.0
        mass = len(self.rows.points) * self.rows.weight * intervals[0][1]
        largest = float(self.rows.norms.max() + self.columns.norms.max()) or 1.0
        temperature = largest
        while temperature > max(_COOL * scale, _COLDEST * largest):
            v, value = self.improve(v, intervals, temperature, _STEPS)
            scale = value / mass
            temperature /= _COOLING
        return v, max(scale, _COLDEST * largest)

    def improve(self, v: np.ndarray, intervals: Intervals, temperature: float, steps: int) -> tuple[np.ndarray, float]:
        """Potentials and value after at most ``steps`` evaluations of the smoothed dual: limited-memory BFGS, halving steps."""
        value, gradient = self._evaluate_smoothed(v, intervals, temperature)
        moves: list[np.ndarray] = []
        turns: list[np.ndarray] = []
        n_left = steps - 1
        while n_left > 0:
            direction = _direction(gradient, moves, turns, temperature / (intervals[1][1] * self.columns.weight))
            slope, length, gain = float((gradient * direction).sum()), 1.0, -1.0
            while n_left > 0 and slope > 0:
                trial_value, trial_gradient = self._evaluate_smoothed(v + length * direction, intervals, temperature)
                n_left, gain = n_left - 1, trial_value - value
                if gain >= 1e-4 * length * slope:
                    break
                length /= 2
            if gain <= 1e-13 * abs(value):
                break
            move, turn = length * direction, gradient - trial_gradient
            v, value, gradient = v + move, trial_value, trial_gradient
            if (move * turn).sum() > 1e-12 * np.square(turn).sum():
                moves, turns = [*moves, move][-_MEMORY:], [*turns, turn][-_MEMORY:]
        return v, value

    def make_feasible(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Potentials that satisfy all constraints despite rounding; no single one can be raised by more than rounding."""
        u = _minima(self.rows, self.columns, v)
        v = _minima(self.columns, self.rows, u)
        largest = self.rows.norms.max() + self.columns.norms.max() + np.abs(u).max() + np.abs(v).max()
        return u, v - 4e-16 * (self.rows.points.shape[1] + 8) * largest

    def shift(self, v: np.ndarray, intervals: Intervals) -> tuple[np.ndarray, float]:
        """The potentials shifted to suit other intervals, and the dual's value there."""
        amount, value = _best_shift(_minima(self.rows, self.columns, v), v, intervals)
        return v - amount, value

    def extend(self, v: np.ndarray, columns: _Points, temperature: float) -> np.ndarray:
        """Potentials of other columns, by the smoothed constraints with these rows."""
        u, _ = _soft_minima(self.rows, self.columns, v, temperature)
        return _soft_minima(columns, self.rows, u, temperature)[0]

    def _evaluate_smoothed(self, v: np.ndarray, intervals: Intervals, temperature: float) -> tuple[float, np.ndarray]:
        """Value and gradient: minima are soft, and the kinks at 0 are rounded off."""
        low, high = (mass * self.rows.weight for mass in intervals[0])
        column_low, column_high = (mass * self.columns.weight for mass in intervals[1])
        u, masses = _soft_minima(self.rows, self.columns, v, temperature, low, high, temperature)
        row_values, _ = _smooth_hinge(u, low, high, temperature)
        column_values, slopes = _smooth_hinge(v, column_low, column_high, temperature)
        return float(row_values.sum() + column_values.sum()), slopes - masses


def _direction(gradient: np.ndarray, moves: list[np.ndarray], turns: list[np.ndarray], first: float) -> np.ndarray:
    """Gradient times the inverse curvature that earlier moves and gradient changes (``turns``) imply, or ``first``."""
    direction = gradient.copy()
    factors = []
    for move, turn in zip(moves[::-1], turns[::-1], strict=True):
        factors.append((move * direction).sum() / (move * turn).sum())
        direction -= factors[-1] * turn
    direction *= (moves[-1] * turns[-1]).sum() / np.square(turns[-1]).sum() if moves else first
    for move, turn, factor in zip(moves, turns, factors[::-1], strict=True):
        direction += (factor - (turn * direction).sum() / (move * turn).sum()) * move
    return direction


def _smooth_hinge(x: np.ndarray, low: float, high: float, width: float) -> tuple[np.ndarray, np.ndarray]:
    """low max(x, 0) + high min(x, 0), rounded off within ``width`` of 0, and its slopes."""
    inside = np.clip(x + width, 0.0, 2 * width)
    above = np.square(inside) / (4 * width) + np.maximum(x - width, 0.0)
    return high * x - (high - low) * above, high - (high - low) * (inside / (2 * width))


# ---- passes over all pairs --------------------------------------------------------------------------------------------


def _offsets(columns: _Points, potentials: np.ndarray) -> np.ndarray:
    """The columns' norms less potentials (T, LANES); where there is no column, infinite, so that it is never the least."""
    padded = np.full(len(columns.tiles) * _LANES, np.inf)
    padded[: len(potentials)] = columns.norms - potentials
    return padded.reshape(-1, _LANES)


def _minima(rows: _Points, columns: _Points, potentials: np.ndarray) -> np.ndarray:
    """For each row, the least squared distance to a column less the potential of that column."""
    least = np.empty(len(rows.points))
    _min_pass(-2.0 * rows.points, columns.tiles, _offsets(columns, potentials), least)
    return rows.norms + least


def _soft_minima(
    rows: _Points,
    columns: _Points,
    potentials: np.ndarray,
    temperature: float,
    low: float = 1.0,
    high: float = 1.0,
    width: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`_minima`, softened, and the mass of each column: each row gives in total its slope of :func:`_smooth_hinge`."""
    minima, masses = np.empty(len(rows.points)), np.empty((len(columns.tiles), _LANES))
    _soft_pass(
        *(-2.0 * rows.points, rows.norms, columns.tiles, _offsets(columns, potentials), temperature, len(potentials)),
        *(low, high, width, minima, masses),
    )
    return minima, masses.ravel()[: len(potentials)]


@inner
def _reduced_costs(rows, first, tile, offsets, out, begin):
    """Offset plus product of four rows from ``first`` on with the columns of a tile (d, _LANES), from ``out[:, begin]`` on."""
    n, odd = len(rows), len(tile) % 2  # in pairs, features load and store the sums half as often; an odd one goes first
    for q in range(_ROWS):
        row, sums = rows[min(first + q, n - 1)], out[q, begin : begin + _LANES]
        for j in range(_LANES):
            sums[j] = offsets[j] + tile[0, j] * row[0] if odd else offsets[j]
        for f in range(odd, len(tile), 2):
            a, b, x, y = row[f], row[f + 1], tile[f], tile[f + 1]
            for j in range(_LANES):
                sums[j] = sums[j] + x[j] * a + y[j] * b


@inner
def _min_of_lanes(values, work):
    """Smallest of _LANES values, by halving: no comparison of a round waits for another."""
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
    """The smallest of offset plus product over all columns, for each row."""
    n = len(rows)
    out, lanes, work = np.empty((_ROWS, _LANES)), np.empty((_ROWS, _LANES)), np.empty(_LANES)
    for row in range(0, n, _ROWS):
        lanes[:] = np.inf
        for t in range(len(tiles)):
            _reduced_costs(rows, row, tiles[t], offsets[t], out, 0)
            for q in range(_ROWS):
                for j in range(_LANES):
                    a, b = out[q, j], lanes[q, j]
                    lanes[q, j] = a if a < b else b
        for q in range(min(_ROWS, n - row)):
            minima[row + q] = _min_of_lanes(lanes[q], work)


@inner
def _exponentials(values, top, inverse, out, shifted):
    """Write exp((top - value) * inverse) of _LANES values to ``out``, to nine digits; none is below 2^-64."""
    for j in range(_LANES):
        x = (top - values[j]) * inverse * _LOG2_E
        x = x if x > -64.0 else -64.0
        whole = x + _ROUNDING
        shifted[j] = whole
        r = (x - (whole - _ROUNDING)) * _LN2
        out[j] = 1.0 + r * (1.0 + r * (0.5 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040)))))))
    bits = shifted.view(np.int64)
    for j in range(_LANES):
        bits[j] = (bits[j] + 1023) << 52
    for j in range(_LANES):
        out[j] *= shifted[j]


@inner
def _sum_lanes(values, work):
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
    """log(x) of a positive number, in operations that every processor rounds alike."""
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
def _soft_pass(rows, norms, tiles, offsets, temperature, n_columns, low, high, width, potentials, masses):
    """Soft minima of all rows, and the sums over rows of slope times weight for each column."""
    n, n_tiles = len(rows), len(tiles)
    out = np.empty((_ROWS, n_tiles * _LANES))
    work, shifted = np.empty(_LANES), np.empty(_LANES)
    tile_minima = np.empty(n_tiles)
    weights = np.empty((n_tiles, _LANES))
    near_tiles = np.empty(n_tiles, dtype=np.int64)
    inverse = 1.0 / temperature
    masses[:] = 0.0
    for row in range(0, n, _ROWS):
        for t in range(n_tiles):
            _reduced_costs(rows, row, tiles[t], offsets[t], out, t * _LANES)
        for q in range(min(_ROWS, n - row)):
            lowest = np.inf
            for t in range(n_tiles):
                tile_minima[t] = _min_of_lanes(out[q, t * _LANES : (t + 1) * _LANES], work)
                lowest = min(lowest, tile_minima[t])
            n_near, total = 0, 0.0
            for t in range(n_tiles):
                if tile_minima[t] - lowest > 30.0 * temperature:
                    continue
                _exponentials(out[q, t * _LANES : (t + 1) * _LANES], lowest, inverse, weights[n_near], shifted)
                total += _sum_lanes(weights[n_near], work)
                near_tiles[n_near] = t
                n_near += 1
            u = norms[row + q] + lowest - temperature * _log(total / n_columns)
            potentials[row + q] = u
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
