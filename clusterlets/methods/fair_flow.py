"""fair-flow: k-means whose rounds assign every instance within bounds on the shares of the groups."""

from clusterlets.methods import Method, range_faults


class FairFlow(Method):
    """A share r of the table lies from r (1 - delta) to r / (1 - delta) in every cluster, up to whole instances.

    With two groups ``balance`` may bound the ratio of their counts instead.

    See :func:`clusterlets.algorithms.fair_flow.fair_flow`.
    """

    name = "fair-flow"
    citation = "After Boehm, Fazzone, Leonardi and Schwiegelshohn, arXiv 2002.07892, and MS-FlowFC, arXiv 2605.13759"
    bound = "delta"
    parameters = {"delta": [0.0, 0.1, 0.3]}
    libraries = ("numpy", "numba", "llvmlite")

    def fit(self, X, groups, k, random_state, delta=0.0, n_init=4, max_iter=100, tol=1e-4, balance=None):
        from clusterlets.algorithms.fair_flow import fair_flow  # who asks for parameters alone does without numba

        return fair_flow(X, groups, k, random_state, delta, n_init, max_iter, tol, balance).labels

    def faults(self, k, delta=0.0, n_init=4, max_iter=100, tol=1e-4, balance=None):
        return [
            *range_faults("delta", delta, 0, 0.999),
            *range_faults("n_init", n_init, 1, 10_000, int),
            *range_faults("max_iter", max_iter, 1, 1_000_000, int),
            *range_faults("tol", tol, 0, 1),
            *([] if balance is None else range_faults("balance", balance, 0, 1)),
        ]

    def seconds(self, rows, features, k):
        return 0.4 + rows * (7e-5 + 6e-6 * k)
