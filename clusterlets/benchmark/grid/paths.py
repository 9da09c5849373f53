"""Paths of the grid's files. A part that is not given stays in braces, as a wildcard of Snakemake.

``tables_of`` is a folder with tables and what is computed from them, and ``cells_of`` a folder with cells: the grid's or a
variant's.
"""

from clusterlets.benchmark.grid.cells import Cell
from clusterlets.methods import Method
from clusterlets.parameter_text import configuration

GEOMETRY = "{tables_of}/geometry/{dataset}.json"
PLAIN_COST = "{tables_of}/plain_costs/{dataset}/k{k}.json"
CELL = "{cells_of}/runs/{dataset}/{method}/k{k}/seeds{seeds}.csv"
CELL_LOG = "{cells_of}/logs/score_method/{dataset}/{method}/k{k}/seeds{seeds}.log"
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


def shared_inputs(cell: Cell, method: type[Method], tables_of: str) -> dict[str, str]:
    """The files that a cell is scored from and shares with others: for a matcher, its clusterlets are among them."""
    kinds = ["pieces", "labels", "distances"] if method.is_matcher else []
    kinds += ["partitions"] if method.needs_partitions() else []
    inputs = {kind: batch_path(kind) for kind in kinds} | ({"data": prepared_path("npz")} if method.is_matcher else {})
    inputs["geometry"] = GEOMETRY
    return {name: path.format(**vars(cell), tables_of=tables_of) for name, path in inputs.items()}


def fitted_pieces(cell: Cell, tables_of: str) -> list[str]:
    """For each configuration of a cell whose method clusters instances, the file of its clusters."""
    parts = {**vars(cell), "tables_of": tables_of}
    return [fit_path("pieces").format(**parts | {"parameters": configuration(each)}) for each in cell.configurations]


def batch_log(step: str) -> str:
    """Path of the log of a step that all matchers share."""
    return f"{{tables_of}}/logs/{step}/{{dataset}}/k{{k}}/seeds{{seeds}}.log"
