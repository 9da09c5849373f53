"""The step of one grid cell of D, B, G-D or G-B: match the clusterlets of every seed of the block, and score the result."""

from clusterlets.grid.pinball_cells import pinball_match
from clusterlets.grid.scoring import write_matched


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
