"""What a grid costs, before it runs: a few constants measured once, so good to a factor of two.

They come from the paper's grid on the ten datasets at hand (610 s of CPU, 7 minutes on two cores, 2026-11).
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clusterlets.algorithms.row_samples import EXACT_LIMIT, SAMPLED_ROWS
from clusterlets.grid import variants
from clusterlets.grid.cells import Cell, cells, seed_blocks, seeds_of
from clusterlets.grid.entries import load

_PAIR = 4.5e-10  # seconds to add up the distance of two instances, which ten seeds share
_SAMPLED_PAIRS = 16 * 2_000**2 / 2  # that sampled sums visit, whatever the rows
_ORDERED = 1e-7  # to find a row's place in the samples
_SCORED = 6e-8  # of a run of a matcher, to score an instance
_SAMPLE = 3.5e-7  # to draw and score one partition for C
_KMEANS = 2e-6  # of k-means, an instance
_START = 0.14  # of a job that loads numpy alone
_START_COMPILED = 0.6  # of a job that loads numba
_SUMMARY = 40.0  # of tables, figures and report, once

_CELL = 8_000  # bytes on disk of a cell with its log
_NUMBER = 8
_BASE = 180_000_000  # bytes of memory of a job that loads numba
_COPIES = 4  # of the instances, and of the distance sums, that a job holds at its peak


@dataclass(frozen=True)
class Cost:
    """CPU seconds, bytes on disk, and bytes of memory of the largest job."""

    seconds: float
    disk: float
    memory: float


def of_dataset(rows: int, features: int, group_counts: Sequence[int], config: Mapping) -> Cost:
    """Of everything that the configured grid does with one dataset."""
    grid = list(cells({**config, "datasets": [""]}))
    seeds, block = config["seeds"]["count"], min(config["seeds"]["block"], config["seeds"]["count"])
    outputs = sum(_outputs(name, entry) for name, entry in config["grids"].items() if not entry["needs"])
    disk: float = _CELL * len(grid) + _NUMBER * rows * (features + 1)
    largest = 0
    sampled = min(rows, SAMPLED_ROWS)
    for k in config["k"]:
        pieces = sum(min(k, count) for count in group_counts)
        label = 1 if pieces <= 256 else 2
        disk += seeds * (rows * label * (1 + outputs) + _NUMBER * (pieces**2 + outputs * k**2 + pieces * features))
        disk += seeds * _NUMBER * pieces * sampled
        largest = max(largest, block * pieces * max(pieces, sampled))
    seconds = sum(seconds for _, seconds in steps_of_dataset(rows, features, config, len(group_counts)).values())
    for variant in config["variants"]:
        further = _of_variant(rows, features, group_counts, config, variant)
        seconds, disk = seconds + further.seconds, disk + further.disk
    return Cost(seconds, disk, _BASE + _COPIES * _NUMBER * (rows * features + largest))


def steps_of_dataset(rows: int, features: int, config: Mapping, n_groups: int = 2) -> dict[str, tuple[int, float]]:
    """Of each step of the workflow on one dataset, by its rule's name: how many jobs, and their CPU seconds together."""
    seeds, grids = config["seeds"]["count"], config["grids"]
    jobs = len(config["k"]) * len(seed_blocks(**config["seeds"]))
    runs = len(config["k"]) * seeds
    needed = {need for grid in grids.values() for need in grid["needs"]}
    steps = {"prepare_dataset": (1, _START), "measure_geometry": (1, _START)}
    if "clusterlets" in needed:
        steps["extract_clusterlets"] = (jobs, jobs * _START_COMPILED + runs * rows * _KMEANS)
        steps["sum_distances"] = (jobs, jobs * _START_COMPILED + runs * _sums(rows, 1))
    if "partitions" in needed:
        steps["sample_partitions"] = (jobs, jobs * _START + runs * config["sample_size"] * _SAMPLE)
    for cell in cells({**config, "datasets": [""]}):
        grid = grids[cell.method]
        of_cell = {"score_method": _START}
        if grid["needs"]:
            of_cell["score_method"] += len(seeds_of(cell.seeds)) * rows * _SCORED
        else:
            of_cell["fit_method"] = _START_COMPILED + _fits(cell, grid, rows, features, n_groups, config["limits"])
        for step, seconds in of_cell.items():
            count, so_far = steps.get(step, (0, 0.0))
            steps[step] = (count + 1, so_far + seconds)
    return steps


def _fits(cell: Cell, grid: Mapping, rows: int, features: int, n_groups: int, limits: Mapping) -> float:
    """Of all fits of a cell, with the distances that score them; nothing where the table is more than the method handles."""
    method = load({"name": cell.method, **grid})
    if cell.k > rows or method().unsupported(rows, n_groups):
        return 0.0
    n_seeds = len(seeds_of(cell.seeds))
    sums = max(1, len(method.outputs)) * _sums(rows, cell.k)
    seconds = min(method().seconds(rows, features, cell.k), limits["seconds"] or math.inf)
    return (n_seeds if method.is_random else 1) * seconds + n_seeds * sums


def _sums(rows: int, parts: int) -> float:
    """Of the distances inside equal parts of a table, exact or sampled, and of those of a sample of rows to all rows."""
    to_all = min(rows, SAMPLED_ROWS) * rows * _PAIR
    if rows > EXACT_LIMIT:
        return to_all + _SAMPLED_PAIRS * _PAIR + rows * _ORDERED
    return to_all + rows / 2 / parts * rows * _PAIR


def _outputs(name: str, entry: Mapping) -> int:
    """Clusterings that a method makes for each k and seed."""
    return len(load({"name": name, **entry}).names_in_results()) * math.prod(map(len, entry["parameters"].values()))


def seconds_per_job(sizes: Mapping[str, tuple[int, int]], config: Mapping) -> dict[str, dict[str, float]]:
    """CPU seconds of a step's job, by its rule's name, on each dataset of so many rows and features: the grid's mean."""
    seconds_of_steps: dict[str, dict[str, float]] = defaultdict(dict)
    for dataset, size in sizes.items():
        for step, (jobs, seconds) in steps_of_dataset(*size, config).items():
            seconds_of_steps[step][dataset] = seconds / jobs
    return dict(seconds_of_steps)


def _of_variant(rows: int, features: int, group_counts: Sequence[int], config: Mapping, variant: str) -> Cost:
    """Of the cells that a variant touches; with tables of its own, of the whole grid on the paper's seeds."""
    if variants.has_own_tables(config, variant):
        count = min(config["seeds"]["count"], variants.SEEDS_OF_PAPER)
        again = {**config, "seeds": {**config["seeds"], "count": count}, "variants": {}}
        return of_dataset(rows, features, group_counts, again)
    own = variants.folder(config["results"], variant) + "/"
    number = sum(path.startswith(own) for path in variants.paths({**config, "datasets": [""]}, variant))
    return Cost(_START * number, _CELL * number, 0)


def of_all(costs: Sequence[Cost]) -> Cost:
    """Of a whole grid, with what sums it up."""
    total = sum(cost.seconds for cost in costs) + _SUMMARY
    return Cost(total, sum(cost.disk for cost in costs), max((cost.memory for cost in costs), default=_BASE))
