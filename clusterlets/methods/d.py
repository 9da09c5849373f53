"""D, the distance pinball."""

from clusterlets.algorithms.matching import published
from clusterlets.algorithms.matching.pinball import match_distance
from clusterlets.methods.hopping import Pinball


class DistancePinball(Pinball):
    """Pinball: each clusterlet bounces through the groups, always to the nearest clusterlet.

    See :func:`clusterlets.algorithms.matching.pinball.match_distance`. Clusters may overlap.
    """

    name = "D"
    label = "Distance (D)"

    def match(self, clusterlets, random_state, hops=4, scope="last"):
        if scope == "published":
            return published.match_distance(clusterlets, hops)
        return match_distance(clusterlets, hops, scope=scope)
