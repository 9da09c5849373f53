"""The clusterlets of a dataset, as arrays. Matching and exact scoring need only these arrays, and no instances."""

from dataclasses import dataclass, fields

import numpy as np


@dataclass(frozen=True)
class Clusterlets:
    """N clusterlets, that is, clusters of a single group each, of n instances from K groups. The arrays are read-only.

    Attributes
    ----------
    group : int array (N,)
        Group code of each clusterlet, in ascending order.
    counts : int array (N, K)
        Number of instances of each group in each clusterlet; a row has a single non-zero entry.
    centroids : float array (N, d)
        Mean of the members.
    inertia : float array (N,)
        Sum of squared Euclidean distances of the members to their centroid.
    labels : int array (n,) or None
        Clusterlet of each instance. Matching and scoring do not need the labels, so they may be None.
    """

    group: np.ndarray
    counts: np.ndarray
    centroids: np.ndarray
    inertia: np.ndarray
    labels: np.ndarray | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            array = getattr(self, field.name)
            if array is not None:
                array = array.view()
                array.flags.writeable = False
                object.__setattr__(self, field.name, array)

    @classmethod
    def from_pieces(cls, counts: np.ndarray, centroids: np.ndarray, inertia: np.ndarray) -> "Clusterlets":
        """Make clusterlets from the arrays that are stored in a file. ``labels`` is None."""
        return cls(counts.argmax(axis=1), counts, centroids, inertia)

    def __len__(self) -> int:
        return len(self.group)

    @property
    def sizes(self) -> np.ndarray:
        """Number of instances in each clusterlet, (N,)."""
        return self.counts.sum(axis=1)

    @property
    def group_counts(self) -> np.ndarray:
        """Number of instances of each group in the dataset, (K,)."""
        return self.counts.sum(axis=0)
