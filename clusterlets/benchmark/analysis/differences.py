"""Comparison of two runs of the workflow: which cells of a table differ, and which settings and inputs."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets.benchmark.provenance.manifest import hashes
from clusterlets.errors import ClusterletsError

#: How far two numbers may differ in results of SciPy.
TOLERANCE = 1e-9
PRESENT, ABSENT = "present", "absent"
WHOLE = "all"  # as the row if a whole column is missing, and as the column if a whole row is missing

#: Columns of a table of differences. ``row`` is the key of the cell's row; ``reference`` and ``run`` are its values as text.
COLUMNS = ["row", "column", "reference", "run"]

_SECTIONS = ("settings", "datasets", "libraries", "processor", "user_files")  # of a manifest, apart from its files


def read_table(path: Path) -> pd.DataFrame:
    """Read a CSV file as text, so that every digit is kept. Missing cells at the end of a short line are empty."""
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False).fillna("")
    except (OSError, ValueError) as error:  # pandas' own errors are ValueErrors
        raise ClusterletsError(f"{path} cannot be read as a table: {' '.join(str(error).split())}") from None


def compare_tables(reference: pd.DataFrame, run: pd.DataFrame, tolerance: float = 0.0) -> pd.DataFrame:
    """The cells that differ between two tables of text, with :data:`COLUMNS`.

    A row or column that only one of the tables has is a single difference. Rows are matched by the leading columns that
    identify them, else by their lines. Two numbers count as equal if they differ by at most ``tolerance`` or, if the larger
    number is above 1, by at most ``tolerance`` times that number. Without a tolerance, they must be written alike.
    """
    keys = _key_columns(reference, run)
    reference, run = (_index_by(table, keys) for table in (reference, run))
    lone_rows = reference.index.symmetric_difference(run.index, sort=False)
    lone_columns = reference.columns.symmetric_difference(run.columns, sort=False)
    differing = [(_name(row), WHOLE, *_sides(row in reference.index)) for row in lone_rows]
    differing += [(WHOLE, column, *_sides(column in reference)) for column in lone_columns]
    rows, columns = reference.index.intersection(run.index), [column for column in reference if column in run]
    before, after = reference.loc[rows, columns], run.loc[rows, columns]
    if tolerance:
        after = after.mask(_are_close(before, after, tolerance), before)
    if not before.equals(after):
        cells = before.compare(after).stack(level=0, future_stack=True).dropna()
        differing += [(_name(key), column, *sides) for (*key, column), sides in zip(cells.index, cells.to_numpy(), strict=True)]
    return pd.DataFrame(differing, columns=COLUMNS)


def _key_columns(reference: pd.DataFrame, run: pd.DataFrame) -> list[str]:
    """The fewest leading columns that identify the rows of both tables. Empty if no columns do."""
    shared = [str(column) for column in reference if column in run]
    leading = (shared[:number] for number in range(1, len(shared) + 1))
    return next((keys for keys in leading if not any(table.duplicated(keys).any() for table in (reference, run))), [])


def _index_by(table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """A table with the columns ``keys`` as its index or, if there are none, with its lines."""
    lines = pd.Index([f"line {row + 2}" for row in range(len(table))], dtype=object)
    return table.set_index(keys) if keys else table.set_axis(lines, axis=0)


def _name(key: str | Iterable[str]) -> str:
    return key if isinstance(key, str) else ", ".join(filter(None, key))


def _sides(in_reference: bool) -> tuple[str, str]:
    return (PRESENT, ABSENT) if in_reference else (ABSENT, PRESENT)


def _are_close(before: pd.DataFrame, after: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    left, right = (table.apply(pd.to_numeric, errors="coerce") for table in (before, after))
    larger = np.maximum(left.abs(), right.abs())
    # An infinite number is far from every other one, whatever the tolerance.
    return np.isfinite(larger) & ((left - right).abs() <= tolerance * larger.clip(lower=1))


def compare_manifests(reference: Mapping, run: Mapping) -> list[tuple[str, str, str]]:
    """What differs between two manifests, apart from the files: name, value in the reference, value in the run."""
    differing = []
    for section in _SECTIONS:
        before, after = (_flatten(manifest.get(section, {}), section) for manifest in (reference, run))
        entries = [(name, before.get(name, ABSENT), after.get(name, ABSENT)) for name in {**before, **after}]
        differing += [entry for entry in entries if entry[1] != entry[2]]
    return differing


def _flatten(values: Mapping, prefix: str) -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in values.items():
        name = f"{prefix}.{key}"
        flat |= _flatten(value, name) if isinstance(value, Mapping) else {name: str(value)}
    return flat


def differing_hashes(reference: Mapping, run: Mapping, files: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Of ``files``, those whose hash differs between two manifests: what the reference and the run have, in words."""
    before, after = hashes(reference), hashes(run)
    return {
        file: ("these bytes", "other bytes") if file in before and file in after else _sides(file in before)
        for file in files
        if before.get(file) != after.get(file)
    }
