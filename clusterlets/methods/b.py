"""B, balance pinball: each clusterlet bounces through the colours, always to the one that balances best."""

from clusterlets.algorithms.matching.pinball import match_balance
from clusterlets.methods import Matcher, choice_faults, range_faults


class BalancePinball(Matcher):
    """See :func:`clusterlets.algorithms.matching.pinball.match_balance`."""

    name = "B"
    label = "Balance (B)"
    citation = "Setzu and Guidotti, Fair Clustering with Clusterlets"
    parameters = {"hops": [1, 2, 3, 4]}
    settings = {"scope": "pinball_scope"}
    is_random = False

    def match(self, clusterlets, random_state, hops=4, scope="last"):
        return match_balance(clusterlets, hops, scope=scope)

    def faults(self, k, hops=4, scope="last"):
        return range_faults("hops", hops, 1, 1_000_000, int) + choice_faults("scope", scope, ("last", "cluster"))
