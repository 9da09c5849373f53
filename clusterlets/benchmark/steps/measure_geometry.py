"""The step that measures a dataset: its largest distance, its groups, and its cohesion as one cluster."""

import numpy as np

from clusterlets.algorithms import geometry
from clusterlets.benchmark.grid.artifacts import Prepared
from clusterlets.benchmark.grid.cells import sample_stream
from clusterlets.benchmark.grid.samples import Sample
from clusterlets.benchmark.steps import Input, Output
from clusterlets.metrics.pieces import cohesion_with_error
from clusterlets.storage import save_json


def measure_geometry(data: Input, dataset: str, base_seed: int, output: Output) -> None:
    """Measure a prepared dataset.

    output: rows, largest distance, cohesion, and values and sizes of the groups (JSON)
    """
    prepared = Prepared.load(data)
    n = len(prepared.X)
    one_cluster = np.zeros(n, dtype=np.int64)
    diameter, upper_bound = geometry.diameter_bounds(prepared.X)
    order = Sample.draw(n, sample_stream(base_seed, dataset)).order
    if order is None:  # the table is small enough for exact sums
        sums = np.diag(geometry.within_sums(prepared.X, one_cluster, 1))
    else:
        sums = geometry.sampled_sums(prepared.X, one_cluster, 1, order)
    cohesion, error = cohesion_with_error(np.ones((1, 1), dtype=bool), np.array([n]), sums, diameter)
    counts = np.bincount(prepared.groups, minlength=len(prepared.group_values))
    summary = {
        "rows": n,
        "diameter": diameter,
        "cohesion": cohesion,
        "group_values": prepared.group_values,
        "group_sizes": counts.tolist(),
    }
    if order is not None:
        summary |= {"cohesion_error": error, "diameter_at_most": upper_bound}
    save_json(output, summary)
