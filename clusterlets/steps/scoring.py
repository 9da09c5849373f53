"""The step that scores clusterings whose clusters are the groups themselves: FRAC and the baselines."""

import numpy as np

from clusterlets.grid.artifacts import OK, SeedBlock
from clusterlets.grid.cells import seeds_of
from clusterlets.grid.runs_table import write_cell
from clusterlets.metrics import score
from clusterlets.storage import load_json


def score_groups(
    groups: str, distances: str, geometry: str, dataset: str, methods: str, k: int, seeds: str, deviation: str, output: str
) -> None:
    """Score every method and seed of a file of groups.

    groups: the clusters of each method and seed (.npz)
    distances: summed distances inside each cluster (.npz)
    geometry: what was measured of the dataset (JSON)
    dataset: its name
    methods: names of the methods, separated by commas
    k: clusters wanted
    seeds: block of seeds, as in 0-9
    deviation: absolute, relative or kl
    output: one row a method and seed (CSV)
    """
    block, sums = SeedBlock.load(groups), SeedBlock.load(distances)
    measured = load_json(geometry)
    rows = []
    for method in methods.split(","):
        for seed in seeds_of(seeds):
            row = {"dataset": dataset, "method": method, "k": k, "seed": seed, "status": block.status}
            rows.append(row)
            if block.status == OK:
                key = f"{method}/{seed}"
                named = block.values[key]
                every = np.eye(len(named["counts"]), dtype=bool)
                row |= score(every, **named, **sums.values[key], diameter=measured["diameter"], deviation=deviation)
                row["note"] = _note(k, measured["colours"])
    write_cell(output, rows)


def _note(k: int, colours: dict[str, int]) -> str:
    """Which colours are too small to be in every cluster."""
    small = [f"{name}: {size}" for name, size in colours.items() if size < k]
    return f"fewer instances than k, so some clusters lack the colour ({'; '.join(small)})" if small else ""
