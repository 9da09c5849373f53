"""Eigenvalues of symmetric matrices by Jacobi's rotations: plain arithmetic in a fixed order, and no LAPACK.

Every processor gives the same bytes, and errors are a few units in the last place of the largest eigenvalue.
"""

import numpy as np

from clusterlets.algorithms.compiled import compiled

_MOST_SWEEPS = 60  # of which some ten are needed


def scatter_eigenvalues(X: np.ndarray) -> np.ndarray:
    """Eigenvalues of the scatter matrix of rows, the sum of (x - mean)(x - mean)'.

    Parameters
    ----------
    X : float array (n, d)

    Returns
    -------
    float array (d,)
        In descending order, none below 0; their sum is the sum of squared distances to the mean.

    Notes
    -----
    O(n d^2 + d^3) time, O(n d + d^2) memory. The method is that of Jacobi (1846), by cyclic sweeps.
    """
    X = np.asarray(X, dtype=np.float64)
    scatter = np.empty((X.shape[1], X.shape[1]))
    _scatter(np.ascontiguousarray(X - X.mean(axis=0)), scatter)
    found = np.empty(len(scatter))
    _rotate(scatter, _MOST_SWEEPS, found)
    return np.maximum(np.sort(found)[::-1], 0.0)


@compiled("void(float64[:,::1], float64[:,::1])")
def _scatter(rows, out):
    """Products of features, summed over rows."""
    out[:] = 0.0
    d = rows.shape[1]
    for row in range(len(rows)):
        for one in range(d):
            x = rows[row, one]
            for two in range(d):
                out[one, two] += x * rows[row, two]


@compiled("void(float64[:,::1], int64, float64[::1])")
def _rotate(matrix, most_sweeps, found):
    """Eigenvalues of a symmetric matrix, which is overwritten: rotations make one element after the other 0."""
    d = len(matrix)
    largest = 0.0
    for one in range(d):
        for two in range(d):
            largest = max(largest, abs(matrix[one, two]))
    for _ in range(most_sweeps):
        changed = False
        for one in range(d):
            for two in range(one + 1, d):
                element = matrix[one, two]
                if abs(element) <= 1e-17 * largest:  # it moves no eigenvalue by more than this
                    continue
                changed = True
                ratio = (matrix[two, two] - matrix[one, one]) / (2.0 * element)
                tangent = 1.0 / (abs(ratio) + np.sqrt(ratio * ratio + 1.0))
                if ratio < 0:
                    tangent = -tangent
                cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
                sine = tangent * cosine
                for three in range(d):
                    a, b = matrix[one, three], matrix[two, three]
                    matrix[one, three], matrix[two, three] = cosine * a - sine * b, sine * a + cosine * b
                for three in range(d):
                    a, b = matrix[three, one], matrix[three, two]
                    matrix[three, one], matrix[three, two] = cosine * a - sine * b, sine * a + cosine * b
                matrix[one, two] = matrix[two, one] = 0.0
        if not changed:
            break
    for one in range(d):
        found[one] = matrix[one, one]
