"""``clusterlets verify``: is a results folder what its manifest says, byte for byte?"""

import argparse
import shlex
from pathlib import Path

from clusterlets.grid.manifest import NAME, Check, check

_FILES_IN_A_CALL = 10
_EXTRA_FILES_SHOWN = 20  # a larger grid than this one leaves thousands
_MEANING = {"missing": "missing", "changed": "changed: not the bytes that the workflow wrote"}
_TABLES = "changed since the results were made from it: your own table"
_CELLS, _GATHERED = "runs/", "runs.csv"
_AGAIN = """\
What is missing, or made from a table that changed, is made by the command that made these results: make demo, make
reproduce or make extended with its EXCLUDE, or snakemake with its --configfile."""


def main(arguments: list[str]) -> int:
    """Hold every file of a results folder against its manifest; status 1 where one is missing or changed.

    Tables of your own are held against it too, where they lie. Of the report, the part "Provenance", which tells when and
    where, is left out. Files that the manifest does not know are named and are no fault.
    """
    parser = argparse.ArgumentParser("clusterlets verify", description=main.__doc__)
    parser.add_argument("--results", metavar="FOLDER", type=Path, default=Path("results"), help="default: results")
    results = parser.parse_args(arguments).results
    found = check(results)
    if found.passed:
        print(f"{results}: all {found.checked:,} files are what {results / NAME} says.")
    for kind, meaning in _MEANING.items():
        names = getattr(found, kind)
        if names:
            print(meaning, *(f"  {results / name}" for name in names), sep="\n")
    if found.tables:
        print(_TABLES, *(f"  {path}" for path in found.tables), sep="\n")
    if found.extra:
        print(_remark(results, found.extra))
    if not found.passed:
        print("", *_remedy(results, found), _AGAIN, sep="\n")
    return 0 if found.passed else 1


def _remark(results: Path, extra: list[str]) -> str:
    """What else lies there, by name as far as it is little."""
    files, lie, they = ("file", "lies", "It changes") if len(extra) == 1 else ("files", "lie", "They change")
    said = f"{len(extra):,} {files} of another configuration or put there by hand {lie} beside them. {they} nothing."
    names = [f"  {results / name}" for name in extra[:_EXTRA_FILES_SHOWN]]
    more = len(extra) - len(names)
    return "\n".join([said, *names, *([f"  and {more:,} more"] if more else [])])


def _remedy(results: Path, found: Check) -> list[str]:
    """What to do next. Snakemake looks for a missing cell only where it makes ``runs.csv``, which gathers them."""
    wrong = [*found.changed, *found.missing]
    gathered = [_GATHERED] if any(name.startswith(_CELLS) for name in wrong) and _GATHERED not in wrong else []
    removed = [str(results / name) for name in [*found.changed, *gathered]]
    if len(removed) > _FILES_IN_A_CALL:
        return [" and ".join(["Remove the changed files", *(str(results / name) for name in gathered)]) + "."]
    return ["Remove first:", f"  rm {shlex.join(removed)}"] if removed else []
