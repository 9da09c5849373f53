"""D, distance pinball: each clusterlet bounces through the groups, always to the nearest clusterlet."""

from clusterlets.algorithms.matching.pinball import match_distance
from clusterlets.methods import Choice, Integer, Matcher


class DistancePinball(Matcher):
    """Pinball: each clusterlet bounces through the groups, always to the nearest clusterlet.

    See :func:`clusterlets.algorithms.matching.pinball.match_distance`. Clusters may overlap.
    """

    name = "D"
    label = "Distance (D)"
    citation = "Setzu and Guidotti, Fair Clustering with Clusterlets"
    guarantee = "no bound; clusters may overlap"
    cost = "milliseconds, once the clusterlets exist"
    parameters = {
        "hops": Integer(1, 1_000_000, grid=[1, 2, 3, 4], meaning="Sweeps through the groups."),
        "scope": Choice(
            ("last", "cluster"),
            meaning="What a candidate is measured against: the clusterlet that was added last, or the whole cluster so far.",
        ),
    }
    settings = {"scope": "pinball_scope"}
    is_random = False

    def match(self, clusterlets, random_state, hops=4, scope="last"):
        return match_distance(clusterlets, hops, scope=scope)
