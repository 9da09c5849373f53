"""Every score behaves as its entry in the table declares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.algorithms.geometry import diameter, distance_sums, moments_by_label, row_sums
from clusterlets.algorithms.instance_labels import cluster_centres, labels_of_pieces
from clusterlets.benchmark.grid.runs_columns import COLUMNS
from clusterlets.metrics import instances
from clusterlets.metrics.all_scores import SCORES, score
from clusterlets.metrics.instances import Instances
from clusterlets.metrics.pieces import JoinedClusterlets, Pieces
from clusterlets.metrics.prices import PriceInputs
from clusterlets.metrics.score import evaluate

ROUNDING = 1e-9  # how far a score may lie outside its range


def scores_of(X, groups, piece_of, membership, plain_cost=None):
    """Every score of clusters of pieces. ``plain_cost`` is that of plain k-means, by default the cost of these clusters."""
    n_clusters, n_pieces = membership.shape
    counts = np.zeros((n_pieces, groups.max() + 1), dtype=int)
    np.add.at(counts, (piece_of, groups), 1)
    centroids, inertia = moments_by_label(X, piece_of, n_pieces)
    pieces = Pieces(membership, counts, centroids, inertia, distance_sums(X, piece_of, n_pieces), diameter(X))
    centres = cluster_centres(membership, counts.sum(axis=1), centroids)
    labels, rows = labels_of_pieces(X, piece_of, membership, centres), np.arange(len(X))
    sums = row_sums(X, rows, labels, n_clusters)
    silhouettes = instances.silhouettes(sums, np.bincount(labels, minlength=n_clusters), labels)
    scores = evaluate(SCORES, pieces) | evaluate(SCORES, Instances(X, groups, labels, centres, silhouettes, rows))
    scores |= evaluate(SCORES, JoinedClusterlets(membership, centroids))
    cost = scores["kmeans_cost"]
    plain_costs = {n_clusters: cost if plain_cost is None else plain_cost}
    return scores | evaluate(SCORES, PriceInputs(cost, n_clusters, plain_costs))


@st.composite
def clusterings(draw):
    """Rows, their groups, the piece of each row, and the pieces in each cluster. Clusters may overlap."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_pieces, n_groups = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    piece_of = np.concatenate([np.arange(n_pieces), rng.integers(n_pieces, size=draw(st.integers(n_groups, 30)))])
    groups = rng.permutation(np.concatenate([np.arange(n_groups), rng.integers(n_groups, size=len(piece_of) - n_groups)]))
    X = rng.normal(size=(len(piece_of), 2)) if draw(st.booleans()) else rng.integers(3, size=(len(piece_of), 2)).astype(float)
    labels = np.unique(rng.integers(draw(st.integers(1, 4)), size=n_pieces), return_inverse=True)[1]
    membership = np.eye(labels.max() + 1, dtype=bool)[labels].T
    if draw(st.booleans()):
        membership |= rng.random(membership.shape) < 0.3
    return X, groups, piece_of, membership


@pytest.mark.parametrize("entry", SCORES, ids=lambda entry: entry.name)
def test_every_score_has_a_unit_a_meaning_a_range_and_one_column(entry):
    assert entry.unit and entry.meaning and entry.range[0] < entry.range[1]
    assert score(entry.name) is entry and COLUMNS.count(entry.name) == 1


@settings(max_examples=150, deadline=None)
@given(clusterings())
def test_every_score_stays_in_its_range_and_is_nan_only_where_declared(case):
    values = scores_of(*case)
    assert values.keys() == {entry.name for entry in SCORES}
    for entry in SCORES:
        low, high = entry.range
        if np.isnan(values[entry.name]):
            assert entry.undefined, entry.name
        else:
            assert low - ROUNDING <= values[entry.name] <= high + ROUNDING, entry.name


DIRECTIONS = {
    **dict.fromkeys(("deviation_mean", "deviation_max", "column_deviation", "delta_min", "additive_violation"), "lower"),
    **dict.fromkeys(("weighted_deviation", "vfc_error", "overlap", "kmeans_cost", "price_of_fairness"), "lower"),
    **dict.fromkeys(("social_cost", "kmedian_cost", "kcenter_cost"), "lower"),
    **dict.fromkeys(("balance", "balance_ratio", "cohesion", "centroid_silhouette", "silhouette"), "higher"),
    "silhouette_least_group": "higher",
}


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 4), st.integers(2, 4), st.integers(1, 3))
def test_the_better_clustering_scores_better_in_the_declared_direction(n_places, n_groups, copies):
    """Every place has equally many rows of each group: clusters by place are perfect, and clusters by group are poor.

    A score that is not in DIRECTIONS may judge something else, and see no difference here.
    """
    place, group, _ = np.unravel_index(np.arange(n_places * n_groups * copies), (n_places, n_groups, copies))
    X = np.array([[5.0, 0.0], [0.0, 7.0], [11.0, 1.0], [0.0, -9.0]])[place]
    pieces = place * n_groups + group
    place_of_piece, group_of_piece = np.repeat(np.arange(n_places), n_groups), np.tile(np.arange(n_groups), n_places)
    perfect, poor = (
        scores_of(X, group, pieces, np.eye(max(labels) + 1, dtype=bool)[labels].T, plain_cost=1.0)
        for labels in (place_of_piece, group_of_piece)
    )
    overlapping = np.ones((1, n_places * n_groups), dtype=bool).repeat(2, axis=0)
    poor["overlap"] = scores_of(X, group, pieces, overlapping)["overlap"]
    for name, better in DIRECTIONS.items():
        assert score(name).better == better
        gain = perfect[name] - poor[name]
        assert (gain if better == "higher" else -gain) > 0, name
