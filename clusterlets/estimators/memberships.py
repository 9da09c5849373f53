"""Memberships of instances in clusters, as sparse matrices."""

from numbers import Real

import numpy as np
from scipy.sparse import csr_array, issparse

from clusterlets.algorithms.instance_labels import labels_by_nearest_centre
from clusterlets.estimators.inputs import InvalidInput, as_array, frame_columns, is_missing
from clusterlets.text import counted


def members_of(memberships: csr_array) -> list[np.ndarray]:
    """The row numbers of the instances in each cluster."""
    by_cluster = memberships.tocsc()
    return np.split(by_cluster.indices, by_cluster.indptr[1:-1])


def nearest_own_cluster(X: np.ndarray, memberships: csr_array, centres: np.ndarray) -> np.ndarray:
    """For each instance (n,), the one of its clusters that has the nearest centre. Ties go to the first."""
    return labels_by_nearest_centre(X, members_of(memberships), centres)


def cluster_means(X: np.ndarray, memberships: csr_array) -> np.ndarray:
    """Mean (C, d) of the members of each cluster. No cluster may be empty. O(n d) if clusters are disjoint."""
    return np.stack([X[rows].mean(axis=0) for rows in members_of(memberships)])


def memberships_of_labels(labels: np.ndarray) -> csr_array:
    n = len(labels)
    return csr_array((np.ones(n, dtype=bool), labels, np.arange(n + 1)), shape=(n, int(labels.max()) + 1))


def _whole_labels(labels: np.ndarray) -> np.ndarray:
    """The labels (n,) as integers. They may be of any type, as those of a file or of pandas are, if they are whole numbers."""
    is_number = labels.dtype.kind in "iuf" or all(isinstance(label, Real) and not isinstance(label, bool) for label in labels)
    if not is_number or not np.all(labels % 1 == 0) or labels.min(initial=0) < 0:
        raise InvalidInput("Labels must be whole numbers of at least 0, or text: every instance must be in a cluster.")
    return labels.astype(np.int64)


def as_memberships(clustering) -> tuple[csr_array, np.ndarray]:
    """Convert labels or memberships to memberships (n, C) without empty clusters.

    The second result holds the label, or the column, that each cluster (C,) has in the input. Each row of the
    memberships has sorted, distinct indices.
    """
    cluster_labels = None
    if not issparse(clustering):
        clustering = as_array(clustering, "The clustering")
        if clustering.ndim == 1:
            if clustering.dtype.kind in "OUS" and any(isinstance(label, str) for label in clustering):
                labels, cluster_labels = encode_labels(clustering)
            else:
                cluster_labels, labels = np.unique(_whole_labels(clustering), return_inverse=True)
            clustering = memberships_of_labels(labels)
    if clustering.ndim != 2 or not np.isin(clustering.data if issparse(clustering) else clustering, (0, 1)).all():
        raise InvalidInput("A clustering is labels (n,), or memberships (n, C) that are true and false, or 1 and 0.")
    memberships = csr_array(clustering, dtype=bool, copy=True)  # a copy, because the next lines change the matrix
    memberships.sum_duplicates()
    memberships.eliminate_zeros()
    unassigned = np.flatnonzero(np.diff(memberships.indptr) == 0)
    if len(unassigned):
        raise InvalidInput(f"Every instance must be in a cluster: row {unassigned[0]} is in none.")
    occupied = np.flatnonzero(memberships.sum(axis=0))
    return memberships[:, occupied], occupied if cluster_labels is None else cluster_labels


def encode_labels(labels) -> tuple[np.ndarray, np.ndarray]:
    """Codes (n,) and the sorted values (k,) of labels of any kind, such as numbers or text; numbers come first."""
    columns = frame_columns(labels)
    array = as_array(labels if columns is None else columns[0][1], "labels")
    if array.ndim != 1 or not len(array):
        raise InvalidInput(f"labels have the shape {array.shape}: give one label per row.")
    missing = np.flatnonzero(is_missing(array.astype(object) if array.dtype.kind in "US" else array))
    if len(missing):
        raise InvalidInput(f"labels: row {missing[0]} (counting from 0) has none; such rows: {len(missing)}. Drop them.")
    n_noise = sum(value in (-1, "-1") for value in array.tolist())
    if n_noise:
        raise InvalidInput(
            f"labels: {counted(n_noise, 'row has', 'rows have')} the label -1, with which DBSCAN and HDBSCAN mark noise, not a "
            "cluster. Leave these rows out, or give them another label."
        )
    values = sorted(set(array.tolist()), key=lambda value: (isinstance(value, str), value))
    code_of_value = {value: code for code, value in enumerate(values)}
    is_mixed = len(set(map(type, values))) > 1
    return np.array([code_of_value[value] for value in array.tolist()]), np.array(values, dtype=object if is_mixed else None)
