"""FRAC-OE: plain k-means, and one fair assignment at the end."""

from clusterlets.methods import PARTS
from clusterlets.methods.frac import FRAC


class FRACOE(FRAC):
    """Plain k-means, and one fair assignment of FRAC at the end.

    See :func:`clusterlets.algorithms.frac.frac_oe`. Outputs, guarantee and ``tau`` are those of FRAC.
    """

    name = "FRAC-OE"
    cost = "0.1 s"

    def fit(self, X, groups, n_clusters, random_state, tau="balanced"):
        from clusterlets.algorithms.frac import frac_oe

        return self._outputs(frac_oe(X, groups, n_clusters, random_state, PARTS.resolve(tau, n_clusters)))
