"""G-B, greedy balance: a cluster takes the clusterlet that brings its shares nearest to the dataset's."""

from clusterlets.algorithms.matching.pinball import match_greedy_balance
from clusterlets.methods import Choice, Integer, Matcher


class GreedyBalance(Matcher):
    """Greedy: a cluster takes the clusterlet that brings its shares nearest to the table's.

    See :func:`clusterlets.algorithms.matching.pinball.match_greedy_balance`.
    """

    name = "G-B"
    label = "Greedy balance (G-B)"
    citation = "Setzu and Guidotti, Fair Clustering with Clusterlets"
    guarantee = "no bound"
    cost = "milliseconds, once the clusterlets exist"
    parameters = {
        "hops": Integer(1, 1_000_000, grid=[1, 2, 3, 4], meaning="Most clusterlets that join another."),
        "scope": Choice(
            ("last", "cluster"),
            meaning="What a candidate is measured against: the clusterlet that was added last, or the whole cluster so far.",
        ),
    }
    settings = {"scope": "greedy_scope"}

    def match(self, clusterlets, random_state, hops=4, scope="cluster"):
        return match_greedy_balance(clusterlets, hops, random_state, scope=scope)
