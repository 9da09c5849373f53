"""Estimate the cost of a grid from a few constants that were measured once. The estimate is right to within a factor of two.

The constants come from the paper's grid on the ten available datasets (610 s of CPU, 7 minutes on two cores, 2026-11).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clusterlets import methods
from clusterlets.algorithms.plain_costs import number_of_starts
from clusterlets.algorithms.row_samples import EXACT_LIMIT, SAMPLED_ROWS
from clusterlets.grid import variants
from clusterlets.grid.cells import Cell, cells, seed_blocks, seeds_of
from clusterlets.grid.entries import load_method

_PAIR_SECONDS = 4.5e-10  # to add a distance to the sums of one seed, when ten seeds share the distance
_SAMPLED_PAIRS = 16 * 2_000**2 / 2  # pairs of rows in 16 samples of 2,000 rows
_ORDER_SECONDS = 1e-7  # to find the position of a row in the samples
_SCORE_SECONDS = 6e-8  # to score a matcher's run, per instance
_PARTITION_SECONDS = 3.5e-7  # to draw and score one partition for method C
_KMEANS_SECONDS = 2e-6  # to cluster with k-means, per instance
_START_SECONDS = 0.14  # to start a job that loads only NumPy
_NUMBA_SECONDS = 0.6  # to start a job that loads Numba
_SUMMARY_SECONDS = 40.0  # for all tables, figures and pages of the report

_CELL_BYTES = 8_000  # disk space of a cell with its log
_FLOAT_BYTES = 8
_BASE_BYTES = 180_000_000  # memory of a job that loads Numba
_N_COPIES = 4  # copies of the instances and distance sums that a job holds at its peak


@dataclass(frozen=True)
class Cost:
    """CPU seconds, bytes on disk, and bytes of memory that the largest job needs."""

    seconds: float
    disk: float
    memory: float


def dataset_cost(rows: int, features: int, group_counts: Sequence[int], config: Mapping) -> Cost:
    """Cost of all jobs of the configured grid on one dataset. ``group_counts`` has the number of rows of each group."""
    n_seeds, block_size = config["seeds"]["count"], min(config["seeds"]["block"], config["seeds"]["count"])
    n_cells = sum(1 for _ in cells({**config, "datasets": [""]}))
    n_clusterings = sum(
        _clusterings_per_k_and_seed(name, entry) for name, entry in config["grids"].items() if not entry["is_matcher"]
    )
    n_sampled = min(rows, SAMPLED_ROWS)
    disk: float = _CELL_BYTES * n_cells + _FLOAT_BYTES * rows * (features + 1)
    max_sums_per_job = 0
    for k in config["k"]:
        n_clusterlets = sum(min(k, count) for count in group_counts)
        label_bytes = rows * (1 if n_clusterlets <= 256 else 2)
        n_floats = n_clusterlets * (n_clusterlets + n_sampled + features) + n_clusterings * k**2
        disk += n_seeds * (label_bytes * (1 + n_clusterings) + _FLOAT_BYTES * n_floats)
        max_sums_per_job = max(max_sums_per_job, block_size * n_clusterlets * max(n_clusterlets, n_sampled))
    seconds = sum(seconds for _, seconds in rule_costs(rows, features, config, len(group_counts)).values())
    for variant in config["variants"]:
        variant_cost = _variant_cost(rows, features, group_counts, config, variant)
        seconds, disk = seconds + variant_cost.seconds, disk + variant_cost.disk
    return Cost(seconds, disk, _BASE_BYTES + _N_COPIES * _FLOAT_BYTES * (rows * features + max_sums_per_job))


def rule_costs(rows: int, features: int, config: Mapping, n_groups: int = 2) -> dict[str, tuple[int, float]]:
    """For each rule of the workflow, the number of its jobs on one dataset and their total CPU seconds."""
    n_seeds, grids = config["seeds"]["count"], config["grids"]
    n_jobs = len(config["k"]) * len(seed_blocks(**config["seeds"]))
    n_runs = len(config["k"]) * n_seeds
    costs = {"prepare_dataset": (1, _START_SECONDS), "measure_geometry": (1, _START_SECONDS)}
    kmeans = methods.get("k-means")()
    kmeans_seconds = sum(kmeans.seconds(rows, features, k) for k in config["k"]) * number_of_starts(rows)
    costs["measure_plain_cost"] = (len(config["k"]), len(config["k"]) * _NUMBA_SECONDS + kmeans_seconds)
    if any(grid["is_matcher"] for grid in grids.values()):
        costs["extract_clusterlets"] = (n_jobs, n_jobs * _NUMBA_SECONDS + n_runs * rows * _KMEANS_SECONDS)
        costs["sum_distances"] = (n_jobs, n_jobs * _NUMBA_SECONDS + n_runs * _sum_seconds(rows, 1))
    if any(grid["needs_partitions"] for grid in grids.values()):
        costs["sample_partitions"] = (n_jobs, n_jobs * _START_SECONDS + n_runs * config["sample_size"] * _PARTITION_SECONDS)
    for cell in cells({**config, "datasets": [""]}):
        grid = grids[cell.method]
        cell_seconds = {"score_method": _START_SECONDS}
        if grid["is_matcher"]:
            cell_seconds["score_method"] += len(seeds_of(cell.seeds)) * rows * _SCORE_SECONDS
        else:
            cell_seconds["fit_method"] = _NUMBA_SECONDS + _fit_seconds(cell, grid, rows, features, n_groups, config["limits"])
        for rule, seconds in cell_seconds.items():
            count, total = costs.get(rule, (0, 0.0))
            costs[rule] = (count + 1, total + seconds)
    return costs


def _fit_seconds(cell: Cell, grid: Mapping, rows: int, features: int, n_groups: int, limits: Mapping) -> float:
    """CPU seconds of a cell's fits and of the distances for their scores; 0 if nothing can be fitted."""
    method = load_method({"name": cell.method, **grid})
    if cell.k > rows or method().unsupported(rows, n_groups):
        return 0.0
    n_seeds = len(seeds_of(cell.seeds))
    sum_seconds = max(1, len(method.outputs)) * _sum_seconds(rows, cell.k)
    seconds = min(method().seconds(rows, features, cell.k), limits["seconds"] or math.inf)
    return (n_seeds if method.is_random else 1) * grid["starts"] * seconds + n_seeds * sum_seconds


def _sum_seconds(rows: int, n_parts: int) -> float:
    """CPU seconds to add up the distances within ``n_parts`` equal parts of a table, and from its sampled rows to all rows."""
    sample_seconds = min(rows, SAMPLED_ROWS) * rows * _PAIR_SECONDS
    if rows > EXACT_LIMIT:
        return sample_seconds + _SAMPLED_PAIRS * _PAIR_SECONDS + rows * _ORDER_SECONDS
    return sample_seconds + rows / 2 / n_parts * rows * _PAIR_SECONDS


def _clusterings_per_k_and_seed(name: str, entry: Mapping) -> int:
    return len(load_method({"name": name, **entry}).names_in_results()) * math.prod(map(len, entry["parameters"].values()))


def _variant_cost(rows: int, features: int, group_counts: Sequence[int], config: Mapping, variant: str) -> Cost:
    """Cost of the jobs that only a variant has: a whole grid if it has its own tables, otherwise the cells that it affects."""
    if variants.has_own_tables(config, variant):
        n_seeds = min(config["seeds"]["count"], variants.SEEDS_OF_PAPER)
        variant_config = {**config, "seeds": {**config["seeds"], "count": n_seeds}, "variants": {}}
        return dataset_cost(rows, features, group_counts, variant_config)
    prefix = variants.folder(config["results"], variant) + "/"
    n_cells = sum(path.startswith(prefix) for path in variants.cell_paths({**config, "datasets": [""]}, variant))
    return Cost(_START_SECONDS * n_cells, _CELL_BYTES * n_cells, 0)


def total_cost(costs: Sequence[Cost]) -> Cost:
    """Cost of a whole grid, including its summary."""
    total = sum(cost.seconds for cost in costs) + _SUMMARY_SECONDS
    return Cost(total, sum(cost.disk for cost in costs), max((cost.memory for cost in costs), default=_BASE_BYTES))
