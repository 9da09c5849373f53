"""Fair-Lloyd: k-means that lowers the largest mean squared error of a group."""

from clusterlets.methods import COMPILED, N_INIT, Integer, Method, Real


class FairLloyd(Method):
    """k-means that lowers the largest mean squared error of a group.

    See :func:`clusterlets.algorithms.fair_lloyd.fair_lloyd`.
    """

    name = "fair-lloyd"
    label = "Fair-Lloyd"
    citation = "Ghadiri, Samadi and Vempala, Socially fair k-means clustering, FAccT 2021"
    guarantee = "social fairness: for its clusters, the centres are optimal within 1e-7. It does not constrain shares"
    cost = "0.1 s"
    parameters = {
        "max_iter": Integer(1, 1_000_000, meaning="Maximum number of rounds."),
        "tol": Real(0, 1, meaning="A round that lowers the largest error by less than this fraction of it is the last."),
        "n_init": N_INIT,
    }
    libraries = COMPILED

    def fit(self, X, groups, n_clusters, random_state, max_iter=100, tol=1e-6):
        from clusterlets.algorithms.fair_lloyd import fair_lloyd

        result = fair_lloyd(X, groups, n_clusters, random_state, max_iter, tol)
        self.objective_ = result.social_cost
        return result.labels
