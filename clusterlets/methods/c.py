"""C, the centroid matcher."""

from clusterlets.algorithms.matching.centroid import match_centroid, sample_partitions
from clusterlets.methods import Choice, Integer, Matcher, Real


class Centroid(Matcher):
    """The best of many random partitions of the clusterlets, by silhouette and largest deviation.

    See :mod:`clusterlets.algorithms.matching.centroid`.
    """

    name = "C"
    label = "Centroid (C)"
    citation = "Setzu and Guidotti, Fair Clustering with Clusterlets"
    guarantee = "no bound"
    cost = "draws `sample_size` partitions once for all omegas"
    parameters = {
        "omega": Real(
            0,
            1,
            grid=[0, 0.25, 0.5, 0.75],
            trades_fairness=True,
            meaning="Weight of the silhouette against the largest deviation.",
        ),
        "equation": Choice(
            ("corrected", "printed"), meaning="The objective with the paper's misprint corrected, or as it is printed."
        ),
        "sample_size": Integer(1, 10**9, meaning="Number of random partitions to draw."),
    }
    settings = {"equation": "equation"}

    def match(self, clusterlets, random_state, omega=0.5, equation="corrected", sample_size=250_000, partitions=None):
        if partitions is None:
            partitions = sample_partitions(clusterlets, sample_size, random_state)
        return match_centroid(partitions, omega, equation)
