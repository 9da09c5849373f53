"""Pack a finished run into one ZIP: the checkout at its commit, the user's own files, the results, and how to repeat it."""

import io
import os
import shlex
import stat
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

import yaml

from clusterlets.benchmark.grid.fingerprints import PACKAGE
from clusterlets.benchmark.provenance import manifest
from clusterlets.errors import ClusterletsError, UnusableFileError
from clusterlets.storage import load_json
from clusterlets.text import counted

_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the earliest time that a ZIP can hold: equal runs give equal bytes
_PAGE = """\
# {title}, version {version}: a finished run

The checkout at commit {commit}, your own files, and the results in `{place}`: start with `report.html` there.
The last job ended {ended}, with {python} on {processor}.
Raw data of published datasets are not included; a run fetches and checks them.

Unpack with `unzip` (Python's `zipfile` loses which files are programs), and set up the locked libraries. You need Python 3.11
or newer, and make:

    unzip {name}.zip && cd {name}
    make environment && . .venv/bin/activate

Verify every byte of the results:

    clusterlets verify --results {place}

Repeat the run, and compare:

    snakemake --cores 2 {options}
    clusterlets compare {place} results/repeated
"""


def pack(results: Path, name: str) -> tuple[bytes, list[str]]:
    """The ZIP of a finished run, in which all is below the folder ``name``, and the paths of the user's own files in it.

    Raises
    ------
    ClusterletsError
        If the run is not finished, does not match its manifest, or was not made by a commit; or if a file of the user is
        missing or lies outside the working directory, where nobody else would have it.
    """
    run_manifest, provenance = _read(results)
    tables = run_manifest["settings"]["tables"].values()
    own_contents = {path: text.encode() for path, text in provenance["configfiles"].items()}
    own_contents |= {path: _content(path) for path in manifest.user_files(run_manifest)}
    own_contents |= {table["path"]: _content(table["path"]) for table in tables if "path" in table}
    if outside := list(filter(_leaves_the_folder, own_contents)):
        raise ClusterletsError(
            f"{outside[0]}, one of the run's own files, lies outside this folder, and nobody who unpacks the archive would "
            "have it there. Copy it into the folder, name it by its new path, run the workflow again, and then this command."
        )
    files = {path: (content, os.access(path, os.X_OK)) for path, content in own_contents.items()}
    place = provenance["settings"]["results"]
    place = Path(place).name if _leaves_the_folder(place) else place
    accounts = [f"accounts/{file.name}" for file in sorted((results / "accounts").iterdir())]
    for file in (manifest.NAME, *manifest.files(run_manifest), *accounts):
        files[f"{place}/{file}"] = (results / file).read_bytes(), False
    archive = io.BytesIO(_committed(provenance["source"], name))
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as members:
        committed = set(members.namelist())
        citation = yaml.safe_load(members.read(f"{name}/CITATION.cff"))
        files["REPEAT.md"] = _how_to_repeat(citation, name, place, provenance).encode(), False
        for path, (content, is_executable) in files.items():
            if f"{name}/{path}" not in committed:
                member = zipfile.ZipInfo(f"{name}/{path}", _EARLIEST)
                member.external_attr = (stat.S_IFREG | (0o755 if is_executable else 0o644)) << 16
                members.writestr(member, content, zipfile.ZIP_DEFLATED)
    return archive.getvalue(), [path for path in own_contents if f"{name}/{path}" not in committed]


def _read(results: Path) -> tuple[Mapping, Mapping]:
    """The manifest and the provenance of a finished run."""
    check = manifest.check(results)
    if not check.passed:
        faulty = [*check.missing, *check.changed, *check.changed_inputs]
        raise ClusterletsError(
            f"{results} is not what its {manifest.NAME} says: {counted(len(faulty), 'file')} missing or changed, first "
            f"{faulty[0]}. `clusterlets verify --results {results}` names them all and says what to do."
        )
    path = results / "accounts/provenance.json"
    try:
        provenance = load_json(path)
    except UnusableFileError as error:
        raise ClusterletsError(f"{error.problem} Remove it, and run the workflow again, which rewrites it.") from None
    run_manifest = manifest.read(results / manifest.NAME)
    if any(provenance["settings"].get(name) != value for name, value in run_manifest["settings"].items()):
        raise ClusterletsError(
            f"{path} and {results / manifest.NAME} have different settings: an unfinished run has replaced one of them. Let a "
            "run of the workflow finish."
        )
    return run_manifest, provenance


def _committed(source: Mapping | None, name: str) -> bytes:
    """The checkout at the commit of the run, as a ZIP. ``source`` is what :func:`environment.source` returned in the run."""
    if source is None or source["dirty"]:
        reason = "the checkout had changes that were not committed" if source else "the workflow ran outside a clone with git"
        raise ClusterletsError(
            f"No commit holds what made these results: {reason}. Commit the changes in a clone, run the workflow there again "
            "with `--forcerun account` (it reruns only what the changes affect), and then this command."
        )
    command = ["git", "-C", str(PACKAGE.parent), "archive", "--format=zip", f"--prefix={name}/", source["commit"]]
    try:
        return subprocess.run(command, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise ClusterletsError(
            f"Commit {source['commit']} made the results, and {PACKAGE.parent} does not have it. Run this command in a clone "
            "that does, or run the workflow again."
        ) from None


def _leaves_the_folder(path: str) -> bool:
    return os.path.isabs(path) or os.path.normpath(path).startswith("..")


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ClusterletsError(
            f"{path}, one of the run's own files, cannot be read ({error.strerror}), and nobody could repeat the run without "
            "it. Put it back, or run this command in the folder in which the workflow ran."
        ) from None


def _how_to_repeat(citation: Mapping, name: str, place: str, provenance: Mapping) -> str:
    options = [option for option in provenance["config_options"] if option.split("=")[0] not in manifest.LOCATIONS]
    configfiles = [word for file in provenance["configfiles"] for word in ("--configfile", file)]
    return _PAGE.format(
        title=citation["title"],
        version=citation["version"],
        commit=provenance["source"]["commit"],
        ended=provenance["jobs"]["last_job_ended"],
        python=provenance["python"],
        processor=provenance["machine"]["processor"],
        name=shlex.quote(name),
        place=shlex.quote(place),
        options=shlex.join([*configfiles, "--config", *options, "results=results/repeated"]),
    )
