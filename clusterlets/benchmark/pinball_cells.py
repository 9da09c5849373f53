"""How the cells of D, B, G-D and G-B match."""

import numpy as np

from clusterlets.benchmark.cells import Match
from clusterlets.benchmark.grid import random_stream
from clusterlets.clusterlets import Clusterlets
from clusterlets.matching import get_matcher


def pinball_match(dataset: str, matcher: str, k: int, hops: int, base_seed: int, scope: str) -> Match:
    """How a cell of D, B, G-D or G-B matches the clusterlets of one seed."""
    chosen = get_matcher(matcher)
    match = chosen.load()

    def membership(clusterlets: Clusterlets, seed: int) -> np.ndarray:
        stream = {"random_state": random_stream(base_seed, dataset, k, seed, "matching")} if chosen.random else {}
        return match(clusterlets, hops, scope=scope, **stream)

    return membership
