"""The five matchers by name. A matcher's module is imported only when the matcher is loaded."""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from clusterlets.errors import ClusterletsError


class Matcher(NamedTuple):
    """A matcher's names, where it stands, and how it is called.

    Attributes
    ----------
    title : str
        Name for people.
    parameter : {"hops", "omega"}
        ``hops``: ``function(clusterlets, hops, ...)``; ``omega``: ``function(front, omega, ...)``, the front being what
        ``sample_partitions`` found.
    random : bool
        Whether the function takes a ``random_state`` (C is random too, but in its samples).
    module, function : str
        Where the function stands.
    """

    title: str
    parameter: str
    random: bool
    module: str
    function: str

    def load(self) -> Callable:
        """The function, all of which return a membership matrix (C, N); imports its module alone."""
        return getattr(import_module(self.module), self.function)


_PINBALL = f"{__name__}.pinball"

MATCHERS = {
    "D": Matcher("Distance (D)", "hops", False, _PINBALL, "match_distance"),
    "B": Matcher("Balance (B)", "hops", False, _PINBALL, "match_balance"),
    "G-D": Matcher("Greedy distance (G-D)", "hops", True, _PINBALL, "match_greedy_distance"),
    "G-B": Matcher("Greedy balance (G-B)", "hops", True, _PINBALL, "match_greedy_balance"),
    "C": Matcher("Centroid (C)", "omega", False, f"{__name__}.centroid", "match_centroid"),
}


def get_matcher(name: str) -> Matcher:
    """The matcher of a name; ClusterletsError names the five, and the nearest, if there is none."""
    if name in MATCHERS:
        return MATCHERS[name]
    from difflib import get_close_matches  # only who is about to fail needs it

    near = get_close_matches(str(name).upper(), MATCHERS, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise ClusterletsError(f"There is no matcher {name!r}.{hint} The matchers are {', '.join(MATCHERS)}.")
