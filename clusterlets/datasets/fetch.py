"""Fetch raw files: put there by hand, or from a mirror, their publishers, or scikit-learn's own package.

The sources are tried in that order. Files with the known SHA-256 are accepted at once. Other bytes may still be the same
data (publishers change line ends), so they are prepared, and the fingerprint of the table decides. Anything else
counts as a failure of the source. A file gets its name only after this check. No message contains a password.
"""

import contextlib
import errno
import fcntl
import functools
import hashlib
import importlib.util
import io
import json
import os
import re
import shutil
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

from clusterlets import storage
from clusterlets.datasets import prepare
from clusterlets.datasets.catalogue import describe
from clusterlets.errors import ClusterletsError

_MAX_BYTES = 128 * 2**20  # bytes of a file, downloaded or unpacked; the largest real one has 23 MB
_TIMEOUT = 60  # seconds to connect, and to wait for the next byte
_MAX_SECONDS = 1200  # seconds for a whole file
_ATTEMPTS = 3
_BY_HAND = "by hand"


class SourceFailed(Exception):
    """A source does not serve the files; the message says why."""


class Answer(NamedTuple):
    """What a source served into ``folder``; ``is_right`` is None if no table is known to compare it with.

    ``source`` is ``mirror`` and its location without a password, ``bundled``, or an address.
    """

    source: str
    folder: Path
    is_right: bool | None
    verdict: str


def fetch(name: str, raw_dir: str | os.PathLike, mirror: str | None = None) -> dict:
    """Fetch the raw files of a dataset to ``<raw_dir>/<name>/<file>`` and say where they came from.

    Two processes may fetch the same dataset at once: one waits for the other.

    Parameters
    ----------
    name : str
        One of :func:`clusterlets.datasets.names`.
    raw_dir : path
        Folder of all raw files. Files that are there already count as put by hand and are not changed.
    mirror : str, optional
        A folder or an http(s) or file address, laid out ``<mirror>/<dataset>/<file>``.

    Returns
    -------
    dict
        The receipt: ``dataset``, ``source`` (``by hand``, ``mirror``, ``bundled`` or the address), ``files`` (name ->
        ``bytes``, ``sha256``) and ``sha256_matches`` (all files have the known SHA-256; nbfi: the known git blob id).

    Raises
    ------
    ClusterletsError
        If the dataset is unknown, no source served it (the message has the reason of each), or the folder cannot be
        written. No file is written then.
    """
    dataset, folder = describe(name), Path(raw_dir, name)
    if not _missing(dataset, folder):  # before anything is written, because the folder may be read-only
        return _receipt(dataset, folder)
    try:
        with _locked(folder):
            if missing := _missing(dataset, folder):
                _fetch_missing(dataset, folder, missing, mirror)
            return _receipt(dataset, folder)
    except OSError as error:
        remedy = "Free space on its disk" if _disk_is_full(error) else "Make it a folder that you may write to"
        raise ClusterletsError(
            f"{name}: no file can be written to {folder}: {error.strerror or error}. No file was left half-written.\n"
            f"What to do: {remedy}, or make the folder of the raw files a link to another place, and run the same command "
            "again."
        ) from None


def ask_sources(name: str) -> list[Answer]:
    """Download from every source of a dataset, in order, and judge it as :func:`fetch` does. No file is kept.

    Raises
    ------
    ClusterletsError
        If the dataset is unknown.
    """
    dataset = describe(name)
    with tempfile.TemporaryDirectory() as folder:
        return list(_answers(dataset, Path(folder), _file_names(dataset), Path(), None))


def _missing(dataset: dict, folder: Path) -> dict[str, str]:
    """The files that are missing or cannot be data, each with the reason."""
    missing = {}
    for file in _file_names(dataset):
        try:
            _require_plausible(folder / file)
        except SourceFailed as failure:
            missing[file] = str(failure)
    return missing


def _file_names(dataset: dict) -> list[str]:
    return [file["name"] for file in dataset["files"]]


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which ends with the process; on a file system without locks each process fetches for itself."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="utf-8") as lock:
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
            for abandoned in folder.glob(".incoming.*"):  # left by processes that were killed
                shutil.rmtree(abandoned, ignore_errors=True)
        yield


def _fetch_missing(dataset: dict, folder: Path, missing: dict[str, str], mirror: str | None) -> None:
    """Fetch the missing files into the folder: from the first source that is right, else the first that may be right."""
    with tempfile.TemporaryDirectory(prefix=".incoming.", dir=folder, ignore_cleanup_errors=True) as incoming:
        answers, served = [], None
        for answer in _answers(dataset, Path(incoming), list(missing), folder, mirror):
            answers.append(answer)
            if answer.is_right or (served is None and answer.is_right is None):
                served = answer
            if answer.is_right:
                break
        if served is None:
            raise ClusterletsError(_no_source_error(dataset, folder, missing, answers))
        origin = served.source.partition(" ")[0]  # without a mirror's location
        origins = {storage.hash_of_file(served.folder / file): origin for file in missing}
        storage.write_text(folder / ".origin.json", json.dumps(_origins(folder) | origins))
        for file in missing:
            os.replace(served.folder / file, folder / file)


def _answers(dataset: dict, incoming: Path, files: list[str], folder: Path, mirror: str | None) -> Iterator[Answer]:
    """Try every source, each in its own folder below ``incoming``; links there lead to the other files in ``folder``."""
    for number, (source, get) in enumerate(_sources(dataset, mirror)):
        stage = incoming / str(number) / dataset["name"]
        stage.mkdir(parents=True)
        for file in set(_file_names(dataset)) - set(files):
            (stage / file).symlink_to((folder / file).resolve())
        try:
            for file in files:
                get(stage / file)
            is_right, verdict = _judge(dataset, stage)
        except SourceFailed as failure:
            shutil.rmtree(stage)
            is_right, verdict = False, re.sub(r"(?<=//).*@", "", str(failure))  # an address may hold a password
        yield Answer(source, stage, is_right, verdict)


def _judge(dataset: dict, stage: Path) -> tuple[bool | None, str]:
    """Whether the files are the dataset, and why; SourceFailed if they are not data or give a different table."""
    for file in _file_names(dataset):
        _require_plausible(stage / file)
    if _receipt(dataset, stage)["sha256_matches"]:
        return True, "serves the known bytes"
    try:
        prepare(dataset["name"], stage.parent)
    except ClusterletsError as error:
        problem = str(error).splitlines()[0].removeprefix(f"{dataset['name']}: ")
        raise SourceFailed(f"serves bytes other than the known ones, and {problem}") from None
    if dataset["strict"] and dataset["fingerprint"]:
        return True, "serves other bytes, but the known table"
    return None, "serves other bytes, and no table is known"


def _require_plausible(path: Path) -> None:
    if not path.is_file():  # opening a pipe would wait for a writer
        raise SourceFailed(f"{path} is {'not a regular file' if path.exists() else 'missing'}")
    _require_small(path.stat().st_size)
    try:
        with open(path, "rb") as file:
            head = file.read(2**16).lstrip()[:9].lower()
    except OSError as error:
        raise SourceFailed(f"{path} cannot be read ({error.strerror or error})") from None
    if not head:
        raise SourceFailed(f"{path.name} is empty")
    if head.startswith((b"<!doctype", b"<html", b"<?xml")):
        raise SourceFailed(f"{path.name} is a web page, not data")


def _require_small(n_bytes: int) -> None:
    if n_bytes > _MAX_BYTES:
        raise SourceFailed(f"serves more than {_MAX_BYTES // 2**20} MB, so it is not the expected file")


# The sources: each writes one missing file, <folder>/<dataset>/<file>, or raises SourceFailed.


def _sources(dataset: dict, mirror: str | None) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """Each source's name and the function that fetches a file from it, in the order in which they are tried."""
    if mirror and dataset["module"] != "bundled":
        yield f"mirror {_without_password(mirror)}", functools.partial(_from_mirror, mirror)
    for source in dataset["sources"]:
        yield ("bundled", _from_sklearn) if source == "bundled" else (source["url"], functools.partial(_from_publisher, source))


def _without_password(mirror: str) -> str:
    """A mirror without user and password, even if it is not a valid address."""
    return mirror if mirror.startswith("file:") else re.sub(r"\A([\w+.-]+:(//)?).*@", r"\1", mirror)


def _from_mirror(mirror: str, target: Path) -> None:
    dataset, scheme = target.parent.name, mirror.partition(":")[0].lower()
    if scheme in ("http", "https"):
        return _download(f"{mirror.rstrip('/')}/{quote(dataset)}/{quote(target.name)}", target)
    root = Path(url2pathname(urlsplit(mirror).path)) if scheme == "file" else Path(mirror)
    if not root.is_dir():
        raise SourceFailed(f"{_without_password(str(root))} is not a folder")
    _copy(root / dataset / target.name, target)


def _from_sklearn(target: Path) -> None:
    """Locate the package without importing it, which would take seconds."""
    package = importlib.util.find_spec("sklearn")
    if package is None or package.origin is None:
        raise SourceFailed("scikit-learn is not installed")
    _copy(Path(package.origin).parent / "datasets" / "data" / target.name, target)


def _copy(path: Path, target: Path) -> None:
    _require_plausible(path)
    shutil.copyfile(path, target)


def _from_publisher(source: dict, target: Path) -> None:
    """``members`` (file -> path in the archive) marks an archive; otherwise the address serves the file."""
    if "members" not in source:
        return _download(source["url"], target)
    archive = target.with_name(".archive.zip")
    if not archive.exists():
        _download(source["url"], archive)
    _require_plausible(archive)
    for member in source["members"][target.name].split("/"):  # the path leads through archives within the archive
        unpacked = archive.with_name(f".{member}")
        _unpack(archive, member, unpacked)
        archive = unpacked
    os.replace(unpacked, target)


def _unpack(archive: Path, name: str, target: Path) -> None:
    """Unpack the member of that name nearest to the top, because publishers wrap folders around it."""
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [info for info in opened.infolist() if PurePosixPath(info.filename).name == name and not info.is_dir()]
            if not members:
                raise SourceFailed(f"its archive holds no {name}")
            outermost = min(members, key=lambda info: info.filename.count("/"))
            _require_small(outermost.file_size)  # no more than this is read
            with opened.open(outermost) as member, open(target, "wb") as file:
                shutil.copyfileobj(member, file)
    except Exception as error:  # a damaged archive raises anything from struct.error to zlib.error
        if isinstance(error, SourceFailed) or _disk_is_full(error):
            raise
        raise SourceFailed(f"does not serve an intact zip archive ({error})") from None


class _SizeLimitedFile(io.BufferedWriter):
    """A file that refuses to grow beyond the size of raw files."""

    def write(self, chunk) -> int:
        _require_small(self.tell() + len(chunk))
        return super().write(chunk)


def _download(url: str, target: Path) -> None:
    """Download with pooch, which tries again after one second, then two. Hashes are compared later, by :func:`_judge`."""
    import pooch  # imported late: it costs 0.1 s with requests, and a folder needs neither
    import requests

    pooch.get_logger().setLevel("WARNING")
    shows_progress = sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None

    def attempt(url: str, path: str, _) -> None:
        login = tuple(part.encode() for part in requests.utils.get_auth_from_url(url))  # requests would send Latin-1
        options = {"timeout": _TIMEOUT, "auth": login if any(login) else None}
        with _SizeLimitedFile(io.FileIO(path, "w")) as file, contextlib.ExitStack() as responses:  # pooch closes none
            hooks = {"response": lambda response, **_: responses.enter_context(response)}
            pooch.HTTPDownloader(shows_progress, chunk_size=2**14, hooks=hooks, **options)(url, file, None)

    addresses, hashes = {target.name: url}, {target.name: None}
    files = pooch.create(target.parent, "", registry=hashes, urls=addresses, retry_if_failed=_ATTEMPTS - 1)
    try:
        _with_time_limit(lambda: files.fetch(target.name, downloader=attempt))
    except (requests.RequestException, ValueError) as error:
        raise SourceFailed(f"{_reason(error)} (attempts: {_ATTEMPTS})") from None


def _with_time_limit(download: Callable[[], str]) -> None:
    """Wait for a download in a thread, because the timeout of a connection starts again with every byte."""
    outcome: Future = Future()

    def run() -> None:
        try:
            outcome.set_result(download())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        outcome.result(_MAX_SECONDS)
    except TimeoutError:
        raise SourceFailed(f"takes longer than {_MAX_SECONDS} s") from None


def _reason(error: Exception) -> str:
    response = getattr(error, "response", None)
    if response is not None and response.status_code >= 400:
        return f"answers {response.status_code} {response.reason}"
    inner = error.args[0] if error.args else error
    return f"{type(error).__name__}: {str(getattr(inner, 'reason', inner))[:300]}"


def _disk_is_full(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def _origins(folder: Path) -> dict[str, str]:
    """The sources of earlier fetches, by the SHA-256 of the files that they served."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        return dict(json.loads((folder / ".origin.json").read_text(encoding="utf-8")))
    return {}


def _receipt(dataset: dict, folder: Path) -> dict:
    """The receipt; a file whose bytes no source served was put there by hand."""
    files, origins, matches, sources = {}, _origins(folder), True, []
    for file in dataset["files"]:
        content = (folder / file["name"]).read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # what git calls these bytes
        matches = matches and (digest == file.get("sha256") or blob in file.get("git_blob", ()))
        files[file["name"]] = {"bytes": len(content), "sha256": digest}
        sources.append(origins.get(digest, _BY_HAND))
    source = " and ".join(dict.fromkeys(sources))
    return {"dataset": dataset["name"], "source": source, "sha256_matches": matches, "files": files}


def _no_source_error(dataset: dict, folder: Path, missing: dict[str, str], answers: list[Answer]) -> str:
    paths = " and ".join(str(folder / file) for file in _file_names(dataset))
    failures = [(_BY_HAND, reason) for reason in missing.values()] + [(answer.source, answer.verdict) for answer in answers]
    attempts = "\n".join(f"  - {source}: {reason}" for source, reason in failures)
    return (
        f"{dataset['name']}: no source served the raw files. Tried, in this order:\n{attempts}\n"
        f"What to do: put {paths} there by hand; or name a mirror, a folder or an address laid out "
        f"<mirror>/{dataset['name']}/<file>, in the configuration or in the environment variable CLUSTERLETS_MIRROR; "
        f"or leave the dataset out: `make reproduce EXCLUDE={dataset['name']}`, after a comma what you left out before."
    )
