"""Jacobi's eigenvalues against LAPACK's and hand-computed cases, in any order of the rows."""

import numpy as np
import pytest

from clusterlets.bounds.eigenvalues import scatter_eigenvalues


@pytest.mark.parametrize("features", [1, 2, 3, 7, 23, 62])
def test_they_match_lapack(features):
    rng = np.random.default_rng(features)
    X = rng.normal(size=(80, features)) * 10.0 ** rng.integers(-3, 4, size=features) + 5
    eigenvalues = scatter_eigenvalues(X)
    expected = np.linalg.eigvalsh((X - X.mean(axis=0)).T @ (X - X.mean(axis=0)))[::-1]
    assert eigenvalues == pytest.approx(expected, abs=1e-13 * expected[0])
    assert (np.diff(eigenvalues) <= 0).all() and (eigenvalues >= 0).all()


def test_points_on_a_line_have_one():
    line = np.outer([-1.0, 0.0, 4.0], [3.0, 4.0])  # at -5, 0, 20: mean 5, squares 100 + 25 + 225
    assert scatter_eigenvalues(line) == pytest.approx([350.0, 0.0], abs=1e-10)


@pytest.mark.parametrize("X", [np.zeros((4, 3)), np.full((5, 2), 7.5), np.ones((1, 4))])
def test_equal_rows_have_none(X):
    assert (scatter_eigenvalues(X) == 0).all()


def test_repeated_eigenvalues_and_more_features_than_rows():
    corners = np.array([[1.0, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0]])
    assert scatter_eigenvalues(corners) == pytest.approx([1, 1, 0, 0, 0], abs=1e-15)


def test_the_order_of_rows_changes_no_more_than_rounding():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    assert scatter_eigenvalues(X[rng.permutation(50)]) == pytest.approx(scatter_eigenvalues(X), rel=1e-12)
