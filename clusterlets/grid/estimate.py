"""What a grid will cost, from a few constants that were measured once, so accurate to a factor of two.

They come from the paper's grid on the ten available datasets (610 s of CPU, 7 minutes on two cores, 2026-11).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clusterlets import methods
from clusterlets.algorithms.plain_costs import number_of_starts
from clusterlets.algorithms.row_samples import EXACT_LIMIT, SAMPLED_ROWS
from clusterlets.grid import variants
from clusterlets.grid.cells import Cell, cells, seed_blocks, seeds_of
from clusterlets.grid.entries import load

_PAIR = 4.5e-10  # seconds to add up the distance of two instances, shared by ten seeds
_SAMPLED_PAIRS = 16 * 2_000**2 / 2  # pairs that sampled sums visit, however many rows there are
_ORDERED = 1e-7  # seconds to find a row's position in the samples
_SCORED = 6e-8  # seconds to score an instance in a run of a matcher
_SAMPLE = 3.5e-7  # seconds to draw and score one partition for C
_KMEANS = 2e-6  # seconds of k-means for an instance
_START = 0.14  # seconds of a job that loads only numpy
_START_COMPILED = 0.6  # seconds of a job that loads numba
_SUMMARY = 40.0  # seconds of tables, figures and report together, once

_CELL = 8_000  # bytes on disk of a cell with its log
_NUMBER = 8  # bytes of a number
_BASE = 180_000_000  # bytes of memory of a job that loads numba
_COPIES = 4  # copies of the instances and of the distance sums that a job holds at its peak


@dataclass(frozen=True)
class Cost:
    """CPU seconds, bytes on disk, and bytes of memory of the largest job."""

    seconds: float
    disk: float
    memory: float


def dataset_cost(rows: int, features: int, group_counts: Sequence[int], config: Mapping) -> Cost:
    """Cost of everything that the configured grid does with one dataset."""
    grid = list(cells({**config, "datasets": [""]}))
    seeds, block = config["seeds"]["count"], min(config["seeds"]["block"], config["seeds"]["count"])
    outputs = sum(_number_of_outputs(name, entry) for name, entry in config["grids"].items() if not entry["needs"])
    disk: float = _CELL * len(grid) + _NUMBER * rows * (features + 1)
    largest_sums = 0
    sampled = min(rows, SAMPLED_ROWS)
    for k in config["k"]:
        pieces = sum(min(k, count) for count in group_counts)
        label_bytes = 1 if pieces <= 256 else 2
        disk += seeds * (rows * label_bytes * (1 + outputs) + _NUMBER * (pieces**2 + outputs * k**2 + pieces * features))
        disk += seeds * _NUMBER * pieces * sampled
        largest_sums = max(largest_sums, block * pieces * max(pieces, sampled))
    seconds = sum(seconds for _, seconds in dataset_steps(rows, features, config, len(group_counts)).values())
    for variant in config["variants"]:
        extra = _variant_cost(rows, features, group_counts, config, variant)
        seconds, disk = seconds + extra.seconds, disk + extra.disk
    return Cost(seconds, disk, _BASE + _COPIES * _NUMBER * (rows * features + largest_sums))


def dataset_steps(rows: int, features: int, config: Mapping, n_groups: int = 2) -> dict[str, tuple[int, float]]:
    """Number of jobs and their total CPU seconds for each step of the workflow on one dataset, by its rule's name."""
    seeds, grids = config["seeds"]["count"], config["grids"]
    jobs = len(config["k"]) * len(seed_blocks(**config["seeds"]))
    runs = len(config["k"]) * seeds
    needs = {need for grid in grids.values() for need in grid["needs"]}
    steps = {"prepare_dataset": (1, _START), "measure_geometry": (1, _START)}
    plain = methods.get("k-means")()
    starts = sum(plain.seconds(rows, features, k) for k in config["k"]) * number_of_starts(rows)
    steps["measure_plain_cost"] = (len(config["k"]), len(config["k"]) * _START_COMPILED + starts)
    if "clusterlets" in needs:
        steps["extract_clusterlets"] = (jobs, jobs * _START_COMPILED + runs * rows * _KMEANS)
        steps["sum_distances"] = (jobs, jobs * _START_COMPILED + runs * _sum_seconds(rows, 1))
    if "partitions" in needs:
        steps["sample_partitions"] = (jobs, jobs * _START + runs * config["sample_size"] * _SAMPLE)
    for cell in cells({**config, "datasets": [""]}):
        grid = grids[cell.method]
        cell_seconds = {"score_method": _START}
        if grid["needs"]:
            cell_seconds["score_method"] += len(seeds_of(cell.seeds)) * rows * _SCORED
        else:
            cell_seconds["fit_method"] = _START_COMPILED + _fit_seconds(cell, grid, rows, features, n_groups, config["limits"])
        for step, seconds in cell_seconds.items():
            count, total = steps.get(step, (0, 0.0))
            steps[step] = (count + 1, total + seconds)
    return steps


def _fit_seconds(cell: Cell, grid: Mapping, rows: int, features: int, n_groups: int, limits: Mapping) -> float:
    """CPU seconds of all fits of a cell and the distances that score them; 0 if the method does not handle the table."""
    method = load({"name": cell.method, **grid})
    if cell.k > rows or method().unsupported(rows, n_groups):
        return 0.0
    n_seeds = len(seeds_of(cell.seeds))
    sums = max(1, len(method.outputs)) * _sum_seconds(rows, cell.k)
    seconds = min(method().seconds(rows, features, cell.k), limits["seconds"] or math.inf)
    return (n_seeds if method.is_random else 1) * grid["starts"] * seconds + n_seeds * sums


def _sum_seconds(rows: int, n_parts: int) -> float:
    """CPU seconds to add up distances inside equal parts of a table, exact or sampled, and from sampled rows to all rows."""
    to_all = min(rows, SAMPLED_ROWS) * rows * _PAIR
    if rows > EXACT_LIMIT:
        return to_all + _SAMPLED_PAIRS * _PAIR + rows * _ORDERED
    return to_all + rows / 2 / n_parts * rows * _PAIR


def _number_of_outputs(name: str, entry: Mapping) -> int:
    """Number of clusterings that a method makes for each k and seed."""
    return len(load({"name": name, **entry}).names_in_results()) * math.prod(map(len, entry["parameters"].values()))


def _variant_cost(rows: int, features: int, group_counts: Sequence[int], config: Mapping, variant: str) -> Cost:
    """Cost of the cells that a variant touches; if it has its own tables, of the whole grid on the paper's seeds."""
    if variants.has_own_tables(config, variant):
        count = min(config["seeds"]["count"], variants.SEEDS_OF_PAPER)
        variant_config = {**config, "seeds": {**config["seeds"], "count": count}, "variants": {}}
        return dataset_cost(rows, features, group_counts, variant_config)
    prefix = variants.folder(config["results"], variant) + "/"
    n_cells = sum(path.startswith(prefix) for path in variants.paths({**config, "datasets": [""]}, variant))
    return Cost(_START * n_cells, _CELL * n_cells, 0)


def total_cost(costs: Sequence[Cost]) -> Cost:
    """Cost of a whole grid, including its summary."""
    total = sum(cost.seconds for cost in costs) + _SUMMARY
    return Cost(total, sum(cost.disk for cost in costs), max((cost.memory for cost in costs), default=_BASE))
