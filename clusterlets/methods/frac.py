"""FRAC: k-means whose centres take turns in picking points, so that each gets its part of every group."""

import math
from fractions import Fraction

from clusterlets.methods import Method, choice_faults, range_faults


class FRAC(Method):
    """See :func:`clusterlets.algorithms.frac.frac`; ``tau="balanced"`` is 1/k.

    ``fair`` is its fair assignment; ``nearest`` gives every instance to the nearest centre, which the paper scored.
    """

    name = "FRAC"
    citation = "Gupta, Ghalme, Krishnan and Jain, Efficient algorithms for fair clustering, DMKD 2023"
    bound = "tau"
    outputs = ("fair", "nearest")
    libraries = ("numpy", "numba", "llvmlite")
    stream = 3

    def fit(self, X, groups, k, random_state, tau="balanced", init="random", max_iter=100, tol=1e-4):
        from clusterlets.algorithms.frac import frac  # numba takes long to load, and who asks for parameters alone does without

        found = frac(X, groups, k, random_state, None if tau == "balanced" else tau, init, max_iter, tol)
        return {"fair": found.labels_fair, "nearest": found.labels_nearest}

    def faults(self, k, tau="balanced", init="random", max_iter=100, tol=1e-4):
        found = [] if tau == "balanced" else range_faults("tau", tau, 0, 1)
        if not found and tau != "balanced" and Fraction(tau) * (1 - Fraction(1, 2**50)) > Fraction(1, k):
            found = [f"tau: {tau} is more than 1/k = {1 / k:.6g} for k = {k}; it must be balanced, or a number from 0 to 1/k"]
        return [
            *found,
            *choice_faults("init", init, ("random", "k-means++")),
            *range_faults("max_iter", max_iter, 1, 1_000_000, int),
            *range_faults("tol", tol, 0, 1),
        ]

    def seconds(self, rows, features, k):
        return 2.5e-6 * rows + 6e-5 * k * math.sqrt(rows)
