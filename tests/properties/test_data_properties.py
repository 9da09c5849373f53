"""Property tests, from table to clusters, on data that cause trouble: ties, duplicates, one-point clusterlets, small groups."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterlets import methods
from clusterlets.algorithms.extraction import extract_clusterlets
from clusterlets.algorithms.frac import fair_assignment, frac
from clusterlets.algorithms.geometry import diameter, distance_sums, within_sums

few_examples = settings(max_examples=25)
every_matcher = pytest.mark.parametrize("name", methods.names("paper"))
seeds = st.integers(0, 2**32 - 1)


@st.composite
def tables(draw):
    """Rows in single precision (whole numbers below 4, or normally distributed numbers), and their groups: two to four."""
    n_groups = draw(st.integers(2, 4))
    groups = np.array([*range(n_groups), *draw(st.lists(st.integers(0, n_groups - 1), max_size=25))])
    rng = np.random.default_rng(draw(seeds))
    shape = len(groups), draw(st.integers(1, 3))
    X = rng.integers(0, 4, shape) if draw(st.booleans()) else rng.normal(size=shape)
    return X.astype(np.float32), groups


def match(name, clusterlets, seed):
    """The clusters that the named matcher makes of clusterlets (n_clusters, n_clusterlets), or None if it finds none."""
    parameters = {"omega": 0.5, "sample_size": 50} if name == "C" else {"hops": 2}
    return methods.get(name)().match(clusterlets, np.random.default_rng(seed), **parameters)


@every_matcher
@few_examples
@given(tables(), st.integers(2, 12), seeds)
def test_every_instance_is_in_a_cluster_and_no_cluster_is_empty(name, table, k, seed):
    """k often exceeds a group's number of distinct rows. Such a group has fewer than k clusterlets, each of equal rows."""
    X, groups = table
    clusterlets = extract_clusterlets(X, groups, k, np.random.default_rng(seed))
    clusters = match(name, clusterlets, seed)
    if clusters is None:
        assert np.bincount(clusterlets.group).min() < 2 or name == "C"
        return
    memberships = clusters[:, clusterlets.labels]
    assert memberships.any(axis=0).all() and memberships.any(axis=1).all()
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
    assert np.array_equal(fair_assignment(single, groups, single[:2]), fair_assignment(double, groups, double[:2]))
    n_centres = min(k, len(single))
    fits = [frac(X, groups, n_centres, np.random.default_rng(seed), max_iter=3) for X in (single, double)]
    assert fits[0].centres.tobytes() == fits[1].centres.tobytes()
    clusterlets = [extract_clusterlets(X, groups, k, np.random.default_rng(seed)) for X in (single, double)]
    for field in ("labels", "centroids", "inertia"):
        assert getattr(clusterlets[0], field).tobytes() == getattr(clusterlets[1], field).tobytes()
