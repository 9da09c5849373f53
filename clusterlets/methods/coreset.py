"""coreset: fair k-means on a small weighted sample of each group, extended to all instances."""

from clusterlets.methods import Method, range_faults


class Coreset(Method):
    """Fractional fair Lloyd on the sample, then one fair assignment of the table; see :mod:`clusterlets.algorithms.coreset`.

    ``size`` is the number of rows that the sample should have; ``"auto"`` is 40 k, and 2,000 at least.
    """

    name = "coreset"
    citation = "After Schmidt, Schwiegelshohn and Sohler, 2018, and Huang, Jiang and Vishnoi, NeurIPS 2019"
    bound = "delta"
    parameters = {"delta": [0.0, 0.1, 0.3]}
    libraries = ("numpy", "numba", "llvmlite")

    def fit(self, X, groups, k, random_state, delta=0.0, size="auto", n_init=1):
        from clusterlets.algorithms.coreset import coreset_clustering  # who asks for parameters alone does without numba

        return coreset_clustering(X, groups, k, random_state, delta, None if size == "auto" else size, n_init)

    def faults(self, k, delta=0.0, size="auto", n_init=1):
        return [
            *range_faults("delta", delta, 0, 0.999),
            *([] if size == "auto" else range_faults("size", size, 1, 10**9, int)),
            *range_faults("n_init", n_init, 1, 10_000, int),
        ]

    def seconds(self, rows, features, k):
        return 0.05 + rows * (7.5e-6 + 5e-7 * k)
