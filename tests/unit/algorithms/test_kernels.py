"""The compiled kernels give the same bits as plain loops in the documented order."""

from itertools import product

import numpy as np
import pytest

from clusterlets.algorithms.kernels import (
    LANES,
    ROWS,
    add_distances,
    add_row_distances,
    assign,
    candidate_distances,
    inertia_by_label,
    largest_squared_distance,
    squared_distances,
    sums_by_label,
    tiles_of,
)

# Numbers of rows that fill the last chunk (of ROWS) or the last tile (of LANES), leave it with one row, or leave it with a few.
SIZES = [1, 2, ROWS, ROWS + 1, LANES - 1, LANES, LANES + 1, 2 * LANES + 3]
NUMBERS_OF_FEATURES = [1, 2, 3, 5]


def rows_and_tiles(n, d, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, d))
    return rows, tiles_of(rows)


def plain_squared_distances(x, y):
    """Squared distances (n, m) by NumPy, each summed in the order of the features."""
    total = np.zeros((len(x), len(y)))
    for feature in range(x.shape[1]):
        total += np.square(x[:, None, feature] - y[None, :, feature])
    return total


@pytest.mark.parametrize(("n", "d"), list(product(SIZES, NUMBERS_OF_FEATURES)))
def test_tiles_hold_every_feature_of_every_row_and_then_zeros(n, d):
    X = np.random.default_rng(0).normal(size=(n, d))
    tiles = tiles_of(X)
    assert tiles.shape == (-(-n // LANES), d, LANES) and tiles.flags.c_contiguous
    rows_of_tiles = tiles.transpose(0, 2, 1).reshape(-1, d)
    assert np.array_equal(rows_of_tiles[:n], X) and not rows_of_tiles[n:].any()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("n_labellings", [1, 2, 3])
def test_distances_are_added_in_the_documented_order(n, n_labellings):
    rows, tiles = rows_and_tiles(n, 3)
    labels = np.random.default_rng(n).integers(4, size=(n_labellings, n))
    distances = np.sqrt(plain_squared_distances(rows, rows))
    expected = np.full((n_labellings, 5, 5), 0.5)  # distances are added to these values; label 4 has no rows
    for labelling, j in product(range(n_labellings), range(n)):
        row_labels = labels[labelling]
        for label in range(5):
            total = 0.0
            for i in np.flatnonzero(row_labels[:j] == label):
                total += distances[i, j]
            expected[labelling, label, row_labels[j]] += total
    sums = np.full((n_labellings, 5, 5), 0.5)
    add_distances(rows, tiles, labels, sums)
    assert np.array_equal(sums, expected)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("m", SIZES)
def test_distances_to_rows_are_added_in_the_order_of_the_rows(n, m):
    rows, _ = rows_and_tiles(n, 3)
    other_rows, tiles = rows_and_tiles(m, 3)
    labels = np.random.default_rng(n).integers(4, size=(2, n))
    distances = np.sqrt(plain_squared_distances(rows, other_rows))
    expected = np.full((2, 5, m), 0.5)  # distances are added to these values; label 4 has no rows
    for labelling, label in product(range(2), range(5)):
        total = np.zeros(m)
        for i in np.flatnonzero(labels[labelling] == label):
            total += distances[i]
        expected[labelling, label] += total
    sums = np.full((2, 5, m), 0.5)
    add_row_distances(rows, tiles, labels, sums)
    assert np.array_equal(sums, expected)


@pytest.mark.parametrize(("n", "d"), list(product(SIZES, NUMBERS_OF_FEATURES)))
def test_the_largest_distance_of_rows_in_descending_order_of_radius_is_found(n, d):
    for seed in range(3):
        X = np.random.default_rng(seed).standard_cauchy(size=(n, d))
        radii = np.linalg.norm(X, axis=1)
        order = np.argsort(-radii)
        rows = X[order]
        largest = largest_squared_distance(rows, tiles_of(rows), radii[order] * (1 + 1e-9))
        assert largest == plain_squared_distances(rows, rows).max()


def test_the_largest_distance_is_found_if_all_radii_are_equal():
    """Equal radii rule out no pair, so any pair may be the farthest."""
    for seed in range(10):
        angles = np.random.default_rng(seed).uniform(0, 2 * np.pi, LANES + ROWS + 1)
        for radius in (0.1, 1, 3):
            rows = radius * np.column_stack([np.cos(angles), np.sin(angles)])
            radii = np.full(len(rows), radius * (1 + 1e-9))
            assert largest_squared_distance(rows, tiles_of(rows), radii) == plain_squared_distances(rows, rows).max()


def test_the_zeros_that_fill_the_last_tile_do_not_count_as_rows():
    rows = 100 + np.random.default_rng(0).normal(size=(LANES + 3, 2))
    largest = largest_squared_distance(rows, tiles_of(rows), np.full(len(rows), 1e3))
    assert largest == plain_squared_distances(rows, rows).max()


@pytest.mark.parametrize(("n", "k"), list(product(SIZES, [1, 2, 3, ROWS, ROWS + 1, 2 * ROWS + 3])))
def test_assign_gives_the_nearest_centres_and_the_squared_distances_to_them(n, k):
    rows, tiles = rows_and_tiles(n, 3)
    centres = np.random.default_rng(1).normal(size=(k, 3))
    labels, squares = np.full(n, -1), np.full(n, -1.0)
    assign(tiles, centres, labels, squares)
    expected = plain_squared_distances(rows, centres)
    assert np.array_equal(labels, expected.argmin(axis=1)) and np.array_equal(squares, expected.min(axis=1))


def test_ties_between_equal_centres_go_to_the_first():
    rows, tiles = rows_and_tiles(LANES + 5, 2)
    centres = np.repeat(np.random.default_rng(1).normal(size=(3, 2)), 2, axis=0)
    labels, squares = np.empty(len(rows), dtype=np.int64), np.empty(len(rows))
    assign(tiles, centres, labels, squares)
    assert set(labels) == {0, 2, 4}


@pytest.mark.parametrize(("n", "n_candidates"), list(product(SIZES, [1, 3, ROWS, ROWS + 1])))
def test_a_candidate_gets_the_squared_distances_after_adding_it_and_their_sum(n, n_candidates):
    rows, tiles = rows_and_tiles(n, 3)
    nearest_squares = np.random.default_rng(1).exponential(size=n)
    centres = np.random.default_rng(2).normal(size=(n_candidates, 3))
    new_squares, totals = np.full((n_candidates, n), -1.0), np.full(n_candidates, -1.0)
    candidate_distances(tiles, centres, nearest_squares, new_squares, totals)
    assert np.array_equal(new_squares, np.minimum(nearest_squares, plain_squared_distances(centres, rows)))
    # The kernel first adds the squares in each lane, and then the sums of the lanes.
    for row, total in zip(new_squares, totals):
        lane_sums = [0.0] * LANES
        for index, value in enumerate(row.tolist()):
            lane_sums[index % LANES] += value
        expected = 0.0
        for lane_sum in lane_sums:
            expected += lane_sum
        assert total == expected


def test_sums_sizes_and_inertia_of_labels_equal_those_worked_out_by_hand():
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [10.0, 20.0]])
    labels = np.array([2, 2, 0])
    sums, sizes, inertia = np.full((3, 2), 9.0), np.full(3, 9), np.full(3, 9.0)
    sums_by_label(rows, labels, sums, sizes)
    assert sums.tolist() == [[10, 20], [0, 0], [4, 6]] and sizes.tolist() == [1, 0, 2]
    inertia_by_label(rows, labels, np.array([[10.0, 19.0], [0.0, 0.0], [2.0, 3.0]]), inertia)
    assert inertia.tolist() == [1, 0, 4]


@pytest.mark.parametrize(("n", "d"), list(product([1, ROWS, 2 * LANES + 3], NUMBERS_OF_FEATURES)))
def test_squared_distances_are_summed_in_the_order_of_the_features(n, d):
    rows, centres = np.random.default_rng(0).normal(size=(n, d)), np.random.default_rng(1).normal(size=(3, d))
    costs = np.full((n, 3), np.nan)
    squared_distances(rows, np.ascontiguousarray(centres.T), costs)
    assert np.array_equal(costs, plain_squared_distances(rows, centres))
