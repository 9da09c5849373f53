"""G-B, greedy balance: a cluster takes the clusterlet that brings its shares nearest to the dataset's."""

from clusterlets.algorithms.matching.pinball import match_greedy_balance
from clusterlets.methods import Matcher, choice_faults, range_faults


class GreedyBalance(Matcher):
    """See :func:`clusterlets.algorithms.matching.pinball.match_greedy_balance`."""

    name = "G-B"
    label = "Greedy balance (G-B)"
    citation = "Setzu and Guidotti, Fair Clustering with Clusterlets"
    parameters = {"hops": [1, 2, 3, 4]}
    settings = {"scope": "greedy_scope"}

    def match(self, clusterlets, random_state, hops=4, scope="cluster"):
        return match_greedy_balance(clusterlets, hops, random_state, scope=scope)

    def faults(self, k, hops=4, scope="cluster"):
        return range_faults("hops", hops, 1, 1_000_000, int) + choice_faults("scope", scope, ("last", "cluster"))
