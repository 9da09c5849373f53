"""Save the clusters of any method as disjoint pieces of instances, the format that scoring reads.

If a method returns labels, its clusters are the pieces. If it returns memberships, clusters may overlap, and a piece holds the
instances that are in exactly the same clusters.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from clusterlets.algorithms import geometry
from clusterlets.algorithms.instance_labels import cluster_centres, labels_of_pieces
from clusterlets.benchmark.grid.artifacts import Prepared, SeedBatch, compact
from clusterlets.benchmark.grid.samples import Sample
from clusterlets.metrics import instances
from clusterlets.metrics.instances import Instances
from clusterlets.metrics.score import evaluate

# For each key, the piece of each instance (n,), and which pieces each cluster contains (C, G).
_Splits = Mapping[str, tuple[np.ndarray, np.ndarray]]

# Number of clusterings whose silhouettes are computed together. More would save little time and take more memory.
_BATCH_SIZE = 10


def save_pieces(
    prepared: Prepared,
    clusterings: Mapping[str, np.ndarray],
    pieces: str,
    labels: str,
    failures: Mapping[str, tuple[str, str]],
    sample: Sample | None = None,
) -> None:
    """Write two files: ``pieces``, with what scoring needs, and ``labels``, with the piece of each instance.

    Parameters
    ----------
    prepared : Prepared
        The dataset.
    clusterings : mapping
        For each key of a :class:`SeedBatch`, labels (n,) or memberships (n, C) of type bool.
    pieces, labels : str
        The paths to write.
    failures : mapping
        As in :class:`SeedBatch`.
    sample : Sample, optional
        If given, sums of distances and the scores that need instances are written too. Clusterlets are saved without a sample,
        because later steps compute these.
    """
    splits = {key: _split_into_pieces(clustering) for key, clustering in clusterings.items()}
    values = {key: _counts_and_moments(prepared, pieces_of_rows) for key, (pieces_of_rows, _) in splits.items()}
    if sample is not None:
        for key, sums in _distance_sums(prepared.X, splits, sample.order):
            values[key] |= {"membership": splits[key][1], "sums": sums}
        for key, scores in _instance_scores(prepared, splits, values, sample.rows).items():
            values[key]["of_instances"] = np.array([scores[score.name] for score in instances.SCORES])
    SeedBatch(values, failures=failures).save(pieces)
    SeedBatch(
        {key: {"labels": compact(pieces_of_rows)} for key, (pieces_of_rows, _) in splits.items()}, failures=failures
    ).save(labels)


def _disjoint_labels(splits: _Splits) -> dict[str, np.ndarray]:
    """Labels (n,) for every key whose clusters do not overlap. The pieces of such a key are its clusters."""
    return {
        key: pieces_of_rows for key, (pieces_of_rows, membership) in splits.items() if membership.sum() == len(membership.T)
    }


def _distance_sums(X: np.ndarray, splits: _Splits, order: np.ndarray | None) -> Iterator[tuple[str, np.ndarray]]:
    """For each key, sums of distances between its G pieces.

    With ``order``, these are 16 estimates (16, G, G). Without it, they are exact (G, G). The exact sums of disjoint clusters
    are only computed within each cluster; those between clusters are 0.
    """
    if order is not None:
        for key, (pieces_of_rows, membership) in splits.items():
            yield key, geometry.sampled_sums(X, pieces_of_rows, len(membership.T), order)
        return
    if disjoint_labels := _disjoint_labels(splits):
        piece_counts = [int(pieces_of_rows.max()) + 1 for pieces_of_rows in disjoint_labels.values()]
        sums_within = geometry.within_sums(X, np.stack(list(disjoint_labels.values())), max(piece_counts))
        yield from ((key, np.diag(sums[:n])) for key, n, sums in zip(disjoint_labels, piece_counts, sums_within, strict=True))
    for key in splits.keys() - disjoint_labels.keys():
        pieces_of_rows, membership = splits[key]
        yield key, geometry.distance_sums(X, pieces_of_rows, len(membership.T))


def _instance_scores(
    prepared: Prepared, splits: _Splits, values: Mapping, sampled_rows: np.ndarray
) -> dict[str, dict[str, float]]:
    """For each key, the scores that need instances. Only disjoint clusters have a silhouette."""
    silhouettes = _silhouettes(prepared.X, _disjoint_labels(splits), sampled_rows)
    scores = {}
    for key, (pieces_of_rows, membership) in splits.items():
        centres = cluster_centres(membership, values[key]["counts"].sum(axis=1), values[key]["centroids"])
        labels = labels_of_pieces(prepared.X, pieces_of_rows, membership, centres)
        clustered = Instances(prepared.X, prepared.groups, labels, centres, silhouettes.get(key), sampled_rows)
        scores[key] = evaluate(instances.SCORES, clustered)
    return scores


def _silhouettes(X: np.ndarray, labellings: Mapping[str, np.ndarray], sampled_rows: np.ndarray) -> dict[str, np.ndarray]:
    """For each key with labels (n,), the silhouettes of the sampled rows (m,)."""
    silhouettes = {}
    for first in range(0, len(labellings), _BATCH_SIZE):
        keys = list(labellings)[first : first + _BATCH_SIZE]
        stacked = np.stack([labellings[key] for key in keys])
        sums_of_keys = geometry.row_sums(X, sampled_rows, stacked, int(stacked.max()) + 1)
        for key, labels, sums in zip(keys, stacked, sums_of_keys, strict=True):
            silhouettes[key] = instances.silhouettes(sums, np.bincount(labels, minlength=len(sums)), labels[sampled_rows])
    return silhouettes


def save_failed_batch(status: str, note: str, pieces: str, labels: str) -> None:
    """Write both files with the reason why the whole batch of seeds has no result."""
    for path in (pieces, labels):
        SeedBatch({}, status, note).save(path)


def _split_into_pieces(clustering: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The piece of each instance (n,), and which pieces each cluster contains: a membership (C, G) of type bool."""
    if clustering.ndim == 1:
        return clustering, np.eye(int(clustering.max()) + 1, dtype=bool)
    patterns, pieces_of_rows = np.unique(clustering, axis=0, return_inverse=True)
    return pieces_of_rows.reshape(-1).astype(np.int64), patterns.T


def _counts_and_moments(prepared: Prepared, pieces_of_rows: np.ndarray) -> dict[str, np.ndarray]:
    """For each piece, its instances of each group (G, K), its centroid (G, d) and its inertia (G,)."""
    n_pieces = int(pieces_of_rows.max()) + 1
    centroids, inertia = geometry.moments_by_label(prepared.X, pieces_of_rows, n_pieces)
    counts = np.zeros((n_pieces, len(prepared.group_values)), dtype=np.int64)
    np.add.at(counts, (pieces_of_rows, prepared.groups), 1)
    return {"counts": counts, "centroids": centroids, "inertia": inertia}
