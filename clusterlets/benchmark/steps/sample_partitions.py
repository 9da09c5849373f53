"""The step that samples partitions for the matcher C and keeps their Pareto front, from which C selects for every omega."""

from dataclasses import asdict

import numpy as np

from clusterlets.algorithms.clusterlets import Clusterlets
from clusterlets.algorithms.matching.centroid import sample_partitions as sample
from clusterlets.benchmark.grid.artifacts import SeedBatch
from clusterlets.benchmark.grid.cells import PARTITIONS, random_stream, seeds_of
from clusterlets.benchmark.steps import Input, Output


def sample_partitions(
    pieces: Input, dataset: str, k: int, seeds: str, base_seed: int, sample_size: int, output: Output
) -> None:
    """Write the Pareto front of random partitions of the clusterlets, by centroid silhouette and largest deviation.

    pieces: the clusterlets (.npz)
    sample_size: random partitions drawn for each seed
    output: the front of each seed (.npz)
    """
    batch = SeedBatch.load(pieces)
    fronts = {}
    for seed in seeds_of(seeds) if batch.values else ():  # without values, the extraction failed for all seeds
        stream = random_stream(base_seed, dataset, k, seed, PARTITIONS)
        front = sample(Clusterlets.from_pieces(**batch.values[str(seed)]), sample_size, stream)
        fronts[str(seed)] = {name: np.asarray(value) for name, value in asdict(front).items()}
    SeedBatch(fronts, batch.status).save(output)
