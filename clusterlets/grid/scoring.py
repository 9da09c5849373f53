"""The rows of a grid cell of Clusterlets, whichever matcher it is."""

from collections.abc import Callable

import numpy as np

from clusterlets.algorithms.centroids import centroid_distances, centroid_silhouette
from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.grid.artifacts import NO_VALID_PARTITION, OK, SeedBlock
from clusterlets.grid.cells import seeds_of
from clusterlets.grid.runs_table import write_cell
from clusterlets.metrics import score
from clusterlets.storage import load_json

#: From the clusterlets of a seed, and the seed, to a membership matrix (C, N), or None where there is no clustering.
Match = Callable[[Clusterlets, int], np.ndarray | None]


def write_matched(
    fixed: dict, groups: str, distances: str, geometry: str, seeds: str, deviation: str,
    match: Match, output: str,
) -> None:  # fmt: skip
    """Write one row a seed: the columns that the cell fixes, the status, and the scores of ``match(clusterlets, seed)``."""
    block, sums = SeedBlock.load(groups), SeedBlock.load(distances)
    measured = load_json(geometry)
    rows = []
    for seed in seeds_of(seeds):
        row = {**fixed, "seed": seed, "status": block.status}
        rows.append(row)
        if block.status != OK:
            continue
        named = block.values[str(seed)]
        clusterlets = Clusterlets.from_groups(**named)
        row |= {"n_clusterlets": len(clusterlets), "note": _note(clusterlets, fixed["k"], measured["colours"])}
        membership = match(clusterlets, seed)
        if membership is None:
            row["status"] = NO_VALID_PARTITION
            continue
        row |= score(membership, **named, **sums.values[str(seed)], diameter=measured["diameter"], deviation=deviation)
        row["centroid_silhouette"] = _silhouette(clusterlets, membership)
    write_cell(output, rows)


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
