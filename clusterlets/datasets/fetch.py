"""Bringing raw files: by hand, from a mirror, from their publishers, or out of scikit-learn's own package.

The sources are tried in that order. Files with the known SHA-256 are taken at once. Other bytes may still be the same
data (publishers change line ends), so they are prepared, and the fingerprint of the table decides. What is no data, was
cut short or gives another table fails its source, and the next is asked. A file reaches its name only when it is right.
No source is waited for without end, and no message names the password in an address.
"""

import contextlib
import errno
import fcntl
import functools
import hashlib
import importlib.util
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeVar
from urllib.parse import quote, unquote_to_bytes, urlsplit
from urllib.request import url2pathname

from clusterlets import storage
from clusterlets.datasets import prepare
from clusterlets.datasets.catalogue import describe
from clusterlets.errors import ClusterletsError

_LARGEST = 128 * 2**20  # bytes of one file; the largest real one has 23 MB
_CHUNK = 2**16
_SWELLING = 100  # times its size that an archive's member may unpack to (beyond the first MB); the real ones: below 20
_TIMEOUT = (10, 60)  # seconds to connect, and to wait for anything; a chunk may take both together
_LONGEST = 3600  # seconds for a file with all attempts; what came stays for the next run
_ATTEMPTS = 3
_REDIRECTS = 5
_PATIENCE = 60  # seconds that a server may ask to wait before the next attempt
_PASSING = (206, 408, 416, 425, 429, 500, 502, 503, 504)  # answers that may change; 206, 416: not the rest asked for
_BY_HAND = "by hand"
_ORIGIN = ".origin.json"  # beside the raw files: where they came from, for the receipt of a later fetch
_INCOMING = ".incoming."  # beside them too: what a source has served and nobody has judged yet
_LOCK = ".lock"

Bring = Callable[[list[str], Path], None]
Login = tuple[bytes, bytes]  # user and password
_Any = TypeVar("_Any")


class SourceFailed(Exception):
    """One source could not serve; the message says why."""


class Answer(NamedTuple):
    """What a source serves today: whether that is the dataset, and how it is told."""

    source: str
    is_right: bool
    words: str


def fetch(name: str, raw_dir: str | PathLike, mirror: str | None = None, backoff: float = 1.0) -> dict:
    """Make the raw files of a dataset lie at ``<raw_dir>/<name>/<file>`` and say where they came from.

    Two processes may fetch the same dataset at once: one waits for the other. A download that broke off, or whose
    process was killed, is resumed by the next fetch where the server can tell that the file is still the same.

    Parameters
    ----------
    name : str
        One of :func:`clusterlets.datasets.names`.
    raw_dir : path
        Folder of all raw files. Files that are there already count as put by hand and are left as they are.
    mirror : str, optional
        A folder or an http(s) or file address, laid out ``<mirror>/<dataset>/<file>``.
    backoff : float
        An address that fails in passing is asked again at once, then after twice this many seconds; or after as long
        as the server asks for.

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
    dataset = describe(name)
    folder = Path(raw_dir) / name
    if not _lacking(dataset, folder):  # before anything is written, since the folder may be read-only
        return _receipt(dataset, folder)
    try:
        with _alone(folder) as alone:
            if lacking := _lacking(dataset, folder):
                _bring(dataset, folder, lacking, alone, mirror, backoff)
            return _receipt(dataset, folder)
    except OSError as error:
        raise ClusterletsError(_not_written(name, folder, error)) from None


def ask_sources(name: str, backoff: float = 1.0) -> list[Answer]:
    """Ask every source of a dataset in its order, and judge what it serves as :func:`fetch` does. Nothing is kept.

    Parameters
    ----------
    name, backoff
        As of :func:`fetch`.

    Raises
    ------
    ClusterletsError
        If the dataset is unknown.
    """
    dataset = describe(name)
    with tempfile.TemporaryDirectory() as folder:
        sources = enumerate(_sources(dataset, Path(folder), None, backoff))
        return [_ask(dataset, Path(folder) / str(number) / name, source, bring) for number, (source, _, bring) in sources]


def _ask(dataset: dict, stage: Path, source: str, bring: Bring) -> Answer:
    try:
        _fill(stage, [], functools.partial(bring, _names(dataset)))
        is_right = _is_known_to_be_right(dataset, stage)
    except SourceFailed as failure:
        return Answer(source, False, _without_passwords(str(failure)))
    if _all_known(dataset, stage):
        return Answer(source, True, "serves the known bytes")
    return Answer(source, is_right, f"serves other bytes, {'but the known table' if is_right else 'and no table is known'}")


def _lacking(dataset: dict, folder: Path) -> dict[str, str]:
    """What is wrong with each file that does not lie in the folder as it should; empty if all are there."""
    lacking = {}
    for file in _names(dataset):
        try:
            _require_plausible(folder / file)
        except SourceFailed as failure:
            lacking[file] = str(failure)
    return lacking


def _names(dataset: dict) -> list[str]:
    return [file["name"] for file in dataset["files"]]


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Hold the folder's lock, and tell whether its file system has locks at all.

    The system takes the lock back when the process ends, however it ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / _LOCK, "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            alone = True
        except OSError:
            alone = False
        yield alone


def _bring(dataset: dict, folder: Path, lacking: dict[str, str], alone: bool, mirror: str | None, backoff: float) -> None:
    """Put the files of the best source into the folder, or raise ClusterletsError with what is wrong with each source.

    Files put by hand stay. Where only some files of an earlier fetch are left, all of them come anew from one source.
    Only who is alone may touch what other processes left: elsewhere one could be writing to it still.
    """
    served = _noted(folder)["sha256"]
    wanted = [file for file in _names(dataset) if file in lacking or served.get(file) == _sha256(folder / file)]
    by_hand = [folder / file for file in _names(dataset) if file not in wanted]
    failures = [f"{_BY_HAND}: {reason}" for reason in lacking.values()]
    unsure = []
    for left in folder.glob(f"{_INCOMING}*") if alone else ():  # by a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_INCOMING, dir=folder, ignore_cleanup_errors=True) as incoming:
        parts = folder if alone else Path(incoming)
        for number, (source, place, bring) in enumerate(_sources(dataset, parts, mirror, backoff)):
            stage = Path(incoming) / str(number) / dataset["name"]
            try:
                _fill(stage, by_hand, functools.partial(bring, wanted))
                if _is_known_to_be_right(dataset, stage):
                    return _place(folder, stage, wanted, source)
            except SourceFailed as failure:
                failures.append(_without_passwords(f"{place}: {failure}"))
            except OSError as error:
                raise ClusterletsError(_not_written(dataset["name"], folder, error, f"what {place} serves")) from None
            else:
                unsure.append((stage, source))
        if not unsure:
            raise ClusterletsError(_nothing_served(dataset, folder, failures))
        stage, source = unsure[0]
        _place(folder, stage, wanted, source)


def _fill(stage: Path, by_hand: list[Path], bring: Callable[[Path], None]) -> None:
    """All raw files of a dataset in one folder, as preparation needs them: a source's, and links to those by hand."""
    stage.mkdir(parents=True)
    bring(stage)
    for path in by_hand:
        (stage / path.name).symlink_to(path.resolve())


def _is_known_to_be_right(dataset: dict, stage: Path) -> bool:
    """Whether the bytes are known, or give the known table; False where nothing is known to compare a table with.

    Raises SourceFailed if the files are no data or give another table.
    """
    for file in _names(dataset):
        _require_plausible(stage / file)
    if _all_known(dataset, stage):
        return True
    try:
        prepare(dataset["name"], stage.parent)
    except ClusterletsError as error:
        problem = str(error).splitlines()[0].removeprefix(f"{dataset['name']}: ")
        raise SourceFailed(f"serves other bytes than the known ones, and {problem}") from None
    return dataset["strict"] and dataset["fingerprint"] is not None


def _require_plausible(path: Path) -> None:
    head = next(_chunks(path), b"")
    if not head.strip():
        raise SourceFailed(f"{path.name} is empty")
    if head.lstrip()[:9].lower().startswith((b"<!doctype", b"<html", b"<?xml")):
        raise SourceFailed(f"{path.name} is a web page, not data")


def _place(folder: Path, stage: Path, files: list[str], source: str) -> None:
    """Give the judged files their names, and forget what broken downloads left."""
    note = {"source": source, "sha256": {file: _sha256(stage / file) for file in files}}
    storage.write_text(folder / _ORIGIN, json.dumps(note))
    for file in files:
        os.replace(stage / file, folder / file)
    for partial in folder.glob(".*.part*"):
        partial.unlink(missing_ok=True)


# The sources: each brings wanted files into a folder, or raises SourceFailed.


def _sources(dataset: dict, parts: Path, mirror: str | None, backoff: float) -> Iterator[tuple[str, str, Bring]]:
    """(name in the receipt, name in messages, function that brings the files), in the order of trying.

    ``parts`` is the folder of downloads that are not complete.
    """
    if mirror and dataset["module"] != "bundled":
        yield "mirror", f"mirror {_shown(mirror)}", functools.partial(_from_mirror, mirror, parts, backoff)
    for source in dataset["sources"]:
        if source == "bundled":
            yield source, source, lambda files, stage: _from_folder(_sklearn_data(), files, stage)
        else:
            yield source["url"], source["url"], functools.partial(_from_publisher, source, parts, backoff)


def _shown(mirror: str) -> str:
    """A mirror as messages name it: of an address without user and password, however they are written."""
    scheme, colon, rest = mirror.partition(":")
    if not colon or "/" in scheme or scheme.lower() == "file":
        return mirror
    return f"{scheme}:{'//' if rest.startswith('//') else ''}{rest.rpartition('@')[2].removeprefix('//')}"


def _without_passwords(text: str) -> str:
    """For what others say of an address, a redirect's too."""
    return re.sub(r"(?<=//)[^\s'\"]*@", "", text)


def _from_mirror(mirror: str, parts: Path, backoff: float, files: list[str], stage: Path) -> None:
    scheme = mirror.partition(":")[0].lower()
    if scheme in ("http", "https"):
        base, login = _login_apart(mirror)
        for file in files:
            address = f"{base.rstrip('/')}/{quote(stage.name)}/{quote(file)}"
            _download(address, parts / f".{file}.part", stage / file, backoff, login)
    else:
        root = Path(url2pathname(urlsplit(mirror).path)) if scheme == "file" else Path(mirror)
        if not root.is_dir():
            raise SourceFailed(f"{_shown(str(root))} is not a folder")
        _from_folder(root / stage.name, files, stage)


def _login_apart(address: str) -> tuple[str, Login | None]:
    """An address without user and password, which then stand in no message and no file, and these."""
    try:
        split = urlsplit(address)
        _ = split.port  # which is checked only now
    except ValueError:
        raise SourceFailed("it is no address; are special characters in user and password written as %2F and so on?") from None
    words = (split.username or "", split.password or "")
    login = (unquote_to_bytes(words[0]), unquote_to_bytes(words[1])) if "@" in split.netloc else None
    return split._replace(netloc=split.netloc.rpartition("@")[2]).geturl(), login


def _from_folder(root: Path, files: list[str], stage: Path) -> None:
    for file in files:
        _write(_chunks(root / file), stage / file)


def _chunks(path: Path) -> Iterator[bytes]:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # to open a pipe is to wait for whoever writes
            raise SourceFailed(f"{path} is not a regular file")
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    except OSError as error:
        raise SourceFailed(f"{path} cannot be read ({error.strerror or error})") from None


def _sklearn_data() -> Path:
    """Folder of the data files in scikit-learn, found without the seconds that importing it costs."""
    found = importlib.util.find_spec("sklearn")
    if found is None or not found.submodule_search_locations:
        raise SourceFailed("scikit-learn is not installed")
    return Path(found.submodule_search_locations[0]) / "datasets" / "data"


def _from_publisher(source: dict, parts: Path, backoff: float, files: list[str], stage: Path) -> None:
    """``members`` (file -> path in the archive) marks an archive; otherwise the address serves the only file."""
    if "members" not in source:
        _download(source["url"], parts / f".{files[0]}.part", stage / files[0], backoff)
        return
    archive = stage / "archive.zip"
    _download(source["url"], parts / ".archive.zip.part", archive, backoff)
    _require_plausible(archive)
    for file in files:
        _unpack(archive, source["members"][file].split("/"), stage / file)


def _write(chunks: Iterable[bytes], path: Path, done: int = 0) -> None:
    """Write chunks to a file, behind the ``done`` bytes that it has; no more than any raw file can have."""
    with open(path, "ab" if done else "wb") as file:
        for chunk in chunks:
            done += len(chunk)
            _require_plausible_size(done)
            file.write(chunk)


def _require_plausible_size(size: int) -> None:
    if size > _LARGEST:
        raise SourceFailed(f"serves more than {_LARGEST // 2**20} MB, so it is not the expected file")


# Archives: only the named member is read, and written to a name of ours, so no path in an archive is ever followed.


def _unpack(archive: Path, path: list[str], target: Path) -> None:
    """Bring out the file at ``path`` in a zip archive; a longer path goes through archives within it."""
    *outer, name = path
    for depth, inner in enumerate(outer):
        extracted = target.with_name(f".inner{depth}.zip")
        _write(_member(archive, inner), extracted)
        archive = extracted
    _write(_member(archive, name), target)


def _member(archive: Path, name: str) -> Iterator[bytes]:
    """The content of a member, in chunks; SourceFailed once it is damaged or swells beyond what data do."""
    try:
        with zipfile.ZipFile(archive) as opened:
            found = _find(opened, name)
            bound, read = 2**20 + _SWELLING * found.compress_size, 0
            with opened.open(found) as member:
                while chunk := member.read(_CHUNK):
                    read += len(chunk)
                    if read > bound:
                        raise SourceFailed(f"{name} in its archive swells like a zip bomb, to over {bound} bytes")
                    yield chunk
    except SourceFailed:
        raise
    except Exception as error:  # a damaged archive raises anything from struct.error to zlib.error
        raise SourceFailed(f"serves no intact zip archive ({error})") from None


def _find(opened: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """The member of that name that lies nearest to the top, whatever folder the publisher wraps around it."""
    paths = {PurePosixPath(info.filename): info for info in opened.infolist()}
    named = sorted((path for path in paths if path.name == name), key=lambda path: len(path.parts))
    safe = [path for path in named if not path.is_absolute() and ".." not in path.parts]
    if not safe:
        unsafe = f", only one at the unsafe path {named[0]}" if named else ""
        raise SourceFailed(f"its archive holds no {name}{unsafe}")
    return paths[safe[0]]


# Downloads: what breaks off stays beside a validator, by which the server tells whether the file is still the same.


def _download(url: str, part: Path, target: Path, backoff: float, login: Login | None = None) -> None:
    """Bring what an address serves to ``target``, by way of ``part``, which an earlier attempt may have begun."""
    import requests  # 0.2 s to import, and a fetch from a folder needs no network
    from urllib3.exceptions import HTTPError
    from urllib3.util import Retry

    retries, deadline = Retry(backoff_factor=backoff), time.monotonic() + _LONGEST
    with requests.Session() as session:
        session.max_redirects, session.auth = _REDIRECTS, login
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                _receive(session, url, part, deadline, label=target.parent.name)
                break
            except requests.RequestException as error:
                if attempt == _ATTEMPTS or not _may_pass(error) or time.monotonic() > deadline:
                    raise SourceFailed(f"{_cause(error)} (attempts: {attempt})") from None
                retries = retries.increment(error=error)
                time.sleep(_pause(retries, error.response))
            except HTTPError as error:  # requests lets a host's name pass that cannot be one
                raise SourceFailed(f"{type(error).__name__}: {error}") from None
    os.replace(part, target)
    _validator(part).unlink(missing_ok=True)


def _receive(session, url: str, part: Path, deadline: float, label: str) -> None:
    """One attempt; RequestException leaves what came for the next."""
    import requests

    ask = functools.partial(session.get, url, headers=_request_headers(url, part), timeout=_TIMEOUT, stream=True)
    with _in_time(ask, deadline) as response:
        if response.status_code == 416 or (response.status_code == 206 and not _is_the_rest(response)):
            _forget(part)
            raise requests.HTTPError(f"{response.status_code}, not the rest of the file", response=response)
        response.raise_for_status()
        done = part.stat().st_size if response.status_code == 206 else 0
        length = response.headers.get("Content-Length", "")
        expected = done + int(length[:20]) if length.isdecimal() else None
        if not done:
            _note_validator(url, response, part)
        try:
            _require_plausible_size(expected or 0)
            _require_room(part.parent, (expected or 0) - done)
            _write(_with_progress(_chunks_in_time(response, deadline), label, done, expected), part, done)
        except requests.RequestException:
            raise
        except (SourceFailed, OSError):  # of no use to a later attempt, and a full disk wants its room back
            _forget(part)
            raise


def _chunks_in_time(response, deadline: float) -> Iterator[bytes]:
    """The body in chunks; Timeout where a chunk takes longer than a minute and ten seconds, so the least speed is 1 kB/s."""
    import requests

    content = response.iter_content(_CHUNK)
    try:
        while chunk := _in_time(lambda: next(content, b""), deadline):
            yield chunk
    except requests.Timeout:
        with contextlib.suppress(RuntimeError):  # it has ended just now
            response.raw.shutdown()  # which ends the read that goes on, and with it its hold on the response
        raise


def _in_time(act: Callable[[], _Any], deadline: float) -> _Any:
    """What ``act`` returns or raises; Timeout where that takes too long.

    In a thread, as the time-outs of a connection hold for each read of it, and a read may bring a single byte.
    """
    import requests

    done: Future = Future()

    def run() -> None:
        try:
            done.set_result(act())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    seconds = min(sum(_TIMEOUT), max(0, deadline - time.monotonic()))
    try:
        return done.result(seconds)
    except TimeoutError:
        if done.done():  # just now, or with a TimeoutError of its own
            return done.result()
        raise requests.Timeout(f"too slow, nothing or less than {_CHUNK // 1024} kB in {seconds:.0f} s") from None


def _request_headers(url: str, part: Path) -> dict[str, str]:
    """Ask for the rest of a part if it is of this address, and for bytes as they are: a part of a gzip is no part."""
    headers = {"Accept-Encoding": "identity"}
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        noted = json.loads(_validator(part).read_text(encoding="utf-8"))
        if noted["address"] == _digest(url) and part.stat().st_size:
            headers |= {"Range": f"bytes={part.stat().st_size}-", "If-Range": str(noted["validator"])}
    return headers


def _is_the_rest(response) -> bool:
    """Whether a partial answer begins where it was asked to, with bytes as they are."""
    begins = re.match(r"bytes (\d+-)", response.headers.get("Content-Range", ""))
    asked = response.request.headers.get("Range")
    return begins is not None and asked == f"bytes={begins[1]}" and "Content-Encoding" not in response.headers


def _note_validator(url: str, response, part: Path) -> None:
    _forget(part)
    etag = response.headers.get("ETag", "W/")
    validator = response.headers.get("Last-Modified") if etag.startswith("W/") else etag
    if validator and "Content-Encoding" not in response.headers:
        storage.write_text(_validator(part), json.dumps({"address": _digest(url), "validator": validator}))


def _validator(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def _digest(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()  # not the address itself, which may hold a password


def _forget(part: Path) -> None:
    part.unlink(missing_ok=True)
    _validator(part).unlink(missing_ok=True)


def _require_room(folder: Path, needed: int) -> None:
    if needed > shutil.disk_usage(folder).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _may_pass(error) -> bool:
    """Whether asking again can help: the connection failed, or the server answered 'later'."""
    import requests

    if isinstance(error, requests.HTTPError):
        return error.response.status_code in _PASSING
    broken = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
    return isinstance(error, broken)


def _cause(error) -> str:
    """What went wrong, without the layers that wrapped it."""
    import requests

    if isinstance(error, requests.HTTPError):
        return f"answers {error.response.status_code} {error.response.reason}"
    inner = error.args[0] if error.args else error
    return f"{type(error).__name__}: {str(getattr(inner, 'reason', inner))[:300]}"


def _pause(retries, response) -> float:
    """Seconds before the next attempt: as the server asks for (Retry-After), else the backoff."""
    from urllib3.exceptions import InvalidHeader

    try:
        asked = None if response is None else retries.get_retry_after(response.raw)
    except InvalidHeader:
        asked = None
    if asked is not None and asked > _PATIENCE:
        raise SourceFailed(f"answers {response.status_code} and asks to wait {asked:.0f} s")
    return retries.get_backoff_time() if asked is None else asked


def _with_progress(chunks: Iterable[bytes], label: str, done: int, expected: int | None) -> Iterator[bytes]:
    """The same chunks; on a terminal with a line of how far they are, which is gone afterwards."""
    if not sys.stderr.isatty():
        yield from chunks
        return
    total = f" of {expected / 1e6:.1f}" if expected else ""
    shown = -1.0
    try:
        for chunk in chunks:
            done += len(chunk)
            if time.monotonic() - shown > 0.1:
                shown = time.monotonic()
                print(f"\r\033[K{label}: {done / 1e6:.1f}{total} MB", end="", file=sys.stderr, flush=True)
            yield chunk
    finally:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


# What is said of the files in the end.


def _noted(folder: Path) -> dict:
    """The source that served an earlier fetch, and the SHA-256 of each file it served; nothing if there was none."""
    try:
        noted = json.loads((folder / _ORIGIN).read_text(encoding="utf-8"))
        return {"source": str(noted["source"]), "sha256": dict(noted["sha256"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {"source": "", "sha256": {}}


def _receipt(dataset: dict, folder: Path) -> dict:
    """A file that the noted source did not serve with these very bytes was put by hand."""
    noted = _noted(folder)
    hashes = {file: _sha256(folder / file) for file in _names(dataset)}
    sources = [noted["source"] if noted["sha256"].get(file) == found else _BY_HAND for file, found in hashes.items()]
    return {
        "dataset": dataset["name"],
        "source": " and ".join(dict.fromkeys(sources)),
        "sha256_matches": _all_known(dataset, folder),
        "files": {file: {"bytes": (folder / file).stat().st_size, "sha256": found} for file, found in hashes.items()},
    }


def _all_known(dataset: dict, folder: Path) -> bool:
    return all(_is_known(file, folder / file["name"]) for file in dataset["files"])


def _is_known(file: dict, path: Path) -> bool:
    """Whether the bytes have a known SHA-256, or, where nobody has published one, a known git blob id."""
    if "sha256" in file:
        return _sha256(path) == file["sha256"]
    blob = functools.partial(hashlib.sha1, b"blob %d\0" % path.stat().st_size)
    with open(path, "rb") as content:
        return hashlib.file_digest(content, blob).hexdigest() in file["git_blob"]


def _sha256(path: Path) -> str:
    with open(path, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _nothing_served(dataset: dict, folder: Path, failures: list[str]) -> str:
    places = " and ".join(str(folder / file) for file in _names(dataset))
    tried = "\n".join(f"  - {failure}" for failure in failures)
    return (
        f"{dataset['name']}: no source served the raw files. Tried, in this order:\n{tried}\n"
        f"What to do: put {places} there by hand; or name a mirror, a folder or an address laid out "
        f"<mirror>/{dataset['name']}/<file>, in the configuration or in the environment variable CLUSTERLETS_MIRROR; "
        f"or leave the dataset out: `make reproduce EXCLUDE={dataset['name']}`, behind a comma what you left out before."
    )


def _not_written(name: str, folder: Path, error: OSError, what: str = "any file") -> str:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    remedy = "Free room on its disk" if full else "Make it a folder that you may write to"
    return (
        f"{name}: {folder} cannot take {what}: {error.strerror or error}. No file was left half-written.\n"
        f"What to do: {remedy}, or make the folder of the raw files a link to another place, and run the same command "
        "again."
    )
