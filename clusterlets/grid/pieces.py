"""Disjoint pieces of instances, whoever made them, in the one form that scoring reads.

Of labels the pieces are the clusters; of memberships, where an instance may be in several clusters, they are the instances
that share all their clusters.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from clusterlets.algorithms import geometry
from clusterlets.algorithms.instance_scores import (
    INSTANCE_SCORES,
    SAMPLED_ROWS,
    cluster_centres,
    costs,
    labels_of_pieces,
    sample_rows,
    silhouette_scores,
    silhouettes,
)
from clusterlets.grid.artifacts import Prepared, SeedBlock, compact

# Clusterings whose silhouettes are computed together; further ones save little, and take memory.
_TOGETHER = 10


@dataclass(frozen=True)
class Sample:
    """The rows that a table's runs are scored on, the same for every run, as matchers read what is kept of every one.

    ``rows`` (m,) are those whose silhouettes are computed. ``order`` (n,) holds all rows in random order: sums of distances
    are estimated from the first ones of each piece, :func:`clusterlets.algorithms.geometry.sampled_sums`. Without it they
    are exact.
    """

    rows: np.ndarray
    order: np.ndarray | None = None

    @classmethod
    def draw(cls, n: int, random_state: np.random.Generator) -> "Sample":
        """Of n rows: silhouettes of all, or of 2,000 of more; an order above ``geometry.EXACT_LIMIT`` alone."""
        rows = sample_rows(n, random_state, exact_rows=SAMPLED_ROWS)
        return cls(rows, random_state.permutation(n) if n > geometry.EXACT_LIMIT else None)


def save_pieces(
    prepared: Prepared,
    found: Mapping[str, np.ndarray],
    pieces: str,
    labels: str,
    failures: Mapping[str, tuple[str, str]],
    sample: Sample | None = None,
) -> None:
    """Write what scoring needs of the pieces of each key to ``pieces``, the piece of each instance to ``labels``.

    ``found`` holds labels (n,) or memberships (n, C), bool, by key. With a ``sample`` the distances are summed up here, as
    those of clusters are, and the scores of instances are computed; steps of their own do it for clusterlets.
    """
    in_pieces = {key: _in_pieces(clustering) for key, clustering in found.items()}
    values = {key: _moments(prepared, piece_of) for key, (piece_of, _) in in_pieces.items()}
    if sample is not None:
        for key, sums in _sums(prepared.X, in_pieces, sample.order):
            values[key] |= {"membership": in_pieces[key][1], "sums": sums}
        for key, scores in _instance_scores(prepared, in_pieces, values, sample.rows).items():
            values[key]["of_instances"] = np.array([scores.get(name, np.nan) for name in INSTANCE_SCORES])
    SeedBlock(values, failures=failures).save(pieces)
    SeedBlock({key: {"labels": compact(piece_of)} for key, (piece_of, _) in in_pieces.items()}, failures=failures).save(labels)


def _disjoint(in_pieces: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, np.ndarray]:
    """The clusters of each instance (n,) of the keys whose clusters do not overlap: their pieces are the clusters."""
    return {key: piece_of for key, (piece_of, membership) in in_pieces.items() if membership.sum() == len(membership.T)}


def _sums(
    X: np.ndarray, in_pieces: Mapping[str, tuple[np.ndarray, np.ndarray]], order: np.ndarray | None
) -> Iterator[tuple[str, np.ndarray]]:
    """Summed distances between the pieces of each key, (G, G), of disjoint clusters inside them alone; or estimates of them."""
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
    X, groups, found = prepared.X, prepared.groups, {}
    for key, (piece_of, membership) in in_pieces.items():
        centres = cluster_centres(membership, values[key]["counts"].sum(axis=1), values[key]["centroids"])
        found[key] = costs(X, groups, labels_of_pieces(X, piece_of, membership, centres), centres)
    disjoint = _disjoint(in_pieces)
    for first in range(0, len(disjoint), _TOGETHER):
        keys = list(disjoint)[first : first + _TOGETHER]
        labels = np.stack([disjoint[key] for key in keys])
        for key, of_key, sums in zip(keys, labels, geometry.row_sums(X, sample, labels, int(labels.max()) + 1), strict=True):
            of_rows = silhouettes(sums, np.bincount(of_key, minlength=len(sums)), of_key[sample])
            found[key] |= silhouette_scores(of_rows, groups[sample], len(X))
    return found


def save_nothing(status: str, note: str, pieces: str, labels: str) -> None:
    """Write files that say of the whole block why there is nothing."""
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
