"""Steps that measure distances: once a dataset, and once a set of groups."""

import numpy as np

from clusterlets import geometry
from clusterlets.benchmark.intermediates import Block, Prepared
from clusterlets.metrics import cohesion
from clusterlets.storage import write_json


def measure_geometry(data: str, output: str) -> None:
    """Largest distance of a prepared dataset, its colours, and the cohesion of the undivided whole.

    data: the prepared dataset (.npz)
    output: JSON
    """
    prepared = Prepared.load(data)
    n = len(prepared.X)
    diameter = geometry.diameter(prepared.X)
    whole = geometry.within_sums(prepared.X, np.zeros(n, dtype=np.int64), 1)
    counts = np.bincount(prepared.colours, minlength=len(prepared.colour_names))
    summary = {
        "rows": n,
        "diameter": diameter,
        "cohesion": cohesion(np.ones((1, 1), dtype=bool), np.array([n]), np.diag(whole), diameter),
        "colours": {name: int(count) for name, count in zip(prepared.colour_names, counts, strict=True)},
    }
    write_json(output, summary)


def sum_distances(data: str, labels: str, output: str, within: bool = False) -> None:
    """Summed distances between the groups of every key in a file of labels.

    data: the prepared dataset (.npz)
    labels: groups of its instances (.npz)
    output: summed distances, a matrix for each key (.npz)
    within: only the sums inside each group, which is all that disjoint clusters need
    """
    X = Prepared.load(data).X
    block = Block.load(labels)
    values = {key: {"sums": _sums(X, named["labels"].astype(np.int64), within)} for key, named in block.values.items()}
    Block(values, block.status).save(output)


def _sums(X: np.ndarray, labels: np.ndarray, within: bool) -> np.ndarray:
    n_groups = int(labels.max()) + 1
    if within:
        return np.diag(geometry.within_sums(X, labels, n_groups))
    return geometry.distance_sums(X, labels, n_groups)
