"""The cells of the grid, the names of their files, and the random generators of their runs.

A cell is one method on one dataset, with one k and one batch of seeds, and with all values of its parameters. It is one file,
and one job scores it.
"""

import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from clusterlets.parameter_text import Value, combinations

# Each step has a number, which selects its random stream. All methods share these steps; a fit has its method's number.
# The matchers' number is also 2, but only the sample has k = 0, so their streams differ.
EXTRACTION, PARTITIONS, SAMPLE = 0, 1, 2


@dataclass(frozen=True)
class Cell:
    """One method on one dataset, with one k and one batch of seeds. ``parameters`` lists the values of each parameter."""

    dataset: str
    method: str
    k: int
    parameters: Mapping[str, list]
    seeds: str

    @property
    def configurations(self) -> list[dict[str, Value]]:
        """The parameters of each configuration of the cell."""
        return list(combinations(self.parameters))

    @property
    def path(self) -> str:
        """The cell's file, relative to the results folder."""
        return f"runs/{self.dataset}/{self.method}/k{self.k}/seeds{self.seeds}.csv"


def cells(config: Mapping) -> Iterator[Cell]:
    """All cells of the grid, in the order of the result files: first the matchers, by name; then the other methods, by k."""
    entries = config["method_settings"]
    matchers = [method for method in config["methods"] if entries[method]["is_matcher"]]
    others = [method for method in config["methods"] if method not in matchers]
    methods_with_k = [(method, k) for method in matchers for k in config["k"]]
    methods_with_k += [(method, k) for k in config["k"] for method in others]
    for dataset in config["datasets"]:
        for method, k in methods_with_k:
            for seeds in seed_batches(**config["seeds"]):
                yield Cell(dataset, method, k, entries[method]["parameters"], seeds)


def number_of_configurations(config: Mapping) -> int:
    """An upper bound on the configurations in all cells of the grid and its variants, computed without listing them."""
    n_batches = -(-config["seeds"]["count"] // config["seeds"]["batch"])  # rounded up
    n_combinations = sum(math.prod(map(len, entry["parameters"].values())) for entry in config["method_settings"].values())
    return len(config["datasets"]) * n_combinations * len(config["k"]) * n_batches * (1 + len(config["variants"]))


# ---- seeds -----------------------------------------------------------------------------------------------------------


def seed_batches(count: int, batch: int) -> list[str]:
    """Split the seeds 0..count-1 into batches of ``batch`` seeds. Returns the batches' names, such as ``"0-9"``."""
    return [f"{first}-{min(first + batch, count) - 1}" for first in range(0, count, batch)]


def seeds_of(batch: str) -> range:
    """The seeds of a batch, from its name."""
    first, last = batch.split("-")
    return range(int(first), int(last) + 1)


def sample_stream(base_seed: int, dataset: str) -> np.random.Generator:
    """The generator that samples rows for estimated scores. It is the same for every method, k and seed."""
    return random_stream(base_seed, dataset, 0, 0, SAMPLE)


def random_stream(base_seed: int, dataset: str, k: int, seed: int, step: int, start: int = 0) -> np.random.Generator:
    """The generator of one step for one seed. ``step`` is the number of a shared step, or of a method.

    Each ``start`` of a run has its own generator. Generators do not depend on a method's parameters, so that all
    matchers get the same clusterlets.
    """
    dataset_number = zlib.crc32(dataset.encode())  # not hash(), which differs between Python processes
    later_start = [start] if start else []  # the first start keeps the stream of a run with a single start
    return np.random.default_rng(np.random.SeedSequence([base_seed, dataset_number, k, seed, step, *later_start]))
