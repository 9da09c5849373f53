"""Samples of the rows of a table, which make scores on large tables affordable."""

from dataclasses import dataclass

import numpy as np

from clusterlets.algorithms import geometry
from clusterlets.algorithms.row_samples import SAMPLED_ROWS, sample_rows


@dataclass(frozen=True)
class Sample:
    """The rows of a table that sampled scores use. All runs on the table use the same sample, so matchers can share distances.

    ``rows`` (m,) are the rows whose silhouettes are computed. ``order`` (n,) holds all rows in random order. If it is given,
    :func:`clusterlets.algorithms.geometry.sampled_sums` estimates sums of distances from the first rows of each piece in this
    order; if it is None, the sums are exact.
    """

    rows: np.ndarray
    order: np.ndarray | None = None

    @classmethod
    def draw(cls, n: int, random_state: np.random.Generator) -> "Sample":
        """Draw the sample of a table with n rows.

        ``rows`` are all rows, or 2,000 of them if there are more. ``order`` is None up to ``geometry.EXACT_LIMIT`` rows.
        """
        rows = sample_rows(n, random_state, exact_rows=SAMPLED_ROWS)
        return cls(rows, random_state.permutation(n) if n > geometry.EXACT_LIMIT else None)
