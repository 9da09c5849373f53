"""With ``n_clusters``, ClusterletClustering tries many configurations and keeps one whose number of clusters is closest."""

import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from clusterlets.estimators import ClusterletClustering, fairness_report

CANCER, IRIS = load_breast_cancer(return_X_y=True), load_iris(return_X_y=True)


def fit(X, groups, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return ClusterletClustering(random_state=3, **settings).fit(X, sensitive_features=groups)


@pytest.mark.parametrize(
    ("table", "matcher", "n_clusters"), [(CANCER, "G-B", 5), (IRIS, "G-D", 4), (IRIS, "B", 5), (IRIS, "D", 2)]
)
def test_the_configuration_is_the_closest_and_if_tied_the_fairest(table, matcher, n_clusters):
    X, groups = scale(table[0]), table[1]
    model = fit(X, groups, matcher=matcher, n_clusters=n_clusters)

    def preference(n_clusterlets, hops):
        candidate = fit(X, groups, matcher=matcher, n_clusterlets=n_clusterlets, hops=hops)
        report = fairness_report(X, candidate.memberships_, groups, cohesion=False, silhouette=False)
        return abs(candidate.n_clusters_ - n_clusters), round(report["deviation_max"], 12), n_clusterlets, hops

    configurations = product(range(2, 2 * n_clusters + 1), (1, 2, 3, 4))
    difference, _, n_clusterlets, hops = min(preference(*configuration) for configuration in configurations)
    assert (model.n_clusterlets_, model.hops_) == (n_clusterlets, hops)
    assert abs(model.n_clusters_ - n_clusters) == difference


@pytest.mark.parametrize("make_random_state", [lambda: 7, lambda: np.random.default_rng(1)])
def test_the_result_equals_a_fit_of_only_the_selected_configuration(make_random_state):
    X, groups = scale(CANCER[0]), CANCER[1]
    searched = ClusterletClustering(n_clusters=6, random_state=make_random_state()).fit(X, sensitive_features=groups)
    assert searched.n_clusters_ == 6
    single = ClusterletClustering(searched.n_clusterlets_, hops=searched.hops_, random_state=make_random_state())
    single.fit(X, sensitive_features=groups)
    assert np.array_equal(single.labels_, searched.labels_)
    assert (single.n_clusterlets_, single.hops_) == (searched.n_clusterlets_, searched.hops_)


def test_a_number_of_clusters_that_is_not_reached_gives_a_warning():
    model = ClusterletClustering(n_clusters=6, matcher="C", random_state=0, sample_size=500)
    with pytest.warns(ConvergenceWarning, match="closest to n_clusters=6"):
        model.fit(scale(IRIS[0]), sensitive_features=IRIS[1])
    assert model.n_clusters_ != 6


def test_the_search_works_for_four_rows():
    X, groups = np.array([[0.0], [0.1], [5.0], [5.1]]), [0, 1, 0, 1]
    assert fit(X, groups, n_clusters=2).n_clusters_ == 2
    assert fit(X, groups, n_clusters=50).n_clusters_ == 2
