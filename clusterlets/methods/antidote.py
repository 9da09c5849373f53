"""Antidotes: a few added points, so that plain k-means is fairer."""

from clusterlets.methods import Method, range_faults


class Antidote(Method):
    """See :func:`clusterlets.algorithms.antidote.antidote`. Each evaluation runs k-means, hence the limit of the rows."""

    name = "antidote"
    label = "Antidote"
    citation = "Chhabra, Singla and Mohapatra, Fair clustering using antidote data, AFCR 2021"
    parameters = {"rho": [0.01, 0.02, 0.05]}
    libraries = ("numpy", "numba", "llvmlite")
    most_rows = 2000

    def fit(self, X, groups, k, random_state, rho=0.05, n_evaluations=300):
        from clusterlets.algorithms.antidote import (
            antidote,  # numba takes long to load, and who asks for parameters alone does without
        )

        return antidote(X, groups, k, random_state, rho, n_evaluations).labels

    def faults(self, k, rho=0.05, n_evaluations=300):
        return [
            *(range_faults("rho", rho, 0, 1) or ([] if rho > 0 else ["rho: 0; it must be above 0"])),
            *range_faults("n_evaluations", n_evaluations, 1, 1_000_000, int),
        ]

    def seconds(self, rows, features, k):
        return 0.05 + 4e-7 * rows * features * k
