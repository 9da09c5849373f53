"""Random small tables with cluster labels, for tests with Hypothesis."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def labelled_rows(draw):
    """Rows (n, d), of which some may be equal, labels (n,) of two clusters or more, and a random generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    X = rng.integers(0, 3, size=(n, d)).astype(float) if draw(st.booleans()) else rng.normal(size=(n, d))
    n_clusters = draw(st.integers(2, n))
    labels = rng.permutation(np.concatenate([np.arange(n_clusters), rng.integers(n_clusters, size=n - n_clusters)]))
    return X, labels, rng
