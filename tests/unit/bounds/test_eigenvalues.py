"""The eigenvalues of scatter matrices match those of LAPACK, and are 0 if all rows are equal."""

import numpy as np
import pytest

from clusterlets.bounds.eigenvalues import scatter_eigenvalues


@pytest.mark.parametrize("n_features", [1, 2, 3, 7, 23, 62])
def test_eigenvalues_match_those_of_lapack(n_features):
    rng = np.random.default_rng(n_features)
    X = rng.normal(size=(80, n_features)) * 10.0 ** rng.integers(-3, 4, size=n_features) + 5
    eigenvalues = scatter_eigenvalues(X)
    expected = np.linalg.eigvalsh((X - X.mean(axis=0)).T @ (X - X.mean(axis=0)))[::-1]
    assert eigenvalues == pytest.approx(expected, abs=1e-13 * expected[0])
    assert (np.diff(eigenvalues) <= 0).all() and (eigenvalues >= 0).all()


@pytest.mark.parametrize("X", [np.zeros((4, 3)), np.full((5, 2), 7.5), np.ones((1, 4))])
def test_the_eigenvalues_are_0_if_all_rows_are_equal(X):
    assert (scatter_eigenvalues(X) == 0).all()
