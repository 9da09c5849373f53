"""FRAC-OE: plain k-means, and one fair assignment at the end."""

from clusterlets.methods.frac import FRAC


class FRACOE(FRAC):
    """See :func:`clusterlets.algorithms.frac.frac_oe`; ``tau="balanced"`` is 1/k. Else as FRAC."""

    name = "FRAC-OE"

    def fit(self, X, groups, k, random_state, tau="balanced"):
        from clusterlets.algorithms.frac import (
            frac_oe,  # numba takes long to load, and who asks for parameters alone does without
        )

        found = frac_oe(X, groups, k, random_state, None if tau == "balanced" else tau)
        return {"fair": found.labels_fair, "nearest": found.labels_nearest}

    def seconds(self, rows, features, k):
        return rows * (7e-7 + 7e-8 * k)
