"""The step that sums the distances between clusterlets, and from sampled rows to the rows of each clusterlet."""

import numpy as np

from clusterlets.algorithms import geometry
from clusterlets.benchmark.grid.artifacts import Prepared, SeedBatch
from clusterlets.benchmark.grid.cells import sample_stream
from clusterlets.benchmark.grid.samples import Sample
from clusterlets.benchmark.steps import Input, Output


def sum_distances(data: Input, dataset: str, labels: Input, base_seed: int, output: Output) -> None:
    """Sum the distances between the clusterlets of every seed in a file of labels.

    labels: clusterlet of each instance (.npz)
    output: matrices of summed distances for each seed (.npz); for a large table, estimates
    """
    X = Prepared.load(data).X
    batch = SeedBatch.load(labels)
    labellings = {key: arrays["labels"].astype(np.int64) for key, arrays in batch.values.items()}
    if not labellings:
        SeedBatch({}, batch.status).save(output)
        return
    n_clusterlets = [int(labelling.max()) + 1 for labelling in labellings.values()]
    stacked = np.stack(list(labellings.values()))
    sample = Sample.draw(len(X), sample_stream(base_seed, dataset))
    if sample.order is None:
        sums = geometry.distance_sums(X, stacked, max(n_clusterlets))
    else:
        sums = np.stack([geometry.sampled_sums(X, labelling, max(n_clusterlets), sample.order) for labelling in stacked])
    row_sums = geometry.row_sums(X, sample.rows, stacked, max(n_clusterlets))
    # The sums have room for the largest number of clusterlets of any seed. Each seed keeps its own n.
    arrays_by_seed = {
        key: {"sums": sums_of_seed[..., :n, :n], "sample": sample.rows, "row_sums": row_sums_of_seed[:n]}
        for key, n, sums_of_seed, row_sums_of_seed in zip(labellings, n_clusterlets, sums, row_sums, strict=True)
    }
    SeedBatch(arrays_by_seed, batch.status).save(output)
