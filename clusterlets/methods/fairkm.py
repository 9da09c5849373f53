"""FairKM: k-means with a penalty on the deviation of the clusters' group shares."""

from clusterlets.methods import Method, range_faults


class FairKM(Method):
    """See :func:`clusterlets.algorithms.fairkm.fairkm`.

    ``penalty`` is a part of the SSE of plain k-means; ``authors`` is the authors' (n/k)^2. After ``max_iter`` passes the
    clusters are taken as they are: every pass lowers the objective, and the authors stop so too.
    """

    name = "fairkm"
    label = "FairKM"
    citation = "Abraham, Deepak and Sundaram, Fairness in clustering with multiple sensitive attributes, EDBT 2020"
    parameters = {"penalty": [0.3, 3, 30, 300, 3000, "authors"]}
    libraries = ("numpy", "numba", "llvmlite")

    def fit(self, X, groups, k, random_state, penalty=1, max_iter=300):
        # Numba takes long to load, and who asks for parameters alone does without.
        from clusterlets.algorithms.fairkm import fairkm

        return fairkm(X, groups, k, random_state, penalty, max_iter).labels

    def faults(self, k, penalty=1, max_iter=300):
        found = [] if penalty == "authors" else range_faults("penalty", penalty, 0, 1_000_000_000)
        return [*(f"{fault}, or authors" for fault in found), *range_faults("max_iter", max_iter, 1, 1_000_000, int)]

    def seconds(self, rows, features, k):
        return rows * (6e-7 + 2e-7 * k)
