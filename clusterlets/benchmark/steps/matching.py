"""The step of one grid cell of Clusterlets: match the clusterlets of every seed of the block, and score the result."""

from collections.abc import Callable

import numpy as np

from clusterlets.benchmark.grid import CENTROID_MATCHER, random_stream, seeds_of
from clusterlets.benchmark.groups import clusterlets_of
from clusterlets.benchmark.intermediates import NO_VALID_PARTITION, OK, Block, read_json
from clusterlets.benchmark.rows import write_rows
from clusterlets.centroids import centroid_distances, centroid_silhouette
from clusterlets.extraction import Clusterlets
from clusterlets.matching import get_matcher
from clusterlets.metrics import score

#: From the clusterlets of a seed, and the seed, to a membership matrix (C, N), or None where there is no clustering.
Match = Callable[[Clusterlets, int], np.ndarray | None]


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
    _write_cell(fixed, groups, distances, geometry, seeds, deviation, match, output)


def match_centroid(
    groups: str, distances: str, geometry: str, partitions: str, dataset: str, k: int, omega: float,
    seeds: str, equation: str, deviation: str, output: str,
) -> None:  # fmt: skip
    """Match with C: the best partition on each seed's front, and score.

    groups: the clusterlets (.npz)
    distances: summed distances between them (.npz)
    geometry: what was measured of the dataset (JSON)
    partitions: the fronts of sample_partitions (.npz)
    dataset: its name
    k: clusterlets wanted of each colour
    omega: weight of the silhouette against the largest deviation
    seeds: block of seeds, as in 0-9
    equation: equation 1 as corrected or as printed
    deviation: absolute, relative or kl
    output: one row a seed (CSV)
    """
    fixed = {"dataset": dataset, "method": "Clusterlets", "matcher": CENTROID_MATCHER, "k": k, "omega": omega}
    match = centroid_match(partitions, omega, equation)
    _write_cell(fixed, groups, distances, geometry, seeds, deviation, match, output)


def pinball_match(dataset: str, matcher: str, k: int, hops: int, base_seed: int, scope: str) -> Match:
    """How a cell of D, B, G-D or G-B matches the clusterlets of one seed."""
    chosen = get_matcher(matcher)
    match = chosen.load()

    def membership(clusterlets: Clusterlets, seed: int) -> np.ndarray:
        stream = {"random_state": random_stream(base_seed, dataset, k, seed, "matching")} if chosen.random else {}
        return match(clusterlets, hops, scope=scope, **stream)

    return membership


def centroid_match(partitions: str, omega: float, equation: str) -> Match:
    """How a cell of C matches the clusterlets of one seed: from the fronts in a file; None where a front is empty."""
    from clusterlets.matching.centroid import ParetoFront  # the pinball cells do without
    from clusterlets.matching.centroid import match_centroid as match

    fronts = Block.load(partitions).values

    def membership(clusterlets: Clusterlets, seed: int) -> np.ndarray | None:
        front = ParetoFront(**fronts[str(seed)])
        return match(front, omega, equation) if len(front) else None

    return membership


def _write_cell(
    fixed: dict, groups: str, distances: str, geometry: str, seeds: str, deviation: str,
    match: Match, output: str,
) -> None:  # fmt: skip
    """One row a seed: the columns that the cell fixes, the status, and the scores of ``match(clusterlets, seed)``."""
    block, sums = Block.load(groups), Block.load(distances)
    measured = read_json(geometry)
    rows = []
    for seed in seeds_of(seeds):
        row = {**fixed, "seed": seed, "status": block.status}
        rows.append(row)
        if block.status != OK:
            continue
        named = block.values[str(seed)]
        clusterlets = clusterlets_of(named)
        row |= {"n_clusterlets": len(clusterlets), "note": _note(clusterlets, fixed["k"], measured["colours"])}
        membership = match(clusterlets, seed)
        if membership is None:
            row["status"] = NO_VALID_PARTITION
            continue
        row |= score(membership, **named, **sums.values[str(seed)], diameter=measured["diameter"], deviation=deviation)
        row["centroid_silhouette"] = _silhouette(clusterlets, membership)
    write_rows(output, rows)


def _silhouette(clusterlets: Clusterlets, membership: np.ndarray) -> float:
    """Silhouette over the centroids; NaN for a fuzzy result and for a single cluster."""
    if len(membership) < 2 or (membership.sum(axis=0) != 1).any():
        return float("nan")
    return centroid_silhouette(centroid_distances(clusterlets.centroids), membership.argmax(axis=0))


def _note(clusterlets: Clusterlets, k: int, colours: dict[str, int]) -> str:
    """Which colours have fewer clusterlets than were asked for, as they have fewer distinct instances."""
    found = np.bincount(clusterlets.colour, minlength=len(colours))
    short = [f"{name}: {count} clusterlets" for name, count in zip(colours, found, strict=True) if count < k]
    return f"fewer distinct instances than k ({'; '.join(short)})" if short else ""
