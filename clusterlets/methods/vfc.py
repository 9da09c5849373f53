"""VFC: soft k-means with a fairness penalty, minimised through a variational bound."""

from clusterlets.methods import COMPILED, N_INIT, Integer, Method, Real


class VFC(Method):
    """Soft k-means with a penalty on the divergence of the groups' shares of a cluster from those of the table.

    See :func:`clusterlets.algorithms.vfc.vfc`.
    """

    name = "vfc"
    label = "VFC"
    citation = "Ziko, Yuan, Granger and Ben Ayed, Variational fair clustering, AAAI 2021"
    guarantee = "no bound; a run that does not converge returns its last labels, with a note"
    cost = "2 to 3 s, up to 15 s with a large weight; rare groups and a large weight lead to `not_converged`"
    parameters = {
        "fairness_weight": Real(
            0,
            1_000_000_000,
            grid=[0, 0.03, 0.1, 0.3, 1, 3, 10, 30],
            ladder=[0.5, 1, 3, 10, 30],
            trades_fairness=True,
            meaning="Weight of the penalty, as a fraction of the sum of squared errors of plain k-means.",
        ),
        "lipschitz": Real(1e-9, 1_000_000_000, meaning="Bound on the curvature in the first step; it grows if a step fails."),
        "max_iter": Integer(1, 1_000_000, meaning="Maximum number of rounds."),
        "n_init": N_INIT,
    }
    libraries = COMPILED

    def fit(self, X, groups, n_clusters, random_state, fairness_weight=1, lipschitz=7, max_iter=100):
        from clusterlets.algorithms.vfc import vfc

        result = vfc(X, groups, n_clusters, random_state, fairness_weight, lipschitz, max_iter)
        self.converged_, self.note_, self.objective_ = not result.warning, result.warning, result.objective
        return result.labels
