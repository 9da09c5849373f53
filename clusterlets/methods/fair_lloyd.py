"""Fair-Lloyd: k-means that lowers the largest mean cost of a group."""

from clusterlets.methods import Method, range_faults


class FairLloyd(Method):
    """See :func:`clusterlets.algorithms.fair_lloyd.fair_lloyd`; every instance is in the cluster of its nearest centre."""

    name = "fair-lloyd"
    label = "Fair-Lloyd"
    citation = "Ghadiri, Samadi and Vempala, Socially fair k-means clustering, FAccT 2021"
    libraries = ("numpy", "numba", "llvmlite")

    def fit(self, X, groups, k, random_state, max_iter=100, tol=1e-6):
        # Numba takes long to load, and who asks for parameters alone does without.
        from clusterlets.algorithms.fair_lloyd import fair_lloyd

        return fair_lloyd(X, groups, k, random_state, max_iter, tol).labels

    def faults(self, k, max_iter=100, tol=1e-6):
        return [*range_faults("max_iter", max_iter, 1, 1_000_000, int), *range_faults("tol", tol, 0, 1)]

    def seconds(self, rows, features, k):
        return 2.3e-6 * rows
