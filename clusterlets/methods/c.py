"""C, the centroid matcher: the best of many random partitions by silhouette and largest deviation."""

from clusterlets.algorithms.matching.centroid import ParetoFront, match_centroid, sample_partitions
from clusterlets.methods import Matcher, choice_faults, range_faults


class Centroid(Matcher):
    """See :mod:`clusterlets.algorithms.matching.centroid`."""

    name = "C"
    label = "Centroid (C)"
    citation = "Setzu and Guidotti, Fair Clustering with Clusterlets"
    parameters = {"omega": [0, 0.25, 0.5, 0.75]}
    settings = {"equation": "equation"}
    needs = ("clusterlets", "partitions")

    def match(self, clusterlets, random_state, omega=0.5, equation="corrected", sample_size=250_000):
        """As :meth:`Matcher.match`; ``random_state`` may be a :class:`ParetoFront` of partitions that were sampled before."""
        front = random_state
        if not isinstance(front, ParetoFront):
            front = sample_partitions(clusterlets, sample_size, random_state)
        return match_centroid(front, omega, equation) if len(front) else None

    def faults(self, k, omega=0.5, equation="corrected", sample_size=250_000):
        return [
            *range_faults("omega", omega, 0, 1),
            *choice_faults("equation", equation, ("corrected", "printed")),
            *range_faults("sample_size", sample_size, 1, 10**9, int),
        ]
