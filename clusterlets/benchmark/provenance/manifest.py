"""The manifest of a results folder: the hashes of the results, and what they were made from."""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from clusterlets.benchmark.grid.cells import cells
from clusterlets.errors import ClusterletsError
from clusterlets.storage import hash_of_file, is_intact

NAME = "manifest.json"
PAGE = "report.html"
_OWN_HASH = "sha256"

# What a rerun reproduces, for each group of files:
# - numbers: the same bytes on every processor
# - approximate: numbers within a tolerance, because SciPy and LAPACK compute them
# - figures: the same bytes with the same builds of the drawing libraries
# - sources: the same bytes, except where they name the place from which a file came or where it is now
GROUPS = NUMBERS, APPROXIMATE, FIGURES, SOURCES = ("numbers", "approximate", "figures", "sources")
_APPROXIMATE_FILES = {
    *(f"statistics/{name}" for name in ("statistics", "nemenyi", "wilcoxon")),
}

LOCATIONS = ("results", "mirror")  # settings that only say where files are
_NOT_RESULTS = {NAME, "README.md"}  # files at the top of a results folder
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
    """Make the manifest. Equal results on the same machine have equal manifests.

    The last key of the manifest holds the SHA-256 of all other keys and values.

    Parameters
    ----------
    results : Path
        Folder of the results.
    files : iterable of str
        The results other than cells, relative to ``results``. The cells follow from ``settings``.
    settings : mapping
        The configuration.
    datasets : mapping of str to mapping
        The descriptions of the prepared tables, by id.
    locked : mapping of str to str
        The version of each library that the run was planned with.
    processor : mapping
        What :func:`clusterlets.benchmark.provenance.environment.processor` returns.
    user_files : mapping of str to str
        The SHA-256 of each file of the user's own methods, by path.
    """
    digests = {file: _hash(results / file) for file in files}
    digests |= {folder: _hash_of_cells(results, names) for folder, names in cells_by_folder(settings).items()}
    groups: dict[str, dict[str, str]] = {group: {} for group in GROUPS}
    for name in sorted(digests):
        groups[group_of(name)][name] = digests[name]
    manifest = {
        "settings": {key: value for key, value in settings.items() if key not in LOCATIONS},
        "libraries": dict(sorted(locked.items())),
        "datasets": {name: _identity(description) for name, description in datasets.items()},
        "processor": dict(processor),
        **({"user_files": dict(user_files)} if user_files else {}),
        "files": groups,
    }
    return sealed(manifest)


def cells_by_folder(settings: Mapping) -> dict[str, list[str]]:
    """Paths of the configured cells, by folder (``runs/<dataset>/<method>/``). One hash covers all cells of a folder."""
    folders = defaultdict(list)
    for cell in cells(settings):
        folders[f"runs/{cell.dataset}/{cell.method}/"].append(cell.path)
    return dict(folders)


def group_of(file: str) -> str:
    """The group of a result, one of :data:`GROUPS`. ``file`` is its path below the results folder."""
    path = PurePosixPath(file)
    if path.suffix in (".pdf", ".png", ".svg"):
        return FIGURES
    if file in (PAGE, "leaderboard.md", "summary.txt") or path.stem == "datasets":
        return SOURCES
    return APPROXIMATE if path.with_suffix("").as_posix() in _APPROXIMATE_FILES else NUMBERS


def _identity(description: Mapping) -> dict:
    keys = ("fingerprint", "scaling", "rows", "features", "groups", "source_sha256")  # only a user's own table has the last one
    return {key: description[key] for key in keys if key in description}


def without_provenance(page: bytes) -> bytes:
    """A page without the content of the section that says when, where and how fast it was made.

    The comments around the section stay, so a page without them, or with two such sections, has another hash.
    """
    return _PROVENANCE.sub(rb"\1\2", page)


def _hash(path: Path) -> str:
    if path.name == PAGE:
        return hashlib.sha256(without_provenance(path.read_bytes())).hexdigest()
    return hash_of_file(path)


def _hash_of_cells(results: Path, names: Iterable[str]) -> str:
    """Hash of what ``sha256sum`` prints for these cells, sorted by name."""
    lines = (f"{hash_of_file(results / name)}  {name}\n" for name in sorted(names))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def sealed(content: Mapping) -> dict:
    """A manifest with the hash of all its other entries. The layout of the JSON file does not matter."""
    entries = {key: value for key, value in content.items() if key != _OWN_HASH}
    return {**entries, _OWN_HASH: hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()}


def read(path: Path) -> dict:
    """Read a manifest. Raises ClusterletsError if there is none or it is damaged."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        is_whole = isinstance(manifest, dict) and manifest == sealed(manifest)
        fault = "" if is_whole else "it does not match its own SHA-256"
    except (FileNotFoundError, NotADirectoryError):
        raise ClusterletsError(f"There is no {path}. A finished run of the workflow writes it.") from None
    except (ValueError, RecursionError) as error:  # of JSON, encoding, numbers with too many digits, or deep nesting
        fault = str(error)
    if fault:
        raise ClusterletsError(f"{path} is damaged ({fault}). Remove it and run the workflow again, which rewrites it.")
    return manifest


def hashes(manifest: Mapping) -> dict[str, str]:
    """The SHA-256 of every result in a manifest, by file, or by folder (``.../``) for cells."""
    return {name: digest for group in manifest["files"].values() for name, digest in group.items()}


def files(manifest: Mapping) -> list[str]:
    """The path of every result in a manifest, cells included."""
    single_files = [name for name in hashes(manifest) if not name.endswith("/")]
    return [*single_files, *(cell for names in cells_by_folder(manifest["settings"]).values() for cell in names)]


@dataclass(frozen=True)
class Check:
    """The files of a results folder that do not match its manifest, by their paths below the folder.

    Attributes
    ----------
    checked : int
        Number of results in the manifest.
    missing : list of str
        Results that the folder lacks.
    changed : list of str
        Results with other bytes. The folder (``.../``) stands for its cells if all are intact but from another run.
    extra : list of str
        Files that an earlier, larger grid left. Nothing reads them, so the check passes with them.
    changed_inputs : list of str
        Files of the user's own tables and methods that have changed since the run. Missing ones are not listed, because the
        results may have been copied to another place.
    """

    checked: int
    missing: list[str]
    changed: list[str]
    extra: list[str]
    changed_inputs: list[str]

    @property
    def passed(self) -> bool:
        return not (self.missing or self.changed or self.changed_inputs)


def check(results: Path) -> Check:
    """Compare a results folder with its manifest. Intermediate files hold their own checksums and are not compared."""
    manifest = read(results / NAME)
    if not hashes(manifest):
        raise ClusterletsError(f"{results / NAME} lists no file, so it proves nothing. Remove it and run the workflow again.")
    expected_files, digests = files(manifest), hashes(manifest)
    missing = [file for file in expected_files if not (results / file).is_file()]
    present = [file for file in digests if not file.endswith("/") and file not in missing]
    changed = [file for file in present if _hash(results / file) != digests[file]]
    for folder, names in cells_by_folder(manifest["settings"]).items():
        changed += _changed_cells(results, folder, names, digests.get(folder))
    extra = sorted(set(_results_in(results, expected_files)) - set(expected_files))
    input_digests = {}
    for name, identity in manifest["datasets"].items():
        if identity.get("source_sha256"):
            input_digests[manifest["settings"]["tables"][name]["path"]] = identity["source_sha256"]
    input_digests |= user_files(manifest)
    changed_inputs = [path for path, digest in input_digests.items() if Path(path).is_file() and hash_of_file(path) != digest]
    return Check(len(expected_files), missing, changed, extra, changed_inputs)


def _changed_cells(results: Path, folder: str, names: list[str], digest: str | None) -> list[str]:
    """The damaged cells of a folder. If all are intact but do not match ``digest``, the folder itself."""
    present = [name for name in names if (results / name).is_file()]
    is_complete = len(present) == len(names)
    if is_complete and _hash_of_cells(results, names) == digest:
        return []
    return [name for name in present if not is_intact(results / name)] or ([folder] if is_complete else [])


def user_files(manifest: Mapping) -> dict[str, str]:
    """SHA-256 of each file of the user's own methods, by path from the working directory."""
    return manifest.get("user_files", {})


def _results_in(results: Path, expected_files: Iterable[str]) -> Iterator[str]:
    """Files at the top of the results folder and in the folders of expected files. Hidden files are left out."""
    folders = {PurePosixPath(file).parts[0] for file in expected_files if "/" in file}
    paths = [path for path in results.glob("*") if path.name not in _NOT_RESULTS]
    paths += [path for folder in folders for path in (results / folder).rglob("*")]
    return (path.relative_to(results).as_posix() for path in paths if path.is_file() and path.name[0] != ".")
