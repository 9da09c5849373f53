"""Compiled loops over all instances: squared distances, sums of distances, and nearest centres.

This source fixes the order of every sum, and uses neither fast-math nor matrix products. So the results do not depend on the
width of vector registers, on BLAS or on the processor.

Instances are arranged in tiles: ``tiles[t, f, j]`` is feature f of instance ``t * LANES + j``, and the index j is a lane. The
loops add ``(x - y)^2`` one feature at a time, for all lanes at once. The last tile is padded with zeros, and no result is read
from the padding.
"""

import numpy as np

from clusterlets.algorithms.compiled import compiled, inner

#: Instances per tile. A tile and four rows of squared distances to its instances fit the first-level cache.
LANES = 128
#: Rows that are compared with a tile at once, so that the tile is loaded only once for all of them.
ROWS = 4


def tiles_of(rows: np.ndarray) -> np.ndarray:
    """Rows (n, d), float64, rearranged in tiles (T, d, LANES)."""
    (n, d), n_full = rows.shape, len(rows) // LANES
    tiles = np.zeros((-(-n // LANES), d, LANES))
    tiles[:n_full] = rows[: n_full * LANES].reshape(n_full, LANES, d).transpose(0, 2, 1)
    if n > n_full * LANES:
        tiles[n_full, :, : n - n_full * LANES] = rows[n_full * LANES :].T
    return tiles


@inner
def _squared_distances(rows, first, tiles, tile, out):
    """Write squared distances of ``ROWS`` rows to the instances of a tile, summed in the order of the features.

    ``out[q * LANES + j]`` gets the distance between row ``first + q`` and instance j. Indices past the end of ``rows`` stand
    for the last row.
    """
    last, d = len(rows) - 1, rows.shape[1]
    row0, row1, row2, row3 = first, min(first + 1, last), min(first + 2, last), min(first + 3, last)
    odd = d % 2  # pairs of features halve the loads and stores of ``out``; if d is odd, the first is added alone
    for j in range(LANES):
        if odd:
            x = tiles[tile, 0, j]
            out[j] = (x - rows[row0, 0]) * (x - rows[row0, 0])
            out[LANES + j] = (x - rows[row1, 0]) * (x - rows[row1, 0])
            out[2 * LANES + j] = (x - rows[row2, 0]) * (x - rows[row2, 0])
            out[3 * LANES + j] = (x - rows[row3, 0]) * (x - rows[row3, 0])
        else:
            out[j], out[LANES + j], out[2 * LANES + j], out[3 * LANES + j] = 0.0, 0.0, 0.0, 0.0
    for f in range(odd, d, 2):
        a0, a1, a2, a3 = rows[row0, f], rows[row1, f], rows[row2, f], rows[row3, f]
        b0, b1, b2, b3 = rows[row0, f + 1], rows[row1, f + 1], rows[row2, f + 1], rows[row3, f + 1]
        for j in range(LANES):
            x, y = tiles[tile, f, j], tiles[tile, f + 1, j]
            out[j] = out[j] + (x - a0) * (x - a0) + (y - b0) * (y - b0)
            out[LANES + j] = out[LANES + j] + (x - a1) * (x - a1) + (y - b1) * (y - b1)
            out[2 * LANES + j] = out[2 * LANES + j] + (x - a2) * (x - a2) + (y - b2) * (y - b2)
            out[3 * LANES + j] = out[3 * LANES + j] + (x - a3) * (x - a3) + (y - b3) * (y - b3)


@compiled("void(float64[:,::1], float64[:,:,::1], int64[:,::1], float64[:,:,::1])")
def add_distances(rows, tiles, labels, sums):
    """Add the distance of each pair i < j of rows to ``sums[s, label of i, label of j]``, for every labelling s.

    ``tiles`` are those of the rows. ``labels`` (S, n) are the labels of the rows (n, d) in S labellings, and must be valid
    indices of ``sums`` (S, G, G). Each distance is computed once for all labellings. For each j, the distances to rows i of the
    same label are summed in ascending order of i. These sums are then added in ascending order of j.
    """
    n = len(rows)
    distances, lane_sums = np.empty(ROWS * LANES), np.empty((len(labels), sums.shape[1], LANES))
    for t in range(len(tiles)):
        first = t * LANES
        end = min(first + LANES, n)
        lane_sums[:] = 0.0
        for row in range(0, end, ROWS):
            _squared_distances(rows, row, tiles, t, distances)
            for q in range(ROWS):
                for j in range(min(row + q + 1 - first, LANES)):  # no pair counts twice, and no row pairs with itself
                    distances[q * LANES + j] = 0.0
            for j in range(ROWS * LANES):
                distances[j] = np.sqrt(distances[j])
            for s in range(len(labels)):
                for q in range(min(ROWS, end - row)):
                    label_sums = lane_sums[s, labels[s, row + q]]
                    for j in range(LANES):
                        label_sums[j] += distances[q * LANES + j]
        for s in range(len(labels)):
            for label in range(lane_sums.shape[1]):
                for j in range(first, end):
                    sums[s, label, labels[s, j]] += lane_sums[s, label, j - first]


@compiled("void(float64[:,::1], float64[:,:,::1], int64[:,::1], float64[:,:,::1])")
def add_row_distances(rows, tiles, labels, sums):
    """Add the distance of each row to each instance j of the tiles to ``sums[s, label of the row, j]``, for every labelling s.

    ``labels`` (S, n) are the labels of the rows (n, d) in S labellings, and must be valid indices of ``sums`` (S, G, m). Each
    distance is computed once for all labellings. Distances are added in the order of the rows.
    """
    n, m = len(rows), sums.shape[2]
    distances, lane_sums = np.empty(ROWS * LANES), np.empty((len(labels), sums.shape[1], LANES))
    for t in range(len(tiles)):
        lane_sums[:] = 0.0
        for row in range(0, n, ROWS):
            _squared_distances(rows, row, tiles, t, distances)
            for j in range(ROWS * LANES):
                distances[j] = np.sqrt(distances[j])
            for s in range(len(labels)):
                for q in range(min(ROWS, n - row)):
                    label_sums = lane_sums[s, labels[s, row + q]]
                    for j in range(LANES):
                        label_sums[j] += distances[q * LANES + j]
        for s in range(len(labels)):
            for label in range(lane_sums.shape[1]):
                for j in range(t * LANES, min((t + 1) * LANES, m)):
                    sums[s, label, j] += lane_sums[s, label, j - t * LANES]


@compiled("float64(float64[:,::1], float64[:,:,::1], float64[::1])")
def largest_squared_distance(rows, tiles, radii):
    """Largest squared distance of two rows (n, d), which are sorted by descending distance ``radii`` from a fixed point.

    ``tiles`` are those of the rows. Two rows are no further apart than the sum of their radii, so pairs with a small sum are
    skipped. Hence a radius may be rounded up but not down.
    """
    n = len(rows)
    squares = np.empty(ROWS * LANES)
    largest = 0.0
    for row in range(0, n, ROWS):
        for t in range(row // LANES, len(tiles)):
            reach = radii[row] + radii[max(row, t * LANES)]
            if reach * reach < largest:
                break
            _squared_distances(rows, row, tiles, t, squares)
            end = min(LANES, n - t * LANES)
            for q in range(ROWS):
                for j in range(end):
                    largest = max(largest, squares[q * LANES + j])
        if 4 * radii[row] * radii[row] < largest:
            break
    return largest


@compiled("void(float64[:,:,::1], float64[:,::1], int64[::1], float64[::1])")
def assign(tiles, centres, labels, nearest_squares):
    """Write the index of each instance's nearest centre (k, d), ties to the lowest index, and the squared distance to it."""
    n, squares = len(labels), np.empty(ROWS * LANES)
    for i in range(n):
        labels[i], nearest_squares[i] = 0, np.inf
    for t in range(len(tiles)):
        first, width = t * LANES, min(LANES, n - t * LANES)
        for centre in range(0, len(centres), ROWS):
            _squared_distances(centres, centre, tiles, t, squares)
            for j in range(width):
                best, index = nearest_squares[first + j], labels[first + j]
                for q in range(ROWS):
                    closer = squares[q * LANES + j] < best
                    index = centre + q if closer else index
                    best = squares[q * LANES + j] if closer else best
                nearest_squares[first + j], labels[first + j] = best, index


@compiled("void(float64[:,:,::1], float64[:,::1], float64[::1], float64[:,::1], float64[::1])")
def candidate_distances(tiles, candidates, nearest_squares, new_squares, totals):
    """Write how ``nearest_squares`` (n,), the squared distances to the nearest centre, fall if a candidate (c, d) is added.

    ``new_squares[i, j]`` gets the smaller of ``nearest_squares[j]`` and the squared distance of instance j to candidate i.
    ``totals[i]`` gets the sum of ``new_squares[i]``: first each lane over all tiles, then all lanes.
    """
    n = len(nearest_squares)
    squares, sums = np.empty(ROWS * LANES), np.empty(len(candidates) * LANES)
    for i in range(len(sums)):
        sums[i] = 0.0
    for t in range(len(tiles)):
        first, width = t * LANES, min(LANES, n - t * LANES)
        for candidate in range(0, len(candidates), ROWS):
            _squared_distances(candidates, candidate, tiles, t, squares)
            for q in range(min(ROWS, len(candidates) - candidate)):
                for j in range(width):
                    least = min(nearest_squares[first + j], squares[q * LANES + j])
                    new_squares[candidate + q, first + j] = least
                    sums[(candidate + q) * LANES + j] += least
    for i in range(len(candidates)):
        totals[i] = 0.0
        for j in range(LANES):
            totals[i] += sums[i * LANES + j]


@compiled("void(float64[:,::1], int64[::1], float64[:,::1], int64[::1])")
def sums_by_label(rows, labels, sums, sizes):
    """Write the sum (N, d) and the number (N,) of the rows that have each label, added in the order of the rows."""
    for label in range(len(sizes)):
        sizes[label] = 0
        for f in range(rows.shape[1]):
            sums[label, f] = 0.0
    for i in range(len(rows)):
        label = labels[i]
        sizes[label] += 1
        for f in range(rows.shape[1]):
            sums[label, f] += rows[i, f]


@compiled("void(float64[:,::1], int64[::1], float64[:,::1], float64[::1])")
def inertia_by_label(rows, labels, means, inertia):
    """Write the sum (N,) of squared distances of each label's rows to its mean (N, d), added in the order of the rows."""
    for label in range(len(inertia)):
        inertia[label] = 0.0
    for i in range(len(rows)):
        label = labels[i]
        total = 0.0
        for f in range(rows.shape[1]):
            difference = rows[i, f] - means[label, f]
            total += difference * difference
        inertia[label] += total


@compiled("void(float64[:,::1], float64[:,::1], float64[:,::1])")
def squared_distances(rows, features_of_centres, costs):
    """Write to ``costs`` (n, k) the squared distances of rows (n, d) to k centres, summed in the order of the features.

    ``features_of_centres`` (d, k) are the transposed centres: the inner loop runs over contiguous numbers, one for each centre.
    """
    d, k = features_of_centres.shape
    for row in range(len(rows)):
        for centre in range(k):
            costs[row, centre] = 0.0
        for feature in range(d):
            x = rows[row, feature]
            for centre in range(k):
                difference = x - features_of_centres[feature, centre]
                costs[row, centre] += difference * difference
