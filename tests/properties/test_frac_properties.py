"""Properties of FRAC on any data."""

from fractions import Fraction

import numpy as np
from fair_tables import counts_of
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets.algorithms.frac import fair_assignment, frac

MAX_EXAMPLES = 60
relaxed = settings(max_examples=MAX_EXAMPLES)  # the first example compiles


@st.composite
def grids(draw):
    """Integer points (ties and duplicates abound), groups 0..K-1, integer centres."""
    n, n_features = draw(st.integers(1, 30)), draw(st.integers(1, 3))
    n_groups, n_clusters = draw(st.integers(1, 4)), draw(st.integers(1, 7))
    row = st.lists(st.integers(-4, 4), min_size=n_features, max_size=n_features)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    centres = np.array(draw(st.lists(row, min_size=n_clusters, max_size=n_clusters)), dtype=float)
    groups = np.array(draw(st.lists(st.integers(0, n_groups - 1), min_size=n, max_size=n)))
    return X, groups, centres


@relaxed
@given(grids(), st.lists(st.integers(-1000, 1000), min_size=3, max_size=3), st.integers(-3, 3))
def test_translation_and_scale_change_nothing(grid, shift, exponent):
    X, groups, centres = grid
    shift, scale = np.array(shift[: X.shape[1]]), 2.0**exponent
    rescaled = fair_assignment(scale * (X + shift), groups, scale * (centres + shift))
    assert (rescaled == fair_assignment(X, groups, centres)).all()


@relaxed
@given(grids(), st.integers(0, 2**32 - 1), st.sampled_from(["even", "quota", "none"]))
def test_a_frac_result_is_consistent(grid, seed, kind):
    X, groups, centres = grid
    n_clusters = min(len(centres), len(X))
    tau = {"even": None, "quota": Fraction(1, 2 * n_clusters), "none": 0}[kind]
    result = frac(X, groups, n_clusters, np.random.default_rng(seed), tau, max_iter=10)
    for labels in (result.labels_fair, result.labels_nearest):
        assert (np.unique(labels) == np.arange(labels.max() + 1)).all()
    means = np.array([X[result.labels_fair == index].mean(axis=0) for index in range(result.labels_fair.max() + 1)])
    assert np.isclose(result.cost, ((X - means[result.labels_fair]) ** 2).sum())
    nearest = ((X[:, None] - result.centres) ** 2).sum(axis=2).argmin(axis=1)  # three features: the same order of sums
    assert (result.labels_nearest == np.unique(nearest, return_inverse=True)[1]).all()
    if kind == "even":
        assert len(means) == n_clusters
        assert (np.ptp(counts_of(result.labels_fair, groups, n_clusters).T, axis=0) <= 1).all()
