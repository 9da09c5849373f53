"""D, the distance pinball."""

from clusterlets.algorithms.matching import published
from clusterlets.algorithms.matching.pinball import match_distance
from clusterlets.methods.interface.hopping import Pinball


class DistancePinball(Pinball):
    """Pinball: each cluster hops from group to group and adds the clusterlet nearest to the one added last.

    See :func:`clusterlets.algorithms.matching.pinball.match_distance`. Clusters may overlap.
    """

    name = "D"
    label = "Distance (D)"

    def match(self, clusterlets, random_state, hops=4, scope="last"):
        if scope == "published":
            return published.match_distance(clusterlets, hops)
        return match_distance(clusterlets, hops, scope=scope)
