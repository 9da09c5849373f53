"""Pack a finished run: its results, the checkout that made them, and the user's own files."""

import csv
import hashlib
import io
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from clusterlets.errors import ClusterletsError, UnusableFileError
from clusterlets.grid.fingerprints import PACKAGE
from clusterlets.provenance import manifest
from clusterlets.storage import load_json
from clusterlets.text import counted

#: The files and folders at the top of the checkout that a run needs.
SOURCE_NAMES = (
    *("CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile", "README.md", "Snakefile", "config.yaml", "pyproject.toml"),
    *("requirements.lock", "clusterlets", "envs", "profiles", "snakemake_logger_plugin_cells", "workflow"),
)
#: Folders in the archive: for the results, and for the user's own files.
RESULTS, USER_FOLDER = "results/", "user/"
_ACCOUNTS = "accounts"
_PROVENANCE = f"{_ACCOUNTS}/provenance.json"
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the earliest time that a ZIP can hold
_READABLE = 0o644 << 16  # file permissions, as a ZIP stores them


@dataclass(frozen=True)
class Run:
    """A finished run: its folder, its manifest, where it came from, and who ran it."""

    results: Path
    manifest: Mapping
    provenance: Mapping
    agent: str


def read(results: Path, agent: str) -> Run:
    """Read the run of a results folder. ``agent`` is the name of the person who ran it.

    Raises
    ------
    ClusterletsError
        If the run is not finished or does not match its manifest, or if manifest and accounts are from two runs.
    """
    check = manifest.check(results)
    if not check.passed:
        faulty = [*check.missing, *check.changed, *check.changed_inputs]
        raise ClusterletsError(
            f"{results} is not what its {manifest.NAME} says: {counted(len(faulty), 'file')} missing or changed, first "
            f"{faulty[0]}. `clusterlets verify --results {results}` names them all and says what to do."
        )
    try:
        provenance = load_json(results / _PROVENANCE)
    except UnusableFileError as error:
        raise ClusterletsError(f"{error.problem} Run the workflow again, which rewrites it.") from None
    run_manifest = manifest.read(results / manifest.NAME)
    if any(provenance["settings"].get(name) != value for name, value in run_manifest["settings"].items()):
        raise ClusterletsError(
            f"{results / _PROVENANCE} and {results / manifest.NAME} have different settings: an unfinished run has replaced "
            "one of them. Let a run of the workflow finish."
        )
    if not provenance["jobs"]["first_job_began"]:
        raise ClusterletsError(
            f"{results / _PROVENANCE} counts no job, because the logs had been removed, so the time of the run is unknown. Run "
            "the workflow again, into an empty folder."
        )
    return Run(results, run_manifest, provenance, agent)


def source_files(source: Mapping | None, checkout: Path = PACKAGE.parent) -> dict[str, bytes]:
    """What a run needs from the checkout, by name, at the commit of the run.

    ``source`` is what :func:`clusterlets.provenance.environment.source` returned in the run. If there is no commit,
    or the checkout had uncommitted changes, the files are those of now.

    Raises
    ------
    ClusterletsError
        If this checkout does not have the commit.
    """
    if source is None or source["dirty"]:
        paths = (path for name in SOURCE_NAMES for path in (checkout / name, *(checkout / name).rglob("*")))
        files = {path.relative_to(checkout): path for path in paths if path.is_file() and "__pycache__" not in path.parts}
        return {name.as_posix(): path.read_bytes() for name, path in files.items()}
    command = ["git", "-C", str(checkout), "archive", "--format=tar", source["commit"]]
    try:
        tar = subprocess.run(command, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise ClusterletsError(
            f"Commit {source['commit']} made the results, and {checkout} does not have it. Run this command in a clone "
            "that does, or run the workflow again."
        ) from None
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        members = [member for member in archive if member.isfile() and PurePosixPath(member.name).parts[0] in SOURCE_NAMES]
        return {member.name: archive.extractfile(member).read() for member in members}  # type: ignore[union-attr]


def user_files(run: Run) -> dict[str, bytes]:
    """The configuration files of a run and the files of the user's own methods, by name in the archive.

    Raises
    ------
    ClusterletsError
        If a file cannot be read, because nobody could repeat the archived run without it.
    """
    contents = {path: text.encode() for path, text in run.provenance["configfiles"].items()}
    for path in manifest.user_files(run.manifest):
        try:
            contents[path] = Path(path).read_bytes()
        except OSError as error:
            raise ClusterletsError(
                f"{path}, which belongs to a method of the run, cannot be read ({error.strerror}), and an archive without it "
                "could not be run again. Put it back, or run this command in the folder in which the workflow ran."
            ) from None
    return {USER_FOLDER + _name_in_archive(path): content for path, content in contents.items()}


def _name_in_archive(path: str) -> str:
    """The path itself, or another name if it leaves the folder or holds characters that URLs escape."""
    if re.fullmatch(r"[\w-][\w.-]*(/[\w-][\w.-]*)*", path, re.ASCII):
        return path
    return f"{hashlib.sha256(path.encode()).hexdigest()[:8]}_{re.sub(r'[^A-Za-z0-9.-]', '_', Path(path).name)}"


def result_files(run: Run) -> dict[str, Path]:
    """The manifest, every file that it lists, and the accounts, by their names in the archive."""
    accounts = [f"{_ACCOUNTS}/{path.name}" for path in sorted((run.results / _ACCOUNTS).iterdir())]
    return {RESULTS + name: run.results / name for name in (manifest.NAME, *manifest.files(run.manifest), *accounts)}


def pack(contents: Mapping[str, bytes | Path]) -> bytes:
    """A ZIP whose bytes depend only on its contents: names are sorted, and all have the same time."""
    folders = {f"{folder}/": b"" for name in contents for folder in PurePosixPath(name).parents if folder.name}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in sorted({**folders, **contents}.items()):
            entry = zipfile.ZipInfo(name, _EARLIEST)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, _READABLE
            archive.writestr(entry, content.read_bytes() if isinstance(content, Path) else content)
    return buffer.getvalue()


def revealed_contents(run: Run) -> dict[str, str]:
    """What the archive reveals about the rows of each of the user's own tables, in words, by the table's id.

    The archive leaves out the tables themselves. But results follow from their rows, and the archive may become public.
    """
    projection = run.results / "clusterings" / "projection.csv"
    plotted_rows: dict[str, set[str]] = {}
    if projection.is_file():
        with projection.open(encoding="utf-8", newline="") as file:
            for record in csv.DictReader(file):
                plotted_rows.setdefault(record["dataset"], set()).add(record["row"])
    contents = {}
    for dataset, settings in run.manifest["settings"]["tables"].items():
        if "path" in settings and dataset in run.manifest["datasets"]:
            groups = run.manifest["datasets"][dataset]["groups"]
            columns = " and ".join(settings.get("sensitive", []))
            contents[dataset] = f"the values of {columns} with their counts ({counted(len(groups), 'group')})"
            if n_rows := len(plotted_rows.get(dataset, ())):
                contents[dataset] += (
                    f", and, for {counted(n_rows, 'row')} identified by number, the group, the cluster and two "
                    f"coordinates that follow from the features ({RESULTS}clusterings/projection.csv)"
                )
    return contents
