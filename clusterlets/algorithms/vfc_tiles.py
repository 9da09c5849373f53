"""The masses and the cost of shares in clusters, in single precision, for :mod:`clusterlets.algorithms.vfc`.

The shares of a row are exp(U_hc - T a_ic), divided by their sum. A tile holds rows of the same group that are near the same
clusters. In each tile, the clusters in which no row has a share that matters are left out. So VFC takes a fifth of the time of
a loop over all rows and clusters in double precision (magic, 19,020 rows).
"""

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner
from clusterlets.algorithms.elementary import log

LOG2_E = 1.4426950408889634
MIN_SHARE = 1e-12  # the least share; a share of 0 would stay 0
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


class Tiles:
    """Tiles of the rows of a table, and which clusters matter to them.

    ``fill`` writes the costs to the tiles. Between two calls of it, ``evaluate`` keeps for each tile a list of the clusters
    that matter, with T and U at that time.
    """

    def __init__(self, groups: np.ndarray, n_clusters: int):
        self._groups, self._counts = groups, np.bincount(groups)
        n_tiles_by_group = -(-self._counts // LANES)
        firsts = np.cumsum(self._counts) - self._counts
        self._tile_group = np.repeat(np.arange(len(n_tiles_by_group)), n_tiles_by_group)
        self._tile_start = np.concatenate(
            [firsts[h] + LANES * np.arange(n_tiles_by_group[h]) for h in range(len(n_tiles_by_group))]
        )
        self._tile_size = np.minimum(LANES, (firsts + self._counts)[self._tile_group] - self._tile_start)
        n_tiles = len(self._tile_group)
        self._costs = np.zeros((n_tiles, n_clusters, LANES), dtype=np.float32)
        self._floors, self._tops = (np.zeros((n_tiles, LANES), dtype=np.float32) for _ in range(2))
        self._nearest = np.empty((n_tiles, n_clusters), dtype=np.float32)
        self._active, self._n_active = np.empty((n_tiles, n_clusters), dtype=np.int64), np.empty(n_tiles, dtype=np.int64)
        self._snapshots = np.empty((n_tiles, 3 * n_clusters + 1), dtype=np.float32)
        self._n_evaluations, self._offset = 0, 0.0

    def fill(self, costs: np.ndarray) -> np.ndarray:
        """Write costs (n, k) to the tiles, and return the exponent (n,) of the least share of each row."""
        keys, sums = np.empty(len(costs), dtype=np.int64), np.empty(len(costs))
        _tile_keys(costs, self._groups, keys, sums)
        floors = log(sums * MIN_SHARE)
        order = np.argsort(keys, kind="stable")
        _fill_tiles(costs, floors, order, self._tile_start, self._tile_size, self._costs, self._floors)
        self._nearest[:] = self._costs.min(axis=2)
        self._offset = float(costs.min(axis=1).sum())  # the tiles hold costs minus the lowest cost of each row
        self._n_active[:] = 0
        self._n_evaluations = 0
        return floors

    def evaluate(self, time: float, biases: np.ndarray, former_masses: np.ndarray) -> tuple[float, np.ndarray]:
        """The cost and the masses (K, k) of the shares for T - 1 = ``time`` and U = ``biases`` (K, k).

        Shares that are small against ``former_masses`` (K, k) are left out.
        """
        limits = log(_MAX_LEFT_OUT * former_masses / self._counts[:, None]) * LOG2_E - _MARGIN
        masses = np.zeros(biases.shape)
        self._n_evaluations += 1
        cost = _add_masses(
            self._costs,
            self._floors,
            self._nearest,
            self._tile_group,
            self._tile_size,
            np.float32(time),
            (biases * LOG2_E).astype(np.float32),
            limits.astype(np.float32),
            self._n_evaluations,
            self._tops,
            self._active,
            self._n_active,
            self._snapshots,
            masses,
        )
        return cost / LOG2_E + self._offset, masses


@inner
def power_of_2(x):
    """2^x in single precision, for -125 < x < 125. The last step adds the whole number nearest to x to the exponent."""
    shifted = x + _ROUNDER
    r = x - (shifted - _ROUNDER)
    value = _P0 + r * (_P1 + r * (_P2 + r * (_P3 + r * (_P4 + r * _P5))))
    bits = np.float32(value).view(np.int32) + (np.float32(shifted).view(np.int32) << _MANTISSA_BITS)
    return np.int32(bits).view(np.float32)


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
            total += power_of_2(max(np.float32(-excess * LOG2_E), _MIN_LOG2_SHARE))
        keys[row], sums[row] = ((groups[row] * k + nearest) << 32) + bits, total


@compiled("void(float64[:,::1], float64[::1], int64[::1], int64[::1], int64[::1], float32[:,:,::1], float32[:,::1])")
def _fill_tiles(costs, floors, order, starts, sizes, tiles, tile_floors):
    """Write the costs minus the lowest cost of each row to ``tiles`` (n_tiles, k, LANES), and ``floors`` to ``tile_floors``.

    Both are multiplied by log2(e): they become exponents of 2.
    """
    for t in range(len(tiles)):
        for j in range(sizes[t]):
            row = order[starts[t] + j]
            tile_floors[t, j] = floors[row] * LOG2_E
            least = costs[row].min()
            for cluster in range(costs.shape[1]):
                tiles[t, cluster, j] = (costs[row, cluster] - least) * LOG2_E


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
                power = power_of_2(max(exponent - top[j], _MIN_LOG2_SHARE))
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
