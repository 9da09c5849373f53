"""G-D, greedy distance."""

from clusterlets.algorithms.matching import published
from clusterlets.algorithms.matching.pinball import match_greedy_distance
from clusterlets.methods.interface.hopping import Greedy


class GreedyDistance(Greedy):
    """Greedy: a cluster takes the nearest clusterlet whose group is not that of the last one.

    See :func:`clusterlets.algorithms.matching.pinball.match_greedy_distance`. The parameters are those of G-B.
    """

    name = "G-D"
    label = "Greedy distance (G-D)"

    def match(self, clusterlets, random_state, hops=4, scope="cluster"):
        if scope == "published":
            return published.match_greedy_distance(clusterlets, hops, random_state)
        return match_greedy_distance(clusterlets, hops, random_state, scope=scope)
