"""Fair clustering with Clusterlets and FRAC.

The package imports nothing heavy by itself: a matcher needs NumPy only; k-means, distances and FRAC bring
Numba, and the estimators scikit-learn, each at the moment it is used.
"""

__version__ = "0.1.0"
