"""FRAC: k-means whose centres take turns in picking points, so that each gets its part of every colour."""

from clusterlets.algorithms.frac import frac
from clusterlets.methods import Method


class FRAC(Method):
    """See :func:`clusterlets.algorithms.frac.frac`; ``tau="balanced"`` is 1/k.

    ``fair`` is its fair assignment; ``nearest`` gives every instance to the nearest centre, which the paper scored.
    """

    name = "FRAC"
    citation = "Gupta, Ghalme, Krishnan and Jain, Efficient algorithms for fair clustering, DMKD 2023"
    outputs = ("fair", "nearest")
    libraries = ("numpy", "numba", "llvmlite")
    stream = 3

    def fit(self, X, colours, k, random_state, tau="balanced", init="random", max_iter=100, tol=1e-4):
        found = frac(X, colours, k, random_state, None if tau == "balanced" else tau, init, max_iter, tol)
        return {"fair": found.labels_fair, "nearest": found.labels_nearest}

    def seconds(self, rows, features, k):
        return 2e-5 * rows
