"""Samples of the rows of a table, which make scores on large tables affordable."""

from dataclasses import dataclass

import numpy as np

from clusterlets.algorithms import row_samples


@dataclass(frozen=True)
class Sample:
    """The rows that sampled scores of a table use. All runs on the table use the same sample, so matchers can share distances.

    ``rows`` (m,) are the rows whose silhouettes are computed. ``order`` (n,) holds all rows in random order, for
    :func:`clusterlets.algorithms.geometry.sampled_sums`; it is None if sums of distances are computed exactly.
    """

    rows: np.ndarray
    order: np.ndarray | None = None

    @classmethod
    def draw(cls, n: int, random_state: np.random.Generator) -> "Sample":
        """Draw the sample of a table with n rows: at most 2,000 rows, and an order only above ``ALL_PAIRS_ROWS``."""
        rows = row_samples.sample_rows(n, random_state, exact_rows=row_samples.SAMPLED_ROWS)
        return cls(rows, random_state.permutation(n) if n > row_samples.ALL_PAIRS_ROWS else None)
