"""Base classes of the matchers that hop from clusterlet to clusterlet. Without a ``name``, they do not count as methods."""

from clusterlets.methods import Choice, Integer, Matcher

_SCOPE = Choice(
    ("last", "cluster", "published"),
    meaning="What a candidate is compared with: the clusterlet that was added last, or the whole cluster so far. The "
    "value published follows the authors' code, even where that departs from the paper.",
)


class Greedy(Matcher):
    """Base class of the matchers that add the best clusterlet to a cluster at each hop."""

    citation = "Setzu and Guidotti, Fair Clustering with Clusterlets"
    guarantee = "no bound"
    cost = "milliseconds, once the clusterlets exist"
    parameters = {
        "hops": Integer(1, 1_000_000, grid=[1, 2, 3, 4], meaning="Maximum number of clusterlets that join another."),
        "scope": _SCOPE,
    }
    settings = {"scope": "greedy_scope"}


class Pinball(Matcher):
    """Base class of the matchers whose clusters grow in sweeps, back and forth through the groups."""

    citation = Greedy.citation
    guarantee = "no bound; clusters may overlap"
    cost = Greedy.cost
    parameters = {"hops": Integer(1, 1_000_000, grid=[1, 2, 3, 4], meaning="Sweeps through the groups."), "scope": _SCOPE}
    settings = {"scope": "pinball_scope"}
    is_random = False
