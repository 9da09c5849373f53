"""The grid: which runs there are, what their cells are called, and where their randomness comes from.

A cell is one configuration of one method on one dataset, for one block of seeds; it is one job and one file.
"""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

CENTROID_MATCHER = "C"
#: As :func:`centroid_configuration` writes it, and in no second way: 0, 1, 0.25, 1e-05.
OMEGA = r"0|1|0\.(?!0000)[0-9]*[1-9]|[1-9](\.[0-9]*[1-9])?e-[0-9]{2,3}"

# The last part of every random stream's seed. Appending is safe, renumbering changes every result.
_STEPS = {"extraction": 0, "partitions": 1, "matching": 2, "frac": 3, "kmeans": 4, "random": 5}


@dataclass(frozen=True)
class Cell:
    """One configuration of one method on one dataset, for one block of seeds."""

    dataset: str
    method: str
    configuration: str
    seeds: str

    @property
    def path(self) -> str:
        """File of the cell, below the results folder."""
        return f"runs/{self.dataset}/{self.method}/{self.configuration}/seeds{self.seeds}.csv"


def cells(config: Mapping) -> Iterator[Cell]:
    """All cells of the configured grid, in the order of the result files."""
    for dataset in config["datasets"]:
        for method, configuration in _configurations(config):
            for seeds in seed_blocks(**config["seeds"]):
                yield Cell(dataset, method, configuration, seeds)


def number_of_cells(config: Mapping) -> int:
    """How many cells the configured grid has with those of its variants, at most; none is listed."""
    blocks = -(-config["seeds"]["count"] // config["seeds"]["block"])
    of_a_dataset = sum(1 for _ in _configurations(config)) * blocks
    return len(config["datasets"]) * of_a_dataset * (1 + len(config["variants"]))


def _configurations(config: Mapping) -> Iterator[tuple[str, str]]:
    for matcher in config["matchers"]:
        for k in config["k"]:
            if matcher == CENTROID_MATCHER:
                yield from ((matcher, centroid_configuration(k, omega)) for omega in config["omega"])
            else:
                yield from ((matcher, f"k{k}_hops{hops}") for hops in config["hops"])
    for k in config["k"]:
        if config["frac"]["run"]:
            yield "FRAC", f"k{k}"
        yield "baselines", f"k{k}"


def centroid_configuration(k: int, omega: float) -> str:
    """What paths call a configuration of C. The value in the path is the value that runs: every digit of it is there."""
    return f"k{k}_omega{repr(float(omega)).removesuffix('.0')}"


def seed_blocks(count: int, block: int) -> list[str]:
    """Names of the blocks of seeds, ``["0-9"]``: seeds 0..count-1 in runs of ``block``."""
    return [f"{first}-{min(first + block, count) - 1}" for first in range(0, count, block)]


def seeds_of(block: str) -> range:
    """The seeds that the name of a block, ``"0-9"``, stands for."""
    first, last = block.split("-")
    return range(int(first), int(last) + 1)


def random_stream(base_seed: int, dataset: str, k: int, seed: int, step: str) -> np.random.Generator:
    """The generator of one step of one repetition.

    It depends on neither the method nor the other steps, so that all methods meet the same clusterlets. ``zlib.crc32``
    and not ``hash``, which differs from one Python process to the next.
    """
    entropy = [base_seed, zlib.crc32(dataset.encode()), k, seed, _STEPS[step]]
    return np.random.default_rng(np.random.SeedSequence(entropy))
