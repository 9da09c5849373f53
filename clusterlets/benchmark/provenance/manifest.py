"""The manifest of a results folder: the hashes of the results, and what they were made from."""

import hashlib
import json
import re
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

from clusterlets.benchmark.grid.cells import Cell, cells
from clusterlets.benchmark.grid.runs_columns import read_cell
from clusterlets.errors import ClusterletsError, UnusableFileError
from clusterlets.storage import hash_of_file

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
_CELLS, _RUNS_TABLE = "runs/", "runs.csv"
_MAX_FILES_IN_COMMAND = 10
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
    digests |= {folder: _hash_of_cells(results, group) for folder, group in cells_by_folder(settings).items()}
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


def cells_by_folder(settings: Mapping) -> dict[str, list[Cell]]:
    """The configured cells, by folder (``runs/<dataset>/<method>/``). One hash covers all cells of a folder."""
    folders = defaultdict(list)
    for cell in cells(settings):
        folders[f"runs/{cell.dataset}/{cell.method}/"].append(cell)
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


def _hash_of_cells(results: Path, group: Iterable[Cell]) -> str:
    """Hash of what ``sha256sum`` prints for these cells, sorted by name."""
    lines = (f"{hash_of_file(results / name)}  {name}\n" for name in sorted(cell.path for cell in group))
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
    return [*single_files, *(cell.path for cell in cells(manifest["settings"]))]


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
    for folder, group in cells_by_folder(manifest["settings"]).items():
        changed += _changed_cells(results, folder, group, digests.get(folder))
    extra = sorted(set(_results_in(results, expected_files)) - set(expected_files))
    input_digests = {}
    for name, identity in manifest["datasets"].items():
        if identity.get("source_sha256"):
            input_digests[manifest["settings"]["tables"][name]["path"]] = identity["source_sha256"]
    input_digests |= user_files(manifest)
    changed_inputs = [path for path, digest in input_digests.items() if Path(path).is_file() and hash_of_file(path) != digest]
    return Check(len(expected_files), missing, changed, extra, changed_inputs)


def _changed_cells(results: Path, folder: str, group: list[Cell], digest: str | None) -> list[str]:
    """The damaged cells of a folder. If all are intact but do not match ``digest``, the folder itself."""
    present = [cell for cell in group if (results / cell.path).is_file()]
    is_complete = len(present) == len(group)
    if is_complete and _hash_of_cells(results, group) == digest:
        return []
    return _damaged_cells(results, present) or ([folder] if is_complete else [])


def _damaged_cells(results: Path, group: Iterable[Cell]) -> list[str]:
    damaged = []
    for cell in group:
        try:
            read_cell(results / cell.path, cell)
        except UnusableFileError:
            damaged.append(cell.path)
    return damaged


def check_before(results: Path, files: Collection[str], settings: Mapping, written: Mapping[PurePath, str]) -> None:
    """Raise ClusterletsError if a result is not what its job wrote, because a manifest would certify the damage.

    Cells hold their own check. The hash of each other result must be in ``written``, which maps what the jobs wrote to its
    hash. Its paths may begin with another folder of results, because that folder may have been moved since.
    """
    missing = [cell.path for cell in cells(settings) if not (results / cell.path).is_file()]
    changed = _damaged_cells(results, (cell for cell in cells(settings) if cell.path not in missing))
    logged = {(path.parts[-len(PurePosixPath(file).parts) :], digest) for file in files for path, digest in written.items()}
    changed += [file for file in files if (PurePosixPath(file).parts, hash_of_file(results / file)) not in logged]
    if missing or changed:
        lines = [
            f"{results} gets no {NAME}, because these results are missing, or not what the logs of their jobs say:",
            *(f"  {results / file}" for file in [*missing, *changed]),
            *removal(results, changed, missing),
            "Then run the same command again, which makes them again.",
        ]
        raise ClusterletsError("\n".join(lines))


def removal(results: Path, changed: Collection[str], missing: Iterable[str]) -> list[str]:
    """Say which files to remove, so that the workflow makes them again: all that changed and, if a cell changed or is missing,
    ``runs.csv``. While that file exists, Snakemake does not look for missing cells.
    """
    affected = [*changed, *missing]
    runs_table = [_RUNS_TABLE] if any(name.startswith(_CELLS) for name in affected) and _RUNS_TABLE not in affected else []
    paths = [str(results / name) for name in [*changed, *runs_table]]
    if len(paths) > _MAX_FILES_IN_COMMAND:
        return [" and ".join(["Remove the changed files", *(str(results / name) for name in runs_table)]) + "."]
    option = "-r " if any(name.endswith("/") for name in changed) else ""
    return ["Remove first:", f"  rm {option}{shlex.join(paths)}"] if paths else []


def user_files(manifest: Mapping) -> dict[str, str]:
    """SHA-256 of each file of the user's own methods, by path from the working directory."""
    return manifest.get("user_files", {})


def _results_in(results: Path, expected_files: Iterable[str]) -> Iterator[str]:
    """Files at the top of the results folder and in the folders of expected files. Hidden files are left out."""
    folders = {PurePosixPath(file).parts[0] for file in expected_files if "/" in file}
    paths = [path for path in results.glob("*") if path.name not in _NOT_RESULTS]
    paths += [path for folder in folders for path in (results / folder).rglob("*")]
    return (path.relative_to(results).as_posix() for path in paths if path.is_file() and path.name[0] != ".")
