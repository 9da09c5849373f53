"""Every function that takes a table refuses features whose squares would overflow or underflow. It accepts all others."""

import numpy as np
import pytest

from clusterlets.algorithms.checks import check_groups, check_magnitudes, look_alikes
from clusterlets.algorithms.extraction import extract_clusterlets
from clusterlets.algorithms.frac import frac
from clusterlets.algorithms.geometry import diameter
from clusterlets.errors import ClusterletsError
from clusterlets.estimators import FRAC, ClusterletClustering, fairness_report
from clusterlets.tables.table import Table, scaled

X = np.random.default_rng(0).normal(size=(60, 2))
GROUPS = np.arange(60) % 2


@pytest.mark.parametrize("factor", [1e160, 1e101, 1e-101, 1e-170, 1e-320])
@pytest.mark.parametrize(
    "compute",
    [
        lambda X: frac(X, GROUPS, 3, np.random.default_rng(0)),
        lambda X: extract_clusterlets(X, GROUPS, 3, np.random.default_rng(0)),
        diameter,
        lambda X: FRAC(3).fit(X, sensitive_features=GROUPS),
        lambda X: ClusterletClustering(3).fit(X, sensitive_features=GROUPS),
        lambda X: fairness_report(X, GROUPS, GROUPS),
    ],
)
def test_features_that_cannot_be_squared_are_refused(factor, compute):
    with pytest.raises(ClusterletsError, match="feature [01] .*unit"):
        compute(X * factor)


@pytest.mark.parametrize("estimator", [FRAC(3), ClusterletClustering(3, matcher="G-B")])
def test_predict_accepts_tiny_values_but_refuses_huge_values(estimator):
    fitted = estimator.fit(X, sensitive_features=GROUPS)
    with pytest.raises(ClusterletsError, match="feature 1 holds 1e\\+160"):
        fitted.predict([[0.0, 0.0], [0.0, 1e160]])
    assert len(set(fitted.predict([[0.0, 0.0], [0.0, 1e-170]]))) == 1


@pytest.mark.parametrize("factor", [2.0**300, 2.0**-300])
def test_the_scale_of_accepted_features_does_not_change_the_result(factor):
    plain, rescaled = (frac(table, GROUPS, 3, np.random.default_rng(0)) for table in (X, X * factor))
    assert np.array_equal(plain.labels_fair, rescaled.labels_fair)
    plain, rescaled = (extract_clusterlets(table, GROUPS, 5, np.random.default_rng(0)) for table in (X, X * factor))
    assert np.array_equal(plain.labels, rescaled.labels)
    assert diameter(X * factor) == diameter(X) * factor


def test_a_narrow_feature_beside_a_wide_one_is_refused_only_if_each_feature_is_checked():
    table = np.column_stack([X[:, 0], X[:, 1] * 1e-170])
    check_magnitudes(table)
    with pytest.raises(ClusterletsError, match="^feature 'height' varies by"):
        check_magnitudes(table, ["weight", "height"], each=True)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_magnitude_at_the_limit_is_accepted_and_one_above_is_refused(sign):
    check_magnitudes(np.array([[sign * 1e100], [0.0]]))
    with pytest.raises(ClusterletsError, match="^feature 0 holds 1e\\+100, .* above 1e\\+100"):
        check_magnitudes(np.array([[sign * np.nextafter(1e100, np.inf)], [0.0]]))


def test_a_range_at_the_limit_is_accepted_and_one_below_is_refused():
    check_magnitudes(np.array([[1 / 1e100], [0.0]]), each=True)
    check_magnitudes(np.array([[1 / 1e100, 1e-170], [0.0, 0.0]]))
    with pytest.raises(ClusterletsError, match="^feature 0 varies by 1e-100 only"):
        check_magnitudes(np.array([[np.nextafter(1 / 1e100, 0)], [0.0]]))


def test_constant_features_are_accepted():
    check_magnitudes(np.full((5, 2), 1e-300), each=True)
    check_magnitudes(np.zeros((5, 2)), each=True)


@pytest.mark.parametrize("factor", [1e160, 1e-170])
def test_standardising_refuses_extreme_features(factor):
    table = Table(X * factor, GROUPS, ("weight", "height"), (("a",), ("b",)))
    with pytest.raises(ClusterletsError, match="'(weight|height)'"):
        scaled(table, "standard")


def test_groups_may_be_whole_numbers_but_not_fractions():
    check_groups(np.array([0.0, 3.0, -2.0]), 9)
    with pytest.raises(ClusterletsError, match=r"fractions such as 1\.25;"):
        check_groups(np.array([1.0, 1.25, 0.5]), 9)


@pytest.mark.parametrize("other", ["f\u200b", "\ufefff", "f\u00ad", " F "])
def test_groups_that_differ_in_what_nobody_sees_look_alike(other):
    assert look_alikes(["f", other, "m"]).startswith("these groups look alike: 'f' and ")
    assert look_alikes(["f", "m"]) == ""
