"""The step that runs FRAC; each run gives two clusterings, its fair assignment and its nearest-centre cells."""

import numpy as np

from clusterlets.algorithms.frac import frac, frac_oe
from clusterlets.grid.artifacts import Prepared
from clusterlets.grid.cells import random_stream, seeds_of
from clusterlets.grid.groups import save_groups


def cluster_frac(
    data: str, dataset: str, k: int, seeds: str, base_seed: int,
    variant: str, tau: str, init: str, max_iter: int, tol: float, groups: str, labels: str,
) -> None:  # fmt: skip
    """FRAC or FRAC-OE on a prepared dataset.

    data: the prepared dataset (.npz)
    dataset: its name, a part of the random streams
    k: clusters wanted
    seeds: block of seeds, as in 0-9
    base_seed: first part of the random streams
    variant: FRAC or FRAC-OE
    tau: least share of each colour in each cluster, at most 1/k; "balanced" is 1/k
    init: first centres of FRAC, random or k-means++
    max_iter: most iterations of FRAC
    tol: relative change of the cost at which FRAC stops
    groups: the clusters of both evaluations (.npz)
    labels: cluster of each instance (.npz)
    """
    prepared = Prepared.load(data)
    least = None if tau == "balanced" else float(tau)

    def both(seed: int) -> dict[str, np.ndarray]:
        stream = random_stream(base_seed, dataset, k, seed, "frac")
        if variant == "FRAC-OE":
            result = frac_oe(prepared.X, prepared.colours, k, stream, tau=least)
        else:
            result = frac(
                prepared.X, prepared.colours, k, stream, tau=least, init=init, max_iter=max_iter, tol=tol
            )
        return {f"FRAC (fair)/{seed}": result.labels_fair, f"FRAC (nearest)/{seed}": result.labels_nearest}

    save_groups(prepared, k, seeds_of(seeds), both, groups, labels)
