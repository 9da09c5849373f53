"""C, the centroid matcher: the best of many random partitions by silhouette and largest deviation."""

from clusterlets.algorithms.matching.centroid import ParetoFront, best_partition, sample_partitions
from clusterlets.methods import Matcher


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
        labels = best_partition(front, omega, equation)
        return None if labels is None else labels == [[block] for block in range(labels.max() + 1)]
