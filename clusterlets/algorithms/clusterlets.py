"""A set of clusterlets is one value made of arrays, not a set of objects.

Everything downstream (matching, exact scoring) works on it without touching the instances again.
"""

from dataclasses import dataclass, fields

import numpy as np


@dataclass(frozen=True)
class Clusterlets:
    """N monochrome clusters of n instances with K groups, sorted by (group, index); the arrays are read-only.

    Attributes
    ----------
    group : int array (N,)
        Group code of each clusterlet, ascending.
    counts : int array (N, K)
        Instances of each group in each clusterlet (one non-zero per row).
    centroids : float array (N, d)
        Mean of the members.
    inertia : float array (N,)
        Sum of squared Euclidean distances of the members to their centroid.
    labels : int array (n,) or None
        Clusterlet of each instance; matching and scoring do not need it.
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
        """Clusterlets without labels of instances, which is how matching reads them; arrays as in the class."""
        return cls(counts.argmax(axis=1), counts, centroids, inertia)

    def __len__(self) -> int:
        return len(self.group)

    @property
    def sizes(self) -> np.ndarray:
        """Instances of each clusterlet, (N,)."""
        return self.counts.sum(axis=1)

    @property
    def group_counts(self) -> np.ndarray:
        """Instances of each group in the dataset, (K,)."""
        return self.counts.sum(axis=0)
