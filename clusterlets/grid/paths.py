"""Where the files of the grid lie. What is not given stays a wildcard in braces, as the rules name it to Snakemake.

``base`` is a folder of tables with all that is made of them, ``place`` one of cells: the grid's, or a variant's.
"""

from clusterlets.grid.cells import Cell

GEOMETRY = "{base}/geometry/{dataset}.json"
CELL = "{place}/runs/{dataset}/{method}/k{k}{parameters}/seeds{seeds}.csv"
CELL_LOG = "{place}/logs/score_method/{dataset}/{method}/k{k}{parameters}/seeds{seeds}.log"
FIT_LOG = "{base}/logs/fit_method/{dataset}/{method}/k{k}{parameters}/seeds{seeds}.log"


def geometry_path(base: str, dataset: str) -> str:
    """What was measured of a table."""
    return GEOMETRY.format(base=base, dataset=dataset)


def prepared_path(suffix: str, base: str = "{base}", dataset: str = "{dataset}") -> str:
    """A prepared table. It lies with the results: other settings in another results folder leave it alone."""
    return f"{base}/prepared/{dataset}.{suffix}"


def block_path(
    kind: str, source: str = "clusterlets/k{k}", base: str = "{base}", dataset: str = "{dataset}", seeds: str = "{seeds}"
) -> str:
    """The file that one kind of step makes for a block of seeds, from the clusterlets that all matchers share."""
    return f"{base}/{kind}/{dataset}/{source}/seeds{seeds}.npz"


def fit_path(kind: str) -> str:
    """The same of a method that clusters instances, where each configuration has files of its own."""
    return block_path(kind, "{method}/k{k}{parameters}")


def block_path_of(kind: str, cell: Cell, is_matcher: bool, base: str) -> str:
    """The file of one kind that a cell is made from."""
    source = f"clusterlets/k{cell.k}" if is_matcher else f"{cell.method}/{cell.configuration}"
    return block_path(kind, source, base, cell.dataset, cell.seeds)


def block_log(step: str) -> str:
    """The log of a step that makes what all matchers share."""
    return f"{{base}}/logs/{step}/{{dataset}}/k{{k}}/seeds{{seeds}}.log"
