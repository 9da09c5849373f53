"""Antidote: plain k-means on the rows and a few added points, which make the clusters fairer."""

from clusterlets.methods import COMPILED, N_INIT, Integer, Method, Real


class Antidote(Method):
    """Plain k-means with a few added points, which a random search places to make the clusters fair.

    See :func:`clusterlets.algorithms.antidote.antidote`. The search runs k-means hundreds of times, so it is limited to
    2,000 rows.
    """

    name = "antidote"
    label = "Antidote"
    citation = "Chhabra, Singla and Mohapatra, Fair clustering using antidote data, AFCR 2021"
    guarantee = (
        "the least balance of a cluster is no lower than in the best of ten plain runs, or the mean balance is higher; "
        "often hardly fairer"
    )
    cost = "300 runs of k-means"
    parameters = {
        "rho": Real(
            0,
            1,
            above=True,
            grid=[0.01, 0.02, 0.05],
            trades_fairness=True,
            meaning="Added points, as a fraction of the rows.",
        ),
        "n_evaluations": Integer(
            1, 1_000_000, meaning="Number of positions to try for the added points; each costs a run of k-means."
        ),
        "n_init": N_INIT,
    }
    libraries = COMPILED
    most_rows = 2000

    def fit(self, X, groups, n_clusters, random_state, rho=0.05, n_evaluations=300):
        from clusterlets.algorithms.antidote import antidote

        result = antidote(X, groups, n_clusters, random_state, rho, n_evaluations)
        self.objective_ = -result.fairness
        return result.labels
