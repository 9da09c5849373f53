"""Two runs side by side: which cells of their tables differ, by how much, and what else was not the same."""

from collections.abc import Container, Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets.errors import ClusterletsError
from clusterlets.provenance.manifest import APPROXIMATE, group_of, hashes

#: How far apart two numbers of the files may be that hold what scipy computed, and what LAPACK computed to five digits.
TOLERANCE, TOLERANCE_OF_PROJECTION = 1e-9, 1e-4
ABSENT = "absent"
WHOLE = "all"  # in place of a row's key or a column's name: it is missing as a whole

# A row a cell that is not the same: file, key of the row, column, both values as written, how far apart they are, and which
# share of the larger one that is (NaN where one is no number).
COLUMNS = ["file", "row", "column", "reference", "here", "difference", "share"]
_SIDES = ["reference", "here"]

_CAUSES = {
    "settings": "other settings",
    "datasets": "other data",
    "libraries": "other locked versions",
    "processor": "another processor or other kernels",
}
_WHICH_DATASETS = ("settings.datasets", "settings.exclude")


def read_table(path: Path) -> pd.DataFrame:
    """A CSV file as text, digits and all; what a short line lacks is empty."""
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False).fillna("")
    except (OSError, ValueError) as error:  # pandas' own errors are ValueErrors
        raise ClusterletsError(f"{path} cannot be read as a table: {' '.join(str(error).split())}") from None


def tolerance_of(file: str) -> float:
    """What is promised of a result: 0, the same bytes, but for those that hold what scipy and LAPACK computed."""
    if group_of(file) != APPROXIMATE:
        return 0.0
    return TOLERANCE_OF_PROJECTION if "projection" in file else TOLERANCE


def of_tables(file: str, reference: pd.DataFrame, here: pd.DataFrame, tolerance: float = 0.0) -> pd.DataFrame:
    """The cells of two tables of text that differ, as :data:`COLUMNS`; a row or column that one lacks is one difference.

    Rows belong together by the leading columns that tell them apart. Two numbers are equal when they are no further
    apart than ``tolerance``, or than ``tolerance`` times the larger one where that is above 1; without a tolerance, when
    they are written alike.
    """
    keys = _key_columns(reference, here)
    cells = pd.concat([_by_cell(reference, keys), _by_cell(here, keys)], axis=1, keys=_SIDES)
    numbers = cells.apply(pd.to_numeric, errors="coerce")
    apart = (numbers["here"] - numbers["reference"]).abs()
    larger = numbers.abs().max(axis=1)
    near = (apart <= tolerance * larger.clip(lower=1)) & (tolerance > 0)
    equal = (cells["reference"] == cells["here"]) | near
    lone_row = cells.isna().groupby("row").transform("all").any(axis=1)
    lone_column = cells.index.get_level_values("column").isin(reference.columns.symmetric_difference(here.columns))
    found = cells.assign(difference=apart, share=apart / larger)[~(equal | lone_row | lone_column)].reset_index()
    whole = [_as_one(cells[lone_row], "row"), _as_one(cells[lone_column & ~lone_row], "column")]
    return pd.concat([*whole, found], ignore_index=True).assign(file=file)[COLUMNS]


def _key_columns(reference: pd.DataFrame, here: pd.DataFrame) -> list[str]:
    """Leading columns that tell the rows of both tables apart, without those that add nothing; none where they do not."""

    def tell_apart(columns: list[str]) -> bool:
        return bool(columns) and not any(frame.duplicated(columns).any() for frame in (reference, here))

    shared = [str(column) for column in reference if column in here]
    keys = next((shared[:number] for number in range(1, len(shared) + 1) if tell_apart(shared[:number])), [])
    for column in reversed(keys):
        fewer = [key for key in keys if key != column]
        keys = fewer if tell_apart(fewer) else keys
    return keys


def _by_cell(table: pd.DataFrame, keys: list[str]) -> pd.Series:
    """All values, by key of the row and name of the column."""
    names = table[keys].agg(", ".join, axis=1) if keys and len(table) else [f"line {n + 2}" for n in range(len(table))]
    table = table.set_axis(pd.Index(names, name="row"), axis=0).rename_axis(columns="column")
    return pd.Series(table.stack(future_stack=True))


def _as_one(cells: pd.DataFrame, name: str) -> pd.DataFrame:
    """A difference for each whole row, or column, that only one of the tables has."""
    there = cells.notna().groupby(name, sort=False).any()
    shown = there.map(lambda found: "there" if found else ABSENT).reset_index()
    return shown.assign(**{"row": WHOLE, "column": WHOLE} | {name: shown[name]}, difference=np.nan, share=np.nan)


def of_manifests(reference: Mapping, here: Mapping) -> list[tuple[str, str, str]]:
    """What two manifests say differently of settings, versions, data and processor: its name, the reference's, this run's.

    A dataset that only one of them has is told by the list of datasets in the settings, and not entry by entry. A manifest
    without a processor, as they once were, says nothing of it.
    """
    shared = reference["datasets"].keys() & here["datasets"].keys()
    found = []
    for part in ("settings", "datasets", "libraries", "processor"):
        if part not in reference or part not in here:
            continue
        ours, theirs = (_flat(_of_datasets(manifest, shared)[part], part) for manifest in (here, reference))
        names = [*theirs, *(name for name in ours if name not in theirs)]
        both = [(name, theirs.get(name, ABSENT), ours.get(name, ABSENT)) for name in names]
        found += [entry for entry in both if entry[1] != entry[2]]
    return found


def _of_datasets(manifest: Mapping, names: Container[str]) -> dict:
    def only(entries: Mapping) -> dict:
        return {name: entry for name, entry in entries.items() if name in names}

    settings = {**manifest["settings"], "tables": only(manifest["settings"].get("tables", {}))}
    return {**manifest, "settings": settings, "datasets": only(manifest["datasets"])}


def _flat(values: Mapping, inside: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in values.items():
        name = f"{inside}.{key}"
        found |= _flat(value, name) if isinstance(value, Mapping) else {name: str(value)}
    return found


def cause(reference: Mapping, here: Mapping) -> str:
    """What most likely made two runs differ, by their manifests. Which datasets they have changes no row of the others."""
    told = [entry for entry in of_manifests(reference, here) if not entry[0].startswith(_WHICH_DATASETS)]
    parts = []
    for part, words in _CAUSES.items():
        entries = [entry for entry in told if entry[0].startswith(f"{part}.")]
        if entries:
            more = ", ..." if len(entries) > 1 else ""
            name, theirs, ours = entries[0]
            parts.append(f"{words} ({name.removeprefix(f'{part}.')}: {theirs} -> {ours}{more})")
    if parts:
        return " or ".join(parts)
    if "processor" in reference and "processor" in here:
        return "a change of code, as settings, data, versions and processor are the same"
    return "a change of code, or another processor: not both manifests say which; settings, data and versions are the same"


def of_bytes(reference: Mapping, here: Mapping, files: Iterable[str]) -> dict[str, list[str]]:
    """Some of two manifests' files by what became of them: ``same``, ``different``, ``reference only``, ``here only``."""
    files = list(files)
    theirs, ours = ({file: found[file] for file in files if file in found} for found in map(hashes, (reference, here)))
    return {
        "same": [file for file in theirs if ours.get(file) == theirs[file]],
        "different": [file for file in theirs if file in ours and ours[file] != theirs[file]],
        "reference only": [file for file in theirs if file not in ours],
        "here only": [file for file in ours if file not in theirs],
    }
