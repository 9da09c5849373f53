"""The step of one grid cell of C: take the best of the sampled partitions for every seed of the block, and score it."""

from typing import Literal

from clusterlets.grid.cells import CENTROID_MATCHER
from clusterlets.grid.centroid_cells import centroid_match
from clusterlets.grid.scoring import write_matched


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
