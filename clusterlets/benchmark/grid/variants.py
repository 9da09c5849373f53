"""Variants of the grid, for the sensitivity analysis: the same grid with some settings changed.

A variant has only as many seeds as the paper, but that of the published code has all seeds of the grid, because the paper's
numbers are compared with both. It runs the cells that its change affects, in its own folder, and shares the others with the
grid. If it changes no table, its matchers join the clusterlets of the grid.
"""

import itertools
from collections.abc import Mapping

from clusterlets.benchmark.grid.cells import Cell, cells, seeds_of
from clusterlets.benchmark.grid.paths import PLAIN_COST

#: Number of seeds of the paper's tables and of most variants.
SEEDS_OF_PAPER = 10
#: The settings of a variant that does what the authors' published code does.
OF_PUBLISHED_CODE = {"pinball_scope": "published", "greedy_scope": "published"}

# Any other setting affects only the methods that take it as a parameter.
_AFFECT_ALL_CELLS = {"deviation", "scaling"}


def folder(results: str, variant: str) -> str:
    """The folder of the cells of a variant or, if the name is empty, of the grid."""
    return f"{results}/variants/{variant}" if variant else results


def settings_of(config: Mapping, variant: str) -> dict:
    """The configuration with the changes of a variant. The other variants are left out, so that new ones do not change it."""
    if not variant:
        return {**config, "variants": {}}
    changes = config["variants"][variant]
    scaling = {"scaling": changes["scaling"]} if "scaling" in changes else {}
    tables = {name: {**table, **scaling} for name, table in config["tables"].items()}
    return {**config, **changes, "tables": tables, "variants": {variant: changes}}


def has_own_tables(config: Mapping, variant: str) -> bool:
    """Whether a variant, or the grid itself (an empty name), has its own tables and files computed from them."""
    return not variant or "scaling" in config["variants"][variant]


def cells_by_path(config: Mapping, variant: str) -> dict[str, Cell]:
    """All cells of the grid (an empty name), or of a variant, including those that it shares with the grid, by their files."""
    results = config["results"]
    if not variant:
        return {f"{results}/{cell.path}": cell for cell in cells(config)}
    changes = config["variants"][variant]
    has_all_seeds = changes.items() >= OF_PUBLISHED_CODE.items()
    return {
        f"{folder(results, variant if _affects(changes, config['method_settings'][cell.method]) else '')}/{cell.path}": cell
        for cell in cells(config)
        if has_all_seeds or seeds_of(cell.seeds).start < SEEDS_OF_PAPER
    }


def of_published_code(config: Mapping) -> str:
    """The name of the first variant that runs the published code, preferably with its own deviation; empty if none does."""
    candidates = [name for name, changes in config["variants"].items() if changes.items() >= OF_PUBLISHED_CODE.items()]
    return next((name for name in candidates if "deviation" in config["variants"][name]), candidates[0] if candidates else "")


def plain_cost_paths(config: Mapping, variant: str) -> dict[tuple[str, int], str]:
    """Files with the costs of plain k-means, by dataset and number of clusters, for a variant or for the grid."""
    tables_of = folder(config["results"], variant if has_own_tables(config, variant) else "")
    datasets_and_k = itertools.product(config["datasets"], config["k"])
    return {(dataset, k): PLAIN_COST.format(tables_of=tables_of, dataset=dataset, k=k) for dataset, k in datasets_and_k}


def _affects(changes: Mapping, entry: Mapping) -> bool:
    return not changes.keys().isdisjoint(_AFFECT_ALL_CELLS.union(entry["settings"].values()))
