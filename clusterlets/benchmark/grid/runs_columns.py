"""The columns of ``results/runs.csv``, and functions that read and write its rows, for all runs or for one cell."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from clusterlets.benchmark.grid.cells import Cell, seeds_of
from clusterlets.errors import UnusableFileError
from clusterlets.metrics.all_scores import FURTHER_SCORES, PAPER_SCORES
from clusterlets.metrics.score import Score
from clusterlets.parameter_text import Value, format_parameters
from clusterlets.storage import csv_text, load_rows, save_rows, write_checksum, write_text


@dataclass(frozen=True)
class Column:
    """A column of the runs that is not a score. docs/results-format.md lists its values and its meaning."""

    name: str
    values: str
    meaning: str
    is_text: bool = False


_FIRST_COLUMNS = (
    Column(
        "dataset",
        "id",
        "the name in `config.yaml`; `adult.sex` if the group is not the class, `breast.with_duplicates` if duplicates, "
        "dropped by default, are kept, `people.city` for your own table",
        is_text=True,
    ),
    Column(
        "method",
        "`Clusterlets`, `FRAC (fair)`, `FRAC (nearest)`, `k-means`, `random`, or any further method's name",
        "`k-means` and `random` are baselines: plain k-means, and a random partition of k equal parts. A method with several "
        "outputs has a row for each: `name (output)`",
        is_text=True,
    ),
    Column(
        "matcher",
        "`C`, `G-B`, `D`, `B`, `G-D`, a matcher of your own, or empty",
        "the matcher of Clusterlets",
        is_text=True,
    ),
    Column("k", "count", "requested number of clusterlets of each group; for the other methods, requested number of clusters"),
    Column("hops", "count or empty", "hops of D, B, G-D, G-B"),
    Column("omega", "0..1 or empty", "weight of the silhouette in C"),
    Column("seed", "0, 1, ...", "repetition; the random streams come from (base seed, dataset, k, repetition, step)"),
    Column(
        "status",
        "`ok`, `infeasible`, `unsupported`, `no_valid_partition`, `timeout`, `out_of_memory`, `not_converged`, `failed`",
        "see below. If a run is not `ok`, all its scores are empty",
        is_text=True,
    ),
    Column(
        "note",
        "text or empty",
        "for an `ok` row, what a reader should know, such as k above a group's size; for another row, why it has no result",
        is_text=True,
    ),
    Column("n_clusterlets", "count or empty", "number of clusterlets of all groups, N"),
)
_PARAMETERS_COLUMN = Column(
    "parameters",
    "text or empty",
    "the method's parameters, including hops and omega: `hops=4`, `tau=0.1,init=random`; characters that a path cannot contain "
    "are written as `%` and their code",
    is_text=True,
)

#: All columns in the order of the file.
TABLE: tuple[Column | Score, ...] = (*_FIRST_COLUMNS, *PAPER_SCORES, _PARAMETERS_COLUMN, *FURTHER_SCORES)
COLUMNS = tuple(column.name for column in TABLE)
TEXT_COLUMNS = tuple(column.name for column in TABLE if isinstance(column, Column) and column.is_text)

# The parameters that have a column of their own, because the paper varies them.
_PAPER_PARAMETERS = {"hops": int, "omega": float}


def parameter_columns(parameters: Mapping[str, Value]) -> dict[str, object]:
    """The columns with a run's parameters: hops and omega if the method has them, and all parameters as text."""
    numbers = {name: number_type(parameters[name]) for name, number_type in _PAPER_PARAMETERS.items() if name in parameters}
    return {**numbers, "parameters": format_parameters(parameters)}


def write_cell(path: str, rows: Iterable[Mapping]) -> None:
    """Write the rows of a cell to its file, whose last column holds a CRC of the others."""
    save_rows(path, rows, COLUMNS)


def read_cell(path: str | os.PathLike, cell: Cell) -> list[dict[str, str]]:
    """Read the rows of a cell as text, so that numbers keep their digits.

    Raises
    ------
    UnusableFileError
        If the file is damaged, or if its rows are not the runs of this cell.
    """
    rows = load_rows(path)
    are_of_cell = all(
        (row["dataset"], row["k"]) == (cell.dataset, str(cell.k))
        and (cell.method in (row["matcher"], row["method"]) or row["method"].startswith(f"{cell.method} ("))
        for row in rows
    )
    configurations = list(dict.fromkeys(row["parameters"] for row in rows))
    if (
        not are_of_cell
        or configurations != [format_parameters(parameters) for parameters in cell.configurations]
        or {row["seed"] for row in rows} != {str(seed) for seed in seeds_of(cell.seeds)}
    ):
        raise UnusableFileError(
            Path(path),
            f"{path} does not hold the runs of {cell.path} with the parameters of the configuration, so it was not used. It "
            "was left as it is.",
            "Remove it, and run the same command again, which builds it again.",
        )
    return rows


def write_runs(path: str, rows: Iterable[Mapping]) -> None:
    """Write all runs as one CSV file, and its SHA-256 to a file beside it."""
    write_text(path, csv_text(rows, COLUMNS))
    write_checksum(path)
