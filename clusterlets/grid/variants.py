"""Variants of the grid, for the sensitivity analysis: the same grid with some settings changed.

A variant has only the seeds of the paper. It runs only the cells that its change affects, and takes the others from the grid.
If it changes no table, its matchers get the clusterlets of the grid. Its files are in their own folder below the results.
"""

import itertools
from collections.abc import Mapping

from clusterlets.grid.cells import cells, seeds_of
from clusterlets.grid.paths import PLAIN_COST

#: The paper's tables and the variants use this many seeds. The best of more seeds would not be comparable with the paper's.
SEEDS_OF_PAPER = 10

# Settings that affect all cells. Other settings affect only the methods that take them as parameters.
_AFFECT_ALL_CELLS = {"deviation", "scaling"}


def folder(results: str, variant: str) -> str:
    """The folder with the cells of a variant, or with the grid's own cells if the name is empty."""
    return f"{results}/variants/{variant}" if variant else results


def settings_of(config: Mapping, variant: str) -> dict:
    """The configuration with the changes of a variant.

    Other variants are left out, so the configuration of this one stays the same when a variant is added.
    """
    if not variant:
        return {**config, "variants": {}}
    changes = config["variants"][variant]
    scaling = {"scaling": changes["scaling"]} if "scaling" in changes else {}
    tables = {name: {**table, **scaling} for name, table in config["tables"].items()}
    return {**config, **changes, "tables": tables, "variants": {variant: changes}}


def has_own_tables(config: Mapping, variant: str) -> bool:
    """Whether a variant has its own tables and all files computed from them. The grid itself (an empty name) always does."""
    return not variant or "scaling" in config["variants"][variant]


def paths(config: Mapping, variant: str) -> list[str]:
    """Files of all cells that make up a variant, or the grid. Only the cells that a variant affects are in its own folder."""
    results = config["results"]
    if not variant:
        return [f"{results}/{cell.path}" for cell in cells(config)]
    changes = config["variants"][variant]
    return [
        f"{folder(results, variant if _affects(changes, config['grids'][cell.method]) else '')}/{cell.path}"
        for cell in cells(config)
        if seeds_of(cell.seeds).start < SEEDS_OF_PAPER
    ]


def plain_cost_paths(config: Mapping, variant: str) -> dict[tuple[str, int], str]:
    """Files with the costs of plain k-means on the tables of a variant, or of the grid, by dataset and number of clusters."""
    base = folder(config["results"], variant if has_own_tables(config, variant) else "")
    datasets_and_k = itertools.product(config["datasets"], config["k"])
    return {(dataset, k): PLAIN_COST.format(base=base, dataset=dataset, k=k) for dataset, k in datasets_and_k}


def _affects(changes: Mapping, grid: Mapping) -> bool:
    return not changes.keys().isdisjoint(_AFFECT_ALL_CELLS.union(grid["settings"].values()))
