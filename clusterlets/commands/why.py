"""``clusterlets why``: which jobs would run again, and why, in plain words.

The command asks Snakemake for a dry run and explains the reasons that Snakemake prints. If a fingerprint changed, the
explanation names the parts that differ.
"""

import ast
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from os.path import normpath
from pathlib import Path

from clusterlets.commands import cli
from clusterlets.errors import ClusterletsError
from clusterlets.grid.fingerprints import PACKAGE, changed_parts
from clusterlets.text import first_of

_MAX_SHOWN = 5  # jobs, files or names in one list

# Patterns of the reasons that Snakemake 9 prints, each with its meaning. The text of a pattern's group is shown too.
_REASONS = {
    r"Missing output files: ": "not made yet",
    r"Incomplete output files: ": "it was cut short",
    r"Updated input files: ([^;]*)": "what it reads has changed",
    r"Set of input files has changed": "it now reads other files, for example because the grid changed",
    r"Code has changed": "its command in workflow/rules changed",
    r"Software environment definition has changed": "its environment's definition changed",
    r"Forced execution": "requested by a --force option",
    r"Input files updated by another job: ": "what it reads is made again",
}
_FOLLOWS_OTHER_JOBS = _REASONS[r"Input files updated by another job: "]
_PARAMETERS = re.compile(r"Params have changed .*?: before: (.*) now: (.*)$")
_FINGERPRINT = re.compile(r"[0-9a-f]{16}( \S+)*")  # a fingerprint with its parts
_TABLE_HASH = re.compile(r"[0-9a-f]{64}")  # the SHA-256 of a user's table
_NO_VALUES = "<nothing exclusive>"  # printed in place of the old values if all of them are also new ones, or the reverse
_JOB = re.compile(r"^Job \d+: (.*)\nReason: (.*)$(?:\nShell command: (.*)$)?", re.MULTILINE)
# Options of Snakemake that choose what to run. Others write, remove or print something else, even with --dry-run.
_ALLOWED = (
    *("--configfile", "--configfiles", "--config", "-C", "--replace-workflow-config", "--profile", "--workflow-profile"),
    *("--cores", "-c", "--jobs", "-j", "--keep-going", "-k", "--dry-run", "-n", "--rerun-incomplete", "--ri"),
    *("--ignore-incomplete", "--ii", "--rerun-triggers", "--max-checksum-file-size", "--consider-ancient"),
    *("--force", "-f", "--forceall", "-F", "--forcerun", "-R", "--until", "-U", "--omit-from", "-O"),
    *("--software-deployment-method", "--sdm", "--use-conda"),
)
# These options are part of the name of the output file, so they cannot change for a given file.
_IN_FILE_NAME = {"--dataset", "--k", "--parameters", "--seeds"}


def main(arguments: list[str]) -> int:
    """Show which results would be computed again, and why. Nothing runs.

    Options that choose what to run are passed to Snakemake. Give the options of the run: its --configfile, if any, and
    --config exclude=nbfi after `make reproduce EXCLUDE=nbfi`; otherwise the runs of excluded datasets appear as missing.
    """
    parser = cli.parser("why", main.__doc__, usage="clusterlets why [FILE ...] [options of Snakemake]")
    parser.add_argument("files", metavar="FILE", nargs="*", help="results to explain (default: all)")
    first_option = next((position for position, argument in enumerate(arguments) if argument.startswith("-")), len(arguments))
    files, options = arguments[:first_option], arguments[first_option:]
    if {"-h", "--help"} & set(options):
        parser.print_help()
    else:
        print(explain(_dry_run(files, options)))
    return 0


def _dry_run(files: list[str], options: list[str]) -> str:
    """The output of a dry run of Snakemake. Raises ClusterletsError for options that are not spelled as in ``_ALLOWED``."""
    for option in options:
        if option.startswith("-") and option.split("=")[0] not in _ALLOWED:
            raise ClusterletsError(
                f"{option} is not an option that chooses what to run, so nothing was checked. Allowed, written in full and "
                f"with a space before their value: {', '.join(_ALLOWED)}."
            )
    snakefile = Path("Snakefile") if Path("Snakefile").is_file() else PACKAGE.parent / "Snakefile"
    command = [sys.executable, "-P", "-m", "snakemake", "--snakefile", str(snakefile), "--cores=1"]
    output_options = ["--dry-run", "--quiet=host", "--printshellcmds"]
    process = subprocess.run([*command, *output_options, *files, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = process.stdout.decode("utf-8", "backslashreplace")
    if process.returncode:
        before, _, traceback = text.partition("Traceback (most recent call last):")
        last_line = traceback.strip().rpartition("\n")[2]  # this line says, for example, that HOME cannot be written
        raise ClusterletsError(f"Snakemake cannot say what it would do:\n{(before + last_line).strip()}")
    return text


def explain(output: str) -> str:
    """Explain the output of a dry run: list the jobs under each reason. Jobs that only follow other jobs come last."""
    jobs_by_reason: dict[str, list[str]] = {}
    for job, reason, command in _JOB.findall(output):
        jobs_by_reason.setdefault("; ".join(explain_reason(reason.strip(), command)), []).append(job)
    if not jobs_by_reason:
        return "Nothing would run: everything is there and up to date."
    lines = []
    for reason in sorted(jobs_by_reason, key=lambda reason: reason == _FOLLOWS_OTHER_JOBS):
        lines += [reason[0].upper() + reason[1:], *(f"    {line}" for line in first_of(jobs_by_reason[reason], _MAX_SHOWN))]
    return "\n".join(lines)


def explain_reason(reason: str, command: str = "") -> Iterator[str]:
    """Say in plain words why Snakemake runs a job. The job's shell command gives the names of the options that changed.

    Following other jobs is not mentioned if there is another reason.
    """
    parameters = _PARAMETERS.search(reason)
    reasons = list(_explain_parameters(parameters[1], parameters[2], command)) if parameters else []
    other_reasons = _PARAMETERS.sub("", reason)
    for pattern, meaning in _REASONS.items():
        match = re.search(pattern, other_reasons)
        if match and not (reasons and meaning == _FOLLOWS_OTHER_JOBS):
            reasons.append(f"{meaning}: {', '.join(first_of(match[1].split(', '), _MAX_SHOWN))}" if match.groups() else meaning)
    yield from reasons or [reason or "Snakemake names no reason"]


def _explain_parameters(old_text: str, new_text: str, command: str) -> Iterator[str]:
    old, new = _parse_values(old_text), _parse_values(new_text)
    fingerprints = [value for value in (*old, *new) if _FINGERPRINT.fullmatch(value)]
    if len(fingerprints) == 2:
        parts = [_describe_part(part) for part in changed_parts(*fingerprints)]
        yield f"its code changed: {', '.join(first_of(parts, _MAX_SHOWN))}" if parts else "its code or a library changed"
    old_settings, new_settings = _collect_settings(old), _collect_settings(new)
    if new_settings.keys() == {"seconds", "memory_mb"} and not old_settings:
        yield "it exceeded its budget of time or memory, and the budget changed"
        old, new = ([value for value in values if value] for values in (old, new))  # drop "", which stands for no budget
    elif old_settings or new_settings:
        differing = sorted(key for key in {**old_settings, **new_settings} if old_settings.get(key) != new_settings.get(key))
        yield f"the configuration changed: {', '.join(first_of(differing, _MAX_SHOWN))}"
    options = _parse_command(command)
    if any(_TABLE_HASH.fullmatch(value) for value in new):
        yield f"the content of its table changed: {options.get('--table', 'a file of your own')}"
    old, new = ([value for value in values if not _is_explained(value)] for values in (old, new))
    if old or new:
        names = ", ".join(name for name, value in options.items() if value in new and name not in _IN_FILE_NAME)
        yield f"an option changed{f' ({names})' if names else ''}: {', '.join(old) or 'none'} -> {', '.join(new) or 'none'}"


def _describe_part(name: str) -> str:
    """Describe a part of a fingerprint, which names a library, a user's file, or a file of the package."""
    if "." not in name:
        return f"another version of {name}"
    return name if name.startswith(("./", "/")) else normpath(f"clusterlets/{name}")


def _parse_command(command: str) -> dict[str, str]:
    """The options of a shell command, each with its value."""
    words = [part for word in shlex.split(command) for part in (word.split("=", 1) if word.startswith("--") else [word])]
    return {name: value for name, value in pairwise(words) if name.startswith("--")}


def _parse_values(text: str) -> list[str]:
    """Parse the values of parameters, which Snakemake prints without their names, as Python literals separated by commas."""
    text = text.strip()
    try:
        return [] if text == _NO_VALUES else [str(value) for value in ast.literal_eval(f"[{text}]")]
    except (ValueError, SyntaxError):
        return [text]


def _parse_json(value: str) -> dict | None:
    """The settings in a value that is a JSON object; None for any other value, and for an object that Snakemake cut short."""
    try:
        return json.loads(value) if value.startswith("{") else None
    except json.JSONDecodeError:
        return None


def _collect_settings(values: list[str]) -> dict:
    return {key: setting for value in values for key, setting in (_parse_json(value) or {}).items()}


def _is_explained(value: str) -> bool:
    """Whether a value is a fingerprint, the hash of a table, or settings, which other sentences explain."""
    return bool(_FINGERPRINT.fullmatch(value) or _TABLE_HASH.fullmatch(value)) or _parse_json(value) is not None
