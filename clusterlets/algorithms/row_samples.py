"""The number of rows up to which scores are exact, and the sample that estimates them above it. Needs NumPy only."""

import numpy as np

#: Maximum number of rows for which all pairs of rows are visited: 5 * 10^9 pairs, about 10 s on one core (memory is
#: O(n d)). Ten times the rows take a hundred times as long, :func:`clusterlets.algorithms.geometry.sampled_sums` a second.
EXACT_LIMIT = 100_000
#: Maximum number of rows for which silhouettes are exact by default, and the size of the sample of larger tables.
EXACT_ROWS, SAMPLED_ROWS = 10_000, 2_000


def sample_rows(n: int, random_state: np.random.Generator, exact_rows: int = EXACT_ROWS) -> np.ndarray:
    """The rows whose silhouettes represent all n, ascending: all, or 2,000 at random where n is above ``exact_rows``."""
    if n <= exact_rows:
        return np.arange(n)
    return np.sort(random_state.choice(n, SAMPLED_ROWS, replace=False))
