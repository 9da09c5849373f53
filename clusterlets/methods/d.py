"""D, distance pinball: each clusterlet bounces through the groups, always to the nearest clusterlet."""

from clusterlets.algorithms.matching.pinball import match_distance
from clusterlets.methods import Matcher, choice_faults, range_faults


class DistancePinball(Matcher):
    """See :func:`clusterlets.algorithms.matching.pinball.match_distance`."""

    name = "D"
    label = "Distance (D)"
    citation = "Setzu and Guidotti, Fair Clustering with Clusterlets"
    parameters = {"hops": [1, 2, 3, 4]}
    settings = {"scope": "pinball_scope"}
    is_random = False

    def match(self, clusterlets, random_state, hops=4, scope="last"):
        return match_distance(clusterlets, hops, scope=scope)

    def faults(self, k, hops=4, scope="last"):
        return range_faults("hops", hops, 1, 1_000_000, int) + choice_faults("scope", scope, ("last", "cluster"))
