"""Disjoint pieces of instances, from any method, in the form that scoring reads.

For labels the pieces are the clusters. For memberships, where an instance may be in several clusters, a piece holds the
instances that share all their clusters.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from clusterlets.algorithms import geometry
from clusterlets.algorithms.instance_labels import cluster_centres, labels_of_pieces
from clusterlets.grid.artifacts import Prepared, SeedBlock, compact
from clusterlets.grid.samples import Sample
from clusterlets.metrics import instances
from clusterlets.metrics.instances import Instances
from clusterlets.metrics.score import evaluate

# Clusterings whose silhouettes are computed together; more would save little time and cost memory.
_BATCH = 10


def save_pieces(
    prepared: Prepared,
    clusterings: Mapping[str, np.ndarray],
    pieces: str,
    labels: str,
    failures: Mapping[str, tuple[str, str]],
    sample: Sample | None = None,
) -> None:
    """Write what scoring needs of each key's pieces to ``pieces``, and the piece of each instance to ``labels``.

    ``clusterings`` holds labels (n,) or memberships (n, C), bool, by key. With a ``sample``, the distances are added up and
    the scores of instances are computed here; for clusterlets, separate steps do this.
    """
    in_pieces = {key: _in_pieces(clustering) for key, clustering in clusterings.items()}
    values = {key: _moments(prepared, piece_of) for key, (piece_of, _) in in_pieces.items()}
    if sample is not None:
        for key, sums in _sums(prepared.X, in_pieces, sample.order):
            values[key] |= {"membership": in_pieces[key][1], "sums": sums}
        for key, scores in _instance_scores(prepared, in_pieces, values, sample.rows).items():
            values[key]["of_instances"] = np.array([scores[score.name] for score in instances.SCORES])
    SeedBlock(values, failures=failures).save(pieces)
    SeedBlock({key: {"labels": compact(piece_of)} for key, (piece_of, _) in in_pieces.items()}, failures=failures).save(labels)


def _disjoint(in_pieces: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, np.ndarray]:
    """The cluster of each instance (n,), for keys whose clusters do not overlap, so that pieces are clusters."""
    return {key: piece_of for key, (piece_of, membership) in in_pieces.items() if membership.sum() == len(membership.T)}


def _sums(
    X: np.ndarray, in_pieces: Mapping[str, tuple[np.ndarray, np.ndarray]], order: np.ndarray | None
) -> Iterator[tuple[str, np.ndarray]]:
    """Sums of distances between each key's pieces, (G, G): estimates with ``order``; only within pieces if disjoint."""
    if order is not None:
        for key, (piece_of, membership) in in_pieces.items():
            yield key, geometry.sampled_sums(X, piece_of, len(membership.T), order)
        return
    disjoint = _disjoint(in_pieces)
    if disjoint:
        n_pieces = [int(piece_of.max()) + 1 for piece_of in disjoint.values()]
        within = geometry.within_sums(X, np.stack(list(disjoint.values())), max(n_pieces))
        yield from ((key, np.diag(sums[:n])) for key, n, sums in zip(disjoint, n_pieces, within, strict=True))
    for key in in_pieces.keys() - disjoint.keys():
        piece_of, membership = in_pieces[key]
        yield key, geometry.distance_sums(X, piece_of, len(membership.T))


def _instance_scores(
    prepared: Prepared, in_pieces: Mapping[str, tuple[np.ndarray, np.ndarray]], values: Mapping, sample: np.ndarray
) -> dict[str, dict[str, float]]:
    """Costs of each key, and silhouettes of those whose clusters do not overlap."""
    silhouettes = _silhouettes(prepared.X, _disjoint(in_pieces), sample)
    scores = {}
    for key, (piece_of, membership) in in_pieces.items():
        centres = cluster_centres(membership, values[key]["counts"].sum(axis=1), values[key]["centroids"])
        labels = labels_of_pieces(prepared.X, piece_of, membership, centres)
        clustered = Instances(prepared.X, prepared.groups, labels, centres, silhouettes.get(key), sample)
        scores[key] = evaluate(instances.SCORES, clustered)
    return scores


def _silhouettes(X: np.ndarray, labellings: Mapping[str, np.ndarray], sample: np.ndarray) -> dict[str, np.ndarray]:
    """Silhouettes of the sampled rows (m,) by the labels (n,) of each key."""
    silhouettes = {}
    for first in range(0, len(labellings), _BATCH):
        keys = list(labellings)[first : first + _BATCH]
        stacked = np.stack([labellings[key] for key in keys])
        sums_of_keys = geometry.row_sums(X, sample, stacked, int(stacked.max()) + 1)
        for key, labels, sums in zip(keys, stacked, sums_of_keys, strict=True):
            silhouettes[key] = instances.silhouettes(sums, np.bincount(labels, minlength=len(sums)), labels[sample])
    return silhouettes


def save_nothing(status: str, note: str, pieces: str, labels: str) -> None:
    """Write files that say why the whole block has no result."""
    for path in (pieces, labels):
        SeedBlock({}, status, note).save(path)


def _in_pieces(clustering: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The piece of each instance (n,), and which pieces each cluster holds (C, G)."""
    if clustering.ndim == 1:
        return clustering, np.eye(int(clustering.max()) + 1, dtype=bool)
    patterns, piece_of = np.unique(clustering, axis=0, return_inverse=True)
    return piece_of.reshape(-1).astype(np.int64), patterns.T


def _moments(prepared: Prepared, labels: np.ndarray) -> dict[str, np.ndarray]:
    n_pieces = int(labels.max()) + 1
    centroids, inertia = geometry.moments_by_label(prepared.X, labels, n_pieces)
    counts = np.zeros((n_pieces, len(prepared.group_names)), dtype=np.int64)
    np.add.at(counts, (labels, prepared.groups), 1)
    return {"counts": counts, "centroids": centroids, "inertia": inertia}
