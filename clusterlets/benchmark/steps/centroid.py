"""The step of one grid cell of C: take the best of the sampled partitions for every seed of the block, and score it."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from clusterlets.benchmark.cells import Match, write_matched
from clusterlets.benchmark.grid import CENTROID_MATCHER
from clusterlets.benchmark.intermediates import Block
from clusterlets.clusterlets import Clusterlets
from clusterlets.matching.centroid import ParetoFront
from clusterlets.matching.centroid import match_centroid as match_front


def match_centroid(
    groups: str, distances: str, geometry: str, partitions: str, dataset: str, k: int, omega: float,
    seeds: str, equation: Literal["corrected", "printed"], deviation: str, output: str,
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
    write_matched(fixed, groups, distances, geometry, seeds, deviation, match, output)


def centroid_match(partitions: str, omega: float, equation: Literal["corrected", "printed"]) -> Match:
    """How a cell of C matches the clusterlets of one seed: from the fronts in a file; None where a front is empty."""
    fronts: Mapping[str, Mapping[str, Any]] = Block.load(partitions).values

    def membership(clusterlets: Clusterlets, seed: int) -> np.ndarray | None:
        front = ParetoFront(**fronts[str(seed)])
        return match_front(front, omega, equation) if len(front) else None

    return membership
