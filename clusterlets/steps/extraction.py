"""The step that makes the clusterlets: k-means on each colour, for every seed of a block."""

from clusterlets.algorithms.extraction import extract_clusterlets as extract
from clusterlets.grid.artifacts import Prepared
from clusterlets.grid.cells import random_stream, seeds_of
from clusterlets.grid.groups import save_groups


def extract_clusterlets(data: str, dataset: str, k: int, seeds: str, base_seed: int, groups: str, labels: str) -> None:
    """Clusterlets of a prepared dataset.

    data: the prepared dataset (.npz)
    dataset: its name, a part of the random streams
    k: clusterlets wanted of each colour
    seeds: block of seeds, as in 0-9
    base_seed: first part of the random streams
    groups: what matching needs of the clusterlets (.npz)
    labels: clusterlet of each instance (.npz)
    """
    prepared = Prepared.load(data)

    def clusterlets(seed: int):
        found = extract(prepared.X, prepared.colours, k, random_stream(base_seed, dataset, k, seed, "extraction"))
        return {str(seed): found.labels}

    save_groups(prepared, k, seeds_of(seeds), clusterlets, groups, labels)
