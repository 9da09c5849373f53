"""fair-flow: k-means whose rounds assign every instance within bounds on the shares of the groups."""

from clusterlets.methods import RATIO, SHARES, Integer, Method, Real


class FairFlow(Method):
    """k-means whose rounds assign every instance, as cheaply as possible, within bounds on the shares of the groups.

    See :func:`clusterlets.algorithms.fair_flow.fair_flow`.
    """

    name = "fair-flow"
    citation = "After Boehm, Fazzone, Leonardi and Schwiegelshohn, arXiv 2002.07892, and MS-FlowFC, arXiv 2605.13759"
    guarantee = (
        "r (1 - delta) <= p <= r / (1 - delta) in every cluster, up to whole instances; no cluster is empty. With two groups, "
        "`balance` can bound the ratio of their counts instead, as in MS-FlowFC"
    )
    cost = "5 to 8 s, more with more groups; a local optimum"
    parameters = {
        "delta": Real(
            0,
            0.999,
            grid=[0.0, 0.1, 0.3],
            trades_fairness=True,
            bound=SHARES,
            meaning="Unfairness allowed: a group with share r of the table has from r (1 - delta) to r / (1 - delta) of every "
            "cluster, up to whole instances.",
        ),
        "n_init": Integer(1, 10_000, meaning="Starts, of which the best continues after a few rounds."),
        "max_iter": Integer(1, 1_000_000, meaning="Maximum number of rounds on all instances."),
        "tol": Real(
            0,
            1,
            meaning="Rounds that lower the sum of squared errors by less than this part of it count as idle; after three, the "
            "fit ends.",
        ),
        "balance": Real(
            0,
            1,
            also=[None],
            bound=RATIO,
            meaning="In place of delta, for two groups: in every cluster the rarer group has at least this many instances for "
            "each of the other, up to whole instances. At most the table's own balance.",
        ),
    }
    libraries = ("numpy", "numba", "llvmlite")

    def fit(self, X, groups, n_clusters, random_state, delta=0.0, n_init=4, max_iter=100, tol=1e-4, balance=None):
        # Imported late: listing parameters must not load Numba.
        from clusterlets.algorithms.fair_flow import fair_flow

        return fair_flow(X, groups, n_clusters, random_state, delta, n_init, max_iter, tol, balance).labels

    def assignment_rows(self, composition, new_totals, delta=0.0, balance=None, **_):
        from clusterlets.algorithms.fair_assignment import rows_for_new

        return rows_for_new(composition, new_totals, delta, balance)

    def seconds(self, rows, features, n_clusters):
        return 0.4 + rows * (7e-5 + 6e-6 * n_clusters)
