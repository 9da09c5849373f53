"""``clusterlets compare``: whether a run's numbers are those of a reference; if not, what differs, changed verdicts first."""

import argparse
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from math import inf
from pathlib import Path, PurePosixPath

import numpy as np
import pandas as pd

from clusterlets.benchmark.analysis import differences
from clusterlets.benchmark.provenance import manifest
from clusterlets.commands import cli
from clusterlets.errors import ClusterletsError
from clusterlets.text import counted, cut

_CELLS_FOLDER = "runs"
# Folders whose tables are not read: runs.csv has the rows of the cells, and no manifest promises the other folders.
_UNREAD_FOLDERS = (_CELLS_FOLDER, "variants", "accounts", "logs")
_MAX_CHARACTERS = 60  # of a value that is shown
_VERDICT = "verdict"
_VERDICT_COLUMNS = "verdict|inside"  # claims have verdicts, and numbers of the paper are inside our ranges or outside
# The kinds of differences besides changed verdicts, in the order in which they are shown.
_KINDS = ("on one side only", "numbers, largest relative difference first", "other text")

_EPILOG = f"""
The files that a manifest lists as numbers or approximate are promised: every machine reproduces them.

Every promised table (CSV) of REFERENCE is compared with the file of the same name in RESULTS. Tables must be the same byte for
byte, or within {differences.TOLERANCE:g} if scipy computes them (statistics/). All other promised numbers are compared by their
hashes in the manifests; all cells of a method on a dataset share one hash.

The status is 0 if all promised numbers are the same, 1 if some differ, and 2 if they cannot be compared. It does not depend on
settings or versions, nor on figures, the report, the list of datasets and accounts, which are not promised.

If the manifests name different datasets, only the rows and cells of their common datasets are compared, and no averages over
datasets. Differences are sorted by their ratio to the larger number.

example: clusterlets compare reference/paper results
"""


@dataclass(frozen=True, eq=False)
class _Pair:
    """A table of the reference and the run's table of the same name (None if absent), as text."""

    file: str
    reference: pd.DataFrame
    run: pd.DataFrame | None
    same: bool  # whether the files have the same bytes or, after a restriction to some datasets, the same rows

    @property
    def must_match_exactly(self) -> bool:
        """Whether the same bytes are promised, not just numbers within a tolerance."""
        return differences.tolerance_of(self.file) == 0

    def differing_cells(self, tolerance: float = 0.0) -> pd.DataFrame:
        """The cells that differ by more than the tolerance, or by more than the promised one if that is larger."""
        if self.same:
            return pd.DataFrame(columns=differences.COLUMNS)
        if self.run is None:
            return self._whole_file_difference(differences.PRESENT, differences.ABSENT)
        tolerance = max(tolerance, differences.tolerance_of(self.file))
        differing = differences.compare_tables(self.file, self.reference, self.run, tolerance)
        if tolerance or len(differing):
            return differing
        return self._whole_file_difference("these bytes", "the same values in other bytes")

    def _whole_file_difference(self, reference: str, run: str) -> pd.DataFrame:
        row = (self.file, differences.WHOLE, differences.WHOLE, reference, run, np.nan, np.nan)
        return pd.DataFrame([row], columns=differences.COLUMNS)


def main(arguments: list[str]) -> int:
    """Compare a run's numbers with a reference's; if they differ, show changed verdicts, numbers and settings."""
    parser = cli.parser("compare", main.__doc__, _EPILOG)
    parser.add_argument("reference", metavar="REFERENCE", type=Path, help="folder, such as reference/paper")
    parser.add_argument("results", metavar="RESULTS", type=Path, help="results folder of a run")
    parser.add_argument(
        "--tolerance",
        type=cli.decimal_number(lambda value: 0 <= value < inf, "a number of 0 or more"),
        default=0.0,
        help="accept numbers that differ by no more than this, and ignore hashes (default: 0)",
    )
    parser.add_argument(
        "--most", metavar="N", type=cli.whole_number(0), default=20, help="differences of each kind to show (default: 20)"
    )
    options = parser.parse_args(arguments)
    try:
        return _compare(options)
    except ClusterletsError as error:
        print(f"clusterlets compare: {error}", file=sys.stderr)
        return 2


def _compare(options: argparse.Namespace) -> int:
    reference, run = _read_manifest(options.reference), _read_manifest(options.results)
    pairs = [_read_pair(options, file) for file in _list_tables(options, reference)]
    hashes: dict[str, list[str]] = {}
    if reference and run:
        datasets = _datasets_to_compare(options, reference, run)
        pairs = pairs if datasets is None else _restrict_to_datasets(datasets, pairs)
        hashes = _compare_hashes(reference, run, {pair.file for pair in pairs}, datasets)
    tables = [pair.differing_cells(options.tolerance) for pair in pairs]
    # If no table differs, the result is empty, but has the columns.
    differing = pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)
    differing_files = {kind: files for kind, files in hashes.items() if files and kind != "same"}
    same = differing.empty and (options.tolerance > 0 or not differing_files)
    kinds = _classify(differing)
    if same:
        print("The numbers are the same.")
    else:
        _show_verdicts(pairs, differing[kinds == _VERDICT], options.most)
    _show_counts(pairs, hashes)
    for kind in _KINDS:
        differing_of_kind = differing[kinds == kind].sort_values("share", ascending=False, kind="stable")
        if len(differing_of_kind):
            print(f"\n{kind} ({len(differing_of_kind)}):")
            _show_differences(differing_of_kind, options.most)
    for kind, files in differing_files.items():
        print(f"\n{'different by hash' if kind == 'different' else f'in the {kind}'} ({len(files)}):")
        _show(files, len(files), options.most)
    _show_manifests(options, reference, run)
    return 0 if same else 1


# ---- what is compared ------------------------------------------------------------------------------------------------


def _read_manifest(folder: Path) -> dict:
    """The manifest of a folder; empty if there is none."""
    return manifest.read(folder / manifest.NAME) if (folder / manifest.NAME).is_file() else {}


def _list_tables(options: argparse.Namespace, reference: Mapping) -> list[str]:
    """The reference's tables to compare. Without a manifest, all of them count as promised."""
    for folder in (options.reference, options.results):
        if not folder.is_dir():
            raise ClusterletsError(f"there is no folder {folder}. reference/README.md says how to compare.")
    files = [path.relative_to(options.reference).as_posix() for path in sorted(options.reference.rglob("*.csv"))]
    promised = manifest.hashes(reference) if reference else files
    files = [file for file in files if file in promised and PurePosixPath(file).parts[0] not in _UNREAD_FOLDERS]
    files = [file for file in files if manifest.group_of(file) in (manifest.NUMBERS, manifest.APPROXIMATE)]
    if not files:
        raise ClusterletsError(
            f"{options.reference} holds no promised table (.csv) to compare with. `make reference` copies a run's tables there."
        )
    if not any((options.results / file).is_file() for file in files):
        raise ClusterletsError(
            f"{options.results} has none of the tables of {options.reference}. Is it the results folder of a finished run?"
        )
    return files


def _read_pair(options: argparse.Namespace, file: str) -> _Pair:
    reference_path, run_path = options.reference / file, options.results / file
    reference = differences.read_table(reference_path)
    if not run_path.is_file():
        return _Pair(file, reference, None, False)
    same = reference_path.read_bytes() == run_path.read_bytes()
    return _Pair(file, reference, differences.read_table(run_path), same)


def _datasets_to_compare(options: argparse.Namespace, reference: Mapping, run: Mapping) -> list[str] | None:
    """Print and return the datasets that both runs have. None if their datasets are the same: then all rows are compared."""
    reference_datasets, run_datasets = reference["datasets"], run["datasets"]
    if reference_datasets.keys() == run_datasets.keys():
        return None
    common = [name for name in reference_datasets if name in run_datasets]
    if not common:
        raise ClusterletsError(
            f"{options.reference} ({', '.join(reference_datasets)}) and {options.results} ({', '.join(run_datasets)}) have no "
            "dataset in common."
        )
    print(f"{counted(len(common), 'dataset')} in both, whose rows are compared: {', '.join(common)}.", end=" ")
    n_reference_only, n_run_only = (len(names) - len(common) for names in (reference_datasets, run_datasets))
    print(f"{options.reference} has {n_reference_only} more, {options.results} {n_run_only}.")
    return common


def _restrict_to_datasets(datasets: list[str], pairs: list[_Pair]) -> list[_Pair]:
    """Keep each table's rows of these datasets. Print which averages over datasets are therefore not compared."""

    def select_rows(table: pd.DataFrame | None) -> pd.DataFrame | None:
        if table is None or "dataset" not in table:
            return table
        return table[table["dataset"].isin(datasets)].reset_index(drop=True)

    restricted, averages, incomplete = [], [], []
    for pair in pairs:
        if "dataset" not in pair.reference:
            averages.append(pair.file)
            continue
        if (pair.reference["dataset"] == "").any():
            incomplete.append(f"rows of {pair.file} without a dataset")
        reference, run = select_rows(pair.reference), select_rows(pair.run)
        restricted.append(_Pair(pair.file, reference, run, run is not None and run.equals(reference)))
    if not restricted:
        raise ClusterletsError("no table of the reference says which dataset its rows belong to.")
    if averages or incomplete:
        print(f"Not compared, as they average over different datasets: {', '.join(averages + incomplete)}.")
    return restricted


def _compare_hashes(
    reference: Mapping, run: Mapping, tables: Collection[str], datasets: Collection[str] | None
) -> dict[str, list[str]]:
    """Compare promised numbers outside the tables by their hashes. If ``datasets`` are given, compare only their cells."""
    files = [file for file in {**manifest.hashes(reference), **manifest.hashes(run)} if file not in tables]
    files = [file for file in files if manifest.group_of(file) == manifest.NUMBERS]
    if datasets is not None:
        files = [
            file for file in files if PurePosixPath(file).parts[0] == _CELLS_FOLDER and PurePosixPath(file).parts[1] in datasets
        ]
    return differences.compare_hashes(reference, run, files)


# ---- what is printed -------------------------------------------------------------------------------------------------


def _classify(differing: pd.DataFrame) -> np.ndarray:
    """The kind of each difference: a changed verdict, or one of _KINDS."""
    absent = (differing[["reference", "run"]] == differences.ABSENT).any(axis=1)
    is_verdict = differing["column"].str.contains(_VERDICT_COLUMNS).astype(bool)
    one_side, number, text = _KINDS
    return np.select([absent, is_verdict, differing["difference"].notna()], [one_side, _VERDICT, number], text)


def _show_verdicts(pairs: list[_Pair], changed: pd.DataFrame, limit: int) -> None:
    tables = [pair.reference for pair in pairs if pair.must_match_exactly]
    total = sum(len(table) * int(table.columns.str.contains(_VERDICT_COLUMNS).sum()) for table in tables)
    if total:
        print(f"Verdicts: {len(changed) or 'none'} of {total} changed{':' if len(changed) else '.'}")
    _show_differences(changed, limit)


def _show_counts(pairs: list[_Pair], hashes: Mapping[str, list[str]]) -> None:
    exact = [pair for pair in pairs if pair.must_match_exactly]
    approximate = [pair for pair in pairs if not pair.must_match_exactly]
    n_same = sum(pair.same for pair in exact)
    n_close = sum(not pair.same and pair.differing_cells(differences.TOLERANCE).empty for pair in exact)
    print(f"{counted(len(exact), 'table')}: {n_same} the same to the last digit,", end=" ")
    print(f"{n_close} equal within {differences.TOLERANCE:g}, {len(exact) - n_same - n_close} different.")
    if approximate:
        n_within = sum(pair.differing_cells().empty for pair in approximate)
        print(f"{counted(len(approximate), 'table')} promised within a tolerance: {n_within} within it.")
    if hashes:
        outcomes = [f"{len(files):,} {kind}" for kind, files in hashes.items() if files or kind in ("same", "different")]
        print(f"Other promised files and folders of cells, by their hashes: {', '.join(outcomes)}.")


def _show_differences(differing: pd.DataFrame, limit: int) -> None:
    lines = []
    for cell in differing.head(limit).to_dict("records"):
        distance = "" if pd.isna(cell["difference"]) else f" (by {cell['difference']:.3g}, {100 * cell['share']:.3g} %)"
        where = f"{cell['file']}: {cell['row']}: {cell['column']}"
        lines.append(f"{where}: {cut(cell['reference'], _MAX_CHARACTERS)} -> {cut(cell['run'], _MAX_CHARACTERS)}{distance}")
    _show(lines, len(differing), limit)


def _show(lines: Iterable[str], total: int, limit: int) -> None:
    """Print at most ``limit`` of the ``total`` lines, and how to see the others."""
    for line in islice(lines, limit):
        print(f"  {line}")
    if total > limit:
        print(f"  and {total - limit} more; --most {total} shows all")


def _show_manifests(options: argparse.Namespace, reference: Mapping, run: Mapping) -> None:
    if not (reference and run):
        paths = [folder / manifest.NAME for folder in (options.reference, options.results)]
        absent = [str(path) for path in paths if not path.is_file()]
        print(f"\nSettings and versions were not compared: there is no {' and no '.join(absent)}.")
        return
    entries = differences.compare_manifests(reference, run)
    compared = "settings, data, versions and processor"
    print(f"\n{compared} that differ ({len(entries)}):" if entries else f"\nThe same {compared}.")
    lines = [f"{name}: {cut(before, _MAX_CHARACTERS)} -> {cut(now, _MAX_CHARACTERS)}" for name, before, now in entries]
    _show(lines, len(lines), options.most)
    files = [file for file in manifest.hashes(run) if manifest.group_of(file) in (manifest.FIGURES, manifest.SOURCES)]
    differing = differences.compare_hashes(reference, run, files)["different"]
    if differing:
        print(f"Not promised: {counted(len(differing), 'figure or page', 'figures and pages')} of {len(files)} differ.")
