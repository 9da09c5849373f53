"""Fairlets: small balanced sets of instances, which k-means then joins."""

from clusterlets.methods import COMPILED, Integer, Method


class Fairlets(Method):
    """The cheapest small sets of instances with the balance of the table, and k-means of their means.

    See :func:`clusterlets.algorithms.fairlets.fairlet_decomposition`. Only the k-means that follows is random. In the workflow,
    all seeds of a batch share the fairlets, so the first fit takes nearly all the time. There are at most as many clusters as
    instances of the rarer group.
    """

    name = "fairlets"
    citation = "Chierichetti, Kumar, Lattanzi and Vassilvitskii, Fair clustering through fairlets, NeurIPS 2017"
    guarantee = (
        "with B instances of one group and R of the rarer one, every cluster has floor(B/R) to ceil(B/R) instances of the "
        "first for each of the second"
    )
    cost = (
        "35 s for the first fit of a table (`make field` allows 60 s) and 0.1 s for each other seed; time grows with the "
        "square of the rows; at most R clusters"
    )
    parameters = {"n_init": Integer(1, 1_000, meaning="Number of runs of k-means; the best one counts.")}
    most_groups = 2
    most_rows = 50_000  # 48,842 rows take 30 to 40 s and 0.3 GB; both grow with the square of the rows
    libraries = COMPILED

    def fit(self, X, groups, n_clusters, random_state, n_init=1):
        from clusterlets.algorithms.fairlets import fairlet_decomposition
        from clusterlets.algorithms.weighted_kmeans import cluster_fairlets

        shared = {} if self.shared is None else self.shared
        if "fairlets" not in shared:
            shared["fairlets"] = fairlet_decomposition(X, groups)
        return cluster_fairlets(X, shared["fairlets"], n_clusters, random_state, n_init)
