"""Eigenvalues of symmetric matrices by Jacobi's rotations, in plain arithmetic and a fixed order, without LAPACK.

So every processor gives the same bytes. The errors are a few units in the last place of the largest eigenvalue.
"""

import numpy as np

from clusterlets.algorithms.compiled import compiled

_MAX_SWEEPS = 60  # about ten suffice


def scatter_eigenvalues(X: np.ndarray) -> np.ndarray:
    """Eigenvalues (d,) of the scatter matrix of ``X`` (n, d), in descending order; none is below 0.

    The scatter matrix is the sum of (x - mean)(x - mean)' over the rows, so the eigenvalues add up to the sum of squared
    distances to the mean. Cyclic sweeps of Jacobi's method (1846). O(n d^2 + d^3) time, O(n d + d^2) memory.
    """
    X = np.asarray(X, dtype=np.float64)
    scatter = np.empty((X.shape[1], X.shape[1]))
    _scatter(np.ascontiguousarray(X - X.mean(axis=0)), scatter)
    eigenvalues = np.empty(len(scatter))
    _diagonalise(scatter, _MAX_SWEEPS, eigenvalues)
    return np.maximum(np.sort(eigenvalues)[::-1], 0.0)


@compiled("void(float64[:,::1], float64[:,::1])")
def _scatter(rows, out):
    """Write the products of all pairs of features, summed over the rows, to ``out`` (d, d)."""
    out[:] = 0.0
    d = rows.shape[1]
    for row in range(len(rows)):
        for i in range(d):
            x = rows[row, i]
            for j in range(d):
                out[i, j] += x * rows[row, j]


@compiled("void(float64[:,::1], int64, float64[::1])")
def _diagonalise(matrix, max_sweeps, eigenvalues):
    """Write the eigenvalues of a symmetric matrix, which is overwritten. Each rotation sets an element and its mirror to 0."""
    d = len(matrix)
    largest = 0.0
    for i in range(d):
        for j in range(d):
            largest = max(largest, abs(matrix[i, j]))
    for _ in range(max_sweeps):
        has_rotated = False
        for i in range(d):
            for j in range(i + 1, d):
                element = matrix[i, j]
                if abs(element) <= 1e-17 * largest:  # too small to change an eigenvalue
                    continue
                has_rotated = True
                ratio = (matrix[j, j] - matrix[i, i]) / (2.0 * element)
                tangent = 1.0 / (abs(ratio) + np.sqrt(ratio * ratio + 1.0))
                if ratio < 0:
                    tangent = -tangent
                cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
                sine = tangent * cosine
                for k in range(d):
                    a, b = matrix[i, k], matrix[j, k]
                    matrix[i, k], matrix[j, k] = cosine * a - sine * b, sine * a + cosine * b
                for k in range(d):
                    a, b = matrix[k, i], matrix[k, j]
                    matrix[k, i], matrix[k, j] = cosine * a - sine * b, sine * a + cosine * b
                matrix[i, j] = matrix[j, i] = 0.0
        if not has_rotated:
            break
    for i in range(d):
        eigenvalues[i] = matrix[i, i]
