"""Variants of the grid: settings changed one at a time, for the sensitivity analysis.

A variant runs the cells that its change touches, on the paper's seeds and from the same clusterlets; all other rows are
the grid's own. Its files are in their own folder below the results.
"""

import itertools
from collections.abc import Mapping

from clusterlets.grid.cells import cells, seeds_of
from clusterlets.grid.paths import PLAIN_COST

#: Tables and variants use this many seeds: a choice among more would not be comparable with the paper's.
SEEDS_OF_PAPER = 10

# Settings that touch all cells; others touch only the methods that take them as parameters.
_TOUCHING_ALL = {"deviation", "scaling"}


def folder(results: str, variant: str) -> str:
    """The folder of a variant's cells; of the grid's own if the name is empty."""
    return f"{results}/variants/{variant}" if variant else results


def settings_of(config: Mapping, variant: str) -> dict:
    """The configuration with the changes of a variant. It omits all others, so that adding one does not change it."""
    if not variant:
        return {**config, "variants": {}}
    changes = config["variants"][variant]
    scaling = {"scaling": changes["scaling"]} if "scaling" in changes else {}
    tables = {name: {**table, **scaling} for name, table in config["tables"].items()}
    return {**config, **changes, "tables": tables, "variants": {variant: changes}}


def has_own_tables(config: Mapping, variant: str) -> bool:
    """Whether a variant has its own tables, and all that is made from them; the grid itself always does."""
    return not variant or "scaling" in config["variants"][variant]


def paths(config: Mapping, variant: str) -> list[str]:
    """Files of all cells that make up a variant, or the grid; cells that a variant touches are in its own folder."""
    results = config["results"]
    if not variant:
        return [f"{results}/{cell.path}" for cell in cells(config)]
    changes = config["variants"][variant]
    return [
        f"{folder(results, variant if _touches(changes, config['grids'][cell.method]) else '')}/{cell.path}"
        for cell in cells(config)
        if seeds_of(cell.seeds).start < SEEDS_OF_PAPER
    ]


def plain_cost_paths(config: Mapping, variant: str) -> dict[tuple[str, int], str]:
    """Files with the costs of plain k-means on the tables of a variant, or of the grid, by dataset and number of clusters."""
    base = folder(config["results"], variant if has_own_tables(config, variant) else "")
    blocks = itertools.product(config["datasets"], config["k"])
    return {(dataset, k): PLAIN_COST.format(base=base, dataset=dataset, k=k) for dataset, k in blocks}


def _touches(changes: Mapping, grid: Mapping) -> bool:
    return not changes.keys().isdisjoint(_TOUCHING_ALL.union(grid["settings"].values()))
