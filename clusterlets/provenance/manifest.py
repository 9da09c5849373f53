"""The manifest of a results folder: the hash of everything that is promised to be the same bytes, and what it came from."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from clusterlets.errors import ClusterletsError

NAME = "manifest.json"
PAGES = ("report.html", "leaderboard.html")
_OWN = "sha256"

# What is promised of a file: the same bytes on every processor; numbers within a tolerance, as scipy and LAPACK compute
# them; the same bytes with the same builds of the drawing libraries; the same bytes but for where files came from and lie.
GROUPS = NUMBERS, APPROXIMATE, FIGURES, SOURCES = ("numbers", "approximate", "figures", "sources")
_OF_LIBRARIES = {
    *(f"statistics/{name}" for name in ("statistics", "nemenyi", "wilcoxon", "intervals", "bayes")),
    "clusterings/projection",
}

# Settings that say where files lie; they change no result.
_PLACES = ("results", "mirror")
# What a results folder holds beside results, at its top.
_APART = {NAME, "README.md"}
# A manifest's form. A file's name leads to no place outside of the results, as readers are told to remove files.
_OBJECTS = {"type": "object", "additionalProperties": {"type": "object"}}
_FILES = {
    "type": "object",
    "propertyNames": {"pattern": r"^(?!/)(?!(.*/)?\.\.(/|\Z))[^\x00-\x1f\x7f]+\Z"},
    "additionalProperties": {"type": "string"},
}
_FORM = {
    "type": "object",
    "required": ["settings", "libraries", "datasets", "files"],
    "properties": {
        "settings": {"type": "object", "properties": {"tables": _OBJECTS}},
        "libraries": {"type": "object"},
        "processor": {"type": "object"},
        "datasets": _OBJECTS,
        "files": {"type": "object", "additionalProperties": _FILES},
    },
}
_DEEPEST = 20
_PROVENANCE = re.compile(rb"(<!-- provenance -->).*?(<!-- end of provenance -->)", re.DOTALL)


def make(
    results: Path,
    files: Iterable[str],
    settings: Mapping,
    datasets: Mapping[str, Mapping],
    locked: Mapping,
    processor: Mapping,
) -> dict:
    """The manifest as a mapping that is the same for the same results on the same machine.

    ``files`` are relative to ``results``; ``datasets`` are the descriptions of the prepared tables by id; ``locked``
    holds versions; ``processor`` says on what the manifest was made. Of the pages the block that tells when and where
    is left out. The last key holds the SHA-256 of the rest.
    """
    groups: dict[str, dict[str, str]] = {group: {} for group in GROUPS}
    for file in sorted(files):
        groups[group_of(file)][file] = _hash(results / file)
    made = {
        "settings": {key: value for key, value in settings.items() if key not in _PLACES},
        "libraries": dict(sorted(locked.items())),
        "datasets": {name: _identity(described) for name, described in datasets.items()},
        "processor": dict(processor),
        "files": groups,
    }
    return {**made, _OWN: _hash_of(made)}


def group_of(file: str) -> str:
    """Which of :data:`GROUPS` a result belongs to, by its name below the results."""
    path = PurePosixPath(file)
    if path.suffix in (".pdf", ".png", ".svg"):
        return FIGURES
    if file in (*PAGES, "leaderboard.md", "summary.txt") or path.stem == "datasets":
        return SOURCES
    return APPROXIMATE if path.with_suffix("").as_posix() in _OF_LIBRARIES else NUMBERS


def _identity(described: Mapping) -> dict:
    """What a table is; of a person's own, whose file may change, the SHA-256 of the file too."""
    keys = ("fingerprint", "scaling", "rows", "features", "groups", "source_sha256")
    return {key: described[key] for key in keys if key in described}


def without_provenance(page: bytes) -> bytes:
    """A page without what stands in the one block that tells when, where and how fast: equal for equal results.

    The marks around the block stay, so that a page which has lost them, or has them twice, is another one.
    """
    return _PROVENANCE.sub(rb"\1\2", page)


def _hash(path: Path) -> str:
    if path.name in PAGES:
        return hashlib.sha256(without_provenance(path.read_bytes())).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _hash_of(manifest: Mapping) -> str:
    """Of a manifest without its own hash, however it is laid out."""
    rest = {key: value for key, value in manifest.items() if key != _OWN}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def read(path: Path) -> dict:
    """A manifest; an error for people where there is none or it is damaged. Earlier versions gave it no hash of its own."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        fault = _fault(found)
        if not fault and _OWN in found and found[_OWN] != _hash_of(found):
            fault = "it does not match its own SHA-256"
    except (FileNotFoundError, NotADirectoryError):
        raise ClusterletsError(f"There is no {path}. A finished run of the workflow writes it.") from None
    except (ValueError, RecursionError) as error:  # too large a number is a ValueError too
        fault = str(error)
    if fault:
        raise ClusterletsError(f"{path} is damaged ({fault}). Remove it and run the workflow again: it is written anew.")
    return found


def _fault(found: object) -> str:
    """What is wrong with the form of a manifest, in short; nothing where it is right."""
    from jsonschema import Draft202012Validator  # only readers pay for it

    if _depth(found) > _DEEPEST:
        return f"its content is nested more than {_DEEPEST} deep"
    faults = Draft202012Validator(_FORM).iter_errors(found)
    said = [f"{'.'.join(map(str, fault.path))}: {fault.message}"[:200] for fault in faults]
    return min(said, default="").removeprefix(": ")


def _depth(value: object) -> int:
    level, depth = [value], 0
    while level:
        level = [part for whole in level for part in _parts(whole)]
        depth += 1
    return depth


def _parts(value: object) -> Iterable:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def hashes(manifest: Mapping) -> dict[str, str]:
    """SHA-256 of every file of a manifest, whatever its group."""
    return {file: digest for group in manifest["files"].values() for file, digest in group.items()}


@dataclass(frozen=True)
class Check:
    """Files of a results folder that are not as its manifest says, by their names below the folder.

    Extra ones are no fault: a larger grid in the same folder leaves them, and nobody reads them. ``tables`` are a person's
    own, by their paths, which are no longer what the results were made from. One that is not there tells nothing: results may
    be looked at elsewhere.
    """

    checked: int
    missing: list[str]
    changed: list[str]
    extra: list[str]
    tables: list[str]

    @property
    def passed(self) -> bool:
        return not (self.missing or self.changed or self.tables)


def check(results: Path) -> Check:
    """A results folder against its own manifest. Intermediate files are not in it: they carry their own hashes."""
    manifest = _trusted(results / NAME)
    promised = hashes(manifest)
    missing = [file for file in promised if not (results / file).is_file()]
    changed = [file for file in promised if file not in missing and _hash(results / file) != promised[file]]
    extra = sorted(set(_results_in(results, promised)) - promised.keys())
    tables = [path for path, digest in _user_tables(manifest).items() if Path(path).is_file() and _hash(Path(path)) != digest]
    return Check(len(promised), missing, changed, extra, tables)


def _user_tables(manifest: Mapping) -> dict[str, str]:
    """SHA-256 of each table of a person's own, by its path from the working directory."""
    known = {name: identity.get("source_sha256") for name, identity in manifest["datasets"].items()}
    return {manifest["settings"]["tables"][name]["path"]: digest for name, digest in known.items() if digest}


def _trusted(path: Path) -> dict:
    """A manifest that can be relied on: one without its own hash, or without a file, proves nothing."""
    found = read(path)
    for fault, is_found in (("has no hash of its own", _OWN not in found), ("lists no file", not hashes(found))):
        if is_found:
            raise ClusterletsError(f"{path} {fault}, so it proves nothing. Remove it and run the workflow again.")
    return found


def _results_in(results: Path, promised: Iterable[str]) -> Iterator[str]:
    """Files where results lie: at the top, and in the folders that the manifest knows. Hidden ones are no results."""
    folders = {PurePosixPath(file).parts[0] for file in promised if "/" in file}
    found = [path for path in results.glob("*") if path.name not in _APART]
    found += [path for folder in folders for path in (results / folder).rglob("*")]
    return (path.relative_to(results).as_posix() for path in found if path.is_file() and path.name[0] != ".")
