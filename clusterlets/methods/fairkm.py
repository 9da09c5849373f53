"""FairKM: k-means with a penalty on the deviation of the clusters' group shares."""

from clusterlets.methods import COMPILED, N_INIT, Integer, Method, Real


class FairKM(Method):
    """k-means with a penalty on the distance between the groups' shares in a cluster and in the table.

    See :func:`clusterlets.algorithms.fairkm.fairkm`.
    """

    name = "fairkm"
    label = "FairKM"
    citation = "Abraham, Deepak and Sundaram, Fairness in clustering with multiple sensitive attributes, EDBT 2020"
    guarantee = "no bound: the larger the penalty, the closer the shares"
    cost = "0.2 s; a local optimum that depends on the order of the rows"
    parameters = {
        "penalty": Real(
            0,
            1_000_000_000,
            also=["authors"],
            grid=[0.3, 3, 30, 300, 3000, "authors"],
            ladder=[30, 300, 1000, 3000, 30000],
            trades_fairness=True,
            meaning="Weight of the penalty, as a fraction of the sum of squared errors of plain k-means. The "
            "value authors means the published weight, (n / n_clusters)^2.",
        ),
        "max_iter": Integer(1, 1_000_000, meaning="Maximum number of passes over the instances."),
        "n_init": N_INIT,
    }
    libraries = COMPILED

    def fit(self, X, groups, n_clusters, random_state, penalty=1, max_iter=300):
        from clusterlets.algorithms.fairkm import fairkm

        result = fairkm(X, groups, n_clusters, random_state, penalty, max_iter)
        self.objective_ = result.objective
        return result.labels
