"""G-B, greedy balance."""

from clusterlets.algorithms.matching import published
from clusterlets.algorithms.matching.pinball import match_greedy_balance
from clusterlets.methods.interface.hopping import Greedy


class GreedyBalance(Greedy):
    """Greedy: a cluster takes the clusterlet that brings its shares nearest to the table's.

    See :func:`clusterlets.algorithms.matching.pinball.match_greedy_balance`.
    """

    name = "G-B"
    label = "Greedy balance (G-B)"

    def match(self, clusterlets, random_state, hops=4, scope="cluster"):
        if scope == "published":
            return published.match_greedy_balance(clusterlets, hops, random_state)
        return match_greedy_balance(clusterlets, hops, random_state, scope=scope)
