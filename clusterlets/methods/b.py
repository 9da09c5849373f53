"""B, the balance pinball."""

from clusterlets.algorithms.matching import published
from clusterlets.algorithms.matching.pinball import match_balance
from clusterlets.methods.interface.hopping import Pinball


class BalancePinball(Pinball):
    """Pinball: each cluster hops from group to group and adds the clusterlet that best balances the one added last.

    See :func:`clusterlets.algorithms.matching.pinball.match_balance`. Clusters may overlap. The parameters are those of D.
    """

    name = "B"
    label = "Balance (B)"

    def match(self, clusterlets, random_state, hops=4, scope="last"):
        if scope == "published":
            return published.match_balance(clusterlets, hops)
        return match_balance(clusterlets, hops, scope=scope)
