"""``clusterlets compare``: a run's numbers beside those of a reference, the largest differences first."""

import argparse
import sys
from pathlib import Path

import pandas as pd

from clusterlets.benchmark import differences, manifest
from clusterlets.benchmark.words import counted
from clusterlets.errors import ClusterletsError

#: Of each file the reference's table and this run's, where it has one.
_Pairs = dict[str, tuple[pd.DataFrame, pd.DataFrame | None]]

_EPILOG = """
Every CSV file of REFERENCE is held against the file of that name in RESULTS; then the manifests of both, where they have
one. The status is 0 where all tables are equal within the tolerance, 1 where they are not, 2 where they cannot be compared.
Other settings, versions and bytes are told, and alone are no difference: the numbers decide.

Where the manifests name other datasets, only rows of datasets that both have are compared; what is averaged over datasets is
not. The differences are shown by their share of the larger number.

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
    common = _common_datasets(options)
    pairs = {file: (differences.read_table(options.reference / file), _read_here(options, file)) for file in files}
    if common:
        pairs = _over(common, pairs)
    if not pairs:
        raise ClusterletsError(f"no table of {options.reference} says of which dataset its rows are.")
    found = [_of_pair(file, *pair, options.tolerance) for file, pair in pairs.items()]
    same = sum(reference.equals(here) for reference, here in pairs.values())
    differing = sum(len(frame) > 0 for frame in found)
    print(f"{counted(len(pairs), 'table')}: {same} the same to the last digit,", end=" ")
    print(f"{len(pairs) - same - differing} equal to {options.tolerance:g}, {differing} different.")
    _show(pd.concat(found, ignore_index=True), options.most)
    _show_manifests(options)
    return 1 if differing else 0


def _common_datasets(options: argparse.Namespace) -> list[str]:
    """Datasets of both runs, said first, where their manifests name other ones; none where all is to be compared."""
    paths = [folder / manifest.NAME for folder in (options.reference, options.results)]
    if not all(path.is_file() for path in paths):
        return []
    theirs, ours = (manifest.read(path)["datasets"] for path in paths)
    if theirs.keys() == ours.keys():
        return []
    common = [name for name in theirs if name in ours]
    if not common:
        raise ClusterletsError(
            f"{options.reference} ({', '.join(theirs)}) and {options.results} ({', '.join(ours)}) have no dataset in common."
        )
    print(f"{counted(len(common), 'dataset')} in both, whose rows are compared: {', '.join(common)}.", end=" ")
    print(f"{options.reference} has {len(theirs) - len(common)} more, {options.results} {len(ours) - len(common)}.")
    return common


def _over(datasets: list[str], pairs: _Pairs) -> _Pairs:
    """The tables' rows of these datasets. What is over other datasets, and so not compared, is named."""
    apart = [file for file, (reference, _) in pairs.items() if "dataset" not in reference]
    for file, (reference, _) in pairs.items():
        if file not in apart and (reference["dataset"] == "").any():
            apart.append(f"rows of {file} without a dataset")
    if apart:
        print(f"Not compared, as they are over other datasets: {', '.join(apart)}.")
    found = {file: (_rows_of(datasets, reference), _rows_of(datasets, here)) for file, (reference, here) in pairs.items()}
    return {file: pair for file, pair in found.items() if file not in apart}


def _rows_of(datasets: list[str], table: pd.DataFrame | None) -> pd.DataFrame | None:
    if table is None or "dataset" not in table:
        return table
    return table[table["dataset"].isin(datasets)].reset_index(drop=True)


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


def _read_here(options: argparse.Namespace, file: str) -> pd.DataFrame | None:
    return differences.read_table(options.results / file) if (options.results / file).is_file() else None


def _of_pair(file: str, reference: pd.DataFrame, here: pd.DataFrame | None, tolerance: float) -> pd.DataFrame:
    if here is None:
        whole = dict.fromkeys(("row", "column"), differences.WHOLE)
        missing = {"file": file, **whole, "reference": "there", "here": differences.ABSENT}
        return pd.DataFrame([missing], columns=differences.COLUMNS)
    return differences.of_tables(file, reference, here, tolerance)


def _show(cells: pd.DataFrame, most: int) -> None:
    """Absent things, changed verdicts, numbers by how far they are apart beside their size, and other text."""
    absent = (cells[["reference", "here"]] == differences.ABSENT).any(axis=1)
    verdict = cells["column"].str.contains("verdict") & ~absent
    numbers = cells[cells["difference"].notna() & ~absent & ~verdict].sort_values("share", ascending=False, kind="stable")
    kinds = {
        "on one side only": cells[absent],
        "verdicts that changed": cells[verdict],
        "numbers, the largest share first": numbers,
        "other text": cells[cells["difference"].isna() & ~absent & ~verdict],
    }
    for kind, found in kinds.items():
        if len(found):
            print(f"\n{kind} ({len(found)}):")
            for cell in found.head(most).to_dict("records"):
                by = "" if pd.isna(cell["difference"]) else f" (by {cell['difference']:.3g}, {100 * cell['share']:.3g} %)"
                where = f"{cell['file']}: {cell['row']}: {cell['column']}"
                print(f"  {where}: {_short(cell['reference'])} -> {_short(cell['here'])}{by}")
            _say_more(len(found), most)


def _say_more(number: int, most: int) -> None:
    if number > most:
        print(f"  and {number - most} more; --most {number} shows all")


def _show_manifests(options: argparse.Namespace) -> None:
    paths = [folder / manifest.NAME for folder in (options.reference, options.results)]
    absent = [str(path) for path in paths if not path.is_file()]
    if absent:
        print(f"\nSettings and versions were not compared: there is no {' and no '.join(absent)}.")
        return
    reference, here = map(manifest.read, paths)
    told = differences.of_manifests(reference, here)
    print(f"\nsettings, versions and data that differ ({len(told)}):" if told else "\nThe same settings, versions and data.")
    for name, theirs, ours in told[: options.most]:
        print(f"  {name}: {_short(theirs)} -> {_short(ours)}")
    _say_more(len(told), options.most)
    became = differences.of_bytes(reference, here)
    print("files by their hashes:", ", ".join(f"{len(files):,} {kind}" for kind, files in became.items()))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
