"""Properties that hold for all data, tested with ties, duplicates, clusterlets of one row and small groups."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets import methods
from clusterlets.algorithms.extraction import extract_clusterlets
from clusterlets.algorithms.frac import frac
from clusterlets.algorithms.geometry import diameter, distance_sums, within_sums

few_examples = settings(max_examples=25)
every_matcher = pytest.mark.parametrize("name", methods.matchers())
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


def match(name, clusterlets, seed):
    """Which cluster contains which clusterlet (n_clusters, n_clusterlets), or None if the matcher finds no clusters."""
    parameters = {"omega": 0.5, "sample_size": 50} if name == "C" else {"hops": 2}
    return methods.get(name)().match(clusterlets, np.random.default_rng(seed), **parameters)


@every_matcher
@few_examples
@given(tables(), st.integers(2, 12), seeds)
def test_every_instance_is_in_a_cluster_and_no_cluster_is_empty(name, table, k, seed):
    """Groups with fewer than k distinct rows are included. They have fewer than k clusterlets."""
    X, groups = table
    clusterlets = extract_clusterlets(X, groups, k, np.random.default_rng(seed))
    matching = match(name, clusterlets, seed)
    if matching is None:
        # C may draw no valid partition, even with two clusterlets of every group.
        assert np.bincount(clusterlets.group).min() < 2 or name == "C"
        return
    memberships = matching[:, clusterlets.labels]
    assert memberships.any(axis=0).all()
    assert memberships.any(axis=1).all()
    if name in ("C", "G-D", "G-B"):
        assert (memberships.sum(axis=0) == 1).all()


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
