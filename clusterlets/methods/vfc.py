"""VFC: soft k-means with a penalty on the divergence of the clusters' group shares, by a variational bound."""

from clusterlets.methods import Method, range_faults


class VFC(Method):
    """See :func:`clusterlets.algorithms.vfc.vfc`; a run that does not settle has no clustering."""

    name = "vfc"
    label = "VFC"
    citation = "Ziko, Yuan, Granger and Ben Ayed, Variational fair clustering, AAAI 2021"
    parameters = {"fairness_weight": [0, 0.03, 0.1, 0.3, 1, 3, 10, 30]}
    libraries = ("numpy", "numba", "llvmlite")

    def fit(self, X, groups, k, random_state, fairness_weight=1, lipschitz=7, max_iter=100):
        # Numba takes long to load, and who asks for parameters alone does without.
        from clusterlets.algorithms.vfc import vfc

        return vfc(X, groups, k, random_state, fairness_weight, lipschitz, max_iter).labels

    def faults(self, k, fairness_weight=1, lipschitz=7, max_iter=100):
        return [
            *range_faults("fairness_weight", fairness_weight, 0, 1_000_000_000),
            *range_faults("lipschitz", lipschitz, 1e-9, 1_000_000_000),
            *range_faults("max_iter", max_iter, 1, 1_000_000, int),
        ]

    def seconds(self, rows, features, k):
        return 1e-5 * rows * k
