"""Bringing raw files: by hand, from a mirror, from their publishers, or out of scikit-learn's own package.

The sources are tried in that order until one serves all files of the dataset. What is obviously no data (an empty
file, a web page, a download that broke off) fails its source. Bytes that merely differ from the known SHA-256 are
taken: publishers change line ends, and the fingerprint of the prepared table decides; the receipt says so.
"""

import functools
import hashlib
import importlib.util
import io
import json
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

from clusterlets import storage
from clusterlets.datasets.catalogue import describe
from clusterlets.errors import ClusterletsError

_LARGEST = 128 * 2**20  # bytes of one file; the largest real one has 23 MB
_TIMEOUT = (10, 60)  # seconds to connect, and between two chunks
_ATTEMPTS = 3
_BY_HAND = "by hand"
_ORIGIN = ".origin.json"  # beside the raw files: where they came from, for the receipt of a later fetch

Contents = dict[str, bytes]


class SourceFailed(Exception):
    """One source could not serve; the message says why."""


def fetch(name: str, raw_dir: str | PathLike, mirror: str | None = None, backoff: float = 1.0) -> dict:
    """Make the raw files of a dataset lie at ``<raw_dir>/<name>/<file>`` and say where they came from.

    Parameters
    ----------
    name : str
        One of :func:`clusterlets.datasets.names`.
    raw_dir : path
        Folder of all raw files. Files that are there already count as put by hand and are left as they are.
    mirror : str, optional
        A folder or an http(s) or file address, laid out ``<mirror>/<dataset>/<file>``.
    backoff : float
        Seconds before the second attempt at an address that fails in passing; doubled for the third.

    Returns
    -------
    dict
        The receipt: ``dataset``, ``source`` (``by hand``, ``mirror``, ``bundled`` or the address), ``files`` (name ->
        ``bytes``, ``sha256``) and ``sha256_matches`` (all files have the known SHA-256; nbfi: the known git blob id).

    Raises
    ------
    ClusterletsError
        If the dataset is unknown or no source served it: then the message has the reason of each. No file is written.
    """
    dataset = describe(name)
    folder = Path(raw_dir) / name
    failures = []
    for source, place, read in _sources(dataset, folder, mirror, backoff):
        try:
            contents = _plausible(read())
        except SourceFailed as failure:
            failures.append(f"{place}: {failure}")
            continue
        if source == _BY_HAND:
            source = _origin(folder, contents)
        else:
            _keep(folder, contents, source)
        return _receipt(dataset, source, contents)
    raise ClusterletsError(_nothing_served(dataset, folder, failures))


def _sources(dataset: dict, folder: Path, mirror: str | None, backoff: float) -> Iterator[tuple[str, str, Callable]]:
    """(name in the receipt, name in messages, function that returns all files or raises SourceFailed), best first."""
    files = [file["name"] for file in dataset["files"]]
    yield _BY_HAND, _BY_HAND, lambda: {file: _read(folder / file) for file in files}
    if mirror and dataset["module"] != "bundled":
        from_mirror = functools.partial(_from_mirror, mirror, dataset["name"], backoff)
        yield "mirror", f"mirror {mirror}", lambda: {file: from_mirror(file) for file in files}
    for source in dataset["sources"]:
        if source == "bundled":
            yield source, source, lambda: {file: _read(_sklearn_data() / file) for file in files}
        else:
            yield source["url"], source["url"], functools.partial(_from_publisher, source, files, backoff)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceFailed(f"{path} cannot be read ({error.strerror or error})") from None


def _from_mirror(mirror: str, dataset: str, backoff: float, file: str) -> bytes:
    parts = urlsplit(mirror)
    if parts.scheme in ("http", "https"):
        return _download(f"{mirror.rstrip('/')}/{quote(dataset)}/{quote(file)}", backoff)
    root = Path(url2pathname(parts.path)) if parts.scheme == "file" else Path(mirror)
    return _read(root / dataset / file)


def _sklearn_data() -> Path:
    """Folder of the data files in scikit-learn, found without the seconds that importing it costs."""
    found = importlib.util.find_spec("sklearn")
    if found is None or not found.submodule_search_locations:
        raise SourceFailed("scikit-learn is not installed")
    return Path(found.submodule_search_locations[0]) / "datasets" / "data"


def _from_publisher(source: dict, files: list[str], backoff: float) -> Contents:
    """``members`` (file -> path in the archive) marks an archive; otherwise the address serves the only file."""
    content = _download(source["url"], backoff)
    if "members" not in source:
        return {files[0]: content}
    return {file: _unpack(content, source["members"][file].split("/")) for file in files}


def _download(url: str, backoff: float) -> bytes:
    import requests  # 0.2 s to import, and a fetch from a folder needs no network

    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(backoff * 2 ** (attempt - 1))
        try:
            with requests.get(url, timeout=_TIMEOUT, stream=True) as response:
                response.raise_for_status()
                return _bounded(response.iter_content(2**16))
        except requests.RequestException as error:  # a body shorter than its Content-Length is one of these
            failure = error
            if _lasting(error.response):
                break
    raise SourceFailed(f"{type(failure).__name__}: {str(failure)[:300]} (attempts: {attempt + 1})")


def _bounded(chunks: Iterable[bytes]) -> bytes:
    content = bytearray()
    for chunk in chunks:
        content += chunk
        if len(content) > _LARGEST:
            raise SourceFailed(f"sends more than {_LARGEST // 2**20} MB, so it is not the expected file")
    return bytes(content)


def _lasting(response) -> bool:
    """Whether asking again is pointless: the server answered, and not with 'later'."""
    return response is not None and response.status_code < 500 and response.status_code not in (408, 429)


def _unpack(archive: bytes, path: list[str]) -> bytes:
    """The file at ``path`` in a zip archive; a longer path goes through archives within it.

    Only the named member is read, into memory, so names such as ``../x`` in the archive reach no file.
    """
    for name in path:
        try:
            with zipfile.ZipFile(io.BytesIO(archive)) as opened:
                archive = _member(opened, name)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            raise SourceFailed(f"is no intact zip archive ({error})") from None
    return archive


def _member(opened: zipfile.ZipFile, name: str) -> bytes:
    found = [
        info for info in opened.infolist()
        if PurePosixPath(info.filename).name == name and ".." not in PurePosixPath(info.filename).parts
    ]
    if not found:
        raise SourceFailed(f"its archive holds no {name}")
    if found[0].file_size > _LARGEST:
        raise SourceFailed(f"{name} in its archive is larger than {_LARGEST // 2**20} MB")
    with opened.open(found[0]) as member:
        return member.read(_LARGEST + 1)


def _plausible(contents: Contents) -> Contents:
    for file, content in contents.items():
        if not content.strip():
            raise SourceFailed(f"{file} is empty")
        if content[:512].lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml")):
            raise SourceFailed(f"{file} is a web page, not data")
    return contents


def _keep(folder: Path, contents: Contents, source: str) -> None:
    for file, content in contents.items():
        storage.write_bytes(folder / file, content)
    storage.write_text(folder / _ORIGIN, json.dumps({"source": source, "sha256": _hashes(contents)}))


def _origin(folder: Path, contents: Contents) -> str:
    """Where files in the raw folder came from: what the fetch that wrote these very bytes noted, else by hand."""
    try:
        noted = json.loads((folder / _ORIGIN).read_text(encoding="utf-8"))
        return noted["source"] if noted["sha256"] == _hashes(contents) else _BY_HAND
    except (OSError, ValueError, KeyError, TypeError):
        return _BY_HAND


def _hashes(contents: Contents) -> dict[str, str]:
    return {file: hashlib.sha256(content).hexdigest() for file, content in contents.items()}


def _receipt(dataset: dict, source: str, contents: Contents) -> dict:
    hashes = _hashes(contents)
    verdicts = [_is_known(file, contents[file["name"]]) for file in dataset["files"]]
    return {
        "dataset": dataset["name"],
        "source": source,
        "sha256_matches": all(verdicts),
        "files": {file: {"bytes": len(content), "sha256": hashes[file]} for file, content in contents.items()},
    }


def _is_known(file: dict, content: bytes) -> bool:
    """Whether the bytes have a known SHA-256, or, where nobody has published one, a known git blob id."""
    if "sha256" in file:
        return hashlib.sha256(content).hexdigest() == file["sha256"]
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest() in file["git_blob"]


def _nothing_served(dataset: dict, folder: Path, failures: list[str]) -> str:
    places = " and ".join(str(folder / file["name"]) for file in dataset["files"])
    tried = "\n".join(f"  - {failure}" for failure in failures)
    return (
        f"{dataset['name']}: no source served the raw files. Tried, in this order:\n{tried}\n"
        f"What to do: put {places} there by hand; or name a mirror, a folder or an address laid out "
        f"<mirror>/{dataset['name']}/<file>, in the configuration or in the environment variable CLUSTERLETS_MIRROR; "
        f"or leave the dataset out: `make reproduce EXCLUDE={dataset['name']}`."
    )
