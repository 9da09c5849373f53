"""``clusterlets verify``: is a results folder what its manifest says, byte for byte?"""

import argparse
import os
import shlex
from pathlib import Path

from clusterlets.benchmark.manifest import NAME, Check, check

_FILES_IN_A_CALL = 10
_EXTRA_FILES_SHOWN = 20  # a larger grid than this one leaves thousands
_MEANING = {
    "missing": "missing",
    "changed": "changed: not the bytes that the workflow wrote",
    "extra": "extra: left by another configuration, or put there by hand",
}


def main(arguments: list[str]) -> int:
    """Hold every file of a results folder against its manifest; status 1 where one is missing, changed or extra."""
    parser = argparse.ArgumentParser("clusterlets verify", description=main.__doc__)
    parser.add_argument("--results", metavar="FOLDER", type=Path, default=Path("results"), help="default: results")
    results = parser.parse_args(arguments).results
    found = check(results)
    if found.passed:
        print(f"{results}: all {found.checked:,} files are what {results / NAME} says.")
        return 0
    for kind, meaning in _MEANING.items():
        names = getattr(found, kind)
        shown = names[:_EXTRA_FILES_SHOWN] if kind == "extra" else names
        if names:
            print(meaning, *(f"  {results / name}" for name in shown), sep="\n")
        if len(names) > len(shown):
            print(f"  and {len(names) - len(shown):,} more")
    print("", *_remedies(results, found), sep="\n")
    return 1


def _remedies(results: Path, found: Check) -> list[str]:
    """What to do next, as commands where they stay short."""
    lines = []
    again = [str(results / name) for name in [*found.changed, *found.missing]]
    if again:
        lines.append("To make them again, where the workflow ran, with the --configfile of that run, if it had one:")
        if len(again) <= _FILES_IN_A_CALL:
            if found.changed:
                lines.append(f"  rm {shlex.join(again[: len(found.changed)])}")
            lines.append(f"  snakemake --cores {os.cpu_count() or 1} {shlex.join(again)}")
        else:
            lines.append(f"  remove {results} and run the whole workflow, or name files to snakemake as in README.md")
    if found.extra:
        lines.append("Extra files change nothing; remove them if the folder is to hold this run alone.")
    return lines
