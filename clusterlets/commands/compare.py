"""``clusterlets compare``: a run's numbers beside those of a reference, the largest differences first."""

import argparse
import sys
from pathlib import Path

import pandas as pd

from clusterlets.benchmark import differences, manifest
from clusterlets.errors import ClusterletsError

_EPILOG = """
Every CSV file of REFERENCE is held against the file of that name in RESULTS; then the manifests of both, where they have
one. The status is 0 where all tables are equal within the tolerance, 1 where they are not, 2 where they cannot be compared.
Other settings, versions and bytes are told, and alone are no difference: the numbers decide.

example: clusterlets compare docs/reference results
"""


def main(arguments: list[str]) -> int:
    """Show how a run's tables, verdicts, settings and versions differ from a reference's."""
    parser = argparse.ArgumentParser(
        "clusterlets compare",
        description=main.__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("reference", metavar="REFERENCE", type=Path, help="folder, docs/reference say")
    parser.add_argument("results", metavar="RESULTS", type=Path, help="results folder of a run")
    parser.add_argument("--tolerance", type=float, default=differences.TOLERANCE, help="default: %(default)g")
    parser.add_argument("--most", metavar="N", type=int, default=20, help="differences to show of a kind (default: 20)")
    options = parser.parse_args(arguments)
    try:
        return _compare(options)
    except ClusterletsError as error:
        print(f"clusterlets compare: {error}", file=sys.stderr)
        return 2


def _compare(options: argparse.Namespace) -> int:
    files = _files(options.reference, options.results)
    found = [_of_file(options, file) for file in files]
    same = sum(_same_bytes(options, file) for file in files)
    differing = sum(len(frame) > 0 for frame in found)
    print(f"{len(files)} tables: {same} have the same bytes, {len(files) - same - differing} are equal", end=" ")
    print(f"to {options.tolerance:g}, {differing} differ.")
    cells = pd.concat(found, ignore_index=True)
    _show(cells, options.most)
    _show_manifests(options)
    return 1 if differing else 0


def _files(reference: Path, results: Path) -> list[str]:
    for folder in (reference, results):
        if not folder.is_dir():
            raise ClusterletsError(f"there is no folder {folder}. docs/reference/README.md says how to compare.")
    files = sorted(path.relative_to(reference).as_posix() for path in reference.rglob("*.csv"))
    if not files:
        raise ClusterletsError(f"{reference} holds no table (.csv) to compare with. `make reference` copies those of a run.")
    if not any((results / file).is_file() for file in files):
        raise ClusterletsError(f"{results} has none of the tables of {reference}. Is it the results folder of a finished run?")
    return files


def _of_file(options: argparse.Namespace, file: str) -> pd.DataFrame:
    here = options.results / file
    if not here.is_file():
        missing = {"file": file, "row": differences.WHOLE, "column": differences.WHOLE, "difference": float("nan")}
        return pd.DataFrame([{**missing, "reference": "there", "here": differences.ABSENT}])
    tables = (differences.read_table(options.reference / file), differences.read_table(here))
    return differences.of_tables(file, *tables, options.tolerance)


def _same_bytes(options: argparse.Namespace, file: str) -> bool:
    here = options.results / file
    return here.is_file() and here.read_bytes() == (options.reference / file).read_bytes()


def _show(cells: pd.DataFrame, most: int) -> None:
    """Absent things, changed verdicts, numbers by how far they are apart, and other text."""
    absent = (cells[["reference", "here"]] == differences.ABSENT).any(axis=1)
    verdict = cells["column"].str.contains("verdict") & ~absent
    numbers = cells[cells["difference"].notna() & ~absent & ~verdict].sort_values("difference", ascending=False, kind="stable")
    kinds = {
        "on one side only": cells[absent],
        "verdicts that changed": cells[verdict],
        "numbers, the largest difference first": numbers,
        "other text": cells[cells["difference"].isna() & ~absent & ~verdict],
    }
    for kind, found in kinds.items():
        if len(found):
            print(f"\n{kind} ({len(found)}):")
            for cell in found.head(most).to_dict("records"):
                by = "" if pd.isna(cell["difference"]) else f" (by {cell['difference']:.3g})"
                where = f"{cell['file']}: {cell['row']}: {cell['column']}"
                print(f"  {where}: {_short(cell['reference'])} -> {_short(cell['here'])}{by}")
            if len(found) > most:
                print(f"  and {len(found) - most} more; --most {len(found)} shows all")


def _show_manifests(options: argparse.Namespace) -> None:
    paths = [folder / manifest.NAME for folder in (options.reference, options.results)]
    absent = [str(path) for path in paths if not path.is_file()]
    if absent:
        print(f"\nSettings and versions were not compared: there is no {' and no '.join(absent)}.")
        return
    reference, here = map(manifest.read, paths)
    told = differences.of_manifests(reference, here)
    print(f"\nsettings, versions and data that differ ({len(told)}):" if told else "\nThe same settings, versions and data.")
    for name, theirs, ours in told:
        print(f"  {name}: {_short(theirs)} -> {_short(ours)}")
    became = differences.of_bytes(reference, here)
    print("files by their hashes:", ", ".join(f"{len(files):,} {kind}" for kind, files in became.items()))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
