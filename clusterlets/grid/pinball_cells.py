"""How the cells of D, B, G-D and G-B match."""

import numpy as np

from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.matching import get_matcher
from clusterlets.grid.cells import random_stream
from clusterlets.grid.scoring import Match


def pinball_match(dataset: str, matcher: str, k: int, hops: int, base_seed: int, scope: str) -> Match:
    """How a cell of D, B, G-D or G-B matches the clusterlets of one seed."""
    chosen = get_matcher(matcher)
    match = chosen.load()

    def membership(clusterlets: Clusterlets, seed: int) -> np.ndarray:
        stream = {"random_state": random_stream(base_seed, dataset, k, seed, "matching")} if chosen.random else {}
        return match(clusterlets, hops, scope=scope, **stream)

    return membership
