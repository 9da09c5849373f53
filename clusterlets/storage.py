"""Files that are complete or absent, and that say what they are, so that damaged and misplaced ones are noticed.

Everything is written beside its final name, flushed to the disk, and then renamed, so that no reader sees half a file,
even after a power cut. What one step hands to another also says what it is, by its place (its path below the folder of
results), and holds the SHA-256 of its content: arrays (``.npz`` without pickle) have a member for it, JSON a key, text a
first line; ``runs.csv``, a table for people, has a ``.sha256`` beside it. A damaged file is removed, so that the next run
of the workflow builds it again. A file at another one's place stays, because a person put it there.
"""

import csv
import errno
import hashlib
import io
import json
import os
import re
import stat
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np

from clusterlets.errors import ClusterletsError, UnusableFileError

T = TypeVar("T")
# From a file's bytes to its place and content, and the reverse.
Parse = Callable[[bytes], tuple[str, T]]
Write = Callable[[str, T], bytes]

#: The member of an archive, and the key of a JSON file, that says what the file is.
ABOUT = "about"
_ABOUT_MEMBER = f"{ABOUT}.npy"

# The part of a path that identifies a file of the results, wherever their folder is; for any other file, its name.
_PLACES = re.compile(
    r"(?<![^/])((variants/[^/]+/)?((prepared|geometry)/[^/]+|runs\.csv[^/]*"
    r"|(runs|pieces|labels|distances|partitions)/[^/]+/[^/]+/[^/]+/seeds[^/]+)|[^/]+)\Z"
)


# ---- writing ---------------------------------------------------------------------------------------------------------


def write_bytes(path: str | os.PathLike, content: bytes) -> None:
    """Write ``content`` to ``path`` so that ``path`` is at any moment either as it was or complete, even after a power cut.

    Symbolic links are followed, and an existing file keeps its mode. What cannot be replaced is written into: a device, a
    pipe, and the file that this process's own output goes to.
    """
    try:
        old_status = _status(path)
        stream = _stream(path, old_status) if old_status else None
        if stream:
            with stream:
                stream.write(content)
        else:
            _replace(Path(os.path.realpath(path)), content, old_status)
    except OSError as error:
        error.filename = os.fspath(path)  # a full disk names no file, and the temporary name means nothing to users
        raise


def check_writable(path: str | os.PathLike) -> None:
    """Raise the OSError that :func:`write_bytes` would raise at once; leaves nothing behind."""
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():  # it is written into
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return
    folder = next(ancestor for ancestor in path.parents if os.path.exists(ancestor))
    with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{path.name}."):
        pass


def _status(path: str | os.PathLike) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _stream(path: str | os.PathLike, status: os.stat_result) -> BinaryIO | None:
    """Open what must be written into; None for a file that can be replaced."""
    for descriptor, text in ((1, sys.stdout), (2, sys.stderr)):
        with suppress(OSError):  # it may be closed
            if os.path.samestat(status, os.fstat(descriptor)):
                text.flush()
                return open(descriptor, "wb", closefd=False)
    return None if stat.S_ISREG(status.st_mode) else open(path, "wb")


def _replace(path: Path, content: bytes, old_status: os.stat_result | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if old_status:
                with suppress(PermissionError):  # another user's file
                    os.fchown(descriptor, old_status.st_uid, old_status.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(old_status.st_mode) if old_status else 0o666 & ~_umask())
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """Make a new name in a folder survive a power cut, if the file system can do that and the folder may be read."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_text(path: str | os.PathLike, text: str) -> None:
    """:func:`write_bytes` for text, as UTF-8 with the line endings it already has."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: str | os.PathLike, content: Mapping) -> None:
    """:func:`write_text` for an object as indented JSON."""
    write_text(path, _as_json(content))


def csv_text(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> str:
    """Rows as CSV below their header; what a row lacks, None and NaN are left empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: "" if value is None or value != value else value for name, value in row.items()})
    return text.getvalue()


def _as_json(content: Mapping) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


# ---- what steps hand to each other -----------------------------------------------------------------------------------


def save_arrays(path: str | os.PathLike, arrays: Mapping[str, np.ndarray]) -> None:
    """Write named arrays (no object arrays) as ``.npz``; equal arrays at equal places give equal bytes.

    The member ``about`` holds the file's place and the hash of all other members as JSON; an array with this name
    is a ValueError.
    """
    if ABOUT in arrays:
        raise ValueError(f"an array of {path} cannot be called {ABOUT!r}: that member says what the file is")
    write_bytes(path, _archive(result_place(path), {f"{name}.npy": _npy(array) for name, array in arrays.items()}))


def load_arrays(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Read what :func:`save_arrays` wrote.

    Raises
    ------
    ClusterletsError
        If the file is missing.
    UnusableFileError
        If it is damaged: it is removed, so that the next run rebuilds it. If it belongs at another place: it stays.
    OSError
        If it cannot be read, which says nothing about its content.
    """
    members = _load_checked(Path(path), _members, _archive)
    return {name.removesuffix(".npy"): _array(content) for name, content in members.items()}


def save_json(path: str | os.PathLike, content: Mapping) -> None:
    """:func:`write_json` with one more key, ``about``: place and hash of the rest. ValueError if it is in use already."""
    if ABOUT in content:
        raise ValueError(f"a key of {path} cannot be called {ABOUT!r}: it says what the file is")
    write_bytes(path, _marked_json(result_place(path), content))


def load_json(path: str | os.PathLike) -> dict:
    """Read what :func:`save_json` wrote, without the key ``about``; errors as those of :func:`load_arrays`."""
    return _load_checked(Path(path), _parts_of_json, _marked_json)


def save_text(path: str | os.PathLike, text: str) -> None:
    """:func:`write_text` below one more line, a comment: ``# <place> sha256 <hash of the rest>``."""
    write_bytes(path, _marked_text(result_place(path), text))


def load_text(path: str | os.PathLike) -> str:
    """Read what :func:`save_text` wrote, without its first line; errors as those of :func:`load_arrays`."""
    return _load_checked(Path(path), _parts_of_text, _marked_text)


def is_intact(path: str | os.PathLike) -> bool:
    """Whether :func:`load_arrays` (``.npz``), :func:`load_json` or else :func:`load_text` would accept a file; it stays."""
    formats: dict[str, tuple[Parse, Write]] = {".npz": (_members, _archive), ".json": (_parts_of_json, _marked_json)}
    parse, write = formats.get(Path(path).suffix, (_parts_of_text, _marked_text))
    parts = _read_if_intact(Path(path).read_bytes(), parse, write)
    return parts is not None and parts[0] == result_place(path)


def write_checksum(path: str | os.PathLike) -> None:
    """Write the SHA-256 of a file beside it, by :func:`save_text`, and as ``sha256sum --check`` reads it."""
    path = Path(path)
    save_text(_checksum_file(path), _checksum(path))


def check_checksum(path: str | os.PathLike) -> None:
    """Compare a file with what :func:`write_checksum` wrote beside it, if that exists; errors as :func:`load_arrays`."""
    path = Path(path)
    checksum_file = _checksum_file(path)
    if checksum_file.is_file() and path.is_file() and load_text(checksum_file) != _checksum(path):
        checksum_file.unlink()
        raise _remove_damaged(path)


def hash_of_file(path: str | os.PathLike) -> str:
    """SHA-256 of a file, whatever it holds, as 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checksum_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _checksum(path: Path) -> str:
    return f"{hash_of_file(path)}  {path.name}\n"


# ---- how a file says what it is --------------------------------------------------------------------------------------


def result_place(path: str | os.PathLike) -> str:
    """What identifies a file of the results: its path below their folder, wherever that is. For any other file, its name."""
    match = _PLACES.search(Path(os.path.abspath(path)).as_posix())
    return match[0] if match else ""


def _load_checked(path: Path, parse: Parse[T], write: Write[T]) -> T:
    """The content of a file, if it is intact and at its place."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ClusterletsError(f"{path} does not exist. Run the workflow step that makes it.") from None
    intact = _read_if_intact(content, parse, write)
    if intact is None:
        raise _remove_damaged(path)
    written_at, value = intact
    if written_at != result_place(path):
        raise UnusableFileError(
            path,
            f"{path} holds what belongs at {written_at}, so it was not used. It was left as it is: remove it or move it there.",
            "Then run the same command again: what is missing is built again.",
        )
    return value


def _read_if_intact(content: bytes, parse: Parse[T], write: Write[T]) -> tuple[str, T] | None:
    """The place and the content that a file holds; None for a damaged one."""
    try:
        written_at, value = parse(content)
        # Writing it again gives the same bytes only if every bit is right, also those that readers of ZIP and JSON ignore.
        return (written_at, value) if write(written_at, value) == content else None
    except MemoryError:
        raise
    except Exception:  # the bytes are in memory, so whatever a parser raises is about the bytes
        return None


def _remove_damaged(path: Path) -> UnusableFileError:
    """The error for a damaged file, which is removed; so is what it links to, or a cache would give it again."""
    for file in (Path(os.path.realpath(path)), path):
        file.unlink(missing_ok=True)
    return UnusableFileError(
        path,
        f"{path} was damaged (its content does not match its own SHA-256) and has been removed.",
        "Run the same command again: the file will be built again.",
    )


def _about(where: str, *parts: bytes) -> dict[str, str]:
    """A file's description of itself: its place, and a hash of the place and all other parts."""
    digest = hashlib.sha256(os.fsencode(where))
    for part in parts:
        digest.update(b"%d\n" % len(part))
        digest.update(part)
    return {"place": where, "sha256": digest.hexdigest()}


def _archive(where: str, members: Mapping[str, bytes]) -> bytes:
    about = _about(where, *(part for name, content in members.items() for part in (name.encode(), content)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:  # with numpy.savez, more bytes would depend on Python's version
        for name, content in {_ABOUT_MEMBER: _npy(np.array(json.dumps(about))), **members}.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def _members(content: bytes) -> tuple[str, dict[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(str(_array(members.pop(_ABOUT_MEMBER))))["place"], members


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()


def _array(content: bytes) -> np.ndarray:
    return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)


def _marked_json(where: str, content: Mapping) -> bytes:
    return _as_json({**content, ABOUT: _about(where, _as_json(content).encode())}).encode()


def _parts_of_json(content: bytes) -> tuple[str, dict]:
    value = json.loads(content)
    return value.pop(ABOUT)["place"], value


def _marked_text(where: str, text: str) -> bytes:
    return f"# {where} sha256 {_about(where, text.encode())['sha256']}\n{text}".encode()


def _parts_of_text(content: bytes) -> tuple[str, str]:
    line, _, text = content.decode().partition("\n")
    return line.removeprefix("# ").rpartition(" sha256 ")[0], text
