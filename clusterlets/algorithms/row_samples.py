"""The numbers of rows up to which scores are exact, and the sample of rows that silhouettes of larger tables use.

This module needs only NumPy.
"""

import numpy as np

#: Maximum number of rows for which cohesion visits all pairs of rows: 5 * 10^9 pairs, in about 10 s on one core. Ten times as
#: many rows would take a hundred times as long, whereas :func:`clusterlets.algorithms.geometry.sampled_sums` takes a second.
ALL_PAIRS_ROWS = 100_000
#: Maximum number of rows for which silhouettes are exact by default, and the number of rows sampled from larger tables.
EXACT_ROWS, SAMPLED_ROWS = 10_000, 2_000


def sample_rows(n: int, random_state: np.random.Generator, exact_rows: int = EXACT_ROWS) -> np.ndarray:
    """Ascending indices of the rows whose silhouettes are computed: all n, or 2,000 at random if n is above ``exact_rows``."""
    if n <= exact_rows:
        return np.arange(n)
    return np.sort(random_state.choice(n, SAMPLED_ROWS, replace=False))
