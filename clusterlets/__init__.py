"""Fair clustering with Clusterlets and FRAC.

The package imports nothing heavy by itself: a matcher needs NumPy only, k-means brings
scikit-learn, FRAC brings Numba, each at the moment it is used.
"""

__version__ = "0.1.0"
