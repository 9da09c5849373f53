"""FRAC-OE: plain k-means, and one fair assignment at the end."""

from clusterlets.methods import Method


class FRACOE(Method):
    """See :func:`clusterlets.algorithms.frac.frac_oe`; ``tau="balanced"`` is 1/k. Outputs as those of FRAC."""

    name = "FRAC-OE"
    citation = "Gupta, Ghalme, Krishnan and Jain, Efficient algorithms for fair clustering, DMKD 2023"
    outputs = ("fair", "nearest")
    libraries = ("numpy", "numba", "llvmlite")
    stream = 3  # as FRAC's

    def fit(self, X, colours, k, random_state, tau="balanced"):
        from clusterlets.algorithms.frac import (
            frac_oe,  # numba takes long to load, and who asks for parameters alone does without
        )

        found = frac_oe(X, colours, k, random_state, None if tau == "balanced" else tau)
        return {"fair": found.labels_fair, "nearest": found.labels_nearest}
