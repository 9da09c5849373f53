"""What a grid costs, before it runs: a few constants measured once, so good to a factor of two.

They come from the paper's grid on the ten datasets at hand (1,430 s of CPU, 13 minutes on two cores, 2026-11).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clusterlets.benchmark.grid import CENTROID_MATCHER, cells, seed_blocks

_PAIR = 3e-9  # seconds to add up the distance of two instances
_SAMPLE = 9e-7  # to draw and score one partition for C
_KMEANS = 2e-6  # of k-means, an instance
_FRAC = 3e-5  # of FRAC, an instance
_START = 0.2  # of a job that loads numpy alone
_START_KMEANS = 1.6  # of a job that loads scikit-learn
_SUMMARY = 40.0  # of tables, figures and report, once

_CELL = 8_000  # bytes on disk of a cell with its log
_NUMBER = 8
_BASE = 180_000_000  # bytes of memory of a job that loads scikit-learn and numba
_COPIES = 4  # of the instances, and of the distance sums, that a job holds at its peak


@dataclass(frozen=True)
class Cost:
    """CPU seconds, bytes on disk, and bytes of memory of the largest job."""

    seconds: float
    disk: float
    memory: float


def of_dataset(rows: int, features: int, colour_counts: Sequence[int], config: Mapping) -> Cost:
    """Of everything that the configured grid does with one dataset."""
    grid = list(cells({**config, "datasets": [""]}))
    blocks = seed_blocks(**config["seeds"])
    seeds, block = config["seeds"]["count"], min(config["seeds"]["block"], config["seeds"]["count"])
    ran = 1 + config["frac"]["run"]  # FRAC and the yardsticks: a job each, two clusterings each
    seconds = _START * len(grid) + 2 * _START
    disk = _CELL * len(grid) + _NUMBER * rows * (features + 1)
    largest = 0
    for k in config["k"]:
        groups = sum(min(k, count) for count in colour_counts)
        pairs = rows**2 / 2 * (1 + 2 * ran / k)  # all for the clusterlets; those inside a cluster for the others
        per_seed = pairs * _PAIR + rows * (2 * _KMEANS + config["frac"]["run"] * _FRAC)
        if CENTROID_MATCHER in config["matchers"]:
            per_seed += config["sample_size"] * _SAMPLE
        seconds += seeds * per_seed + len(blocks) * ((1 + ran) * (_START_KMEANS + _START) + _START)
        label = 1 if groups <= 256 else 2
        disk += seeds * (rows * label * (1 + 2 * ran) + _NUMBER * (groups**2 + 2 * ran * k**2 + groups * features))
        largest = max(largest, block * groups**2)
    return Cost(seconds, disk, _BASE + _COPIES * _NUMBER * (rows * features + largest))


def of_all(costs: Sequence[Cost]) -> Cost:
    """Of a whole grid, with what sums it up."""
    total = sum(cost.seconds for cost in costs) + _SUMMARY
    return Cost(total, sum(cost.disk for cost in costs), max((cost.memory for cost in costs), default=_BASE))
