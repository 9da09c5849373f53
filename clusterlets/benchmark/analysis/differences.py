"""Comparison of two runs of the workflow: which cells of their tables differ, by how much, and which settings and inputs."""

from collections.abc import Container, Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets.benchmark.provenance.manifest import APPROXIMATE, group_of, hashes
from clusterlets.errors import ClusterletsError

#: How far two numbers may differ in results of SciPy.
TOLERANCE = 1e-9
PRESENT, ABSENT = "present", "absent"
WHOLE = "all"  # as the row if a whole column is missing, as the column if a whole row is missing, and as both for a whole file

#: Columns of a table of differences, which has one row for each cell that differs. ``row`` is the key of the cell's row,
#: ``reference`` and ``run`` are its values as text, ``difference`` is their distance, and ``share`` is this distance divided by
#: the larger value. The last two are NaN if one of the values is not a number.
COLUMNS = ["file", "row", "column", "reference", "run", "difference", "share"]
_SIDES = ["reference", "run"]

_SECTIONS = ("settings", "datasets", "libraries", "processor", "user_files")  # of a manifest, apart from its files


def read_table(path: Path) -> pd.DataFrame:
    """Read a CSV file as text, so that every digit is kept. Missing cells at the end of a short line are empty."""
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False).fillna("")
    except (OSError, ValueError) as error:  # pandas' own errors are ValueErrors
        raise ClusterletsError(f"{path} cannot be read as a table: {' '.join(str(error).split())}") from None


def tolerance_of(file: str) -> float:
    """How far numbers in a file may differ: 0 (the same bytes), except in results of SciPy."""
    return TOLERANCE if group_of(file) == APPROXIMATE else 0.0


def compare_tables(file: str, reference: pd.DataFrame, run: pd.DataFrame, tolerance: float = 0.0) -> pd.DataFrame:
    """The cells that differ between two tables of text, with :data:`COLUMNS`.

    A row or column that only one of the tables has is a single difference. Rows are matched by the leading columns that
    identify them. Two numbers count as equal if they differ by at most ``tolerance`` or, if the larger number is above 1, by
    at most ``tolerance`` times that number. Without a tolerance, they must be written alike.
    """
    keys = _key_columns(reference, run)
    cells = pd.concat([_stack_cells(reference, keys), _stack_cells(run, keys)], axis=1, keys=_SIDES)
    numbers = cells.apply(pd.to_numeric, errors="coerce")
    distance = (numbers["run"] - numbers["reference"]).abs()
    larger = numbers.abs().max(axis=1)
    is_finite = np.isfinite(larger)  # an infinite number is far from every other one, whatever the tolerance
    within_tolerance = is_finite & (distance <= tolerance * larger.clip(lower=1)) & (tolerance > 0)
    equal = (cells["reference"] == cells["run"]) | within_tolerance
    # A row or column is "lone" if only one of the two tables has it.
    in_lone_row = cells.isna().groupby("row").transform("all").any(axis=1)
    in_lone_column = cells.index.get_level_values("column").isin(reference.columns.symmetric_difference(run.columns))
    differences = cells.assign(difference=distance, share=(distance / larger).where(is_finite | distance.isna(), np.inf))
    differing_cells = differences[~(equal | in_lone_row | in_lone_column)].reset_index()
    lone_rows = _lone_differences(cells[in_lone_row], "row")
    lone_columns = _lone_differences(cells[in_lone_column & ~in_lone_row], "column")
    return pd.concat([lone_rows, lone_columns, differing_cells], ignore_index=True).assign(file=file)[COLUMNS]


def _key_columns(reference: pd.DataFrame, run: pd.DataFrame) -> list[str]:
    """The leading columns that identify the rows of both tables, without redundant ones. Empty if no columns do."""

    def identify_rows(columns: list[str]) -> bool:
        return bool(columns) and not any(frame.duplicated(columns).any() for frame in (reference, run))

    shared = [str(column) for column in reference if column in run]
    keys = next((shared[:number] for number in range(1, len(shared) + 1) if identify_rows(shared[:number])), [])
    for column in reversed(keys):
        other_keys = [key for key in keys if key != column]
        keys = other_keys if identify_rows(other_keys) else keys
    return keys


def _stack_cells(table: pd.DataFrame, keys: list[str]) -> pd.Series:
    """All values of a table, by row and column. A row is named by its values of ``keys`` or, without keys, by its line."""
    row_keys = table[keys].agg(", ".join, axis=1) if keys and len(table) else [f"line {row + 2}" for row in range(len(table))]
    table = table.set_axis(pd.Index(row_keys, name="row"), axis=0).rename_axis(columns="column")
    return pd.Series(table.stack(future_stack=True))


def _lone_differences(cells: pd.DataFrame, level: str) -> pd.DataFrame:
    """One difference for each row, or each column, that only one of the tables has; ``level`` is ``row`` or ``column``."""
    presence = cells.notna().groupby(level, sort=False).any()
    presence = presence.map(lambda is_present: PRESENT if is_present else ABSENT).reset_index()
    return presence.assign(**{"row": WHOLE, "column": WHOLE} | {level: presence[level]}, difference=np.nan, share=np.nan)


def compare_manifests(reference: Mapping, run: Mapping) -> list[tuple[str, str, str]]:
    """What differs between two manifests, apart from the files: name, value in the reference, value in the run.

    A dataset that only one of them has differs in one place only: the lists of datasets in the settings.
    """
    shared = reference["datasets"].keys() & run["datasets"].keys()
    differing = []
    for section in _SECTIONS:
        contents = (_restrict_to_datasets(manifest, shared).get(section, {}) for manifest in (reference, run))
        reference_values, run_values = (_flatten(content, section) for content in contents)
        names = [*reference_values, *(name for name in run_values if name not in reference_values)]
        entries = [(name, reference_values.get(name, ABSENT), run_values.get(name, ABSENT)) for name in names]
        differing += [entry for entry in entries if entry[1] != entry[2]]
    return differing


def _restrict_to_datasets(manifest: Mapping, names: Container[str]) -> dict:
    def select(entries: Mapping) -> dict:
        return {name: entry for name, entry in entries.items() if name in names}

    settings = {**manifest["settings"], "tables": select(manifest["settings"].get("tables", {}))}
    return {**manifest, "settings": settings, "datasets": select(manifest["datasets"])}


def _flatten(values: Mapping, prefix: str) -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in values.items():
        name = f"{prefix}.{key}"
        flat |= _flatten(value, name) if isinstance(value, Mapping) else {name: str(value)}
    return flat


def compare_hashes(reference: Mapping, run: Mapping, files: Iterable[str]) -> dict[str, list[str]]:
    """Compare ``files`` by hash: lists of those that are ``same``, ``different``, ``reference only`` and ``run only``."""
    files = list(files)
    reference_hashes, run_hashes = (
        {file: digests[file] for file in files if file in digests} for digests in (hashes(reference), hashes(run))
    )
    return {
        "same": [file for file in reference_hashes if run_hashes.get(file) == reference_hashes[file]],
        "different": [file for file in reference_hashes if file in run_hashes and run_hashes[file] != reference_hashes[file]],
        "reference only": [file for file in reference_hashes if file not in run_hashes],
        "run only": [file for file in run_hashes if file not in reference_hashes],
    }
