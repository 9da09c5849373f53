"""Properties that hold for all data, tested with ties, duplicates, clusterlets of one row and small groups."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.algorithms.extraction import extract_clusterlets
from clusterlets.algorithms.frac import frac
from clusterlets.algorithms.geometry import diameter, distance_sums, within_sums

few_examples = settings(max_examples=25)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def tables(draw):
    """Features in single precision, and the groups of the rows.

    The features are whole numbers below 4, which give ties and duplicates, or normally distributed.
    """
    n_groups = draw(st.integers(2, 4))
    groups = np.array([*range(n_groups), *draw(st.lists(st.integers(0, n_groups - 1), max_size=25))])
    rng = np.random.default_rng(draw(seeds))
    shape = len(groups), draw(st.integers(1, 3))
    X = rng.integers(0, 4, shape) if draw(st.booleans()) else rng.normal(size=shape)
    return X.astype(np.float32), groups


@few_examples
@given(tables(), st.integers(2, 5), seeds)
def test_single_precision_gives_the_same_results_as_double(table, k, seed):
    single, groups = table
    double = single.astype(np.float64)
    labels = np.arange(len(single)) % 3
    for sums_by_label in (distance_sums, within_sums):
        assert np.array_equal(sums_by_label(single, labels, 3), sums_by_label(double, labels, 3))
    assert diameter(single) == diameter(double)
    n_centres = min(k, len(single))
    from_single, from_double = (frac(X, groups, n_centres, np.random.default_rng(seed), max_iter=3) for X in (single, double))
    assert from_single.centres.tobytes() == from_double.centres.tobytes()
    from_single, from_double = (extract_clusterlets(X, groups, k, np.random.default_rng(seed)) for X in (single, double))
    for field in ("labels", "centroids", "inertia"):
        assert getattr(from_single, field).tobytes() == getattr(from_double, field).tobytes()
