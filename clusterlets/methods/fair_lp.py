"""fair-lp: the centres of plain k-means, and the cheapest assignment to them within bounds on the shares of the groups."""

from clusterlets.methods import Method, range_faults


class FairLP(Method):
    """Bera's method: the linear program of fair assignment at plain centres, whose counts are then made whole.

    The program is solved by its dual, and no bound is missed by a whole instance: see
    :func:`clusterlets.algorithms.fair_lp.fair_lp`.
    """

    name = "fair-lp"
    citation = "Bera, Chakrabarty, Flores and Negahbani, Fair algorithms for clustering, NeurIPS 2019"
    bound = "delta"
    parameters = {"delta": [0.0, 0.1, 0.3]}
    libraries = ("numpy", "numba", "llvmlite")

    def fit(self, X, groups, k, random_state, delta=0.0):
        from clusterlets.algorithms.fair_lp import fair_lp  # who asks for parameters alone does without numba

        return fair_lp(X, groups, k, random_state, delta).labels

    def faults(self, k, delta=0.0):
        return range_faults("delta", delta, 0, 0.999)

    def seconds(self, rows, features, k):
        return rows * (1.1e-5 + 6e-7 * k)
