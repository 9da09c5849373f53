"""``clusterlets compare``: whether a run's numbers are those of a reference; if not, what differs, changed verdicts first."""

import argparse
import sys
from collections.abc import Mapping
from math import inf
from pathlib import Path, PurePosixPath

import pandas as pd

from clusterlets.benchmark.analysis import differences
from clusterlets.benchmark.provenance import manifest
from clusterlets.commands import cli
from clusterlets.errors import ClusterletsError
from clusterlets.text import counted, cut

# Folders whose tables are not read: runs.csv has the rows of the cells, and no manifest promises the other folders.
_UNREAD_FOLDERS = ("runs", "variants", "accounts", "logs")
_MAX_CHARACTERS = 60  # of a value that is shown
# Parts of the names of columns with what is judged: claims have verdicts, numbers of the paper are inside our ranges or not.
_VERDICTS = ("verdict", "inside")

_EPILOG = f"""
The files that a manifest lists as numbers or approximate are promised: every machine reproduces them.

Every promised table (CSV) of REFERENCE is compared with the file of the same name in RESULTS. Tables must be the same byte for
byte, or within {differences.TOLERANCE:g} if scipy computes them (statistics/). All other promised numbers are compared by their
hashes in the manifests; all cells of a method on a dataset share one hash.

The status is 0 if all promised numbers are the same, 1 if some differ, and 2 if they cannot be compared. It does not depend on
settings or versions, nor on figures, the report, the list of datasets and accounts, which are not promised.

example: clusterlets compare reference/paper results
"""


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
    if reference and run and reference["datasets"].keys() != run["datasets"].keys():
        raise ClusterletsError(
            f"{options.reference} and {options.results} are runs on different datasets ({', '.join(reference['datasets'])}; "
            f"{', '.join(run['datasets'])}), so what is averaged over datasets must differ. Run the same datasets."
        )
    tables = _list_tables(options, reference)
    differing = pd.concat([_compare_table(options, file) for file in tables], ignore_index=True)
    by_hash: dict[str, tuple[str, str]] = {}
    if reference and run:
        others = {**manifest.hashes(reference), **manifest.hashes(run)}.keys() - set(tables)
        numbers = sorted(file for file in others if manifest.group_of(file) == manifest.NUMBERS)
        by_hash = differences.differing_hashes(reference, run, numbers)
    same = differing.empty and (options.tolerance > 0 or not by_hash)
    print("The numbers are the same." if same else "The numbers differ.", end=" ")
    n_differing = differing["file"].nunique()
    print(f"{counted(len(tables), 'table')}: {len(tables) - n_differing} as promised, {n_differing} different.")
    for heading, is_verdict in (("changed verdicts", True), ("other differences", False)):
        rows = [row for row in differing.itertuples() if any(name in row.column for name in _VERDICTS) == is_verdict]
        _show(heading, [f"{row.file}: {row.row}: {row.column}: {_change(row.reference, row.run)}" for row in rows], options)
    _show("different by hash", [f"{file}: {_change(*sides)}" for file, sides in by_hash.items()], options)
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


def _compare_table(options: argparse.Namespace, file: str) -> pd.DataFrame:
    """The cells of a table that differ by more than the given tolerance, or by more than the promised one if that is larger."""
    reference_path, run_path = options.reference / file, options.results / file
    tolerance = max(options.tolerance, differences.TOLERANCE if manifest.group_of(file) == manifest.APPROXIMATE else 0.0)
    whole = differences.WHOLE, differences.WHOLE
    if not run_path.is_file():
        differing = pd.DataFrame([(*whole, differences.PRESENT, differences.ABSENT)], columns=differences.COLUMNS)
    elif reference_path.read_bytes() == run_path.read_bytes():
        differing = pd.DataFrame(columns=differences.COLUMNS)
    else:
        reference, run = differences.read_table(reference_path), differences.read_table(run_path)
        differing = differences.compare_tables(reference, run, tolerance)
        if differing.empty and not tolerance:
            same_values = (*whole, "these bytes", "the same values in other bytes")
            differing = pd.DataFrame([same_values], columns=differences.COLUMNS)
    return differing.assign(file=file)


# ---- what is printed -------------------------------------------------------------------------------------------------


def _change(before: str, after: str) -> str:
    return f"{cut(before, _MAX_CHARACTERS)} -> {cut(after, _MAX_CHARACTERS)}"


def _show(heading: str, lines: list[str], options: argparse.Namespace) -> None:
    """Print at most ``options.most`` lines below a heading with their number, and how to see the others."""
    if not lines:
        return
    print(f"\n{heading} ({len(lines)}):", *lines[: options.most], sep="\n  ")
    if len(lines) > options.most:
        print(f"  and {len(lines) - options.most} more; --most {len(lines)} shows all")


def _show_manifests(options: argparse.Namespace, reference: Mapping, run: Mapping) -> None:
    if not (reference and run):
        paths = [folder / manifest.NAME for folder in (options.reference, options.results)]
        absent = [str(path) for path in paths if not path.is_file()]
        print(f"\nSettings and versions were not compared: there is no {' and no '.join(absent)}.")
        return
    entries = differences.compare_manifests(reference, run)
    compared = "settings, data, versions and processor"
    if not entries:
        print(f"\nThe same {compared}.")
    _show(f"{compared} that differ", [f"{name}: {_change(before, now)}" for name, before, now in entries], options)
