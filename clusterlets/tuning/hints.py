"""Plain hints for the choice of a number of clusters and of a limit. They decide nothing but the order of what is shown."""

from collections.abc import Sequence

import numpy as np
from sklearn.metrics import silhouette_score

_SAMPLE_SIZE = 2_000  # rows; the time grows with its square
_LEAST_BEND = 0.05  # a bend is at least this far below the straight line, as a fraction of the whole drop


def silhouette(X: np.ndarray, labels: np.ndarray, seed: int) -> float:
    """The mean silhouette of a random sample of rows (-1 to 1), or -1 if the sample lies in a single cluster."""
    rows = np.random.default_rng(seed).permutation(len(X))[:_SAMPLE_SIZE]
    if not 1 < len(np.unique(labels[rows])) < len(rows):
        return -1.0
    return float(silhouette_score(X[rows], labels[rows]))


def bend(costs: Sequence[float]) -> int | None:
    """Where falling costs bend: the position furthest below the straight line from the first to the last, if there is any.

    The costs are taken as equally spaced.
    """
    if len(costs) < 3 or not costs[0] > costs[-1]:
        return None
    heights = (np.array(costs) - costs[-1]) / (costs[0] - costs[-1])
    depths = np.linspace(1, 0, len(costs)) - heights
    return int(depths.argmax()) if depths.max() >= _LEAST_BEND else None
