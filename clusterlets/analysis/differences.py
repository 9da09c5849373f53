"""Two runs side by side: which cells of their tables differ, by how much, and how their settings and inputs differ."""

from collections.abc import Container, Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from clusterlets.errors import ClusterletsError
from clusterlets.provenance.manifest import APPROXIMATE, group_of, hashes

#: Allowed difference of two numbers in results of SciPy, and in the projection, which LAPACK gives to five digits.
TOLERANCE, TOLERANCE_OF_PROJECTION = 1e-9, 1e-4
PRESENT, ABSENT = "present", "absent"
WHOLE = "all"  # in place of a row's key or a column's name: a whole column or row is missing

# One row for each cell that differs: file, key of the row, column, both values as written, their distance, and the distance
# as a share of the larger value (NaN if one is not a number).
COLUMNS = ["file", "row", "column", "reference", "run", "difference", "share"]
_SIDES = ["reference", "run"]

_CAUSES = {
    "settings": "different settings",
    "datasets": "different data",
    "libraries": "different locked versions",
    "processor": "a different processor or kernels",
    "user_files": "different user-defined methods",
}
_DATASET_LISTS = ("settings.datasets", "settings.exclude")


def read_table(path: Path) -> pd.DataFrame:
    """A CSV file as text, which keeps every digit; missing cells of a short line are empty."""
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False).fillna("")
    except (OSError, ValueError) as error:  # pandas' own errors are ValueErrors
        raise ClusterletsError(f"{path} cannot be read as a table: {' '.join(str(error).split())}") from None


def tolerance_of(file: str) -> float:
    """How far a result may be off: 0 (the same bytes), except for results of scipy and LAPACK."""
    if group_of(file) != APPROXIMATE:
        return 0.0
    return TOLERANCE_OF_PROJECTION if "projection" in file else TOLERANCE


def compare_tables(file: str, reference: pd.DataFrame, run: pd.DataFrame, tolerance: float = 0.0) -> pd.DataFrame:
    """Cells that differ between two tables of text, as :data:`COLUMNS`; a row or column that one lacks is one difference.

    Rows are matched by the leading columns that identify them. Two numbers are equal if they are no further
    apart than ``tolerance``, or than ``tolerance`` times the larger one if that is above 1; without a tolerance, if
    they are written alike.
    """
    keys = _key_columns(reference, run)
    cells = pd.concat([_by_cell(reference, keys), _by_cell(run, keys)], axis=1, keys=_SIDES)
    numbers = cells.apply(pd.to_numeric, errors="coerce")
    distance = (numbers["run"] - numbers["reference"]).abs()
    larger = numbers.abs().max(axis=1)
    within_tolerance = (distance <= tolerance * larger.clip(lower=1)) & (tolerance > 0)
    equal = (cells["reference"] == cells["run"]) | within_tolerance
    in_lone_row = cells.isna().groupby("row").transform("all").any(axis=1)
    in_lone_column = cells.index.get_level_values("column").isin(reference.columns.symmetric_difference(run.columns))
    differences = cells.assign(difference=distance, share=distance / larger)
    differing = differences[~(equal | in_lone_row | in_lone_column)].reset_index()
    whole = [_lone_differences(cells[in_lone_row], "row"), _lone_differences(cells[in_lone_column & ~in_lone_row], "column")]
    return pd.concat([*whole, differing], ignore_index=True).assign(file=file)[COLUMNS]


def _key_columns(reference: pd.DataFrame, run: pd.DataFrame) -> list[str]:
    """Leading columns that identify the rows of both tables, without redundant ones; none if no columns do."""

    def identify(columns: list[str]) -> bool:
        return bool(columns) and not any(frame.duplicated(columns).any() for frame in (reference, run))

    shared = [str(column) for column in reference if column in run]
    keys = next((shared[:number] for number in range(1, len(shared) + 1) if identify(shared[:number])), [])
    for column in reversed(keys):
        fewer = [key for key in keys if key != column]
        keys = fewer if identify(fewer) else keys
    return keys


def _by_cell(table: pd.DataFrame, keys: list[str]) -> pd.Series:
    """All values, by the row's key and the column's name."""
    names = table[keys].agg(", ".join, axis=1) if keys and len(table) else [f"line {n + 2}" for n in range(len(table))]
    table = table.set_axis(pd.Index(names, name="row"), axis=0).rename_axis(columns="column")
    return pd.Series(table.stack(future_stack=True))


def _lone_differences(cells: pd.DataFrame, name: str) -> pd.DataFrame:
    """One difference for each whole row, or column, that only one of the tables has."""
    presence = cells.notna().groupby(name, sort=False).any()
    presence = presence.map(lambda is_present: PRESENT if is_present else ABSENT).reset_index()
    return presence.assign(**{"row": WHOLE, "column": WHOLE} | {name: presence[name]}, difference=np.nan, share=np.nan)


def compare_manifests(reference: Mapping, run: Mapping) -> list[tuple[str, str, str]]:
    """What differs between two manifests, apart from their files: name, the reference's value, this run's.

    A dataset that only one of them has is a single difference: in the settings' list of datasets.
    """
    shared = reference["datasets"].keys() & run["datasets"].keys()
    differing = []
    for section in _CAUSES:
        contents = (_restrict_to_datasets(manifest, shared).get(section, {}) for manifest in (reference, run))
        of_reference, of_run = (_flatten(content, section) for content in contents)
        names = [*of_reference, *(name for name in of_run if name not in of_reference)]
        entries = [(name, of_reference.get(name, ABSENT), of_run.get(name, ABSENT)) for name in names]
        differing += [entry for entry in entries if entry[1] != entry[2]]
    return differing


def _restrict_to_datasets(manifest: Mapping, names: Container[str]) -> dict:
    def only(entries: Mapping) -> dict:
        return {name: entry for name, entry in entries.items() if name in names}

    settings = {**manifest["settings"], "tables": only(manifest["settings"].get("tables", {}))}
    return {**manifest, "settings": settings, "datasets": only(manifest["datasets"])}


def _flatten(values: Mapping, prefix: str) -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in values.items():
        name = f"{prefix}.{key}"
        flat |= _flatten(value, name) if isinstance(value, Mapping) else {name: str(value)}
    return flat


def likely_cause(reference: Mapping, run: Mapping) -> str:
    """The most likely cause of a difference between two runs, by their manifests.

    The lists of datasets do not count, because no dataset changes the rows of another.
    """
    differing = [entry for entry in compare_manifests(reference, run) if not entry[0].startswith(_DATASET_LISTS)]
    causes = []
    for section, description in _CAUSES.items():
        entries = [entry for entry in differing if entry[0].startswith(f"{section}.")]
        if entries:
            ellipsis = ", ..." if len(entries) > 1 else ""
            name, of_reference, of_run = entries[0]
            causes.append(f"{description} ({name.removeprefix(f'{section}.')}: {of_reference} -> {of_run}{ellipsis})")
    if causes:
        return " or ".join(causes)
    return "a change of the code: settings, data, versions and processor are the same"


def compare_hashes(reference: Mapping, run: Mapping, files: Iterable[str]) -> dict[str, list[str]]:
    """Some files of two manifests by hash: ``same``, ``different``, ``reference only`` and ``run only``."""
    files = list(files)
    of_reference, of_run = (
        {file: digests[file] for file in files if file in digests} for digests in map(hashes, (reference, run))
    )
    return {
        "same": [file for file in of_reference if of_run.get(file) == of_reference[file]],
        "different": [file for file in of_reference if file in of_run and of_run[file] != of_reference[file]],
        "reference only": [file for file in of_reference if file not in of_run],
        "run only": [file for file in of_run if file not in of_reference],
    }
