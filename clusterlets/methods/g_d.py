"""G-D, greedy distance: a cluster takes the nearest clusterlet of another colour than the last."""

from clusterlets.algorithms.matching.pinball import match_greedy_distance
from clusterlets.methods import Matcher, choice_faults, range_faults


class GreedyDistance(Matcher):
    """See :func:`clusterlets.algorithms.matching.pinball.match_greedy_distance`."""

    name = "G-D"
    label = "Greedy distance (G-D)"
    citation = "Setzu and Guidotti, Fair Clustering with Clusterlets"
    parameters = {"hops": [1, 2, 3, 4]}
    settings = {"scope": "greedy_scope"}

    def match(self, clusterlets, random_state, hops=4, scope="cluster"):
        return match_greedy_distance(clusterlets, hops, random_state, scope=scope)

    def faults(self, k, hops=4, scope="cluster"):
        return range_faults("hops", hops, 1, 1_000_000, int) + choice_faults("scope", scope, ("last", "cluster"))
