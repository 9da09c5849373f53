"""Paths of the grid's files. A part that is not given stays in braces, as a wildcard of Snakemake.

``tables_of`` is a folder with tables and what is computed from them, and ``cells_of`` a folder with cells: the grid's or a
variant's.
"""

from clusterlets.grid.cells import Cell

GEOMETRY = "{tables_of}/geometry/{dataset}.json"
PLAIN_COST = "{tables_of}/plain_costs/{dataset}/k{k}.json"
CELL = "{cells_of}/runs/{dataset}/{method}/k{k}{parameters}/seeds{seeds}.csv"
CELL_LOG = "{cells_of}/logs/score_method/{dataset}/{method}/k{k}{parameters}/seeds{seeds}.log"
FIT_LOG = "{tables_of}/logs/fit_method/{dataset}/{method}/k{k}{parameters}/seeds{seeds}.log"


def prepared_path(suffix: str, tables_of: str = "{tables_of}", dataset: str = "{dataset}") -> str:
    """Path of a prepared table."""
    return f"{tables_of}/prepared/{dataset}.{suffix}"


def batch_path(kind: str, source: str = "clusterlets/k{k}") -> str:
    """Path of one ``kind`` of file, such as ``labels``, for a batch of seeds. ``source`` names the clusterlets or method."""
    return f"{{tables_of}}/{kind}/{{dataset}}/{source}/seeds{{seeds}}.npz"


def fit_path(kind: str) -> str:
    """The :func:`batch_path` of a method that clusters instances. Each of its configurations has its own files."""
    return batch_path(kind, "{method}/k{k}{parameters}")


def cell_batch_path(kind: str, cell: Cell, is_matcher: bool, tables_of: str) -> str:
    """Path of the file of a ``kind`` that a cell is scored from. All matchers share their files."""
    pattern = batch_path(kind) if is_matcher else fit_path(kind)
    parameters = cell.configuration.removeprefix(f"k{cell.k}")
    return pattern.format(
        tables_of=tables_of, dataset=cell.dataset, method=cell.method, k=cell.k, parameters=parameters, seeds=cell.seeds
    )


def batch_log(step: str) -> str:
    """Path of the log of a step that all matchers share."""
    return f"{{tables_of}}/logs/{step}/{{dataset}}/k{{k}}/seeds{{seeds}}.log"
