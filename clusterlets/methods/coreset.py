"""coreset: fair k-means on a small weighted sample of each group, extended to all instances."""

from clusterlets.methods import SHARES, Integer, Method, Real


class Coreset(Method):
    """Fair k-means on a small weighted sample of each group, whose centres then get all instances.

    Fractional fair Lloyd on the sample, then one fair assignment of the table; see :mod:`clusterlets.algorithms.coreset`.
    """

    name = "coreset"
    citation = "After Schmidt, Schwiegelshohn and Sohler, 2018, and Huang, Jiang and Vishnoi, NeurIPS 2019"
    guarantee = "r (1 - delta) <= p <= r / (1 - delta) in every cluster, up to whole instances"
    cost = "0.9 s"
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
        "size": Integer(
            1,
            10**9,
            also=["auto"],
            meaning="Rows that the sample should have; auto is 40 for each cluster, and at least 2,000.",
        ),
        "n_init": Integer(1, 10_000, meaning="Starts on the sample."),
    }
    libraries = ("numpy", "numba", "llvmlite")

    def fit(self, X, groups, n_clusters, random_state, delta=0.0, size="auto", n_init=1):
        # Imported late: listing parameters must not load Numba.
        from clusterlets.algorithms.coreset import coreset_clustering

        return coreset_clustering(X, groups, n_clusters, random_state, delta, None if size == "auto" else size, n_init)

    def assignment_rows(self, composition, new_totals, delta=0.0, **_):
        from clusterlets.algorithms.fair_assignment import rows_for_new

        return rows_for_new(composition, new_totals, delta)

    def seconds(self, rows, features, n_clusters):
        return 0.05 + rows * (7.5e-6 + 5e-7 * n_clusters)
