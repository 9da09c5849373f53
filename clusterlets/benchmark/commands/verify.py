"""``clusterlets verify``: check, byte for byte, that a results folder holds what its manifest says."""

from pathlib import Path

from clusterlets.benchmark.provenance.manifest import NAME, check, removal
from clusterlets.commands import cli
from clusterlets.text import counted, first_of

_MAX_EXTRA_FILES = 20  # an earlier, larger grid may have left thousands
_HEADINGS = {"missing": "missing", "changed": "changed: not the bytes that the workflow wrote"}
_CHANGED_INPUTS = "changed since the results were made from them: your own tables and methods"
_HOW_TO_REMAKE = """\
To make the missing files, and those made from a changed file, repeat the command that made these results: make demo, make
reproduce or make extended with its EXCLUDE, or snakemake with its --configfile."""


def main(arguments: list[str]) -> int:
    """Check every file of a results folder against its manifest; the status is 1 if one is missing or changed.

    Your own tables and methods are checked too. The part "Provenance" of the report is left out, because it says when and where
    the run took place. Files that the manifest does not contain are listed, but are not an error.
    """
    parser = cli.parser("verify", main.__doc__)
    parser.add_argument("--results", metavar="FOLDER", type=Path, default=Path("results"), help="default: results")
    results = parser.parse_args(arguments).results
    outcome = check(results)
    if outcome.passed:
        print(f"{results}: all {outcome.checked:,} files are what {results / NAME} says.")
    for kind, heading in _HEADINGS.items():
        names = getattr(outcome, kind)
        if names:
            print(heading, *(f"  {_describe_path(results, name)}" for name in names), sep="\n")
    if outcome.changed_inputs:
        print(_CHANGED_INPUTS, *(f"  {path}" for path in outcome.changed_inputs), sep="\n")
    if outcome.extra:
        verb, subject_and_verb = ("was", "It does") if len(outcome.extra) == 1 else ("were", "They do")
        files = counted(len(outcome.extra), "file belongs", "files belong")
        print(f"{files} to another configuration or {verb} put there by hand. {subject_and_verb} not affect the check.")
        names = first_of([str(results / name) for name in outcome.extra], _MAX_EXTRA_FILES)
        print(*(f"  {name}" for name in names), sep="\n")
    if not outcome.passed:
        print("", *removal(results, outcome.changed, outcome.missing), _HOW_TO_REMAKE, sep="\n")
    return 0 if outcome.passed else 1


def _describe_path(results: Path, name: str) -> str:
    is_folder = name.endswith("/")
    return f"{results / name}/ (all its cells are from another run)" if is_folder else str(results / name)
