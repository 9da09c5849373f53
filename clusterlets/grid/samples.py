"""The rows of a table that its runs are scored on."""

from dataclasses import dataclass

import numpy as np

from clusterlets.algorithms import geometry
from clusterlets.algorithms.row_samples import SAMPLED_ROWS, sample_rows


@dataclass(frozen=True)
class Sample:
    """The rows that a table's runs are scored on: the same for every run, because all cells of matchers share distances.

    ``rows`` (m,) are those whose silhouettes are computed. ``order`` (n,) holds all rows in random order: sums of distances
    are estimated from the first ones of each piece, :func:`clusterlets.algorithms.geometry.sampled_sums`. Without it they
    are exact.
    """

    rows: np.ndarray
    order: np.ndarray | None = None

    @classmethod
    def draw(cls, n: int, random_state: np.random.Generator) -> "Sample":
        """Draw from n rows: all for silhouettes, or 2,000 if there are more; an order only above ``geometry.EXACT_LIMIT``."""
        rows = sample_rows(n, random_state, exact_rows=SAMPLED_ROWS)
        return cls(rows, random_state.permutation(n) if n > geometry.EXACT_LIMIT else None)
