"""The step that measures a dataset."""

import numpy as np

from clusterlets.algorithms import geometry
from clusterlets.grid.artifacts import Prepared
from clusterlets.metrics import cohesion
from clusterlets.steps import Input, Output
from clusterlets.storage import save_json


def measure_geometry(data: Input, output: Output) -> None:
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
    save_json(output, summary)
