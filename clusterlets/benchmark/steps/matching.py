"""The step of one grid cell of D, B, G-D or G-B: match the clusterlets of every seed of the block, and score the result."""

import numpy as np

from clusterlets.benchmark.cells import Match, write_matched
from clusterlets.benchmark.grid import random_stream
from clusterlets.clusterlets import Clusterlets
from clusterlets.matching import get_matcher


def match_pinball(
    groups: str, distances: str, geometry: str, dataset: str, matcher: str, k: int, hops: int,
    seeds: str, base_seed: int, scope: str, deviation: str, output: str,
) -> None:  # fmt: skip
    """Match with D, B, G-D or G-B, and score.

    groups: the clusterlets (.npz)
    distances: summed distances between them (.npz)
    geometry: what was measured of the dataset (JSON)
    dataset: its name
    matcher: D, B, G-D or G-B
    k: clusterlets wanted of each colour
    hops: sweeps through the colours (D, B), or clusterlets that may join (G-D, G-B)
    seeds: block of seeds, as in 0-9
    base_seed: first part of the random streams
    scope: what a candidate is measured against, last or cluster
    deviation: absolute, relative or kl
    output: one row a seed (CSV)
    """
    match = pinball_match(dataset, matcher, k, hops, base_seed, scope)
    fixed = {"dataset": dataset, "method": "Clusterlets", "matcher": matcher, "k": k, "hops": hops}
    write_matched(fixed, groups, distances, geometry, seeds, deviation, match, output)


def pinball_match(dataset: str, matcher: str, k: int, hops: int, base_seed: int, scope: str) -> Match:
    """How a cell of D, B, G-D or G-B matches the clusterlets of one seed."""
    chosen = get_matcher(matcher)
    match = chosen.load()

    def membership(clusterlets: Clusterlets, seed: int) -> np.ndarray:
        stream = {"random_state": random_stream(base_seed, dataset, k, seed, "matching")} if chosen.random else {}
        return match(clusterlets, hops, scope=scope, **stream)

    return membership
