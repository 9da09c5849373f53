"""The manifest of a results folder: hashes of everything that it promises to reproduce, and what it came from."""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from clusterlets.errors import ClusterletsError
from clusterlets.grid.cells import cells
from clusterlets.storage import hash_of_file, is_intact

NAME = "manifest.json"
PAGES = ("report.html", "leaderboard.html")
_OWN_HASH = "sha256"

# What is promised of a file: the same bytes on every processor; numbers within a tolerance, as scipy and LAPACK compute
# them; the same bytes with the same builds of the drawing libraries; the same bytes except for where files came from and are.
GROUPS = NUMBERS, APPROXIMATE, FIGURES, SOURCES = ("numbers", "approximate", "figures", "sources")
_APPROXIMATE_FILES = {
    *(f"statistics/{name}" for name in ("statistics", "nemenyi", "wilcoxon", "intervals", "bayes")),
    "clusterings/projection",
}

# Settings that say where files are; they change no result.
_LOCATIONS = ("results", "mirror")
# Files at the top of a results folder that are not results.
_NOT_RESULTS = {NAME, "README.md"}
# The JSON schema of a manifest. Users are told to remove files by these names, so none may point outside the results folder.
_OBJECTS = {"type": "object", "additionalProperties": {"type": "object"}}
_FILES = {
    "type": "object",
    "propertyNames": {"pattern": r"^(?!/)(?!(.*/)?\.\.(/|\Z))[^\x00-\x1f\x7f]+\Z"},
    "additionalProperties": {"type": "string"},
}
_SCHEMA = {
    "type": "object",
    "required": ["settings", "libraries", "datasets", "processor", "files"],
    "properties": {
        "settings": {"type": "object", "properties": {"tables": _OBJECTS}},
        "libraries": {"type": "object"},
        "processor": {"type": "object"},
        "user_files": {"type": "object", "additionalProperties": {"type": "string"}},
        "datasets": _OBJECTS,
        "files": {"type": "object", "additionalProperties": _FILES},
    },
}
_MAX_DEPTH = 20
_PROVENANCE = re.compile(rb"(<!-- provenance -->).*?(<!-- end of provenance -->)", re.DOTALL)


def make(
    results: Path,
    files: Iterable[str],
    settings: Mapping,
    datasets: Mapping[str, Mapping],
    locked: Mapping,
    processor: Mapping,
    user_files: Mapping[str, str],
) -> dict:
    """The manifest as a mapping that is the same for the same results on the same machine.

    ``files`` are results other than cells, relative to ``results``; the cells follow from the settings, and one hash covers
    all cells of a method on a dataset. ``datasets`` are the descriptions of the prepared tables by id; ``locked`` holds
    versions; ``processor`` describes the machine; ``user_files`` holds the SHA-256 of every file that the user's own methods
    are made of, by path. The hash of a page leaves out the block that says when and where it was written. The last key holds
    the SHA-256 of the rest.
    """
    digests = {file: _hash(results / file) for file in files}
    digests |= {folder: _hash_of_cells(results, names) for folder, names in cells_by_folder(settings).items()}
    groups: dict[str, dict[str, str]] = {group: {} for group in GROUPS}
    for name in sorted(digests):
        groups[group_of(name)][name] = digests[name]
    manifest = {
        "settings": {key: value for key, value in settings.items() if key not in _LOCATIONS},
        "libraries": dict(sorted(locked.items())),
        "datasets": {name: _identity(description) for name, description in datasets.items()},
        "processor": dict(processor),
        **({"user_files": dict(user_files)} if user_files else {}),
        "files": groups,
    }
    return {**manifest, _OWN_HASH: _hash_of_manifest(manifest)}


def cells_by_folder(settings: Mapping) -> dict[str, list[str]]:
    """Names of the configured cells below the results, by the folder that shares one hash: ``runs/<dataset>/<method>/``."""
    folders = defaultdict(list)
    for cell in cells(settings):
        folders[f"runs/{cell.dataset}/{cell.method}/"].append(cell.path)
    return dict(folders)


def group_of(file: str) -> str:
    """Which of :data:`GROUPS` a result belongs to, by its name below the results."""
    path = PurePosixPath(file)
    if path.suffix in (".pdf", ".png", ".svg"):
        return FIGURES
    if file in (*PAGES, "leaderboard.md", "fronts.html", "summary.txt") or path.stem == "datasets":
        return SOURCES
    return APPROXIMATE if path.with_suffix("").as_posix() in _APPROXIMATE_FILES else NUMBERS


def _identity(description: Mapping) -> dict:
    """What identifies a table; for a user's own, whose file may change, also the SHA-256 of the file."""
    keys = ("fingerprint", "scaling", "rows", "features", "groups", "source_sha256")
    return {key: description[key] for key in keys if key in description}


def without_provenance(page: bytes) -> bytes:
    """A page without the content of the one block that says when, where and how fast it was made: equal for equal results.

    The marks around the block stay, so a page that lost them, or has them twice, differs.
    """
    return _PROVENANCE.sub(rb"\1\2", page)


def _hash(path: Path) -> str:
    if path.name in PAGES:
        return hashlib.sha256(without_provenance(path.read_bytes())).hexdigest()
    return hash_of_file(path)


def _hash_of_cells(results: Path, names: Iterable[str]) -> str:
    """Hash of what ``sha256sum`` prints for these cells in the results folder, sorted by name."""
    lines = (f"{hash_of_file(results / name)}  {name}\n" for name in sorted(names))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _hash_of_manifest(manifest: Mapping) -> str:
    """Hash of a manifest without its own hash; it does not depend on the layout."""
    rest = {key: value for key, value in manifest.items() if key != _OWN_HASH}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def read(path: Path) -> dict:
    """Read a manifest; ClusterletsError if there is none or it is damaged."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        fault = _find_fault(manifest)
        if not fault and _OWN_HASH in manifest and manifest[_OWN_HASH] != _hash_of_manifest(manifest):
            fault = "it does not match its own SHA-256"
    except (FileNotFoundError, NotADirectoryError):
        raise ClusterletsError(f"There is no {path}. A finished run of the workflow writes it.") from None
    except (ValueError, RecursionError) as error:  # too large a number is a ValueError too
        fault = str(error)
    if fault:
        raise ClusterletsError(f"{path} is damaged ({fault}). Remove it and run the workflow again, which rewrites it.")
    return manifest


def _find_fault(content: object) -> str:
    """What is wrong with the form of a manifest, in short; empty if nothing is."""
    from jsonschema import Draft202012Validator  # imported late: a run that only writes a manifest does not need it

    if _depth(content) > _MAX_DEPTH:
        return f"its content is nested more than {_MAX_DEPTH} deep"
    errors = Draft202012Validator(_SCHEMA).iter_errors(content)
    messages = [f"{'.'.join(map(str, error.path))}: {error.message}"[:200] for error in errors]
    return min(messages, default="").removeprefix(": ")


def _depth(value: object) -> int:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, children), default=0)


def hashes(manifest: Mapping) -> dict[str, str]:
    """SHA-256 of everything that a manifest promises, in any group: of a file, or of a folder's cells (``.../``)."""
    return {name: digest for group in manifest["files"].values() for name, digest in group.items()}


def files(manifest: Mapping) -> list[str]:
    """Every file that a manifest promises, including cells."""
    summaries = [name for name in hashes(manifest) if not name.endswith("/")]
    return [*summaries, *(cell for names in cells_by_folder(manifest["settings"]).values() for cell in names)]


@dataclass(frozen=True)
class Check:
    """Files of a results folder that do not match its manifest, by their names below the folder.

    If all cells of a method and a dataset are intact, but from another run, ``changed`` names their folder (``.../``). Extra
    files are no fault: a larger grid in the same folder leaves them, and nothing reads them. ``own`` are the user's own
    tables and methods, by their paths, that differ from those that the results were made from; a missing one counts as
    unchanged, because results may be looked at elsewhere.
    """

    checked: int
    missing: list[str]
    changed: list[str]
    extra: list[str]
    own: list[str]

    @property
    def passed(self) -> bool:
        return not (self.missing or self.changed or self.own)


def check(results: Path) -> Check:
    """Compare a results folder with its own manifest, which omits intermediate files: they carry their own hashes."""
    manifest = read(results / NAME)
    if _OWN_HASH not in manifest or not hashes(manifest):
        fault = "lists no file" if _OWN_HASH in manifest else "has no hash of its own"
        raise ClusterletsError(f"{results / NAME} {fault}, so it proves nothing. Remove it and run the workflow again.")
    promised, digests = files(manifest), hashes(manifest)
    missing = [file for file in promised if not (results / file).is_file()]
    present = [file for file in digests if not file.endswith("/") and file not in missing]
    changed = [file for file in present if _hash(results / file) != digests[file]]
    for folder, names in cells_by_folder(manifest["settings"]).items():
        changed += _changed_cells(results, folder, names, digests.get(folder))
    extra = sorted(set(_results_in(results, promised)) - set(promised))
    own = {}
    for name, identity in manifest["datasets"].items():
        if identity.get("source_sha256"):
            own[manifest["settings"]["tables"][name]["path"]] = identity["source_sha256"]
    own |= user_files(manifest)
    changed_own = [path for path, digest in own.items() if Path(path).is_file() and hash_of_file(path) != digest]
    return Check(len(promised), missing, changed, extra, changed_own)


def _changed_cells(results: Path, folder: str, names: list[str], digest: str | None) -> list[str]:
    """Cells that are damaged or misplaced by their own hash and name; the folder, if all are intact but not as promised."""
    present = [name for name in names if (results / name).is_file()]
    is_complete = len(present) == len(names)
    if is_complete and _hash_of_cells(results, names) == digest:
        return []
    return [name for name in present if not is_intact(results / name)] or ([folder] if is_complete else [])


def user_files(manifest: Mapping) -> dict[str, str]:
    """SHA-256 of each file of the user's own methods, by its path from the working directory."""
    return manifest.get("user_files", {})


def _results_in(results: Path, promised: Iterable[str]) -> Iterator[str]:
    """Files at the top of the results folder and in the folders that hold promised ones. Hidden files are not results."""
    folders = {PurePosixPath(file).parts[0] for file in promised if "/" in file}
    paths = [path for path in results.glob("*") if path.name not in _NOT_RESULTS]
    paths += [path for folder in folders for path in (results / folder).rglob("*")]
    return (path.relative_to(results).as_posix() for path in paths if path.is_file() and path.name[0] != ".")
